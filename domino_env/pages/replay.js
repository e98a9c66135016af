// Moving about, and the start.

const DELAY = 1200; // milliseconds between moves that play by themselves
let timer = null;

function go(place, byHand = true) {
  if (byHand) stop();
  at = Math.max(0, Math.min(LAST, place));
  const position = POSITIONS[at];
  showTable(position);
  showHands(position);
  showThoughts(position);
  showMoves(position);
  $("slider").value = String(at);
  $("slider").setAttribute("aria-valuetext", placeText(position));
  for (const id of ["first", "back"]) $(id).disabled = at === 0;
  for (const id of ["last", "forth"]) $(id).disabled = at === LAST;
  $("back-round").disabled = at === 0;
  $("forth-round").disabled = position.round === starts.length - 1;
  const cursor = $("cursor");
  if (cursor) for (const name of ["x1", "x2"]) cursor.setAttribute(name, across(at));
  const hash = `#${position.round}:${position.event}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

function goRound(step) {
  const round = POSITIONS[at].round;
  if (step < 0 && at > starts[round]) go(starts[round]);
  else go(starts[Math.max(0, Math.min(starts.length - 1, round + step))]);
}

function readHash() {
  const match = /^#(\d+):(\d+)$/.exec(location.hash);
  if (!match) return null;
  const place = POSITIONS.findIndex((one) => one.round === Number(match[1]) && one.event === Number(match[2]));
  return place < 0 ? null : place;
}

function stop() {
  if (timer !== null) clearInterval(timer);
  timer = null;
  $("told").removeAttribute("aria-live");
  $("play").replaceChildren(make("span", {}, "Play"));
}

function play() {
  if (timer !== null) {
    stop();
    return;
  }
  if (at === LAST) go(0);
  $("told").setAttribute("aria-live", "off"); // a voice would fall behind
  $("play").replaceChildren(make("span", {}, "Pause"));
  timer = setInterval(() => {
    go(at + 1, false);
    if (at === LAST) stop();
  }, DELAY);
}

const KEYS = {
  ArrowLeft: () => go(at - 1),
  ArrowRight: () => go(at + 1),
  Home: () => go(0),
  End: () => go(LAST),
  PageUp: () => goRound(-1),
  PageDown: () => goRound(1),
  " ": play,
};

function pressed(event) {
  const target = event.target;
  const takesKeys = target.matches("select, input, textarea");
  const takesSpace = target.closest("button, summary, a, select, input");
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || takesKeys || !(event.key in KEYS)) return;
  if (event.key === " " && takesSpace) return;
  event.preventDefault();
  KEYS[event.key]();
}

function start() {
  $("result").textContent = `${DATA.result}. ${DATA.lowest ? "The lowest score wins." : ""}`;
  $("onlooker").textContent = DATA.onlooker;
  setTheme(THEMES.includes(remembered()) ? remembered() : "auto");
  $("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf($("theme").dataset.name) + 1) % THEMES.length]));
  $("slider").max = String(LAST);
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  const moves = { first: () => go(0), back: () => go(at - 1), forth: () => go(at + 1), last: () => go(LAST), play, "back-round": () => goRound(-1), "forth-round": () => goRound(1) };
  for (const [id, move] of Object.entries(moves)) $(id).addEventListener("click", move);
  $("round").append(...starts.map((_, round) => make("option", { value: round }, `${round}`)));
  $("round").addEventListener("change", () => go(starts[Number($("round").value)]));
  $("round-label").hidden = starts.length === 1;
  const titles = DATA.thinkers.map((one) => [...new Set(one.names)].join(", "));
  if (DATA.search) titles.push(DATA.search.name);
  $("thinker").append(...titles.map((text, k) => make("option", { value: k }, text)));
  $("thinker-label").hidden = titles.length === 0;
  $("chart-section").hidden = titles.length === 0;
  $("thinker").addEventListener("change", () => {
    thinker = Number($("thinker").value);
    drawChart();
    go(at);
  });
  document.addEventListener("keydown", pressed);
  window.addEventListener("resize", drawChart);
  window.addEventListener("hashchange", () => go(readHash() ?? at));
  listWorst();
  writeReading();
  drawChart();
  stop();
  go(readHash() ?? DATA.start);
}

start();
