// The text of a run: one span for each token, with the step and the node that wrote it.

import { make } from './dom.js';

/** The tokens of a step, all of them later ones until `follow` reaches them. @param {Step} step */
export function spansOf(step) {
  return step.pieces.map((piece, i) => {
    const own = step.last && i === step.pieces.length - 1;
    const span = make('span', piece, (own && step.last) || 'accepted');
    if (/^\s*\n\s*$/.test(piece)) span.classList.add('newline');
    span.classList.add('later'); // or the end of a text would be there before its turn
    span.dataset.step = String(step.index);
    span.dataset.key = own ? 'last' : String(step.path[i]);
    return span;
  });
}

/** The nodes that were accepted, from the root down. @param {Sent} step */
export function pathOf(step) {
  return step.outcome.flatMap((outcome, i) => (outcome === 'accepted' ? [i] : []));
}

/**
 * Marks the step at hand and scrolls to the last token that is written.
 * @param {HTMLElement} box
 * @param {HTMLElement[][]} spans those of each step
 * @param {number} current
 * @param {number} [count] how many tokens of that step are in the text yet
 */
export function follow(box, spans, current, count = Infinity) {
  spans.forEach((tokens, i) =>
    tokens.forEach((span, at) => {
      span.classList.toggle('later', i > current || (i === current && at >= count));
      span.classList.toggle('here', i === current);
    }),
  );
  // A line break also reaches into the next line, where nothing is written yet.
  const written = spans.flat().filter(span => !span.classList.contains('later'));
  const last = written.findLast(span => span.textContent?.trim());
  if (last) show(box, last);
  else box.scrollTop = 0;
}

/** @param {HTMLElement} box @param {HTMLElement} span */
function show(box, span) {
  const top = span.offsetTop - box.offsetTop,
    height = span.offsetHeight,
    line = parseFloat(getComputedStyle(box).lineHeight) || 1;
  // The last line that is seen, after what was written before it; no line is cut.
  const hidden = Math.max(0, top + height - box.clientHeight);
  box.scrollTop = line * Math.ceil(hidden / line - 0.2);
}

/**
 * Calls with the step and the node of a token that is clicked.
 * @param {HTMLElement} box
 * @param {(step: number, key: string) => void} chosen
 */
export function onToken(box, chosen) {
  box.onclick = (/** @type {any} */ { target }) => {
    const { step, key } = target.closest('[data-step]')?.dataset ?? {};
    if (step) chosen(Number(step), key);
  };
}
