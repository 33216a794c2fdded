// The time of a step by the nodes of its tree, with the best tree of each curve marked.

import { makeSvg } from '../base/dom.js';
import { onResize, presents } from '../base/page.js';
import { drawAxes, ticks } from '../figures/chart.js';

/** @typedef {import('./types.js').Times} Times */

// in units, of which normal type has 16
const LEFT = 56;
const RIGHT = 20;
const TOP = 34; // with the title of the axis
const BOTTOM = 52;
const LEAST = 440; // as wide as the names of the curves need

/** @type {import('./types.js').Figure} */
export function timesFigure(box, /** @type {Times} */ { x, y, curves }) {
  const bests = curves.map(({ label }) => label).join('; ');
  const svg = makeSvg('svg', { role: 'img', 'aria-label': `${y} by ${x}: ${bests}` }, box);
  const all = curves.flatMap(({ points }) => points);
  const highest = Math.max(...all.map(([, time]) => time));
  const nodes = all.map(([n]) => n);
  const sizes = [...new Set(nodes)].filter(n => Number.isInteger(Math.log2(n)));

  // In pixels of the screen: a picture that is enlarged would enlarge its type once more.
  function redraw() {
    const { clientWidth: width, clientHeight: height } = svg;
    if (!width) return; // another tab is shown
    const type = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const unit = Math.min((presents() ? 0.9 * type : type) / 16, width / LEAST);
    svg.style.fontSize = `${16 * unit}px`;
    svg.replaceChildren();
    const left = LEFT * unit;
    const right = width - RIGHT * unit;
    const top = TOP * unit;
    const bottom = height - BOTTOM * unit;
    // The names of the curves stand above all of them, so none is crossed.
    const room = (28 * curves.length + 14) * unit;
    const most = (highest * (bottom - top)) / (bottom - top - room);
    const across = (/** @type {number} */ n) =>
      left + (Math.log2(n) / Math.log2(Math.max(...nodes))) * (right - left);
    const up = (/** @type {number} */ time) => bottom - (time / most) * (bottom - top);
    drawAxes(
      svg,
      { left, right, top, bottom },
      { ticks: sizes.map(n => [across(n), n]), title: x },
      { ticks: ticks(0, most, 5).map(time => [up(time), time]), title: y },
      unit,
    );
    curves.forEach(({ label, points, best: [n, time] }, i) => {
      const group = makeSvg('g', { class: `curve curve-${i}` }, svg);
      const places = points.map(([a, b]) => `${across(a)} ${up(b)}`);
      makeSvg('path', { d: `M${places.join('L')}` }, group);
      for (const [a, b] of points)
        makeSvg('circle', { cx: across(a), cy: up(b), r: 3 * unit }, group);
      makeSvg('circle', { class: 'best', cx: across(n), cy: up(time), r: 9 * unit }, group);
      const line = top + (26 + 28 * i) * unit;
      makeSvg('path', { d: `M${left + 16 * unit} ${line - 5 * unit}h${34 * unit}` }, group);
      const place = { class: 'label', x: left + 60 * unit, y: line };
      makeSvg('text', place, group, label);
    });
  }

  redraw();
  onResize(svg, redraw);
}
