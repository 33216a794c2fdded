// Round numbers for axes, and a small chart of series over common axes, as SVG: lines, dashes and dots that shape and
// dash tell apart as well as colour. Data in, text nodes out.

import { draw } from '../base/dom.js';

/** @typedef {import('../papers/types.js').Point} Point */

/**
 * About `many` round numbers between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} many
 */
export function ticks(low, high, many) {
  if (!(high > low)) return [low];
  const rough = (high - low) / many, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/**
 * Powers of ten between two ends, with twos and fives where there are few.
 * @param {number} low above 0
 * @param {number} high
 */
export function logTicks(low, high) {
  if (high / low < 8) return ticks(low, high, 5);
  const step = high / low > 1e5 ? 100 : 10;
  /** @type {number[]} */
  const found = [];
  for (let v = 10 ** Math.ceil(Math.log10(low)); v <= high * 1.001; v *= step) found.push(v);
  if (high / low < 200) for (const v of [...found, found[0] / 10]) for (const m of [2, 5]) if (v * m >= low && v * m <= high) found.push(v * m);
  return found;
}

/** @param {import('../papers/types.js').Lines} block */
export function lineChart(block) {
  const W = 460, H = 250, left = 62, right = 12, top = 10, bottom = 40;
  /** @type {(tag: keyof SVGElementTagNameMap, attributes?: Record<string, string | number>, text?: string | number) => SVGElement} */
  const make = (tag, attributes = {}, text = undefined) => draw(tag, attributes, null, text);
  /** @type {(point: [number | null, number | null]) => point is Point} */
  const usable = point => {
    const [x, y] = point;
    return x !== null && y !== null && (!block.log_x || x > 0) && (!block.log_y || y > 0);
  };
  const series = block.series.map(one => ({ ...one, points: one.points.filter(usable) }));
  const all = series.flatMap(one => one.points);
  const figure = document.createElement('figure');
  figure.className = 'sv-chart';
  if (!all.length) return figure;
  /** @type {(values: number[], log: boolean) => [number, number]} */
  const range = (values, log) => {
    let low = Math.min(...values), high = Math.max(...values);
    if (!log && low > 0 && (low < high * 0.6 || low === high)) low = 0;
    if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
    return [low, high];
  };
  /** @type {(range: Point, log: boolean, from: number, to: number) => (value: number) => number} */
  const scale = ([low, high], log, from, to) => {
    const f = log ? Math.log : (/** @type {number} */ v) => v;
    return v => from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
  };
  const xs = range(all.map(p => p[0]), block.log_x), ys = range(all.map(p => p[1]), block.log_y);
  const X = scale(xs, block.log_x, left + 6, W - right - 6), Y = scale(ys, block.log_y, H - bottom - 4, top + 6);
  const svg = make('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', class: 'sv-chart-svg' });
  svg.setAttribute('aria-label', `${block.y} against ${block.x}: ${series.map(one => one.name).join(', ')}`);
  (block.log_y ? logTicks(...ys) : ticks(...ys, 5)).forEach(v => {
    svg.append(make('line', { x1: left, x2: W - right, y1: Y(v), y2: Y(v), class: 'grid' }));
    svg.append(make('text', { x: left - 6, y: Y(v) + 4, 'text-anchor': 'end' }, label(v)));
  });
  (block.log_x ? logTicks(...xs) : ticks(...xs, 5)).forEach(v => {
    svg.append(make('line', { x1: X(v), x2: X(v), y1: H - bottom, y2: H - bottom + 4, class: 'axis' }));
    svg.append(make('text', { x: X(v), y: H - bottom + 16, 'text-anchor': 'middle' }, label(v)));
  });
  svg.append(make('line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: 'axis' }));
  svg.append(make('text', { x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle', class: 'title' }, block.x));
  svg.append(make('text', { x: -(top + H - bottom) / 2, y: 12, transform: 'rotate(-90)', 'text-anchor': 'middle', class: 'title' }, block.y));
  const legend = document.createElement('figcaption');
  series.forEach((one, i) => {
    const group = make('g', { class: `series s${i % 6} ${one.look}` });
    if (one.look !== 'dots' && one.points.length > 1) {
      group.append(make('path', { d: 'M' + one.points.map(([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join('L') }));
    }
    if (one.look === 'dots' || one.points.length < 14 && one.look === 'line') {
      one.points.forEach(([x, y]) => {
        const dot = mark(i, X(x), Y(y), one.points.length > 80 ? 1.6 : 3);
        dot.append(make('title', {}, `${one.name}: ${label(x)}, ${label(y)}`));
        group.append(dot);
      });
    }
    svg.append(group);
    const item = document.createElement('span'), key = make('svg', { viewBox: '0 0 26 12', class: `series s${i % 6} ${one.look}` });
    if (one.look !== 'dots') key.append(make('path', { d: 'M1 6L25 6' }));
    if (one.look !== 'dashes') key.append(mark(i, 13, 6, 3));
    key.setAttribute('aria-hidden', 'true');
    item.append(key, one.name);
    legend.append(item);
  });
  figure.append(svg, legend);
  return figure;

  /**
   * @param {number} i which series
   * @param {number} x
   * @param {number} y
   * @param {number} r
   */
  function mark(i, x, y, r) {
    if (i % 3 === 1) return make('rect', { x: x - r, y: y - r, width: 2 * r, height: 2 * r });
    if (i % 3 === 2) return make('path', { d: `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y + r}L${x - 1.3 * r} ${y + r}Z`, class: 'solid' });
    return make('circle', { cx: x, cy: y, r });
  }

  /** @param {number} v */
  function label(v) {
    return Number(v.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
  }
}
