// The time of a step by the nodes of its tree, with the best tree of each curve marked.

import { makeSvg } from '../base/dom.js';
import { drawAxes, ticks } from '../figures/chart.js';

/** @typedef {import('./types.js').Times} Times */

const WIDTH = 640,
  HEIGHT = 380,
  LEFT = 56,
  RIGHT = 20,
  TOP = 24,
  BOTTOM = 52;

/** @type {import('./types.js').Figure} */
export function timesFigure(box, /** @type {Times} */ { x, y, curves }) {
  const all = curves.flatMap(({ points }) => points),
    // The names of more than two curves need room above them.
    most = Math.max(...all.map(([, time]) => time)) * (1.08 + 0.28 * (curves.length - 2)),
    nodes = all.map(([n]) => n);
  const across = (/** @type {number} */ n) =>
    LEFT + (Math.log2(n) / Math.log2(Math.max(...nodes))) * (WIDTH - LEFT - RIGHT);
  const up = (/** @type {number} */ time) =>
    HEIGHT - BOTTOM - (time / most) * (HEIGHT - TOP - BOTTOM);
  const bests = curves.map(({ name, label }) => `${name}, best ${label}`).join('; ');
  const view = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' };
  const svg = makeSvg('svg', { ...view, 'aria-label': `${y} by ${x}: ${bests}` }, box);
  const sizes = [...new Set(nodes)].filter(n => Number.isInteger(Math.log2(n)));
  drawAxes(
    svg,
    { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM },
    { ticks: sizes.map(n => [across(n), n]), title: x },
    { ticks: ticks(0, most, 5).map(time => [up(time), time]), title: y },
  );
  curves.forEach(({ name, points, best: [n, time], label }, i) => {
    const group = makeSvg('g', { class: `curve curve-${i}` }, svg),
      high = TOP + 26 + 28 * i;
    makeSvg('path', { d: `M${points.map(([a, b]) => `${across(a)} ${up(b)}`).join('L')}` }, group);
    for (const [a, b] of points) makeSvg('circle', { cx: across(a), cy: up(b), r: 3 }, group);
    makeSvg('circle', { class: 'best', cx: across(n), cy: up(time), r: 9 }, group);
    makeSvg('path', { d: `M${LEFT + 16} ${high - 5}h34` }, group);
    makeSvg('text', { class: 'label', x: LEFT + 60, y: high }, group, `${name}: best ${label}`);
  });
}
