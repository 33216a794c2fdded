// The charts that the page draws itself: axes with round numbers, and curves by a function.

import { makeSvg } from '../base/dom.js';
import { onResize } from '../base/page.js';

const TICKS = 5;

/** About five round numbers from 0 to an end. @param {number} end */
export function ticks(end) {
  const power = 10 ** Math.floor(Math.log10(end / TICKS));
  const factor = [1, 2, 5].find(size => size * power >= (0.999 * end) / TICKS) ?? 10;
  const step = factor * power;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) =>
    Number((i * step).toPrecision(6)),
  );
}

/**
 * What a chart shows now.
 * @typedef {object} Look
 * @property {number} most the number at the top
 * @property {[number, string | number][]} numbers below it, each at a part of its width
 * @property {string} across what they count
 * @property {string} up what those beside the chart count
 * @property {(x: (part: number) => number, y: (value: number) => number, unit: number) => void}
 *   draw draws the curves, with places in pixels
 */

/**
 * Draws a chart in pixels of the screen, as a picture that is enlarged would enlarge its type once
 * more, and again when it has another size.
 * @param {SVGSVGElement} svg
 * @param {Record<'type' | 'left' | 'right' | 'top' | 'bottom', number>} sizes pixels of normal type
 *   and, with it, around the curves
 * @param {(canvas: SVGGElement) => Look} look
 * @returns {() => void} draws it again
 */
export function chart(svg, { type, left, right, top, bottom }, look) {
  const canvas = makeSvg('g', {}, svg);

  function redraw() {
    if (!svg.clientWidth) return; // another tab is shown
    const unit = parseFloat(getComputedStyle(svg).fontSize) / type;
    const begin = left * unit;
    const high = top * unit;
    const end = svg.clientWidth - right * unit;
    const low = svg.clientHeight - bottom * unit;
    const { most, numbers, across, up, draw } = look(canvas);
    /** @param {number} part */
    const x = part => begin + part * (end - begin);
    /** @param {number} value */
    const y = value => low - (value / most) * (low - high);
    canvas.replaceChildren();
    for (const number of ticks(most)) {
      makeSvg('path', { class: 'grid', d: `M${begin} ${y(number)}H${end}` }, canvas);
      const place = { x: begin - 7 * unit, y: y(number), dy: '.34em', 'text-anchor': 'end' };
      makeSvg('text', place, canvas, number);
    }
    for (const [part, number] of numbers)
      makeSvg('text', { x: x(part), y: low + 18 * unit, 'text-anchor': 'middle' }, canvas, number);
    makeSvg('text', { x: end, y: low + 38 * unit, 'text-anchor': 'end' }, canvas, across);
    makeSvg('text', { x: 0, y: high - 13 * unit }, canvas, up);
    draw(x, y, unit);
  }

  onResize(svg, redraw);
  return redraw;
}
