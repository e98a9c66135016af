// What was thought of a decision, move by move.

function showThoughts(position) {
  const decision = decisionAt(at);
  if (!decision) {
    $("thought").textContent = noThought(position);
    $("choices").replaceChildren();
    return;
  }
  $("thought").replaceChildren(...thoughtLine(decision));
  $("choices").replaceChildren(choicesTable(decision));
}

function noThought(position) {
  if (position.over !== null) return "The round is over: nobody decides.";
  if (position.choices === null) return `The hand of seat ${position.turn} is hidden, and so is what it thought.`;
  return "Only one move is legal: nothing to think about.";
}

function thoughtLine(decision) {
  const thought = thoughtOf(decision);
  const line = [];
  if (!bySearch() || DATA.search) {
    const value = worth(decision);
    const raw = thought && thought.reward !== undefined ? ` (value ${signed(thought.reward, 3)})` : "";
    const expects = value === null ? " says nothing of points." : ` expects ${signed(value)} points to come${raw}.`;
    line.push(`Seat ${decision.seat} decides: ${thinkerName(decision.seat)}${expects} `);
  } else {
    line.push(`Seat ${decision.seat} decides. `);
  }
  return line.concat(verdict(decision));
}

function verdict(decision) {
  const found = decision.search;
  if (!found || found.loss === undefined) return [];
  const better = decision.moves[found.best].words;
  if (found.blunder) return [make("span", { class: "bad" }, `Blunder: ${number(found.loss, 1)} points less than ${better}.`)];
  if (decision.played === found.best) return ["The search would do the same."];
  if (found.clear) return [`The search finds ${number(found.loss, 1)} points more in ${better}.`];
  return [`The search leans to ${better}, within its noise.`];
}

function ranked(decision, thought) {
  const values = decision.search ? decision.search.values : null;
  const key = (k) => [thought ? thought.chance[k] : 0, thought && thought.values ? (thought.values[k] ?? -1e9) : 0, values ? values[k] : decision.moves[k].points || 0];
  return decision.moves.map((_, k) => k).sort((a, b) => {
    const [one, two] = [key(a), key(b)];
    const differ = one.findIndex((value, n) => value !== two[n]);
    return differ < 0 ? a - b : two[differ] - one[differ];
  });
}

function choicesTable(decision) {
  const thought = thoughtOf(decision);
  const found = decision.search;
  const head = make("tr", {}, make("th", { scope: "col" }, "Move"), make("th", { scope: "col", class: "number" }, "Makes"));
  if (thought) head.append(make("th", { scope: "col" }, thought.values ? "Chance, value" : "Chance"));
  if (found) head.append(make("th", { scope: "col" }, "Search"));
  const body = make("tbody", {}, ...ranked(decision, thought).map((k) => choiceRow(decision, k, thought, found)));
  return make("table", {}, make("caption", { class: "hidden" }, "Legal moves"), make("thead", {}, head), body);
}

function choiceRow(decision, k, thought, found) {
  const move = decision.moves[k];
  const words = make("span", {}, move.words, make("br"), ...tags(decision, k, thought, found));
  const cell = make("th", { scope: "row" }, make("div", { class: "move" }, move.tile === null ? null : picture(DATA.tiles[move.tile], true), words));
  const row = make("tr", { class: decision.played === k ? "made" : "" }, cell, make("td", { class: "number" }, move.points === null ? "?" : points(move.points)));
  if (thought) {
    const value = thought.values && thought.values[k] !== null ? `, ${signed(thought.values[k])}` : "";
    row.append(make("td", {}, percent(thought.chance[k]) + value, bar(thought.chance[k])));
  }
  if (found) {
    const [low, high] = [Math.min(...found.values), Math.max(...found.values)];
    const share = high > low ? 0.04 + (0.96 * (found.values[k] - low)) / (high - low) : 1;
    row.append(make("td", {}, signed(found.values[k]), bar(share, "two")));
  }
  return row;
}

function tags(decision, k, thought, found) {
  const out = [];
  if (decision.played === k) out.push(["played", "played"]);
  if (found && found.blunder && decision.played === k) out.push(["blunder", "bad"]);
  if (thought && thought.takes === k && decision.played !== k) out.push(["its choice", ""]);
  if (found && found.best === k) out.push(["search", "best"]);
  if (decision.greedy === k) out.push(["greedy", ""]);
  return out.map(([text, kind]) => make("span", { class: `tag ${kind}` }, text));
}
