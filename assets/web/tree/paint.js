// The marks of a tree as SVG. What is drawn depends only on the layout, the step and the sizes of
// things.

import { draw } from '../base/dom.js';
import { fitted, visible } from '../base/text.js';
import { differ, outlineOf } from './sources.js';

/** @typedef {import('../stage/frames.js').Frame} Frame */
/** @typedef {import('./layout.js').Mark} Mark */

/**
 * Sizes in pixels: between columns, between rows, at least between both, of type, of one unit
 * (large type has larger ones); whether labels stand below their marks, not beside them; and how
 * wide text is.
 * @typedef {{ dx: number, dy: number, least: { dx: number, dy: number }, size: number, unit:
 *   number, below: boolean, width: (text: string) => number }} Sizes
 */

/** @type {Record<string, string>} */
const SHAPES = {
  r: 'M0 -6A6 6 0 1 1 0 6A6 6 0 1 1 0 -6Z',
  a: 'M-6 -6H6V6H-6Z',
  x: 'M-5 -5L5 5M5 -5L-5 5',
  u: 'M0 -4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0 -4.5Z',
  p: 'M0 -7L7 5H-7Z',
  o: 'M-5 -4H5L0 5Z',
  last: 'M0 -8L8 0L0 8L-8 0Z',
};
const LONGEST = 14; // a label that nothing follows may be as wide as this many em
const SMALL = 12; // pixels of what stands beside a mark; the view may draw all a little smaller

/**
 * A line from one point to another that leaves and arrives level.
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
export function curve(x0, y0, x1, y1) {
  const m = (x0 + x1) / 2;
  return y0 === y1 ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}C${m} ${y0} ${m} ${y1} ${x1} ${y1}`;
}

/**
 * Edges and nodes, two groups, and how far to the right they reach.
 * @param {Mark[]} marks
 * @param {Step} step
 * @param {Sizes} sizes
 * @param {Frame | null} frame of the step; its outcome where there is none
 */
export function paint(marks, step, sizes, frame) {
  const { dx, dy, size, unit, below, width } = sizes;
  const many = differ(step.guessed),
    beside = (many ? 16 : 13) * unit;
  const edges = draw('g'),
    nodes = draw('g', { 'font-size': size }),
    ends = new Map();
  let right = 0;
  marks.forEach(mark => {
    const letter = mark.node && frame?.later.has(mark.node) ? 'u' : mark.letter;
    const token = mark.key === 'last' ? step.pieces.at(-1) : step.texts[mark.node ?? -1],
      text = token === undefined ? '' : visible(token);
    const x = mark.x * dx,
      y = mark.y * dy;
    const label = fitted(
      text,
      below ? dx * (mark.leaf ? 1.4 : 1) - 5 : mark.leaf ? LONGEST * size : dx - 17 * unit - beside,
      width,
    );
    const start = below ? -Math.min(width(label), dx - 5) / 2 : beside,
      low = below ? 7 * unit + size * 0.5 : 0;
    ends.set(mark, below ? x + 9 * unit : x + beside + width(label) + 4);
    if (mark.from) {
      const from = ends.get(mark.from),
        above = mark.from.y * dy,
        end = x - (mark.letter === 'more' ? 14 : 10) * unit;
      const q = step.q[mark.node ?? -1] ?? 0.1,
        wide = ((letter === 'a' ? 2.5 : 1.2) + 5 * q).toFixed(2);
      draw(
        'path',
        {
          class: `edge ${mark.key === 'last' ? step.last : letter}`,
          d: curve(from, above, end, y),
          'stroke-width': wide,
        },
        edges,
      );
    }
    const kind = mark.key === 'last' ? step.last : letter;
    const node = draw(
      'g',
      {
        class: `node ${kind}${frame && mark.node === frame.at ? ' current' : ''}`,
        'data-key': mark.key,
        transform: `translate(${x} ${y})`,
      },
      nodes,
    );
    const reach = Math.max(ends.get(mark) - x, start + width(label)) + (mark.hidden ? 60 : 0),
      left = Math.min(-9 * unit, start - 2); // from edge to edge
    const high = Math.min(dy, size * (below ? 2.5 : 2)),
      top = below ? -10 * unit : -high / 2;
    draw('rect', { class: 'hit', x: left, y: top, width: reach - left, height: high, rx: 5 }, node);
    right = Math.max(right, x + reach + 8);
    if (many) outline(node, step.drafter?.[mark.node ?? -1], unit);
    if (SHAPES[letter])
      draw('path', { class: 'shape', d: SHAPES[letter], transform: `scale(${unit})` }, node);
    // a narrow picture has no room; the sentence above it says the same
    const tag = below ? undefined : frame?.tags.get(mark.node ?? -1);
    if (tag)
      draw(
        'text',
        {
          class: 'tag',
          x: -6 * unit,
          y: -size * (dy > 2.3 * size ? 1.15 : 0.55),
          'font-size': SMALL * unit,
        },
        node,
        tag,
      );
    if (mark.order && (frame?.phase ?? 4) > 2) {
      const number = draw('g', { class: 'turn' }, node);
      draw(
        'text',
        { x: -18 * unit, y: -size * (below ? 0.2 : 0.42), 'font-size': SMALL * unit },
        number,
        mark.order,
      );
    }
    if (label !== text) draw('title', {}, node, text);
    if (label) draw('text', { x: start, y: low, dy: '.34em' }, node, label);
    if (mark.hidden) pill(node, mark, mark.letter === 'more' ? -10 : ends.get(mark) - x, sizes);
  });
  return { edges, nodes, right };
}

/**
 * Around the mark of a node, where more than one drafter guessed: its drafter.
 * @param {SVGElement} node
 * @param {string | null | undefined} name
 * @param {number} unit
 */
function outline(node, name, unit) {
  if (!name) return;
  const { d, dash } = outlineOf(name);
  draw(
    'path',
    {
      class: 'outline',
      'data-drafter': name,
      d,
      'stroke-dasharray': dash,
      transform: `scale(${unit})`,
    },
    node,
  );
}

/**
 * How many nodes are folded here; a click opens them.
 * @param {SVGElement} parent
 * @param {Mark} mark
 * @param {number} x
 * @param {Sizes} sizes
 */
function pill(parent, mark, x, { size, width }) {
  const text = `+${mark.hidden}`,
    wide = width(text) * 0.9 + 10;
  const made = draw(
    'g',
    { class: 'pill', 'data-open': mark.key, transform: `translate(${x} 0)` },
    parent,
  );
  draw(
    'title',
    {},
    made,
    `${mark.hidden} collapsed ${mark.hidden === 1 ? 'node' : 'nodes'}; click to expand`,
  );
  draw('rect', { x: 0, y: -size * 0.68, width: wide, height: size * 1.36, rx: size * 0.68 }, made);
  draw(
    'text',
    { x: wide / 2, dy: '.34em', 'text-anchor': 'middle', 'font-size': size * 0.88 },
    made,
    text,
  );
}
