// A quantity by the nodes of a tree, with the best tree of each curve marked.

import { make, makeSvg } from '../base/dom.js';
import { chart, ticks } from '../figures/chart.js';

/** @type {import('./types.js').Figure} */
export function timesFigure(box, /** @type {import('./types.js').Times} */ { y, curves }) {
  box.append(make('p', y));
  const svg = makeSvg('svg', { role: 'img', 'aria-label': y }, box);
  const all = curves.flatMap(({ points }) => points);
  const sizes = [...new Set(all.map(([n]) => n))];
  /** @param {number} n */
  const partOf = n => Math.log2(n) / Math.log2(Math.max(...sizes));
  const highest = Math.max(...all.map(([, height]) => height));
  const [, tick] = ticks(highest);

  chart(svg, { type: 16, left: 32, right: 20, top: 40, bottom: 52 }, canvas => ({
    most: tick * Math.ceil(highest / tick), // no point stands above the last number
    numbers: sizes.map(n => [partOf(n), n]),
    across: 'tree nodes (log scale)',
    up: '',
    draw(across, up, unit) {
      curves.forEach(({ label, points, best }, i) => {
        const curve = `curve curve-${i}`;
        const placeOf = (/** @type {number[]} */ [n, height]) => [across(partOf(n)), up(height)];
        const places = points.map(placeOf);
        makeSvg('path', { class: curve, d: `M${places.join('L')}` }, canvas);
        for (const [cx, cy] of places)
          makeSvg('circle', { class: curve, cx, cy, r: 3 * unit }, canvas);
        const [cx, cy] = placeOf(best);
        makeSvg('circle', { class: `${curve} best`, cx, cy, r: 9 * unit }, canvas);
        const [x, end] = places[places.length - 1];
        const above = { class: curve, x, y: end - 18 * unit, 'text-anchor': 'end' };
        makeSvg('text', above, canvas, label);
      });
    },
  }));
}
