// A run as a page of its own: no server, no gradio; the run lies in the page as JSON.

import { runPlayer } from './stage/player.js';

export function play(page) {
  page.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  runPlayer(page).receive(page.querySelector('#run').textContent);
}
