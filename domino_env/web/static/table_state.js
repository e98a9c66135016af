// What the table page knows, and how it speaks: to ears, and of what goes wrong.

import {byId, make} from "/files/shared.js";

const LOGGED = 40;

export const state = {
  about: null,
  shown: null, // the position on the page
  queue: [], // positions that are still to be shown
  view: null, // the last answer of the server
  number: -1, // last step that came from the server
  busy: true, // while moves of others are shown or awaited, or a move of one's own is on its way
  showing: false,
  catching: null, // the promise of an answer that was asked for when the page came back to eyes
  tile: null, // the tile that was chosen, until its place is
  follow: false, // whether the keyboard was in the hand when the turn ended
  told: [], // moves since one's own
  slept: 0, // when polling began
  move: null, // what makes a move: set by the page
};

export function say(text) {
  const log = byId("log");
  log.append(make("p", {textContent: text}));
  while (log.children.length > LOGGED) log.firstChild.remove();
}

export function banner(text) {
  const box = byId("banner");
  if (box.textContent === text && box.hidden === !text) return;
  box.hidden = !text;
  box.replaceChildren(text);
}
