// Plays a run: draws the frame of the step at hand and writes text, numbers and legend around it.
// Messages are what specviz/view/payload.py writes.

import { finder, say } from '../base/dom.js';
import { onceAFrame } from '../base/page.js';
import { placeIn, placeText } from '../base/place.js';
import { follow, spansOf } from '../base/ribbon.js';
import { sayTerms } from '../base/terms.js';
import { treeView } from '../tree/view.js';
import { headlineOf } from './beside_plain.js';
import { isDecided } from './frames.js';
import { runHistory } from './history.js';
import { inspectorView } from './inspector.js';
import { drawLegend, writeLegend, writeMeasures } from './panel.js';
import { writeRuns, writeTitle, writeWhose } from './panel.js';
import { playback } from './playback.js';
import { playerControls } from './player_controls.js';
import { isOver } from './run.js';
import { saving } from './save.js';
import { nodeSentence } from './sentences.js';

// of the run that the link of the page is about
const SAME = 'Same text as the shared run.';
const OTHER = 'Not the text of the shared run: another version, model pair or number format.';

/** @typedef {import('../base/place.js').Place} Place */
/** @typedef {import('./frames.js').Frame} Frame */
/** @typedef {import('./run.js').Run} Run */

/**
 * What there is around the player, each only where there is one.
 * @typedef {object} Page
 * @property {import('./inspector.js').Take} [take] what opens a node in the lab
 * @property {typeof import('./headline.js').freshness} [freshness] whether the controls hold
 *   something else than the run
 * @property {(content: Headline) => void} [headline] shows the run in one sentence
 * @property {(run: Run) => void} [opened] sets the controls to an opened run's
 * @property {(place: string, isPicked: boolean) => void} [onPlace] another step is on the screen,
 *   or a node is pointed at or picked
 * @property {(by: number) => unknown} [move] what the arrows do, in place of a step
 * @property {(run: Run) => void} [address] makes the address of the page open a run again
 * @property {Place | null} [request] where the link of the page leads
 */
/** @typedef {import('./save.js').Server & Page} Around */

