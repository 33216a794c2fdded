// Plays a run: moves through its steps, and writes text, measures, legend and inspector around the tree. Messages are
// what specviz/player/payload.py writes.

import { finder, query, say as write } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeIn, placeText } from '../base/place.js';
import { follow, onToken, spansOf } from '../base/ribbon.js';
import { treeView } from '../tree/view.js';
import { stepClock } from './clock.js';
import { inspectorView, stepSentence } from './inspector.js';
import { filters, writeControls, writeLegend, writeMeasures, writeTitle, writeWhose } from './panel.js';
import { headlineOf, writeRace } from './beside_plain.js';
import { emptyRun, isOver, kindOf, takeMessage } from './run.js';
import { saving } from './save.js';
import { compared } from './share.js';
import { withinStep } from './within.js';

/** @typedef {import('../base/place.js').Place} Place */
/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('./run.js').Run} Run */

/**
 * What there is beside the player: saving, opening, and what opens a node in the lab; whether the picture is of what the
 * controls hold, its headline, who sets them to an opened run's, and the check sum of the run that the page is to show.
 * @typedef {import('./save.js').Server & {
 *   take?: (step: Step, key: string, head: Run['head'], index: number) => (() => void) | null,
 *   fresh?: ReturnType<typeof import('./fresh.js').freshness>, told?: (news: import('../base/types.js').Headline) => void,
 *   holds?: (head: Run['head']) => void, wanted?: string | null }} Beside
 */

/** @param {HTMLElement} element where stage.html is @param {Beside} [server] */
export function runPlayer(element, server = {}) {
  const $ = finder(element), left = new Set(); // runs that made room for one from a file
  const { take: opens } = server;
  /** @type {import('./inspector.js').Take | undefined} */
  const take = opens && ((step, key, index) => opens(step, key, run.head, index));
  const inspector = inspectorView(element, take);
  const within = withinStep(element, {
    changed: () => schedule(), hold: () => { clock.pause(); clock.hold(); }, say,
    pick: node => { pinned = node === null ? null : String(node); hovered = null; },
  });
  const tree = treeView($('svg'), { hover: key => { hovered = key; inspect(); }, pick: pin, fits: true, note: true });
  const clock = stepClock(element, {
    count: () => run.steps.length, running: () => run.state === 'running', speed: () => Number($('speed').value),
    moved: () => { hovered = pinned = null; within.leavePhases(); schedule(); }, changed: schedule,
  });
  let run = emptyRun(null), spans = /** @type {HTMLElement[][]} */ ([]), wanted = /** @type {Place | null} */ (null);
  let pinned = /** @type {string | null} */ (null), hovered = /** @type {string | null} */ (null), frame = /** @type {number | null} */ (null);
  saving(element, server, { shown: () => ({ run, step: run.steps[clock.current] }), say, replace });

  // ---- what arrives ----

  /** @param {string} name */
  function start(name) {
    run = emptyRun(name);
    spans = [];
    pinned = hovered = null;
    clock.reset();
    tree.clear();
    $('expand').setAttribute('aria-pressed', false);
    $('ribbon').replaceChildren($('prompt'));
  }

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    const news = /** @type {import('../base/types.js').Message} */ (JSON.parse(text));
    if (left.has(news.run)) return;
    if (news.run && news.run !== run.name) start(news.run);
    for (const step of takeMessage(run, news)) {
      spans[step.index] = spansOf(step);
      $('ribbon').append(...spans[step.index]);
    }
    $('prompt').textContent = run.head.prompt || '';
    if (run.head.show !== undefined && clock.current < 0 && run.steps.length) clock.hold(run.head.show);
    clock.grown();
    if (news.show !== undefined && clock.following) clock.hold(news.show);
    arrive();
    schedule();
  }

  function arrive() { // where the link of the page leads, as soon as the run it means is that far
    if (!wanted || wanted.of !== kindOf(run) || !run.steps.length) return;
    if (wanted.index >= run.steps.length && !isOver(run)) return;
    const place = placeIn(run.steps, wanted);
    wanted = null;
    go(place.index, place.key);
    clock.hold();
    if (place.key !== null) requestAnimationFrame(() => { if (!element.querySelector('.node.selected')) expand(); }); // it is folded away
  }

  /** @param {string} text */
  function replace(text) {
    left.add(run.name);
    receive(text);
    server.holds?.(run.head);
  }

  // ---- drawing: at most once a frame ----

  function schedule() {
    frame ??= requestAnimationFrame(() => { frame = null; render(); });
  }

  function render() {
    const { current, playing, following } = clock, step = run.steps[current];
    writeAround(element, run, current, server);
    writeControls(element, current, run.steps.length, playing || within.playing);
    follow($('ribbon'), spans, current);
    if (!step) return;
    within.draw(tree, step);
    tree.select(pinned);
    $('svg').dataset.place = placeText(current, pinned);
    $('svg').dataset.of = kindOf(run);
    writeLegend(element, step);
    writeWhose(element, step, run);
    inspect();
    if (!within.step && (run.state !== 'running' || playing || !following)) say(stepSentence(step));
  }

  /** @param {string} text */
  function say(text) {
    write($('live'), text);
  }

  // What is pointed at, else what was picked, else the whole step.
  function inspect() {
    inspector.show(run.steps[clock.current], clock.current, hovered ?? pinned);
  }

  /** @param {string | null} key @param {boolean} [look] at it */
  function pin(key, look = false) {
    pinned = key;
    hovered = null;
    tree.select(key, look);
    if (run.steps.length) $('svg').dataset.place = placeText(clock.current, key);
    inspect();
    if (key === null) return;
    $('why-fold').open = true;
    say(inspector.spoken());
  }

  // ---- moving about ----

  /** @param {number} index @param {string | null} [key] */
  function go(index, key = null) {
    clock.pause();
    clock.go(index);
    pinned = key;
  }

  const move = (/** @type {number} */ by) => { if (!within.move(by)) go(clock.current + by); };

  function toggle() {
    if (!within.toggle(!clock.playing && run.state !== 'running' && run.steps.length > 0, clock.toggle)) clock.toggle();
  }

  const expand = () => $('expand').setAttribute('aria-pressed', tree.toggle());

  controls(element, {
    back: () => move(-1), forward: () => move(1), play: toggle, expand, tree,
    grow: () => within.grow(run.steps[clock.current], run.head.key), walk: () => within.walk(run.steps[clock.current], run.head.leaves_first),
    scrub: go, token: go,
    pinned: () => pinned,
    pick: key => { if (key !== null) pin(key, true); },
    leave: () => (within.step ? within.stop() : pin(null)),
    busy: () => within.step !== null || pinned !== null,
  });

  filters(element);
  return { receive, show: go, changed: schedule, expect: (/** @type {Place | null} */ place) => { wanted = place; } };
}

