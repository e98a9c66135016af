// What both pages use: asking the server, making elements, and the theme.

export class Refusal extends Error {
  // an answer that says no: its text, status and the field that it is about
  constructor(text, status, field) {
    super(text);
    this.status = status;
    this.field = field;
  }
}

// Ask by GET, or tell by POST where there is a body. Throws Refusal for an answer that says no, TypeError where there is no answer.
export async function ask(path, body) {
  const post = {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body)};
  const answer = await fetch(path, body === undefined ? {} : post);
  let value = null;
  try {
    value = await answer.json();
  } catch {
    throw new TypeError("an answer that is no JSON");
  }
  if (!answer.ok) throw new Refusal(value.error, answer.status, value.field);
  return value;
}

// An element with properties and children; what is not a property of elements becomes an attribute.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

export const byId = (id) => document.getElementById(id);

// A tile, or the back of one, out of the symbols of the page.
export function picture(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "-21 -41 42 82");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#tile-${name}`);
  svg.append(use);
  return svg;
}

// Read a text as SVG without letting anything in it run.
export function drawing(text) {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

export const signed = (points) => (points < 0 ? `−${-points}` : `+${points}`);

export function readyTheme(button) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  const tell = () => (button.textContent = chosen() === "dark" ? "Light" : "Dark");
  try {
    const kept = localStorage.getItem("domino-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch { /* a browser that keeps nothing */ }
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = chosen() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("domino-theme", chosen());
    } catch { /* a browser that keeps nothing */ }
    tell();
  });
  dark.addEventListener("change", tell);
  tell();
}
