// The marks of a tree as SVG. What is drawn depends only on the layout, the frame and the sizes of
// things.

import { makeSvg } from '../base/dom.js';
import { fitted, visible } from '../base/text.js';
import { outlineOf } from './sources.js';

/** @typedef {import('../stage/frames.js').Frame} Frame */
/** @typedef {import('./layout.js').Mark} Mark */

/**
 * Sizes in pixels.
 * @typedef {object} Sizes
 * @property {number[]} widths of each column
 * @property {number[]} xs where the marks of each column are
 * @property {number} dy from one row to the next
 * @property {number} end where the last labels end
 * @property {number} right where the picture ends
 * @property {{ dx: number, dy: number }} least of a column, and from one row to the next
 * @property {number} size of type
 * @property {number} unit which is larger where type is
 * @property {boolean} below whether labels stand below their marks, not beside them
 * @property {boolean} outlined whether the outline of a mark is its drafter
 * @property {number} staggered the row in which every other of them is a line lower; -1 for none
 * @property {(text: string) => number} width of a text
 */

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
const LONGEST = 14; // a label that nothing follows may be as wide as this many em
const LEAF = 1.4; // and below its mark, as this many columns
const TWO_LINES = 1.7; // or this many where every other label of the row is a line lower
export const SECOND_LINE = 1.15; // which is this many em lower
const PILL = 10; // pixels around the number of what is folded
const LABEL_GAP = 5; // pixels between labels below their marks
const LINE = 24; // units from a label to the next mark
const SHORTEST = 10; // and where columns are narrower than that takes
const NUMBERED = 18; // pixels from where an edge ends to its mark, with a number between them
const FAN = 44; // where edges to other rows begin, which would be steep in less
const SMALL = 12; // pixels of what stands beside a mark; the view may draw all a little smaller

/**
 * A line from one point to another that leaves and arrives level.
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} [turn] where it is steep, as a part of the way
 */
