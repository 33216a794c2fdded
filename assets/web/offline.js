// A run as a page of its own: no server, no gradio; the run lies in the page as JSON.

import { query } from './base/dom.js';
import { runPlayer } from './stage/player.js';

/** @param {HTMLElement} page */
export function play(page) {
  if (window.parent !== window) tellHeight(page);
  page.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  runPlayer(page).receive(query(page, '#run').textContent);
}

/**
 * Tell a notebook around the page how tall it is: when it asks, and when that changes.
 * @param {HTMLElement} page
 */
function tellHeight(page) {
  const postHeight = () => window.parent.postMessage({ height: page.offsetHeight }, '*');
  new ResizeObserver(postHeight).observe(page);
  addEventListener('message', postHeight);
}
