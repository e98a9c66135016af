// What the page knows, and which place of the game it shows: everything is in DATA, and what is shown follows from `at`.

const DATA = JSON.parse($("data").textContent);
const POSITIONS = DATA.positions;
const LAST = POSITIONS.length - 1;

let at = DATA.start; // number of the position
let thinker = 0; // number of the one whose thoughts are shown

const decisionAt = (place) => DATA.decisions[place] || null;
const isBlunder = (decision) => Boolean(decision && decision.search && decision.search.blunder);
const SEARCH = DATA.thinkers.length; // the number of the search among those whose thoughts can be shown
const bySearch = () => thinker === SEARCH;
const thoughtOf = (decision) => (decision && !bySearch() ? decision.thoughts[thinker] : null);
const thinkerName = (seat) => (bySearch() ? DATA.search.name : DATA.thinkers[thinker].names[seat]);

// points to come that the one whose thoughts are shown expects of a decision
function worth(decision) {
  if (bySearch()) return decision.search ? decision.search.values[decision.search.best] : null;
  return thoughtOf(decision).value ?? null;
}

const starts = POSITIONS.flatMap((position, place) => (position.event === 0 ? [place] : []));
const blunders = Object.entries(DATA.decisions)
  .filter(([, decision]) => decision.search && decision.search.clear)
  .map(([place, decision]) => ({ place: Number(place), decision, loss: decision.search.loss }))
  .sort((a, b) => b.loss - a.loss || a.place - b.place);

function placeText(position) {
  if (position.over !== null) return `Round ${position.round} is over`;
  return position.event === 0 ? `Round ${position.round}, dealt` : `Round ${position.round}, move ${position.event}`;
}

function lastMove(place) {
  return POSITIONS[place].event > 0 ? POSITIONS[place - 1].next : null;
}

// each step in words, for the line below the table and for screen readers
function stepText(place) {
  const position = POSITIONS[place];
  const move = lastMove(place);
  const parts = [];
  if (move) parts.push(`Seat ${move.seat} ${move.words}${move.points ? ` for ${signed(move.points, 0)} ${Math.abs(move.points) === 1 ? "point" : "points"}` : ""}.`);
  else parts.push(`Round ${position.round} is dealt, seat ${position.turn} leads.`);
  if (position.over !== null) parts.push(position.over);
  else parts.push(turnText(position));
  if (isBlunder(decisionAt(place))) parts.push(`A blunder: it loses ${number(decisionAt(place).search.loss, 1)} points.`);
  return parts.join(" ");
}

function turnText(position) {
  const next = position.next;
  const now = `Seat ${position.turn}`;
  if (!next) return `${now} is to move; the record ends here.`;
  if (position.choices === 1) return `${now} has one move: it ${next.words}.`;
  return position.choices === null ? `${now} ${next.words}.` : `${now} has ${position.choices} moves and ${next.words}.`;
}