export function curve(x0, y0, x1, y1, turn = 0.5) {
  const m = x0 + turn * (x1 - x0);
  return y0 === y1 ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}C${m} ${y0} ${m} ${y1} ${x1} ${y1}`;
}

/** What marks of an outcome look like, for a legend. @param {string} outcome */
export function markOf(outcome) {
  const svg = makeSvg('svg', { viewBox: '-9 -9 18 18', class: `node ${outcome}` });
  makeSvg('path', { class: 'shape', d: SHAPES[outcome] }, svg);
  return svg;
}

/**
 * Edges and nodes, two groups.
 * @param {Mark[]} marks
 * @param {Sizes} sizes
 * @param {Frame | null} frame of the step; its outcome where there is none
 */
export function paint(marks, sizes, frame) {
  const edges = makeSvg('g');
  const nodes = makeSvg('g', { 'font-size': sizes.size });
  /** @type {Map<Mark, number>} */
  const ends = new Map(); // where the edges to children begin
  for (const mark of marks) {
    const label = labelOf(mark, sizes);
    const x = sizes.xs[mark.x];
    ends.set(mark, x + label.start + label.wide + (sizes.below ? 2 : 4));
    const isLater = mark.node && frame?.later.has(mark.node);
    const outcome = isLater ? 'unreached' : mark.outcome;
    if (mark.from) paintEdge(edges, mark, outcome, ends.get(mark.from) ?? 0, sizes);
    paintNode(nodes, mark, outcome, label, sizes, frame);
  }
  return { edges, nodes };
}

/**
 * Where marks begin and how wide all of them are.
 * @param {Mark[]} marks
 * @param {Sizes} sizes
 */
export function endsOf(marks, sizes) {
  let [left, right] = [0, 0];
  for (const mark of marks) {
    const label = labelOf(mark, sizes);
    const x = sizes.xs[mark.x];
    left = Math.min(left, x - 14 * sizes.unit, x + label.start - 4);
    right = Math.max(right, x + reachOf(mark, label, sizes) + 8);
  }
  return { left, wide: right - left };
}

/**
 * How wide each column is in which every label is whole and edges to other rows are no walls.
 * @param {Mark[]} marks
 * @param {Sizes} sizes
 */
export function widthsOf(marks, sizes) {
  const fans = new Set(marks.filter(({ from, y }) => from && from.y !== y).map(({ from }) => from));
  /** @type {number[]} */
  const widths = [];
  for (const mark of marks) {
    const wide = sizes.width(wholeLabel(mark));
    let needed = wide + labelOffset(sizes) + (fans.has(mark) ? FAN : LINE) * sizes.unit;
    if (sizes.below) needed = (wide + LABEL_GAP) / columnsOf(mark, sizes);
    else if (mark.leaf) needed = 0; // its label may reach into the next columns
    widths[mark.x] = Math.max(widths[mark.x] ?? sizes.least.dx, Math.ceil(needed));
  }
  return widths;
}

/**
 * The text of a mark as far as there is room for it, its width and where it begins.
 * @typedef {{ text: string, whole: string, wide: number, start: number }} Label
 */

/** @param {Mark} mark */
const wholeLabel = ({ text, bare }) => (text === undefined || bare ? '' : visible(text));

/** Where a label beside its mark begins. @param {Sizes} sizes */
const labelOffset = ({ unit, outlined }) => (outlined ? 16 : 13) * unit;

/** @param {Mark} mark @param {Sizes} sizes @returns {Label} */
function labelOf(mark, sizes) {
  const { size, unit, below, width } = sizes;
  const column = sizes.widths[mark.x];
  const whole = wholeLabel(mark);
  const offset = labelOffset(sizes);
  let room = column - SHORTEST * unit - offset;
  if (below) room = column * columnsOf(mark, sizes) - LABEL_GAP;
  else if (mark.leaf) room = LONGEST * size;
  if (mark.leaf) {
    const begin = sizes.xs[mark.x] + (below ? -column / 2 : offset);
    room = Math.min(room, sizes.end - begin - 12 - pillWidth(mark, sizes));
  }
  const text = fitted(whole, room, width);
  const wide = width(text);
  const isLeft = mark.leaf && mark.y !== sizes.staggered;
  const half = isLeft ? Math.min(wide, column - LABEL_GAP, 24 * unit) / 2 : wide / 2;
  return { text, whole, wide, start: below ? -half : offset };
}

/** How many columns a label below its mark may take. @param {Mark} mark @param {Sizes} sizes */
function columnsOf(mark, { staggered }) {
  if (mark.y === staggered) return TWO_LINES;
  return mark.leaf ? LEAF : 1;
}

/** How much lower a label is than others. @param {Mark} mark @param {Sizes} sizes */
const loweredBy = (mark, { staggered, size }) =>
  mark.y === staggered && mark.x % 2 === 1 ? size * SECOND_LINE : 0;

/** Where what stands beside a mark may begin. @param {Label} label @param {Sizes} sizes */
const endOf = (label, { unit, below }) => (below ? 9 * unit : label.start + label.wide + 4);

/** @param {Mark} mark @param {Label} label @param {Sizes} sizes */
function reachOf(mark, label, sizes) {
  return Math.max(endOf(label, sizes) + pillWidth(mark, sizes), label.start + label.wide);
}

/** 0 where nothing is folded. @param {Mark} mark @param {Sizes} sizes */
const pillWidth = ({ hidden }, { width }) => (hidden ? width(`+${hidden}`) * 0.9 + PILL : 0);

/**
 * The edge to a mark; it is as wide as the draft's probability is high.
 * @param {SVGElement} parent
 * @param {Mark} mark
 * @param {string} outcome
 * @param {number} begin where the label of the parent ends
 * @param {Sizes} sizes
 */
function paintEdge(parent, mark, outcome, begin, { xs, dy, unit, below }) {
  let end = xs[mark.x] - (mark.outcome === 'more' ? 14 : 10) * unit;
  if (below && mark.order) end = xs[mark.x] - NUMBERED * unit;
  const wide = ((outcome === 'accepted' ? 2.5 : 1.2) + 5 * (mark.q ?? 0.1)) * unit;
  const { x = 0, y = 0 } = mark.from ?? {};
  // A label below its mark is beside no edge of its own row, but an edge to another would cross it.
  const first = below && y === mark.y ? xs[x] + 9 * unit : begin;
  const d = mark.stair
    ? `M${xs[x]} ${y * dy + 9 * unit}V${mark.y * dy}H${end}`
    : curve(first, y * dy, end, mark.y * dy, below ? 0.2 : 0.5); // between labels
  const look = { class: `edge ${outcome}`, d, 'stroke-width': wide.toFixed(2) };
  makeSvg('path', { ...look, 'data-key': mark.key }, parent);
}

/**
 * A mark with its label and what is written at it.
 * @param {SVGElement} parent
 * @param {Mark} mark
 * @param {string} outcome
 * @param {Label} label
 * @param {Sizes} sizes
 * @param {Frame | null} frame
 */
function paintNode(parent, mark, outcome, label, sizes, frame) {
  const { dy, size, unit, below } = sizes;
  const current = frame && mark.node === frame.at ? ' current' : '';
  const transform = `translate(${sizes.xs[mark.x]} ${mark.y * dy})`;
  const kinds = `node ${outcome}${current}`;
  const node = makeSvg('g', { class: kinds, 'data-key': mark.key, transform }, parent);
  const reach = reachOf(mark, label, sizes);
  // the box holds the number of the try
  const left = Math.min((mark.order ? -20 : -9) * unit, label.start - 2);
  const lowered = loweredBy(mark, sizes);
  const named = below && !mark.bare; // its name stands in the box, below it
  const height = (named ? size * 2.8 : Math.min(dy, size * (mark.bare ? 1.2 : 2))) + lowered;
  const y = named ? -10 * unit : -height / 2;
  makeSvg('rect', { class: 'hit', x: left, y, width: reach - left + 3, height, rx: 5 }, node);
  if (sizes.outlined) outline(node, mark.drafter, below ? 0.75 * unit : unit);
  if (SHAPES[outcome]) {
    makeSvg('path', { class: 'shape', d: SHAPES[outcome], transform: `scale(${unit})` }, node);
  }
  if (mark.order && (frame?.phase ?? 4) > 2) {
    const number = makeSvg('g', { class: 'turn' }, node);
    const place = {
      x: (below ? -9 : -18) * unit,
      y: below ? size * 0.3 : -size * 0.42,
      'text-anchor': below ? 'end' : 'start',
    };
    makeSvg('title', {}, number, `tried as number ${mark.order} of the children here`);
    makeSvg('text', { ...place, 'font-size': SMALL * unit }, number, mark.order);
  }
  if (label.text !== label.whole) makeSvg('title', {}, node, label.whole);
  if (label.text) {
    const low = below ? 7 * unit + size * 0.5 + lowered : 0;
    makeSvg('text', { x: label.start, y: low, dy: '.34em' }, node, label.text);
  }
  if (mark.hidden) pill(node, mark, mark.outcome === 'more' ? -10 : endOf(label, sizes), sizes);
}

/**
 * Around the mark of a node, where more than one drafter guessed: its drafter.
 * @param {SVGElement} node
 * @param {string | null | undefined} name
 * @param {number} unit
 */
function outline(node, name, unit) {
  if (!name) return;
  const look = { class: 'outline', transform: `scale(${unit})`, 'data-drafter': name };
  makeSvg('path', { ...look, ...outlineOf(name) }, node);
}

/**
 * How many nodes are folded here; a click opens them.
 * @param {SVGElement} parent
 * @param {Mark} mark
 * @param {number} x
 * @param {Sizes} sizes
 */
function pill(parent, mark, x, sizes) {
  const { size } = sizes;
  const wide = pillWidth(mark, sizes);
  const transform = `translate(${x} 0)`;
  const made = makeSvg('g', { class: 'pill', 'data-open': mark.key, transform }, parent);
  const nodes = mark.hidden === 1 ? 'node' : 'nodes';
  makeSvg('title', {}, made, `${mark.hidden} collapsed ${nodes}; click to expand`);
  const high = size * 1.36;
  makeSvg('rect', { x: 0, y: -high / 2, width: wide, height: high, rx: high / 2 }, made);
  const middle = { x: wide / 2, dy: '.34em', 'text-anchor': 'middle', 'font-size': size * 0.88 };
  makeSvg('text', middle, made, `+${mark.hidden}`);
}
