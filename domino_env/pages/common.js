"use strict";
// What every page shares: making elements, words for numbers, and the theme.

const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// a picture that the file brings along, as an element
function picture(text, hide = false) {
  const holder = document.createElement("template");
  holder.innerHTML = text;
  const svg = holder.content.firstElementChild;
  if (hide) svg.setAttribute("aria-hidden", "true");
  return svg;
}

function bar(share, kind = "") {
  const inner = make("i");
  inner.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return make("span", { class: `bar ${kind}`, "aria-hidden": "true" }, inner);
}

const MINUS = "\u2212";
const number = (value, digits) => value.toFixed(digits).replace("-", MINUS);
const signed = (value, digits = 1) => (value > 0 ? "+" : "") + number(Object.is(value, -0) ? 0 : value, digits);
const percent = (share) => (share > 0 && share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`);
const count = (many, one) => `${many} ${one}${many === 1 ? "" : "s"}`;
const points = (value) => (value === null ? "" : value === 0 ? "0" : signed(value, 0));

const THEMES = ["auto", "light", "dark"];

function remembered() {
  try {
    return localStorage.getItem("domino-theme");
  } catch {
    return null; // files may have no storage
  }
}

function setTheme(name) {
  if (name === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = `Theme: ${name}`;
  $("theme").dataset.name = name;
  try {
    localStorage.setItem("domino-theme", name);
  } catch {
    // it lasts as long as the page then
  }
}
