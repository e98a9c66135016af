// The position on the page: table, others, scores and moves.

import {byId, drawing, make, picture, signed} from "/files/shared.js";
import {showOwn} from "/files/table_hand.js";
import {say, state} from "/files/table_state.js";

const STEP = 60; // units by which the picture of the table grows: a tile and a half

export function show(frame) {
  const first = state.shown === null;
  state.shown = frame;
  const {about, view} = state;
  byId("where").textContent = `Round ${frame.round}, ${frame.leader === about.seat ? "you lead" : `seat ${frame.leader} leads`}`;
  byId("boneyard").textContent = `Boneyard: ${frame.boneyard}`;
  byId("ends").textContent = frame.ends ? `Ends: ${frame.ends}` : "No tile on the table yet";
  showTable(frame);
  showOthers(frame);
  showOwn(frame);
  showScores(frame, view.sheet.slice(0, frame.ended));
  if (view.frames.length === 0 || frame.round === view.frames[view.frames.length - 1].round) showMoves(view.moves.slice(0, frame.count));
  else showMoves([]);
  tell(frame, first);
  showEnd(frame);
}

// The moves since one's own, the last one in bold; for ears each move by itself.
function tell(frame, first) {
  const {event, end} = frame;
  const last = event ? `${event.words}${event.points ? `, ${signed(event.points)}` : ""}.` : `Round ${frame.round} is dealt.`;
  if (!event || event.seat === state.about.seat || frame.count === 1) state.told = [];
  byId("told").replaceChildren(...state.told.map((text) => `${text} `), make("b", {textContent: last}));
  state.told.push(last);
  if (!first) say([last, end?.words, end?.won].filter(Boolean).join(" "));
}

// The picture, cut to what lies on the table; it grows in steps, so that it does not jump at every tile.
export function showTable(frame) {
  const svg = drawing(frame.table);
  const place = byId("table");
  place.replaceChildren(svg);
  const [least, high] = place.clientWidth < 520 ? [480, 330] : [800, 440];
  const box = svg.getBBox();
  const grown = (size, minimum) => Math.max(minimum, STEP * Math.ceil((size + STEP) / STEP));
  const [width, height] = [grown(box.width, least), grown(box.height, high)];
  svg.setAttribute("viewBox", [box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height].join(" "));
}

function showOthers(frame) {
  const {about} = state;
  const seats = about.names.map((_, seat) => seat).filter((seat) => seat !== about.seat);
  // from one's left on, as they sit about the table
  seats.sort((a, b) => ((a - about.seat + about.names.length) % about.names.length) - ((b - about.seat + about.names.length) % about.names.length));
  const rows = seats.map((seat) => {
    const {score, count, tiles, lucky} = frame.seats[seat];
    const hand = make("span", {className: tiles ? "tiles" : "backs"}, ...(tiles || Array(count).fill("back")).map(picture));
    const much = tiles ? (count ? `holds ${tiles.join(", ")}` : "no tiles left") : `${count} ${count === 1 ? "tile" : "tiles"}`;
    const who = make("span", {className: "who"}, make("b", {textContent: `Seat ${seat}`}), ` ${about.names[seat]}`);
    const points = make("span", {className: "points", textContent: String(score), title: lucky});
    points.prepend(make("span", {className: "hidden", textContent: "score "}));
    const row = make("li", {className: frame.turn === seat ? "turn" : ""}, who, points, hand);
    row.append(make("span", {className: `much quiet${lucky ? " lucky" : ""}`, textContent: `${much}${lucky ? `; ${lucky}` : ""}`}));
    if (frame.turn === seat) who.append(make("span", {className: "hidden", textContent: ", on turn"}));
    return row;
  });
  byId("others").replaceChildren(...rows);
}

function showScores(frame, sheet) {
  const {about} = state;
  const name = (seat) => (seat === about.seat ? "You" : `Seat ${seat}`);
  const seats = about.names.map((_, seat) => seat);
  const head = make("tr", {}, make("th", {scope: "col", textContent: "Round"}), ...seats.map((seat) => make("th", {scope: "col", textContent: name(seat)})), make("th", {scope: "col", textContent: "Ended"}));
  const rows = sheet.map(({end, gains, scores}, number) =>
    make("tr", {}, make("th", {scope: "row", textContent: number}), ...scores.map((score, seat) => make("td", {}, String(score), " ", make("small", {textContent: gains[seat] ? signed(gains[seat]) : ""}))), make("td", {textContent: end})));
  if (frame.phase === "playing") {
    const now = frame.seats.map(({score}) => make("td", {}, make("b", {textContent: score})));
    rows.push(make("tr", {className: "now"}, make("th", {scope: "row", textContent: frame.round}), ...now, make("td", {textContent: "now"})));
  }
  byId("scores").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

function showMoves(moves) {
  const list = byId("moves");
  list.replaceChildren(...moves.map(({words: text, points}) => make("li", {}, `${text} `, points ? make("b", {textContent: signed(points)}) : "")));
  list.scrollTop = list.scrollHeight;
}

function showEnd(frame) {
  const box = byId("end");
  box.replaceChildren();
  if (frame.end) box.append(make("p", {}, make("b", {textContent: frame.end.won || "The round is over."}), ` ${frame.end.words}`));
}
