// The axes of a figure that the page draws itself, and round numbers for them.

import { makeSvg } from '../base/dom.js';

/**
 * About `many` round numbers from 0 to an end.
 * @param {number} end
 * @param {number} many
 */
export function ticks(end, many) {
  if (!end) return [0];
  const power = 10 ** Math.floor(Math.log10(end / many));
  const factor = [1, 2, 5].find(size => size * power >= (0.999 * end) / many) ?? 10;
  const step = factor * power;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) =>
    Number((i * step).toPrecision(6)),
  );
}

/**
 * A grid line and a number for each tick above the other, a number for each beside the other, and
 * what both count.
 * @param {SVGElement} parent
 * @param {{ left: number, right: number, top: number, bottom: number }} box of the curves
 * @param {{ ticks: [number, string | number][], title: string }} across places in pixels with
 *   their numbers
 * @param {{ ticks: [number, number][], title: string }} up
 * @param {number} [unit] pixels that stand for one in normal type
 */
export function drawAxes(parent, { left, right, top, bottom }, across, up, unit = 1) {
  for (const [y, number] of up.ticks) {
    makeSvg('path', { class: 'grid', d: `M${left} ${y}H${right}` }, parent);
    const place = { x: left - 7 * unit, y, dy: '.34em', 'text-anchor': 'end' };
    makeSvg('text', place, parent, number);
  }
  for (const [x, number] of across.ticks)
    makeSvg('text', { x, y: bottom + 18 * unit, 'text-anchor': 'middle' }, parent, number);
  makeSvg('text', { x: right, y: bottom + 38 * unit, 'text-anchor': 'end' }, parent, across.title);
  makeSvg('text', { x: 0, y: top - 13 * unit }, parent, up.title);
}
