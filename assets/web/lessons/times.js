// A quantity by the nodes of a tree, with the best tree of each curve marked.

import { make, makeSvg } from '../base/dom.js';
import { onResize } from '../base/page.js';
import { drawAxes, ticks } from '../figures/chart.js';

/** @type {import('./types.js').Figure} */
export function timesFigure(box, /** @type {import('./types.js').Times} */ { x, y, curves }) {
  const names = curves.map(({ label }, i) => make('b', label, `curve-${i}`));
  box.append(make('p', [`${y}:`, ...names]));
  const svg = makeSvg('svg', { role: 'img', 'aria-label': `${y} by ${x}` }, box);
  const all = curves.flatMap(({ points }) => points);
  const sizes = [...new Set(all.map(([n]) => n))];
  const highest = Math.max(...all.map(([, height]) => height));
  const [, tick] = ticks(highest, 5);
  const most = tick * Math.ceil(highest / tick); // no point stands above the last number

  // In pixels of the screen: a picture that is enlarged would enlarge its type once more.
  function redraw() {
    const unit = parseFloat(getComputedStyle(svg).fontSize) / 16;
    const [left, top] = [32 * unit, 12 * unit];
    const right = svg.clientWidth - 20 * unit;
    const bottom = svg.clientHeight - 52 * unit;
    if (right < left) return; // another tab is shown
    const across = (/** @type {number} */ n) =>
      left + (Math.log2(n) / Math.log2(Math.max(...sizes))) * (right - left);
    const up = (/** @type {number} */ height) => bottom - (height / most) * (bottom - top);
    svg.replaceChildren();
    drawAxes(
      svg,
      { left, right, top, bottom },
      { ticks: sizes.map(n => [across(n), n]), title: x },
      { ticks: ticks(most, 5).map(height => [up(height), height]), title: '' },
      unit,
    );
    curves.forEach(({ points, best }, i) => {
      const curve = `curve curve-${i}`;
      const places = points.map(([n, height]) => [across(n), up(height)]);
      makeSvg('path', { class: curve, d: `M${places.join('L')}` }, svg);
      for (const [cx, cy] of places) makeSvg('circle', { class: curve, cx, cy, r: 3 * unit }, svg);
      const [cx, cy] = [across(best[0]), up(best[1])];
      makeSvg('circle', { class: `${curve} best`, cx, cy, r: 9 * unit }, svg);
    });
  }

  redraw();
  onResize(svg, redraw);
}
