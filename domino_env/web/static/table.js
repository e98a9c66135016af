// The table page. The server holds the game: this page shows what it is told, step by step, and asks for moves.

import {ask, byId, drawing, make, readyTheme, Refusal, signed} from "/files/shared.js";
import {enable, firstChoice, turnText, turnWords, unchoose, walk} from "/files/table_hand.js";
import {banner, say, state} from "/files/table_state.js";
import {show} from "/files/table_view.js";

const PAUSE = 700; // ms between the moves of others, for eyes that follow them
const RETRY = 1500; // ms until a server that did not answer is asked again
const THINKING = 400; // ms of thought after which the page says so

const game = `/api/games/${location.pathname.split("/").pop()}`;
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

state.move = move;
readyTheme(byId("theme"));
for (const id of ["draw", "pass", "next"]) byId(id).addEventListener("click", () => move(id));
byId("hint").addEventListener("click", hint);
byId("rematch").addEventListener("click", rematch);
byId("hand").addEventListener("keydown", walk);
document.addEventListener("keydown", (event) => event.key === "Escape" && state.tile && unchoose(true));
document.addEventListener("visibilitychange", () => !document.hidden && catchUp());
window.addEventListener("focus", catchUp);
window.addEventListener("online", catchUp);
byId("rules-section").open = window.matchMedia("(min-width: 900px)").matches;
open();

const sleep = (time) => new Promise((wake) => setTimeout(wake, time));
const words = ({move: step, words: where, points}) => (where ? `play ${where}${points ? `, ${signed(points)}` : ""}` : step);

async function open() {
  const about = await patiently(() => ask(`${game}/about`));
  if (!about) return;
  state.about = about;
  document.title = `Dominoes: ${about.title}`;
  byId("title").textContent = about.title;
  byId("symbols").replaceChildren(drawing(about.symbols));
  byId("adviser").replaceChildren(...about.hints.map(([spec, label]) => make("option", {value: spec, textContent: label})));
  byId("rules-title").textContent = `Rules of ${about.variant}`;
  const parts = about.rules.flatMap(([heading, lines]) => [
    make("h3", {textContent: heading}),
    make("ul", {}, ...lines.map((line) => make("li", {textContent: line}))),
  ]);
  byId("rules").replaceChildren(...parts);
  byId("record").href = `${game}/record`;
  await look(-1);
}

// Try until the server answers; what it refuses is told, and null.
async function patiently(question) {
  for (;;) {
    try {
      const value = await question();
      banner("");
      return value;
    } catch (error) {
      if (error instanceof Refusal) {
        banner(error.message);
        return null;
      }
      banner("The server does not answer. Nothing is lost: this page tries again until it does.");
      await sleep(RETRY);
    }
  }
}

async function look(since) {
  const view = await patiently(() => ask(`${game}?since=${since}`));
  if (view) await take(view);
}

async function take(view) {
  const fresh = view.frames.filter(({number}) => number > state.number);
  const back = view.number < state.number; // a server that knows less: its word counts
  state.view = view;
  state.number = view.number;
  state.queue.push(...(back ? view.frames.slice(-1) : fresh));
  await showAll();
}

// The page was away, or another one went on with this game.
function catchUp() {
  if (state.shown && !state.busy && !state.catching) state.catching = look(state.number).finally(() => (state.catching = null));
}

async function move(step) {
  if (state.busy) return;
  state.busy = true;
  state.follow = byId("hand-section").contains(document.activeElement);
  byId("hinted").textContent = "";
  unchoose(false);
  enable(false);
  const number = state.number;
  if (state.catching) {
    await state.catching; // one question after another, so that answers come in order
    state.busy = true;
    enable(false);
  }
  let late = "";
  // asked again, the same step with the same number does nothing new
  const view = await patiently(async () => {
    try {
      return await ask(`${game}/move`, {number, move: step, since: number});
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      late = error.message;
      return await ask(`${game}?since=-1`);
    }
  });
  if (!view) {
    state.busy = false;
    ready();
    return;
  }
  if (late) say(`That move was not made: ${late}.`);
  await take(view);
  if (late) byId("told").prepend(make("b", {className: "fault", textContent: `That move was not made: ${late}. `}));
}

async function again() {
  if (state.busy) return;
  state.busy = true;
  const view = await patiently(() => ask(`${game}/again`, {}));
  if (view) await take(view);
  else state.busy = false;
}

async function rematch() {
  const made = await patiently(() => ask(`${game}/rematch`, {}));
  if (made) location.href = `/game/${made.id}`;
}

async function hint() {
  if (state.busy) return;
  const number = state.number;
  byId("hint").disabled = true;
  tellHint("Thinking …");
  try {
    const advice = await ask(`${game}/hint`, {number, policy: byId("adviser").value});
    if (number !== state.number || state.busy) return;
    const advised = state.shown.moves.find((each) => each.move === advice.move);
    tellHint(`${advice.policy} would ${words(advised)}.`);
    for (const button of byId("hand").children) button.classList.toggle("hinted", button.value === advised.tile);
    for (const id of ["draw", "pass"]) byId(id).classList.toggle("hinted", advised.move === id);
  } catch (error) {
    tellHint(error instanceof Refusal ? error.message : "The server does not answer: ask again in a moment.");
  } finally {
    byId("hint").disabled = state.busy || !state.shown.moves.length;
  }
}

function tellHint(text) {
  byId("hinted").textContent = text;
  say(text);
}

async function showAll() {
  if (state.showing) return;
  state.showing = state.busy = true;
  for (;;) {
    while (state.queue.length) {
      const frame = state.queue.shift();
      const others = frame.event && frame.event.seat !== state.about.seat;
      if (state.shown && others && !still.matches) await sleep(PAUSE);
      show(frame);
    }
    if (!state.view.thinking) break;
    await poll();
  }
  state.showing = state.busy = false;
  state.slept = 0;
  ready();
}

async function poll() {
  state.slept ||= Date.now();
  const time = Date.now() - state.slept;
  if (time > THINKING) turnText(`Seat ${state.shown.turn} is thinking …`);
  await sleep(time < 1000 ? 80 : 400);
  const view = await patiently(() => ask(`${game}?since=${state.number}`));
  if (!view) {
    state.view = {...state.view, thinking: false};
    return;
  }
  if (view.frames.length) state.slept = 0;
  state.view = view;
  state.queue.push(...view.frames.filter(({number}) => number > state.number));
  state.number = view.number;
}

function ready() {
  const {shown, view} = state;
  enable(true);
  if (view.fault) {
    banner(`A policy could not move: ${view.fault}`);
    byId("banner").append(make("button", {type: "button", textContent: "Try again", onclick: again}));
  }
  turnText(turnWords(shown));
  if (shown.moves.length) say(turnWords(shown));
  const lost = document.activeElement === document.body || document.activeElement === byId("hand-section");
  if (state.follow && lost) firstChoice()?.focus({preventScroll: true});
}
