// A comparison as a page of its own: no server, no gradio; its messages lie in the page as JSON.

import { make, query } from './base/dom.js';
import { compareBoard } from './compare/board.js';

/** @param {HTMLElement} page */
export function play(page) {
  page.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  const { messages, link } = JSON.parse(query(page, '#run').textContent);
  const { prompt, settings } = JSON.parse(messages[0]);
  const heading = make('header', [make('h2', `“${prompt.trim()}”`)], 'sv-ui');
  if (/^https?:/.test(link)) heading.append(make('a', 'Open it again', { href: link }));
  page.prepend(heading);
  document.title = `specviz: ${prompt}`;
  const board = compareBoard(page, {}, () => settings); // no controls hold others
  for (const message of messages) board.receive(message);
  board.follow();
}
