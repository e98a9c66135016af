// Lists of moves and of faults, and how to read the page.

let shownRound = -1;

function showMoves(position) {
  if (shownRound !== position.round) {
    shownRound = position.round;
    const first = starts[position.round];
    const end = starts[position.round + 1] ?? POSITIONS.length;
    const items = [];
    for (let place = first; place < end; place += 1) items.push(make("li", {}, moveButton(place)));
    $("moves").replaceChildren(make("ol", { "aria-label": `Moves of round ${position.round}` }, ...items));
    $("round").value = String(position.round);
  }
  for (const button of $("moves").querySelectorAll("button")) {
    if (Number(button.dataset.place) === at) {
      button.setAttribute("aria-current", "step");
      keepInView(button);
    } else button.removeAttribute("aria-current");
  }
}

// scrolls the list alone, never the page
function keepInView(button) {
  const list = $("moves");
  const top = button.offsetTop;
  if (top < list.scrollTop + 8) list.scrollTop = top - 8;
  else if (top + button.offsetHeight > list.scrollTop + list.clientHeight - 8) list.scrollTop = top + button.offsetHeight + 8 - list.clientHeight;
}

function moveButton(place) {
  const { next, over, event } = POSITIONS[place];
  const attributes = { type: "button", "data-place": place, onclick: () => go(place) };
  if (!next) return make("button", attributes, make("span", { class: "number" }, ""), make("span", {}, over === null ? "open" : "end"), make("span", {}, over ?? ""));
  const decision = decisionAt(place);
  const loss = isBlunder(decision) ? make("span", { class: "loss" }, make("span", { class: "word" }, "blunder "), `${MINUS}${number(decision.search.loss, 1)}`) : null;
  const made = make("span", { class: "points" }, next.points ? signed(next.points, 0) : "");
  return make("button", attributes, make("span", { class: "number" }, `${event}.`), make("span", {}, `seat ${next.seat}`), make("span", {}, next.text), loss ?? made);
}

function listWorst() {
  const judged = DATA.search && Object.keys(DATA.decisions).length > 0;
  $("worst-section").hidden = !judged;
  if (!judged) return;
  const many = blunders.filter((one) => one.decision.search.blunder).length;
  const rule = `at least ${number(DATA.search.blunder, 1)} points lost and ${DATA.search.clear} standard errors`;
  $("worst-note").textContent = many ? `${count(many, "blunder")}, found by ${DATA.search.name}: ${rule}.` : `No blunder, says ${DATA.search.name}: ${rule}.`;
  const shown = blunders.slice(0, 8);
  $("worst").replaceChildren(...shown.map(({ place, decision, loss }) => {
    const position = POSITIONS[place];
    const better = make("span", {}, `better ${decision.moves[decision.search.best].text}`);
    const words = make("span", { class: "words" }, make("span", {}, `seat ${decision.seat}: ${position.next.text},`), " ", better);
    const much = make("span", { class: "loss" }, `${MINUS}${number(loss, 1)}`);
    return make("li", {}, make("button", { type: "button", onclick: () => go(place) }, make("span", {}, `${position.round}:${position.event}`), words, much));
  }));
  $("summary-place").replaceChildren(summaryTable());
}

function summaryTable() {
  const heads = ["Seat", "Choices", "As the search", "Lost on average", "Blunders"];
  const head = make("tr", {}, ...heads.map((text, k) => make("th", { scope: "col", class: k ? "number" : "" }, text)));
  const rows = [];
  for (let seat = 0; seat < DATA.players; seat += 1) {
    const mine = Object.values(DATA.decisions).filter((one) => one.seat === seat && one.search && one.search.loss !== undefined);
    if (!mine.length) continue;
    const same = mine.filter((one) => one.played === one.search.best).length;
    const lost = mine.reduce((sum, one) => sum + one.search.loss, 0) / mine.length;
    const cells = [`${mine.length}`, percent(same / mine.length), number(lost, 2), `${mine.filter(isBlunder).length}`];
    rows.push(make("tr", {}, make("th", { scope: "row" }, `${seat}`), ...cells.map((text) => make("td", { class: "number" }, text))));
  }
  return make("table", {}, make("caption", { class: "hidden" }, "How the seats played"), make("thead", {}, head), make("tbody", {}, ...rows));
}

function writeReading() {
  const texts = [
    "The table shows a position before the move that the line below it names. The tile played last is marked.",
    "Makes: points that the tile itself brings at once. Chance: how likely the policy makes the move; one that does not draw its moves plays the likeliest. Under the tiles of the hand these chances stand as bars.",
    "Points to come: what the seat expects from here on, its own points less the mean of the others' (with sides, less the other side's). The value of a trained agent is the sum of its rewards to come, up to the end of the games that it was trained in; times the target that is points, if it was trained for points, as all shipped agents are.",
  ];
  if (DATA.search) {
    texts.push(`Search: what a move brings for the rest of the round on average over worlds, deals of the hidden tiles that the seat could not tell from the true one, played out by greedy (${DATA.search.name}). It knows no more than the seat did.`);
    texts.push(`A blunder loses at least ${number(DATA.search.blunder, 2)} points against the best move of the search, and the loss is at least ${DATA.search.clear} times its standard error, both moves compared in the same worlds. The search is a strong reader, not the truth.`);
  }
  $("reading").replaceChildren(...texts.map((text) => make("p", {}, text)));
}