/** The words and numbers of the whole run. @param {HTMLElement} element @param {Run} run @param {number} current @param {Beside} server */
function writeAround(element, run, current, { fresh, told, wanted = null }) {
  const stale = fresh?.stale(run) ?? false, news = headlineOf(run);
  query(element, '.sv').classList.toggle('stale', stale);
  if (news) told?.({ ...news, stale });
  writeTitle(element, run, stale && isOver(run) ? 'not run yet' : compared(run, wanted));
  writeMeasures(element, run);
  writeRace(element, run, current);
}

/** @typedef {'back' | 'forward' | 'play' | 'grow' | 'walk' | 'expand' | 'leave'} Act */

/**
 * Buttons, the slider, the text and the keys.
 * @param {HTMLElement} element
 * @param {Record<Act, () => void> & { tree: import('../tree/view.js').TreeView, scrub: (index: number) => void,
 *   token: (index: number, key: string) => void, pinned: () => string | null, busy: () => boolean, pick: (key: string | null) => void }} on
 */
function controls(element, on) {
  const $ = finder(element), { tree } = on, along = (/** @type {import('../tree/view.js').Way} */ way) => () => on.pick(tree.walk(way));
  const clicks = { back: on.back, forward: on.forward, play: on.play, grow: on.grow, tries: on.walk, expand: on.expand,
    in: () => tree.zoom(1.25), out: () => tree.zoom(0.8), reset: tree.reset };
  for (const [name, act] of Object.entries(clicks)) $(name).addEventListener('click', act);
  $('scrub').addEventListener('input', () => on.scrub(Number($('scrub').value)));
  onToken($('ribbon'), on.token);
  keys(query(element, '.sv'), event => {
    const key = on.pinned(), up = event.target === $('svg') || event.shiftKey || key !== null; // else up and down scroll the page
    return {
      ArrowLeft: event.shiftKey ? along('parent') : on.back,
      ArrowRight: event.shiftKey ? along('child') : on.forward,
      ArrowUp: up && along('up'),
      ArrowDown: up && along('down'),
      ' ': on.play,
      g: on.grow,
      t: on.walk,
      e: on.expand,
      0: tree.reset,
      Enter: () => { if (key !== null) tree.unfold(key); },
      Escape: on.busy() && on.leave,
    };
  }, { own: $('scrub') });
}
