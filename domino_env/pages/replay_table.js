// The table and the hands of a position.

const LEAST = [480, 300]; // units that the picture of a table shows at least, across and down

function showTable(position) {
  $("where").textContent = placeText(position);
  $("boneyard").textContent = `Boneyard: ${position.boneyard}`;
  $("table").replaceChildren(cut(picture(position.table), position.round));
  markNext(position.next);
  $("ends").textContent = position.ends ? `Open ends: ${position.ends}` : "";
  $("told").textContent = stepText(at);
}

// the picture, cut to what lies on the table at the end of the round: large, and it does not jump from move to move
const cuts = new Map();

function cut(svg, round) {
  if (!cuts.has(round)) {
    const last = picture(DATA.positions.findLast((position) => position.round === round).table);
    $("table").replaceChildren(last);
    const box = last.getBBox();
    const [width, height] = [Math.max(LEAST[0], box.width + 40), Math.max(LEAST[1], box.height + 40)];
    cuts.set(round, [box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height].join(" "));
  }
  svg.setAttribute("viewBox", cuts.get(round));
  return svg;
}

// the place where the tile goes that is played next
function markNext(move) {
  const arm = move && /@([a-z]+)/.exec(move.text);
  if (arm) $("table").querySelector(`.end[data-arm="${arm[1]}"]`)?.classList.add("next");
}

function showHands(position) {
  const decision = decisionAt(at);
  const thought = thoughtOf(decision);
  $("hands").replaceChildren(...position.hands.map((hand, seat) => showHand(position, hand, seat, decision, thought)));
}

function showHand(position, hand, seat, decision, thought) {
  const turn = position.turn === seat;
  const who = make("div", { class: "who" }, make("b", {}, `Seat ${seat}`), ` ${count(position.scores[seat], "point")}`);
  for (const text of [DATA.seats[seat] || "", position.lucky[seat], position.notes[seat]]) if (text) who.append(make("span", {}, text));
  const tiles = make("ul", { class: "tiles", "aria-label": `Hand of seat ${seat}: ${count(hand.length, "tile")}` });
  for (const tile of hand) tiles.append(tile < 0 ? make("li", {}, picture(DATA.back)) : handTile(tile, turn ? decision : null, thought));
  return make("li", { class: turn ? "turn" : "" }, who, hand.length ? tiles : make("p", { class: "quiet" }, "no tiles"));
}

// a tile of a hand; under those of the seat that decides, how likely it is that the tile is played
function handTile(tile, decision, thought) {
  const item = make("li", {}, picture(DATA.tiles[tile]));
  if (!decision) return item;
  const mine = decision.moves.flatMap((move, k) => (move.tile === tile ? [k] : []));
  if (mine.includes(decision.played)) item.className = "played";
  if (thought && mine.length) {
    const share = mine.reduce((sum, k) => sum + thought.chance[k], 0);
    const inner = make("i");
    inner.style.width = `${100 * share}%`;
    item.append(make("span", { class: "meter", title: percent(share) }, inner), make("span", { class: "hidden" }, percent(share)));
  }
  return item;
}
