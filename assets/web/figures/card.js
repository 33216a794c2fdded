// The words of a figure and the status line: JSON in, text nodes out. Nothing here is ever parsed as markup.

import { give, make } from '../base/dom.js';

export function figureCard(element, value) {
  const card = JSON.parse(value || '{}'), find = (name) => element.querySelector(name);
  find('h2').textContent = card.title || '';
  const source = find('.sv-source');
  source.textContent = card.source ? card.source.label : '';
  source.dataset.kind = card.source ? card.source.kind : '';
  find('.sv-read').textContent = card.read || '';
  find('.sv-made').textContent = card.made || '';
  find('.sv-files').replaceChildren(...(card.files || []).map((file) => downloadButton(file, card.title)));
}

export function downloadButton(file, title) {
  const button = make('button', file.label);
  button.type = 'button';
  button.setAttribute('aria-label', `Download ${file.label} of: ${title}`);
  button.addEventListener('click', () => give(file.name, new Blob([file.text], { type: 'application/octet-stream' })));
  return button;
}

export function statusLine(element, value) {
  const status = JSON.parse(value || '{}'), line = element.querySelector('.sv-notice');
  line.dataset.kind = status.kind || (status.text ? 'note' : '');
  line.querySelector('.text').textContent = status.text || '';
  const bar = element.querySelector('.sv-progress');
  if (!bar) return;
  bar.hidden = !status.of;
  bar.max = status.of || 1;
  bar.value = status.done || 0;
}
