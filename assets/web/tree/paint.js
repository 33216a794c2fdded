// The marks of a tree as SVG. What is drawn depends only on the frame and on the places of things.

import { makeSvg } from '../base/dom.js';
import { visible } from '../base/text.js';
import { outlineOf } from './sources.js';

/** @typedef {import('../stage/frames.js').Frame} Frame */
/** @typedef {import('./sizes.js').Placed} Placed */
/** @typedef {import('./sizes.js').Sizes} Sizes */

/** @type {Record<string, string>} */
const SHAPES = {
  root: 'M0 -6A6 6 0 1 1 0 6A6 6 0 1 1 0 -6Z',
  accepted: 'M-6 -6H6V6H-6Z',
  rejected: 'M-5 -5L5 5M5 -5L-5 5',
  unreached: 'M0 -4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0 -4.5Z',
  passed: 'M0 -7L7 5H-7Z',
  probe: 'M-5 -4H5L0 5Z',
  bonus: 'M0 -8L8 0L0 8L-8 0Z',
  correction: 'M0 -8L8 0L0 8L-8 0Z',
};

/** What marks of an outcome look like, for a legend. @param {string} outcome */
export function markOf(outcome) {
  const svg = makeSvg('svg', { viewBox: '-9 -9 18 18', class: `node ${outcome}` });
  makeSvg('path', { class: 'shape', d: SHAPES[outcome] }, svg);
  return svg;
}

/**
 * Edges and nodes, two groups.
 * @param {Placed[]} marks
 * @param {Sizes} sizes
 * @param {Frame | null} frame of the step; its outcome where there is none
 */
export function paint(marks, sizes, frame) {
  const edges = makeSvg('g');
  const nodes = makeSvg('g', { 'font-size': sizes.size });
  for (const mark of marks) {
    const outcome = frame?.later.has(mark.node) && mark.node ? 'unreached' : mark.outcome;
    if (mark.from) paintEdge(edges, mark, outcome, sizes);
    paintNode(nodes, mark, outcome, sizes, frame);
  }
  return { edges, nodes };
}

/** Units from a mark to its edges; one without a name is small. @param {Placed} mark */
const radiusOf = ({ label }) => (label ? 10 : 6);

/**
 * The edge to a mark; it is as wide as the draft's probability is high.
 * @param {SVGElement} parent
 * @param {Placed} mark
 * @param {string} outcome
 * @param {Sizes} sizes
 */
function paintEdge(parent, mark, outcome, { unit, below }) {
  const from = /** @type {Placed} */ (mark.from);
  const { left, top, label, start, wide } = from;
  let end = mark.left - radiusOf(mark) * unit;
  if (mark.order) end -= 10 * unit;
  let begin = left + radiusOf(from) * unit;
  // A label below its mark is beside no edge of its own row, but an edge to another would cross it.
  if (label && !(below && top === mark.top)) begin = Math.max(begin, left + start + wide + 4);
  const middle = begin + (below ? 0.2 : 0.5) * (end - begin);
  const bend = `C${middle} ${top} ${middle} ${mark.top} ${end} ${mark.top}`;
  const d = `M${begin} ${top}${top === mark.top ? `H${end}` : bend}`;
  const width = ((outcome === 'accepted' ? 2.5 : 1.2) + 5 * (mark.q ?? 0.1)) * unit;
  const look = { class: `edge ${outcome}`, d, 'stroke-width': width.toFixed(2) };
  makeSvg('path', { ...look, 'data-key': mark.key }, parent);
}

/**
 * A mark with its label and what is written at it.
 * @param {SVGElement} parent
 * @param {Placed} mark
 * @param {string} outcome
 * @param {Sizes} sizes
 * @param {Frame | null} frame
 */
function paintNode(parent, mark, outcome, { size, unit, below, low }, frame) {
  const { key, node, left, top, label, start, wide, order, drafter } = mark;
  const current = frame && node === frame.at ? ' current' : '';
  const place = { 'data-key': key, transform: `translate(${left} ${top})` };
  const group = makeSvg('g', { class: `node ${outcome}${current}`, ...place }, parent);
  // the box holds the number of the try
  const x = Math.min((order ? -20 : -9) * unit, start - 3);
  const high = label ? (below ? 2.5 : 1.7) * size : low;
  const y = label && below ? -10 * unit : -high / 2;
  const width = Math.max(9 * unit, start + wide + 3) - x;
  makeSvg('rect', { class: 'hit', x, y, width, height: high, rx: 5 }, group);
  const scale = `scale(${(unit * radiusOf(mark)) / 10})`;
  if (drafter) {
    const look = { class: 'outline', transform: scale, 'data-drafter': drafter };
    makeSvg('path', { ...look, ...outlineOf(drafter) }, group);
  }
  makeSvg('path', { class: 'shape', d: SHAPES[outcome], transform: scale }, group);
  if (order && (frame?.phase ?? 4) > 2) {
    const number = makeSvg('g', { class: 'turn' }, group);
    const look = { x: -9 * unit, y: 0.3 * size, 'text-anchor': 'end', 'font-size': 12 * unit };
    makeSvg('title', {}, number, `tried as number ${order} of the children here`);
    makeSvg('text', look, number, order);
  }
  makeSvg('title', {}, group, visible(mark.text));
  makeSvg('text', { x: start, y: below ? 7 * unit + 0.5 * size : 0, dy: '.34em' }, group, label);
}