/** @param {HTMLElement} element where stage.html is @param {Around} [around] */
export function runPlayer(element, around = {}) {
  const $ = finder(element);
  const schedule = onceAFrame(render);
  const fresh = around.freshness?.(element, schedule, () => run);
  const history = runHistory();
  let [run] = history.runs; // the one on the screen
  /** @type {HTMLElement[][]} */
  let spans = [];
  let { request = null } = around; // until a visitor goes elsewhere
  /** @type {Run | null} */
  let addressed = null; // the run that the address of the page opens
  let shared = new URLSearchParams(location.search).get('run'); // until that run is computed again
  let drawn = ''; // the phase on the screen
  const inspector = inspectorView($, around.take);
  const tree = treeView($('svg'), { inspect, pick });
  const position = playback(element, {
    steps: () => run.steps,
    running: () => run.state === 'running',
    head: () => run.head,
    changed: schedule,
  });
  saving(element, around, {
    current: () => ({ run, step: run.steps[position.current] }),
    replace,
  });
  const { move = position.move } = around;
  const controls = playerControls(element, { tree, position, show, pick, move });

  // ---- what arrives ----

  /** Puts a run on the screen. @param {Run} other */
  function put(other) {
    fresh?.leave(run);
    const phase = fresh && !run.name ? 1 : 3; // all of a step for a visitor who comes
    run = other;
    spans = [];
    position.reset();
    tree.clear();
    $('ribbon').replaceChildren($('prompt'));
    run.steps.forEach(writeStep);
    if (isOver(run) && run.steps.length) position.open(run.show, phase);
  }

  /** @param {Step} step */
  function writeStep(step) {
    spans[step.index] = spansOf(step);
    $('ribbon').append(...spans[step.index]);
  }

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    /** @type {Message} */
    const message = JSON.parse(text);
    const change = history.take(message, run, fresh?.awaits(message));
    if (!change) return;
    if (shared && message.sum) {
      change.run.note = message.sum === shared ? SAME : OTHER;
      shared = '';
    }
    if (!change.isOnScreen) return schedule(); // its button among the last runs
    if (change.run === run) change.steps.forEach(writeStep);
    else put(change.run);
    position.grown(message.show);
    arrive();
    schedule();
  }

  /** Goes where the link of the page leads, once the run that it means is whole. */
  function arrive() {
    if (request?.of !== run.origin || !isOver(run) || !run.steps.length) return;
    const place = placeIn(run.steps, request);
    show(place.index, place.key);
  }

  /** @param {string} text */
  function replace(text) {
    receive(text);
    around.opened?.(run);
  }

  // ---- drawing ----

  function render() {
    const { current, frame } = position;
    const step = run.steps[current];
    if (drawn !== position.phase) tree.select(null);
    drawn = position.phase;
    writeAround();
    controls.write(run.steps.length);
    if (!step || !frame) return follow($('ribbon'), spans, current);
    const count = countWritten(step, frame);
    tree.show(step, frame);
    follow($('ribbon'), spans, current, count);
    writeLegend($, step, frame);
    inspect();
  }

  /** The words and numbers of the whole run. */
  function writeAround() {
    const content = headlineOf(run);
    if (content) around.headline?.({ ...content, stale: fresh?.stale(run) ?? '' });
    $('ribbon').dataset.grows = position.following;
    $('caption').ariaLive = position.following ? 'off' : 'polite'; // what streams is too fast
    writeAddress();
    writeRuns($, history.runs, run, other => {
      put(other);
      around.opened?.(other);
      schedule();
    });
    writePrompt($, run.head);
    writeTitle($, run);
    writeMeasures($, run);
    writeWhose($, run);
  }

  /** Of each run that is put on the screen whole, but for the one that the page opens with. */
  function writeAddress() {
    if (!isOver(run) || !run.steps.length || addressed === run) return;
    if (addressed) around.address?.(run);
    addressed = run;
  }

  // ---- a node ----

  /** What is pointed at, else what was picked, else what the frame is about. */
  function inspect() {
    const step = run.steps[position.current];
    const { frame } = position;
    if (!step || !frame) return;
    const { over, selected } = tree;
    const key = (isDecided(step, frame, over) && over) || selected;
    const tried = frame.phase === 3 ? String(frame.at) : null;
    sayTerms($('caption'), key === null ? frame.text : nodeSentence(step, key));
    around.onPlace?.(placeText(position.current, key), key === selected);
    // last, since a longer sentence moves the tree
    inspector.show(step, key, tried, key === selected, run.head.rule);
  }

  /** @param {string | null} key @param {boolean} [scroll] to it */
  function pick(key, scroll = false) {
    const step = run.steps[position.current];
    if (!isDecided(step, position.frame, key)) show(position.current);
    tree.select(key, scroll);
    inspect();
  }

  /** A step and a node of it, at rest. @param {number} index @param {string | null} [key] */
  function show(index, key = null) {
    position.show(index);
    tree.select(key);
    drawn = position.phase;
    if (key !== null) requestAnimationFrame(() => tree.select(key, true));
  }

  const stay = () => {
    request = null;
  };
  drawLegend($);
  new ResizeObserver(schedule).observe($('ribbon')); // its lines have another height
  for (const kind of ['pointerdown', 'keydown']) element.addEventListener(kind, stay);
  return { receive, show, position };
}

/**
 * Before the text and, presented, above the tree.
 * @param {import('./panel.js').Find} $
 * @param {Run['head']} head
 */
function writePrompt($, { prompt = '', chat = false }) {
  for (const place of ['asked', 'prompt']) say($(place), prompt);
  $('prompt').classList.toggle('chat', chat);
}

/** How many tokens of a step are in the text by a frame. @param {Step} step @param {Frame} frame */
function countWritten(step, frame) {
  if (frame.phase === 4) return step.pieces.length;
  if (frame.phase < 3) return 0;
  return step.path.filter(node => !frame.later.has(node)).length;
}
