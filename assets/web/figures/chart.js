// The axes of a figure that the page draws itself, and round numbers for them.

import { makeSvg } from '../base/dom.js';

/**
 * About `many` round numbers between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} many
 */
export function ticks(low, high, many) {
  if (!(high > low)) return [low];
  const rough = (high - low) / many,
    power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9),
    last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(6)),
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
