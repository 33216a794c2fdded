// The chart: tokens against seconds, one stepped line a run, drawn as far as the clock is. A run's
// colour is its strategy's, its dash and mark are its column's.

import { make, makeSvg } from '../base/dom.js';
import { chart, ticks } from '../figures/chart.js';

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

/**
 * @param {SVGSVGElement} svg
 * @returns draws runs as far as the clock is
 */
export function tokenChart(svg) {
  /** @type {Timed[]} */
  let runs = [];
  let now = 0;
  /** @param {'ends' | 'totals'} name */
  const most = name =>
    Math.max(0, ...runs.map(run => run[name].at(-1) ?? 0)) || 1;

  const redraw = chart(svg, { type: 13, left: 40, right: 12, top: 24, bottom: 22 }, canvas => {
    const last = most('ends');
    return {
      most: most('totals'),
      numbers: ticks(last).map(tick => [tick / last, `${tick} s`]),
      across: '',
      up: 'tokens',
      /** Each line with its mark at the end. */
      draw(x, y) {
        for (const { about, ends, totals } of runs) {
          if (!ends.length) continue;
          const look = lookOf(about);
          const done = ends.filter(end => end <= now).length;
          const end = x(Math.min(now, ends[ends.length - 1]) / last);
          const steps = ends.slice(0, done).map((at, i) => `H${x(at / last)}V${y(totals[i])}`);
          const d = `M${x(0)} ${y(0)}${steps.join('')}H${end}`;
          makeSvg('path', { class: `line ${look}`, d }, canvas);
          const transform = `translate(${end} ${y(done ? totals[done - 1] : 0)})`;
          makeSvg('path', { class: `mark ${look}`, d: MARKS[about.letter], transform }, canvas);
        }
      },
    };
  });

  /** @param {Timed[]} all @param {number} seconds */
  return (all, seconds) => {
    runs = all;
    now = seconds;
    redraw();
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
