// The chart: tokens against seconds, one stepped line a run, drawn as far as the clock is. A run's
// colour is its strategy's, its dash and mark are its column's.

import { make, makeSvg } from '../base/dom.js';
import { onResize } from '../base/page.js';
import { drawAxes, ticks } from '../figures/chart.js';

/** @typedef {import('./types.js').About} About */
/**
 * A run with the times at which its steps ended, and the tokens written by then.
 * @typedef {{ about: About, ends: number[], totals: number[] }} Timed
 */

/** @type {Record<string, string>} */
const MARKS = {
  A: 'M0 -5.5A5.5 5.5 0 1 1 0 5.5A5.5 5.5 0 1 1 0 -5.5Z',
  B: 'M-5 -5H5V5H-5Z',
  C: 'M0 -6.5L6.2 5H-6.2Z',
};

/**
 * The classes that give a run its colour, dash and mark.
 * @param {Pick<About, 'letter' | 'kind'>} about
 */
export const lookOf = ({ letter, kind }) => `sv-run-${letter} sv-kind-${kind}`;

/** @param {SVGSVGElement} svg */
export function tokenChart(svg) {
  const canvas = makeSvg('g', {}, svg);
  const axes = makeSvg('g', {}, canvas);
  const lines = makeSvg('g', {}, canvas);
  let runs = /** @type {Timed[]} */ ([]);
  let now = 0;
  let most = { x: 0, y: 0 };
  let box = { left: 0, right: 1, top: 0, bottom: 1 };

  /** @param {number} seconds */
  const x = seconds => box.left + (box.right - box.left) * (most.x ? seconds / most.x : 0);
  /** @param {number} tokens */
  const y = tokens => box.bottom - (box.bottom - box.top) * (most.y ? tokens / most.y : 0);

  function redraw() {
    const unit = parseFloat(getComputedStyle(svg).fontSize) / 13;
    const { clientWidth: width, clientHeight: height } = svg;
    box = { left: 40 * unit, right: width - 12 * unit, top: 24 * unit, bottom: height - 22 * unit };
    most = {
      x: Math.max(0, ...runs.map(run => run.ends.at(-1) || 0)),
      y: Math.max(0, ...runs.map(run => run.totals.at(-1) || 0)),
    };
    axes.replaceChildren();
    const rows = Math.max(1, (box.bottom - box.top) / (20 * unit));
    const seconds = ticks(most.x, Math.max(2, width / 130));
    drawAxes(
      axes,
      box,
      { ticks: seconds.map(tick => [x(tick), `${tick} s`]), title: '' },
      { ticks: ticks(most.y, rows).map(tick => [y(tick), tick]), title: 'tokens' },
      unit,
    );
    drawLines();
  }

  /** Each line as far as the clock is, with its mark at the end. */
  function drawLines() {
    lines.replaceChildren();
    for (const { about, ends, totals } of runs) {
      if (!ends.length) continue;
      const look = lookOf(about);
      const done = ends.filter(end => end <= now).length;
      const end = x(Math.min(now, ends[ends.length - 1]));
      const steps = ends.slice(0, done).map((at, i) => `H${x(at)}V${y(totals[i])}`);
      const d = `M${box.left} ${box.bottom}${steps.join('')}H${end}`;
      makeSvg('path', { class: `line ${look}`, d }, lines);
      const transform = `translate(${end} ${y(done ? totals[done - 1] : 0)})`;
      makeSvg('path', { class: `mark ${look}`, d: MARKS[about.letter], transform }, lines);
    }
  }

  onResize(svg, () => {
    if (svg.clientWidth) redraw();
  });

  return {
    /** @param {Timed[]} all */
    show(all) {
      runs = all;
      redraw();
    },
    /** @param {number} seconds */
    at(seconds) {
      now = seconds;
      drawLines();
    },
  };
}

/** A run's line and mark, its letter and its title. @param {About} about @returns {Element[]} */
export function runName(about) {
  const svg = makeSvg('svg', { viewBox: '0 -8 40 16', 'aria-hidden': 'true', class: 'key' });
  const look = lookOf(about);
  makeSvg('path', { class: `line ${look}`, d: 'M0 0H40' }, svg);
  const transform = 'translate(20 0)';
  makeSvg('path', { class: `mark ${look}`, d: MARKS[about.letter], transform }, svg);
  const letter = make('b', `${about.letter} `, 'sv-letter');
  return [svg, letter, make('span', about.title, 'sv-run-title')];
}
