// A run as a page of its own: no server, no gradio; the run lies in the page as JSON.

import { one } from './base/dom.js';
import { runPlayer } from './stage/player.js';

/** @param {HTMLElement} page */
export function play(page) {
  page.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  runPlayer(page).receive(one(page, '#run').textContent);
}
