// The note beside a token of a step, the first that was rejected unless another is tried: its arithmetic, at the nearest place that covers no node and no edge.

import { draw } from '../base/dom.js';
import { visible } from '../base/text.js';

/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('./paint.js').Sizes} Sizes */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box in units of the picture */

const EDGE = 12; // between the frame of the note and its text
const STEP = 8; // between two places that are tried
const SLACK = 1.06; // of a line's width: words are wider in some fonts than they are estimated

/** The token that a step's note is about: the first that was rejected by a draw, else the first rejected. @param {Step} step */
export function rejectedNode(step) {
  const rejected = [...step.outcome].flatMap((letter, node) => (letter === 'x' ? [node] : []));
  return rejected.find(node => step.coin[node] !== null) ?? rejected[0];
}

/**
 * What the note says: which token, the arithmetic, and the formula behind it.
 * @param {Step} step
 * @param {number} node
 */
export function noteLines(step, node) {
  const siblings = step.parents.flatMap((parent, i) => (i > 0 && parent === step.parents[node] && step.outcome[i] !== 'o' ? [i] : []));
  const turn = siblings.indexOf(node) + 1, next = siblings.slice(turn).find(i => 'axp'.includes(step.outcome[i]));
  const which = siblings.length > 1 ? `, child ${turn} of ${siblings.length}` : ', the only child';
  const [arithmetic, ...rest] = step.sentences[step.why[node]].replace(/\.$/, '').split(/ (?=\()/);
  const then = step.outcome[node] !== 'x' ? '' : next !== undefined ? 'The next sibling is tried.' : step.last === 'correction' ? 'No sibling is left: the target writes the token.' : '';
  return [`“${visible(step.texts[node])}”${which}`, arithmetic, [rest.join(' ').replace(/^\((.*)\)$/, 'accepted if the uniform draw u is below $1'), then].filter(Boolean).join('. ')]
    .filter(Boolean);
}

/**
 * Text in lines of at most this width.
 * @param {string} text
 * @param {number} most
 * @param {(text: string) => number} width
 */
function wrapped(text, most, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
    if (width(longer) <= most || !lines[lines.length - 1]) lines[lines.length - 1] = longer; else lines.push(word);
  }
  return lines;
}

/** @param {Box} one @param {Box} other */
const overlap = (one, other) => one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;

/**
 * The nearest free place for a box of this size; above all that is taken where there is none inside.
 * @param {{ wide: number, high: number }} note
 * @param {{ x: number, y: number }} to what it is about
 * @param {Box[]} taken
 * @param {Box} room
 * @returns {Box}
 */
export function freePlace({ wide, high }, to, taken, room) {
  const right = Math.max(room.left, room.right - wide), above = Math.min(room.bottom, ...taken.map(box => box.top)) - high;
  const best = { cost: Infinity, left: Math.min(right, Math.max(room.left, to.x - wide / 2)), top: above };
  for (let top = room.top; top <= room.bottom - high; top += STEP) {
    for (let left = room.left; left <= right; left += STEP) {
      const dx = Math.max(left - to.x, 0, to.x - left - wide), dy = Math.max(top - to.y, 0, to.y - top - high);
      const cost = Math.hypot(dx, dy);
      if (cost >= best.cost) continue;
      const here = { left, top, right: left + wide, bottom: top + high };
      if (!taken.some(box => overlap(here, box))) Object.assign(best, { cost, left, top });
    }
  }
  return { left: best.left, top: best.top, right: best.left + wide, bottom: best.top + high };
}

/**
 * Draws the note; returns it and where it is.
 * @param {SVGElement} parent
 * @param {string[]} lines
 * @param {{ x: number, y: number }} to
 * @param {Box[]} taken
 * @param {Box} room
 * @param {Sizes} sizes
 * @param {string} [outcome] of the token
 */
export function drawNote(parent, lines, to, taken, room, { size, unit, words }, outcome = 'x') {
  const most = (Math.min(400 * unit, room.right - room.left) - 2 * EDGE) / SLACK, high = size * 1.45;
  const all = lines.flatMap((line, i) => wrapped(line, most, words).map(text => ({ text, kind: ['what', 'sum', 'soft'][i] })));
  const wide = Math.max(...all.map(({ text }) => words(text))) * SLACK + 2 * EDGE;
  const box = freePlace({ wide, high: all.length * high + EDGE }, to, taken, room);
  const made = draw('g', { class: `note ${outcome}` }, parent);
  const x = Math.min(box.right, Math.max(box.left, to.x)), below = to.y < box.top;
  const y = below ? box.top : to.y > box.bottom ? box.bottom : to.y, aside = y === to.y ? (to.x < box.left ? 9 : -9) * unit : 0;
  draw('path', { class: 'leader', d: `M${to.x + aside} ${to.y + (aside ? 0 : below ? 9 : -9) * unit}L${aside ? (to.x < box.left ? box.left : box.right) : x} ${y}` }, made);
  draw('rect', { x: box.left, y: box.top, width: wide, height: box.bottom - box.top, rx: 8 * unit }, made);
  all.forEach(({ text, kind }, i) => {
    draw('text', { class: kind, x: box.left + EDGE, y: box.top + EDGE / 2 + high * (i + 0.72), 'font-size': size * 0.95 }, made, text);
  });
  return { ...box, note: made };
}
