// The start page: what is played, by whom, and the games that were begun.

import {ask, byId, make, readyTheme} from "/files/shared.js";

const OTHER = "another";
let variants = [];

readyTheme(byId("theme"));
load();

async function load() {
  let start;
  try {
    start = await ask("/api/start");
  } catch (error) {
    byId("fault").textContent = `The server does not answer (${error.message}). Start it again, then reload this page.`;
    return;
  }
  variants = start.variants;
  byId("variant").replaceChildren(...variants.map(({variant}) => make("option", {value: variant, textContent: variant})));
  showGames(start.games);
  recall();
  for (const id of ["variant", "seats", "sides", "seat"]) byId(id).addEventListener("change", fill);
  byId("setup").addEventListener("submit", sit);
}

const chosen = () => variants.find(({variant}) => variant === byId("variant").value);

// What the last table was, as far as it is still there.
function recall() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem("domino-setup")) || {};
  } catch { /* nothing kept */ }
  if (variants.some(({variant}) => variant === kept.variant)) byId("variant").value = kept.variant;
  else byId("variant").value = "bergen";
  fill();
  for (const id of ["seats", "episode", "seat"]) {
    if ([...byId(id).options].some(({value}) => value === kept[id])) byId(id).value = kept[id];
    fill();
  }
}

// Fit every choice to the ones before it.
function fill() {
  const {line, seats, policies} = chosen();
  byId("line").textContent = line;
  choices(byId("seats"), seats.map(String));
  const count = Number(byId("seats").value);
  byId("sides-label").hidden = count !== 4;
  const sides = count === 4 && byId("sides").checked;
  choices(byId("seat"), [...Array(count).keys()].map(String));
  fillOpponents(policies[sides ? "4 sides" : count], count, Number(byId("seat").value));
}

function choices(select, values) {
  const value = select.value;
  select.replaceChildren(...values.map((each) => make("option", {value: each, textContent: each})));
  if (values.includes(value)) select.value = value;
}

function fillOpponents(policies, count, own) {
  const before = Object.fromEntries([...document.querySelectorAll("#opponents select")].map((select) => [select.id, select.value]));
  const written = Object.fromEntries([...document.querySelectorAll("#opponents input")].map((input) => [input.id, input.value]));
  const rows = [];
  for (let seat = 0; seat < count; seat++) {
    if (seat === own) continue;
    const id = `policy-${seat}`;
    const options = policies.map(([spec, label]) => make("option", {value: spec, textContent: label}));
    options.push(make("option", {value: OTHER, textContent: "another, by name or path"}));
    const select = make("select", {id}, ...options);
    if (options.some(({value}) => value === before[id])) select.value = before[id];
    const path = make("input", {id: `path-${seat}`, autocomplete: "off", spellcheck: false, value: written[`path-${seat}`] || ""});
    path.setAttribute("aria-label", `Name or path of the policy of seat ${seat}`);
    path.hidden = select.value !== OTHER;
    select.addEventListener("change", () => {
      path.hidden = select.value !== OTHER;
      if (!path.hidden) path.focus();
    });
    const label = make("label", {htmlFor: id, textContent: `Seat ${seat}`});
    rows.push(make("div", {className: "opponent"}, label, select, path));
  }
  byId("opponents").replaceChildren(...rows);
}

function setup() {
  const count = Number(byId("seats").value);
  const own = Number(byId("seat").value);
  const specs = [...Array(count).keys()].map((seat) => {
    if (seat === own) return null;
    const spec = byId(`policy-${seat}`).value;
    return spec === OTHER ? byId(`path-${seat}`).value : spec;
  });
  const sides = count === 4 && byId("sides").checked;
  const seed = byId("seed").value.trim();
  return {variant: byId("variant").value, specs, rules: sides ? {sides: true} : {}, episode: byId("episode").value, ...(seed && {seed})};
}

async function sit(event) {
  event.preventDefault();
  clearFaults();
  byId("sit").disabled = true;
  try {
    const {id} = await ask("/api/games", setup());
    try {
      const kept = Object.fromEntries(["variant", "seats", "episode", "seat"].map((each) => [each, byId(each).value]));
      localStorage.setItem("domino-setup", JSON.stringify(kept));
    } catch { /* a browser that keeps nothing */ }
    location.href = `/game/${id}`;
  } catch (error) {
    byId("sit").disabled = false;
    showFault(error);
  }
}

function clearFaults() {
  byId("fault").textContent = "";
  for (const element of document.querySelectorAll("[aria-invalid]")) {
    element.removeAttribute("aria-invalid");
    element.removeAttribute("aria-errormessage");
  }
}

function showFault(error) {
  const seat = /^specs\.(\d+)$/.exec(error.field || "");
  byId("fault").textContent = error.status ? `${seat ? `Seat ${seat[1]}: ` : ""}${error.message}` : "The server does not answer: is it still running?";
  let field = byId(error.field || "");
  if (seat) field = byId(`path-${seat[1]}`).hidden ? byId(`policy-${seat[1]}`) : byId(`path-${seat[1]}`);
  if (field) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", "fault");
    field.focus();
  }
}

function showGames(games) {
  byId("games-section").hidden = games.length === 0;
  byId("games").replaceChildren(...games.map(gameRow));
}

function gameRow(game) {
  const remove = make("button", {type: "button", textContent: "Remove"});
  const what = game.fault ? game.fault : `${game.over ? "over" : `round ${game.round}`}, ${scores(game)}`;
  const title = game.fault ? `Game ${game.id}` : game.title;
  const row = make("li", {}, make("div", {}, make("b", {textContent: title}), make("span", {className: "quiet", textContent: what})));
  remove.setAttribute("aria-label", `Remove: ${title}`);
  remove.addEventListener("click", async () => {
    if (!game.over && !window.confirm(`Remove ${title}? It cannot be played on then.`)) return;
    try {
      await ask(`/api/games/${game.id}/remove`, {});
    } catch (error) {
      byId("fault").textContent = error.message;
      return;
    }
    const next = row.nextElementSibling || row.previousElementSibling;
    row.remove();
    byId("games-section").hidden = !next;
    (next ? next.querySelector("button") : byId("variant")).focus();
  });
  if (!game.fault) {
    const open = make("a", {className: "button", href: `/game/${game.id}`, textContent: game.over ? "Look at" : "Play on"});
    open.setAttribute("aria-label", `${open.textContent}: ${title}, ${what}`);
    row.append(open);
  }
  row.append(remove);
  return row;
}

const scores = ({scores: all, names}) => all.map((score, seat) => `${names[seat]} ${score}`).join(", ");
