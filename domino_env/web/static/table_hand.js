// One's own hand: which tiles fit, where they go, and whose turn it is.

import {byId, make, picture, signed} from "/files/shared.js";
import {say, state} from "/files/table_state.js";
import {showTable} from "/files/table_view.js";

export function showOwn(frame) {
  const {score, tiles, lucky, count} = frame.seats[state.about.seat];
  const points = make("span", {className: "points", textContent: String(score)});
  byId("own").replaceChildren(`You, seat ${state.about.seat}${lucky ? ` (${lucky})` : ""} `, make("span", {className: "hidden", textContent: "score "}), points);
  const focused = byId("hand-section").contains(document.activeElement);
  byId("hand").replaceChildren(...tiles.map((tile) => tileButton(tile, frame.moves.filter((each) => each.tile === tile))));
  if (!count) byId("hand").append(make("p", {className: "quiet", textContent: "You have no tiles left."}));
  state.tile = null;
  byId("places").hidden = true;
  if (focused) byId("hand-section").focus({preventScroll: true});
  for (const id of ["draw", "pass"]) byId(id).classList.remove("hinted");
  enable(false);
}

function tileButton(tile, moves) {
  const best = Math.max(...moves.map(({points}) => points));
  const button = make("button", {type: "button", className: "tile", value: tile}, picture(tile));
  let label = `${tile}, does not fit`;
  if (moves.length === 1) label = `${moves[0].words}${best ? `, ${signed(best)}` : ""}`;
  else if (moves.length) label = `${tile}, ${moves.length} places${best ? `, up to ${signed(best)}` : ""}`;
  button.setAttribute("aria-label", label);
  button.title = label;
  if (moves.length && best) button.append(make("span", {className: "badge", textContent: signed(best)}));
  button.classList.toggle("fits", moves.length > 0);
  button.addEventListener("click", () => choose(tile, moves));
  return button;
}

export function turnWords(frame) {
  if (frame.phase === "over") return "The game is over";
  if (frame.phase === "between") return "The round is over";
  if (!frame.moves.length) return "Your hand";
  const tiles = new Set(frame.moves.map(({tile}) => tile).filter(Boolean)).size;
  const may = ["draw", "pass"].filter((step) => frame.moves.some((each) => each.move === step));
  const parts = [tiles ? `play ${tiles === 1 ? "one tile" : `one of ${tiles} tiles`}` : "", ...may].filter(Boolean);
  return `Your turn: ${parts.join(" or ")}`;
}

export function turnText(text) {
  byId("hand-title").textContent = text;
}

export function enable(may) {
  const {shown} = state;
  const mine = may && shown.moves.length > 0;
  byId("hand-section").classList.toggle("turn", mine);
  for (const button of byId("hand").querySelectorAll("button")) {
    const fits = mine && button.classList.contains("fits");
    button.setAttribute("aria-disabled", String(!fits));
    button.tabIndex = fits ? 0 : -1;
  }
  for (const id of ["draw", "pass"]) {
    const has = shown.moves.some((each) => each.move === id);
    byId(id).disabled = !(mine && has);
  }
  byId("hint").disabled = !mine;
  byId("next").hidden = !(may && shown.phase === "between");
  byId("record").hidden = byId("rematch").hidden = !(may && shown.phase === "over");
  for (const element of [byId("draw"), byId("pass"), document.querySelector(".hinting")]) element.hidden = shown.phase !== "playing";
  if (!mine) turnText(shown.turn === null || shown.turn === state.about.seat ? "Your hand" : `Your hand: seat ${shown.turn} is on turn`);
}

export function firstChoice() {
  const wanted = byId("hand").querySelector('[aria-disabled="false"]');
  return wanted || ["draw", "pass", "next", "rematch"].map(byId).find((each) => !each.hidden && !each.disabled);
}

function choose(tile, moves) {
  if (state.busy) return;
  if (!moves.length) {
    byId("hinted").textContent = state.shown.moves.length ? `${tile} fits nowhere.` : "";
    return;
  }
  if (moves.length === 1) {
    state.move(moves[0].move);
    return;
  }
  if (state.tile === tile) {
    unchoose(true);
    return;
  }
  unchoose(false);
  state.tile = tile;
  for (const button of byId("hand").children) button.setAttribute("aria-pressed", String(button.value === tile));
  const arms = new Set(moves.map(({arm}) => arm));
  for (const end of byId("table").querySelectorAll(".end")) {
    const there = moves.filter(({arm}) => arm === end.dataset.arm || arm === null);
    if (!there.length) continue;
    end.classList.add("open");
    end.addEventListener("click", () => (there.length === 1 ? state.move(there[0].move) : showPlaces(tile, there)));
  }
  if (arms.size) showPlaces(tile, moves);
}

function showPlaces(tile, moves) {
  const both = moves.some(({lengthwise}) => lengthwise);
  const buttons = moves.map((each) => {
    const where = {left: "left", right: "right", up: "above", down: "below"}[each.arm] || "";
    const lie = both ? (each.lengthwise ? "lengthwise" : "crosswise") : "";
    const text = [where, lie].filter(Boolean).join(", ");
    const button = make("button", {type: "button", textContent: text[0].toUpperCase() + text.slice(1)});
    if (each.points) button.append(" ", make("b", {textContent: signed(each.points)}));
    button.addEventListener("click", () => state.move(each.move));
    const end = byId("table").querySelector(`.end[data-arm="${each.arm}"]`);
    for (const [on, lit] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) {
      button.addEventListener(on, () => end && end.classList.toggle("lit", lit));
    }
    return button;
  });
  buttons.push(make("button", {type: "button", className: "plain", textContent: "Another tile", onclick: () => unchoose(true)}));
  byId("places").replaceChildren(make("span", {textContent: `${tile} where?`}), ...buttons);
  byId("places").setAttribute("aria-label", `Where does ${tile} go?`);
  byId("places").hidden = false;
  buttons[0].focus({preventScroll: true});
}

export function unchoose(focus) {
  const tile = state.tile;
  state.tile = null;
  byId("places").hidden = true;
  for (const button of byId("hand").children) button.removeAttribute("aria-pressed");
  if (state.shown) showTable(state.shown); // its ends are as they were, and listen no more
  if (focus && tile) [...byId("hand").children].find(({value}) => value === tile)?.focus({preventScroll: true});
}

// Arrow keys, Home and End go through the hand, playable or not.
export function walk(event) {
  const buttons = [...byId("hand").querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement);
  const to = {ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: buttons.length - 1}[event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  buttons[(to + buttons.length) % buttons.length].focus();
}
