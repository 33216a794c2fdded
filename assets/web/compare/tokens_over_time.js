// The race: tokens against seconds, one stepped line a run, each with a dash and a mark of its own,
// and a cursor.

import { subscribe } from '../base/bus.js';
import { draw } from '../base/dom.js';
import { ticks } from '../figures/chart.js';

/**
 * @typedef {{ letter: string, ends: number[], totals: number[] }} Racer when its steps ended, and
 *   the tokens written by then
 */

/** @type {Record<string, string>} */
const RACE_MARKS = {
  A: 'M0 -5.5A5.5 5.5 0 1 1 0 5.5A5.5 5.5 0 1 1 0 -5.5Z',
  B: 'M-5 -5H5V5H-5Z',
  C: 'M0 -6.5L6.2 5H-6.2Z',
};

/** @param {SVGSVGElement} svg @param {(seconds: number) => void} seek */
export function raceChart(svg, seek) {
  const lines = draw('g', {}, svg),
    cursor = draw('g', { class: 'cursor' }, svg);
  let runs = /** @type {Racer[]} */ ([]),
    now = 0,
    most = { x: 0, y: 0 },
    box = { left: 0, right: 1, top: 0, bottom: 1 };
  const x = (/** @type {number} */ seconds) =>
    box.left + (box.right - box.left) * (most.x ? seconds / most.x : 0);
  const y = (/** @type {number} */ tokens) =>
    box.bottom - (box.bottom - box.top) * (most.y ? tokens / most.y : 0);

  function redraw() {
    const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const width = svg.clientWidth,
      height = svg.clientHeight,
      size = 12.5 * unit;
    box = { left: 44 * unit, right: width - 34 * unit, top: 34 * unit, bottom: height - 38 * unit };
    most = {
      x: Math.max(0, ...runs.map(run => run.ends.at(-1) || 0)),
      y: Math.max(0, ...runs.map(run => run.totals.at(-1) || 0)),
    };
    lines.replaceChildren();
    svg.style.fontSize = `${size}px`;
    for (const tick of ticks(0, most.y, 5)) {
      draw('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }, lines);
      draw(
        'text',
        { x: box.left - 7 * unit, y: y(tick), dy: '.34em', 'text-anchor': 'end' },
        lines,
        tick,
      );
    }
    for (const tick of ticks(0, most.x, Math.max(2, width / 130))) {
      draw(
        'line',
        { class: 'grid', x1: x(tick), x2: x(tick), y1: box.bottom, y2: box.bottom + 5 },
        lines,
      );
      draw('text', { x: x(tick), y: box.bottom + 17 * unit, 'text-anchor': 'middle' }, lines, tick);
    }
    draw(
      'text',
      { x: box.right, y: height - 5 * unit, 'text-anchor': 'end' },
      lines,
      'seconds of decoding',
    );
    draw('text', { x: 0, y: 11 * unit, 'text-anchor': 'start' }, lines, 'tokens');
    const ends = [];
    for (const run of runs) {
      if (!run.ends.length) continue;
      const path = run.ends
        .map((end, i) => `H${x(end).toFixed(1)}V${y(run.totals[i]).toFixed(1)}`)
        .join('');
      draw(
        'path',
        {
          class: `line sv-run-${run.letter}`,
          'data-letter': run.letter,
          d: `M${box.left} ${box.bottom}${path}`,
        },
        lines,
      );
      ends.push({ letter: run.letter, x: x(run.ends.at(-1) ?? 0), y: y(run.totals.at(-1) ?? 0) });
    }
    let edge = 0; // letters that would stand on one another move aside
    for (const end of ends.sort((a, b) => a.x - b.x)) {
      const at = Math.max(end.x + 6 * unit, edge + 15 * unit);
      draw(
        'text',
        { class: `name sv-run-${end.letter}`, x: at, y: end.y - 6 * unit },
        lines,
        end.letter,
      );
      edge = at;
    }
    place();
  }

  function place() {
    cursor.replaceChildren();
    if (!most.x) return;
    draw('line', { x1: x(now), x2: x(now), y1: box.top, y2: box.bottom }, cursor);
    for (const run of runs) {
      const done = run.ends.filter(end => end <= now).length;
      const at = Math.min(now, run.ends.at(-1) ?? 0);
      draw(
        'path',
        {
          class: `mark sv-run-${run.letter}`,
          d: RACE_MARKS[run.letter],
          transform: `translate(${x(at)} ${y(done ? run.totals[done - 1] : 0)})`,
        },
        cursor,
      );
    }
  }

  const point = (/** @type {PointerEvent} */ event) => {
    const at =
      (event.clientX - svg.getBoundingClientRect().left - box.left) / (box.right - box.left);
    if (event.buttons === 1 && most.x) seek(Math.min(1, Math.max(0, at)) * most.x);
  };
  svg.addEventListener('pointerdown', event => {
    svg.setPointerCapture(event.pointerId);
    point(event);
  });
  svg.addEventListener('pointermove', point);
  const onResize = () => {
    if (svg.clientWidth) redraw();
  };
  new ResizeObserver(onResize).observe(svg);
  subscribe('type', svg, onResize);

  return {
    /** @param {Racer[]} all */
    show(all) {
      runs = all;
      redraw();
    },
    /** @param {number} seconds */
    at(seconds) {
      now = seconds;
      place();
    },
  };
}

/** A run's line and mark, for a key beside its name. @param {string} letter */
export function raceKey(letter) {
  const svg = draw('svg', { viewBox: '0 -8 40 16', 'aria-hidden': 'true', class: 'key' });
  draw('path', { class: `line sv-run-${letter}`, d: 'M0 0H40' }, svg);
  draw(
    'path',
    { class: `mark sv-run-${letter}`, d: RACE_MARKS[letter], transform: 'translate(20 0)' },
    svg,
  );
  return svg;
}
