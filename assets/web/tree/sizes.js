// The sizes at which a tree is drawn, so that all of it fits into its box. Names stand beside the
// marks or, where that is too wide, below them. Where there is no room for all names, what was not
// visited has none.

import { presents } from '../base/page.js';
import { fitted, ruler, visible } from '../base/text.js';

/** @typedef {import('./layout.js').Layout} Layout */

/**
 * A mark with its place in pixels and its name as far as there is room for it.
 * @typedef {import('./layout.js').Mark & { left: number, top: number, label: string, wide: number,
 *   start: number }} Placed `wide` is the label, which begins at `start` from the mark
 */

/**
 * The marks of a picture, how large it is before it is scaled, and its scale.
 * @typedef {object} Sizes
 * @property {Placed[]} marks
 * @property {number} size of type
 * @property {number} unit which is larger where type is
 * @property {boolean} below whether labels stand below their marks, not beside them
 * @property {number} low the height of a row without names
 * @property {number} wide
 * @property {number} high
 * @property {number} scale
 */

/** @typedef {{ wide: number, high: number }} Room in pixels */

// Labels beside or below their marks, and how probable a mark must be that was not visited to have
// one: those that are likely do where there is room for them in full size. At a smaller scale than
// `readable` the next style is tried.
const STYLES = [
  { below: false, likely: 0, readable: 0.75 },
  { below: true, likely: 0, readable: 0.75 },
  { below: false, likely: 0.02, readable: 1 },
  { below: false, likely: 0.1, readable: 1 },
  { below: false, likely: 2, readable: 0.75 },
  { below: true, likely: 2, readable: 0 },
];
const SMALLEST = 0.55; // the scale at which a picture scrolls
const LARGEST = 1.5;
const LONGEST = 14; // em of a label
const OFFSET = 14; // units from a mark to a label beside it
const LINE = 40; // units from a label to the next mark
const COLUMN = 38; // units of a column, with room for a mark and its number
const BARE = 26; // units of one without names
const LOW = 4; // units of a row without names, at least

/**
 * @param {Layout} layout
 * @param {SVGSVGElement} svg
 * @param {Room} room
 */
export function sizesFor(layout, svg, room) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const size = presents() ? 0.82 * rem : 14.5;
  const width = ruler(`${size}px ${getComputedStyle(svg).fontFamily}`);
  let at = 0;
  let sizes = arranged(layout, STYLES[at], size, width, room);
  while (sizes.scale < STYLES[at].readable)
    sizes = arranged(layout, STYLES[++at], size, width, room);
  return sizes;
}

/**
 * @param {Layout} layout
 * @param {typeof STYLES[0]} style
 * @param {number} size
 * @param {(text: string) => number} width
 * @param {Room} room
 * @returns {Sizes} at the scale that fits into the room
 */
function arranged(layout, { below, likely }, size, width, room) {
  const unit = size / 14.5;
  const marks = /** @type {Placed[]} */ (layout.marks);
  const named = new Set(); // rows
  /** @type {number[]} */
  const widths = []; // of columns
  for (const mark of marks) {
    const hasName = mark.outcome !== 'unreached' || (mark.q ?? 0) >= likely;
    if (hasName) named.add(mark.y);
    else mark.order = 0;
    mark.label = hasName ? fitted(visible(mark.text), LONGEST * size, width) : '';
    mark.wide = width(mark.label);
    mark.start = below ? -mark.wide / 2 : OFFSET * unit;
    let column = (hasName ? COLUMN : BARE) * unit;
    if (below) column = Math.max(column, mark.wide + 0.35 * size);
    else if (hasName && !mark.leaf) column = mark.wide + (OFFSET + LINE) * unit;
    widths[mark.x] = Math.max(widths[mark.x] ?? 0, column);
  }
  let natural = 0;
  const lefts = widths.map(wide => {
    natural += wide;
    return natural - (below ? wide / 2 : wide - 10 * unit);
  });
  for (const { x, start, wide } of marks) natural = Math.max(natural, lefts[x] + start + wide + 8);

  const row = (below ? 2.2 : 1.55) * size;
  const bare = layout.rows - named.size;
  const least = named.size * row + bare * LOW * unit;
  const scale = Math.min(bare ? 1 : LARGEST, room.wide / natural, room.high / least);

  // Space that is left is shared out between columns, and between rows, first those without names.
  const spare = Math.max(0, room.high / scale - least);
  const low = LOW * unit + Math.min(0.8 * row, spare / Math.max(1, bare));
  const high = bare ? row : Math.min(3.5 * size, row + spare / layout.rows);
  const share = (room.wide / scale - natural) / widths.length;
  const broad = Math.max(0, Math.min(3 * COLUMN * unit, share));
  /** @type {number[]} */
  const tops = [];
  let bottom = 0;
  for (let y = 0; y < layout.rows; y++) {
    const own = named.has(y) ? high : low;
    tops.push(bottom + own / 2 - (below && named.has(y) ? 0.55 * size : 0));
    bottom += own;
  }
  for (const mark of marks) {
    mark.left = lefts[mark.x] + broad * mark.x;
    mark.top = tops[mark.y];
  }
  const wide = natural + broad * (widths.length - 1);
  return { marks, size, unit, below, low, wide, high: bottom, scale: Math.max(SMALLEST, scale) };
}
