// Expected points over the game.

const HIGH = 150;
const EDGE = 34; // room for the numbers
let wide = 600;
const across = (place) => EDGE + ((wide - EDGE - 8) * place) / Math.max(1, LAST);

function drawChart() {
  const series = Array.from({ length: DATA.players }, () => []);
  for (const [place, decision] of Object.entries(DATA.decisions)) {
    const value = worth(decision);
    if (value !== null) series[decision.seat].push([Number(place), value]);
  }
  const all = series.flat().map(([, value]) => value);
  $("chart-note").textContent = all.length ? "" : "Nothing is said of points.";
  $("legend").replaceChildren(...series.flatMap((line, seat) => (line.length ? [legendEntry(seat)] : [])));
  if (!all.length) {
    $("chart").replaceChildren();
    return;
  }
  wide = Math.max(200, $("chart").clientWidth);
  const most = Math.max(1, ...all.map(Math.abs));
  const up = (value) => HIGH / 2 - ((HIGH / 2 - 12) * value) / most;
  const label = `Points to come that each seat expects at its decisions, from ${signed(Math.min(...all))} to ${signed(Math.max(...all))}`;
  const svg = drawn("svg", { width: wide, height: HIGH, role: "img", "aria-label": label });
  svg.append(drawn("line", { class: "zero", x1: across(0), x2: wide - 8, y1: up(0), y2: up(0) }));
  for (const value of [most, 0, -most]) svg.append(chartText(0, up(value) + 4, signed(value, most < 10 ? 1 : 0)));
  for (const place of starts.slice(1)) svg.append(drawn("line", { class: "deal", x1: across(place), x2: across(place), y1: 6, y2: HIGH - 6 }));
  series.forEach((line, seat) => drawLine(svg, line, seat, up));
  for (const { place, decision } of blunders.filter((one) => isBlunder(one.decision))) {
    const value = worth(decision);
    if (value !== null) svg.append(drawn("circle", { class: "blunder", cx: across(place), cy: up(value), r: 5 }));
  }
  svg.append(drawn("line", { class: "cursor", id: "cursor", y1: 4, y2: HIGH - 4, x1: across(at), x2: across(at) }));
  svg.addEventListener("click", (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    go(Math.round(((x - EDGE) / (wide - EDGE - 8)) * LAST));
  });
  $("chart").replaceChildren(svg);
}

// a line breaks where a new round begins
function drawLine(svg, line, seat, up) {
  let part = [];
  const finish = () => {
    if (part.length === 1) svg.append(drawn("circle", { class: `ink-${seat}`, cx: across(part[0][0]), cy: up(part[0][1]), r: 1.5 }));
    else if (part.length) svg.append(drawn("polyline", { class: `line ink-${seat}`, points: part.map(([place, value]) => `${across(place).toFixed(1)},${up(value).toFixed(1)}`).join(" ") }));
    part = [];
  };
  for (const point of line) {
    if (part.length && POSITIONS[part[0][0]].round !== POSITIONS[point[0]].round) finish();
    part.push(point);
  }
  finish();
}

function chartText(x, y, text) {
  return drawn("text", { x, y }, text);
}

function legendEntry(seat) {
  const swatch = drawn("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, drawn("line", { class: `line ink-${seat}`, x1: 0, x2: 26, y1: 4, y2: 4, "stroke-width": 2 }));
  return make("span", {}, swatch, `seat ${seat}`);
}
