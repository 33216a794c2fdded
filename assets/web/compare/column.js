// One run of a comparison: its text, its tree and a line about a node, at the time on the shared
// clock.

import { copyOf, finder, query, say } from '../base/dom.js';
import { follow, onToken, spansOf } from '../base/ribbon.js';
import { addStep } from '../stage/run.js';
import { nodeSentence, stepSentence } from '../stage/sentences.js';
import { treeView } from '../tree/view.js';
import { lookOf, runName } from './tokens_over_time.js';

/** @typedef {import('./types.js').About} About */
/** @typedef {ReturnType<typeof runColumn>} Column */

/**
 * @param {About} about
 * @param {string} prompt
 * @param {HTMLElement} parent on the page; the column is added to it
 * @param {{ seek: (seconds: number) => void, announce: (text: string) => void }} on
 */
export function runColumn(about, prompt, parent, { seek, announce }) {
  const box = copyOf(parent.parentElement ?? parent);
  const $ = finder(box);
  const [ribbon, svg] = [$('ribbon'), $('svg')];
  box.className += ` ${lookOf(about)}`;
  query(box, 'h3').prepend(...runName(about));
  $('lossy').title = about.lossy;
  if (!about.lossy) $('lossy').remove(); // a saved picture has the words of the heading
  $('run-details').textContent = about.details;
  $('prompt').textContent = prompt;
  parent.append(box);

  let current = -2;
  const tree = treeView(svg, { inspect, pick });
  // Presented, a text has other lines.
  new ResizeObserver(() => follow(ribbon, column.spans, current)).observe(ribbon);
  const column = {
    about,
    svg,
    tree,
    steps: /** @type {Step[]} */ ([]),
    spans: /** @type {HTMLElement[][]} */ ([]),
    ends: /** @type {number[]} */ ([]),
    totals: /** @type {number[]} */ ([]), // seconds, and tokens by then
    factor: '', // over plain decoding
    add,
    show,
  };
  onToken(ribbon, step => seek(column.ends[step]));
  return column;

  /** @param {Sent} sent @param {[number, number]} clock seconds and tokens by its end */
  function add(sent, [end, total]) {
    const spans = spansOf(addStep(column, sent));
    column.ends.push(end);
    column.totals.push(total);
    column.spans.push(spans);
    ribbon.append(...spans);
  }

  /** The step that has ended by this time. @param {number} time */
  function show(time) {
    const { steps, ends, totals } = column;
    const at = ends.filter(end => end <= time).length - 1;
    const step = steps[drawnAt(steps, at)];
    const tokens = `${totals[at] ?? 0} of ${totals.at(-1)} tokens`;
    say($('clock'), steps.length ? `${tokens}, step ${at + 1} of ${steps.length}` : 'waiting');
    $('large').textContent = column.factor;
    if (at === current) return;
    current = at;
    follow(ribbon, column.spans, current);
    if (step) tree.show(step);
    else tree.clear();
    svg.dataset.step = current;
    tree.select(null);
    inspect();
  }

  /** @param {string} key */
  function pick(key) {
    tree.select(key);
    inspect();
    announce($('node').textContent);
  }

  function inspect() {
    const at = drawnAt(column.steps, current);
    const step = column.steps[at];
    const key = tree.over ?? tree.selected;
    const of = at === current ? '' : `Step ${at + 1}, the last that drafted: `;
    if (!step) return say($('node'), '');
    const text = key === null ? stepSentence(step, false) : nodeSentence(step, key);
    say($('node'), of + text);
  }
}

/**
 * The step of which the tree is drawn: the last that drafted, as a tree without a draft would say
 * nothing; of plain decoding the last.
 * @param {Pick<Step, 'parents'>[]} steps
 * @param {number} at the last step that has ended
 */
export function drawnAt(steps, at) {
  const last = steps.slice(0, at + 1).findLastIndex(step => step.parents.length > 1);
  return last < 0 ? at : last;
}
