// The sizes at which a tree is drawn: those of its marks, for a projector, on a phone and
// elsewhere, and those of rows and columns, with which it fills its box.

import { presents } from '../base/page.js';
import { ruler } from '../base/text.js';
import { endsOf, SECOND_LINE, widthsOf } from './paint.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./layout.js').Mark} Mark */
/** @typedef {import('./paint.js').Sizes} Sizes */
/**
 * Sizes of the marks, the room below the last row for its labels, and the smallest and the largest
 * scale at which a picture can be read.
 * @typedef {import('./paint.js').Sizes & { font: string, low: number, smallest: number, largest:
 *   number }} Measured
 */
/** @typedef {{ wide: number, high: number }} Room in pixels */

const NARROW = 35; // rem; a picture as narrow has its labels below the marks
const SMALLEST = 0.85,
  LARGEST = 1.5; // scales; with the smallest no text has less than 10 pixels
const DENSER = 0.85; // columns where names stand on two lines
const BROAD = 190; // units of the widest column, but for longer labels

/**
 * The sizes of things: for a projector, on a phone, elsewhere.
 * @param {SVGSVGElement} svg
 * @param {number} wide pixels of its box; Infinity for stairs, with a name beside every mark
 * @param {boolean} dense whether a tree has many rows
 * @param {boolean} outlined whether the outline of a mark is its drafter
 * @param {Measured | undefined} before whose rulers are good for the same font
 */
export function measure(svg, wide, dense, outlined, before) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const below = wide < NARROW * rem;
  let size = below ? 12 : 14.5;
  // names are whole before they are large
  if (presents()) size = below ? Math.max(12, 0.55 * rem) : 0.82 * rem;
  const unit = size / (below ? 12 : 14.5);
  const font = `${size}px ${getComputedStyle(svg).fontFamily}`;
  const width = before?.font === font ? before.width : ruler(font);
  const roomy = presents() ? 1.5 : 1.8; // so that a projector shows ten rows
  const line = dense ? 1.3 : roomy;
  const column = dense ? { below: 38, beside: 72 } : { below: 44, beside: 64 };
  const isStair = wide === Infinity;
  const dx = isStair ? 2 * size : (below ? column.below : column.beside) * unit;
  const least = { dx, dy: size * (below ? 2.5 : line) };
  const isProjected = presents() && !below;
  const [smallest, largest] = isProjected ? [0.7, 2.2] : [SMALLEST, LARGEST];
  const scales = { smallest, largest: isStair ? 1 : largest, low: below ? size : 0 };
  const places = { widths: [], xs: [], dy: 0, end: Infinity, right: Infinity, staggered: -1 };
  return { size, font, unit, width, below, least, outlined, ...scales, ...places };
}

/** @param {Mark[]} marks @param {Measured} sizes */
const withWholeLabels = (marks, sizes) => withWidths(sizes, widthsOf(marks, sizes));

/**
 * Whether labels must be cut for columns to fit.
 * @param {Pick<Layout, 'marks'>} layout
 * @param {Measured} sizes
 * @param {Room} room
 */
export function isTooWide({ marks }, sizes, room) {
  const { wide } = endsOf(marks, withWholeLabels(marks, sizes));
  return wide * sizes.smallest > room.wide;
}

/**
 * Chooses sizes at which rows, and columns with whole labels, fill the room, and shares out the
 * space that is left between rows and columns.
 * @param {Layout} layout
 * @param {Measured} measured
 * @param {Room} room
 * @param {number} maxOverflow times the room's width that columns may take for labels to be cut
 * @returns the sizes, where the picture begins, how large it is, its scale, and the scale that fits
 *   the room
 */
export function fitSizes({ rows, marks, staggered }, measured, room, maxOverflow) {
  const { least, size, unit, smallest, largest } = measured;
  let sizes = withWholeLabels(marks, measured);
  // The last row has nothing below it, so its names may take two lines.
  const twoLines = measured.low + size * SECOND_LINE;
  const isLow = staggered === undefined && rows * least.dy + twoLines > room.high / smallest;
  // For a projector two lines come before smaller type.
  const readable = { ...measured, smallest: presents() ? 1 : smallest };
  if (measured.below && !isLow && isTooWide({ marks }, readable, room))
    sizes = withWholeLabels(marks, {
      ...measured,
      low: twoLines,
      staggered: staggered ?? rows - 1,
      least: { ...least, dx: least.dx * DENSER },
    });
  const { low, widths } = sizes;
  const natural = endsOf(marks, sizes).wide;
  const top = presents() && !measured.below ? 0.8 * size : 0; // numbers above the first row
  const filling = Math.min(room.wide / natural, room.high / (rows * least.dy + low + top));
  const scale = Math.min(largest, Math.max(smallest, filling));
  const highest = (room.high / scale - low - top) / rows;
  sizes = { ...sizes, dy: Math.min(size * 3.5, Math.max(least.dy, highest)) };
  const spare = (room.wide / scale - natural) / widths.length;
  if (spare > 0) {
    /** @param {number} wide */
    const broader = wide => Math.min(wide + spare, BROAD * unit);
    sizes = withWidths(sizes, widths.map(wide => Math.max(wide, broader(wide))));
  } else if (spare < -1 && natural * scale < maxOverflow * room.wide) {
    sizes = narrowed(marks, sizes, room.wide / scale);
  }

  // By the whole tree, so that nothing moves while its frames play.
  const { left, wide } = endsOf(marks, sizes);
  sizes = { ...sizes, right: left + wide };
  const high = rows * sizes.dy + low + top;
  const fits = Math.min(room.wide / wide, room.high / high);
  return { sizes, left, top, wide, high, scale, fits };
}

/**
 * The same sizes with columns that are so wide: a mark is in the middle of its column, or at its
 * left with its label beside it.
 * @template {Sizes} T
 * @param {T} sizes
 * @param {number[]} widths
 * @returns {T}
 */
function withWidths(sizes, widths) {
  let left = 0;
  const xs = widths.map(wide => {
    const x = sizes.below ? left + (wide - widths[0]) / 2 : left;
    left += wide;
    return x;
  });
  return { ...sizes, widths, xs };
}

/**
 * The same sizes with the widest columns made narrower until marks fit, or until none can be; then
 * the labels that nothing follows end where the room does, but not where marks themselves do not
 * fit.
 * @template {Sizes} T
 * @param {Mark[]} marks
 * @param {T} sizes
 * @param {number} room
 * @returns {T}
 */
function narrowed(marks, sizes, room) {
  const { widths, size } = sizes;
  const least = sizes.least.dx;
  let narrower = sizes;
  let ends = endsOf(marks, sizes);
  for (let most = Math.max(...widths); most > least && ends.wide > room; ) {
    most = Math.max(least, most - 4);
    narrower = withWidths(sizes, widths.map(wide => Math.min(wide, most)));
    ends = endsOf(marks, narrower);
  }
  const end = ends.left + room;
  const isCut = ends.wide > room && narrower.xs[narrower.xs.length - 1] + 6 * size < end;
  return isCut ? { ...narrower, end } : narrower;
}
