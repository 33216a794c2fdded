// Plays a run: draws the frame of the step at hand and writes text, numbers and legend around it.
// Messages are what specviz/view/payload.py writes.

import { finder, query, say as write } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeIn, placeText } from '../base/place.js';
import { presents } from '../base/page.js';
import { follow, onToken, spansOf } from '../base/ribbon.js';
import { treeView } from '../tree/view.js';
import { fly } from './flight.js';
import { inspectorView } from './inspector.js';
import { writeControls, writeLegend, writeMeasures, writeTitle, writeWhose } from './panel.js';
import { playback } from './playback.js';
import { headlineOf, writeRace } from './beside_plain.js';
import { emptyRun, isOver, kindOf, takeMessage } from './run.js';
import { saving } from './save.js';
import { compared } from './share.js';

/** @typedef {import('../base/place.js').Place} Place */
/** @typedef {import('./run.js').Run} Run */

/**
 * What there is around the player: saving and opening, what opens a node in the lab, whether the
 * controls hold something else than the run, who shows its headline, who sets the controls to an
 * opened run's, and the check sum of the run that the page is to show.
 * @typedef {import('./save.js').Server & {
 *   take?: (step: Step, key: string, head: Run['head'], index: number) => (() => void) | null,
 *     fresh?: ReturnType<typeof import('./headline.js').freshness>, headline?: (content: Headline)
 *   => void, opened?: (head: Run['head']) => void, checkSum?: string | null }} Around
 */

/** @param {HTMLElement} element where stage.html is @param {Around} [around] */
export function runPlayer(element, around = {}) {
  const $ = finder(element),
    left = new Set(); // runs that made room for one from a file
  const { take: opens } = around;
  const inspector = inspectorView(
    element,
    opens && ((step, key, index) => opens(step, key, run.head, index)),
  );
  const tree = treeView($('svg'), {
    hover: key => {
      hovered = key;
      inspect();
    },
    pick: pin,
  });
  let run = emptyRun(null),
    spans = /** @type {HTMLElement[][]} */ ([]),
    request = /** @type {Place | null} */ (null),
    arrived = false,
    drawn = -1;
  let pinned = /** @type {string | null} */ (null),
    hovered = /** @type {string | null} */ (null),
    drawing = /** @type {number | null} */ (null);
  const at = playback(element, {
    steps: () => run.steps,
    running: () => run.state === 'running',
    head: () => run.head,
    changed: () => schedule(),
  });
  saving(element, around, { shown: () => ({ run, step: run.steps[at.current] }), say, replace });

  // ---- what arrives ----

  /** @param {string} name */
  function start(name) {
    run = emptyRun(name);
    spans = [];
    pinned = hovered = null;
    arrived = false;
    at.reset();
    tree.clear();
    $('ribbon').replaceChildren($('prompt'));
  }

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    const message = /** @type {Message} */ (JSON.parse(text));
    if (left.has(message.run)) return;
    if (message.run && message.run !== run.name) start(message.run);
    for (const step of takeMessage(run, message)) {
      spans[step.index] = spansOf(step);
      $('ribbon').append(...spans[step.index]);
    }
    $('prompt').textContent = run.head.prompt || '';
    const to =
      at.current < 0 && run.steps.length
        ? (run.head.show ?? message.show)
        : at.following
          ? message.show
          : undefined;
    if (to === undefined) at.grown();
    else at.open(to);
    arrive();
    schedule();
  }

  function arrive() {
    // where the link of the page leads, as soon as the run it means is that far
    if (
      arrived ||
      !request ||
      request.of !== kindOf(run) ||
      !run.steps.length ||
      (request.index >= run.steps.length && !isOver(run))
    )
      return;
    const place = placeIn(run.steps, request);
    arrived = true; // while controls follow a link, its picture may come and go
    show(place.index, place.key);
  }

  /** @param {string} text */
  function replace(text) {
    left.add(run.name);
    receive(text);
    around.opened?.(run.head);
  }

  // ---- drawing: at most once a frame of the browser ----

  function schedule() {
    drawing ??= requestAnimationFrame(() => {
      drawing = null;
      render();
    });
  }

  function render() {
    const { current, frame, playing, following } = at,
      step = run.steps[current];
    if (current !== drawn) pinned = hovered = null;
    drawn = current;
    writeAround(element, run, current, around);
    writeControls(element, current, run.steps.length, playing, frame?.phase ?? 4);
    if (!step || !frame) return follow($('ribbon'), spans, current);
    const count =
      frame.phase === 4
        ? step.pieces.length
        : frame.phase < 3
          ? 0
          : step.path.filter(node => !frame.later.has(node)).length;
    const arriving = spans[current].slice(0, count).filter(span => span.matches('.later'));
    tree.show(step, frame);
    follow($('ribbon'), spans, current, count);
    if (playing) fly(element, arriving, tree.place);
    tree.select(pinned);
    Object.assign($('svg').dataset, { place: placeText(current, pinned), of: kindOf(run) });
    write($('caption'), frame.text);
    writeLegend(element, step, frame);
    writeWhose(element, step, run);
    inspect();
    if (!following && (!playing || frame.phase === 4)) say(frame.text);
  }

  /** @param {string} text */
  function say(text) {
    write($('live'), text);
  }

  // What is pointed at, else what was picked, else what the frame is about.
  function inspect() {
    const about = at.frame?.at ?? null;
    inspector.show(
      run.steps[at.current],
      at.current,
      hovered ?? pinned ?? (about === null ? null : String(about)),
    );
  }

  /** @param {string | null} key @param {boolean} [scroll] to it */
  function pin(key, scroll = false) {
    pinned = key;
    hovered = null;
    tree.select(key, scroll);
    if (run.steps.length) $('svg').dataset.place = placeText(at.current, key);
    inspect();
    if (key === null) return;
    $('why-fold').open = true;
    say(inspector.spoken());
  }

  /** A step and a node of it, at rest. @param {number} index @param {string | null} [key] */
  function show(index, key = null) {
    at.show(index);
    pinned = key;
    drawn = at.current;
    if (key !== null)
      requestAnimationFrame(() => {
        if (!element.querySelector('.node.selected')) fit();
        tree.select(key, true);
      }); // it is folded away
  }

  const fit = () => $('fit').setAttribute('aria-pressed', String(tree.fit()));

  controls(element, {
    tree,
    at,
    fit,
    show,
    pinned: () => pinned,
    pick: key => {
      if (key !== null) pin(key, true);
    },
    leave: () => (pinned === null ? at.rest() : pin(null)),
  });
  for (const kind of ['pointerdown', 'keydown'])
    element.addEventListener(kind, () => {
      request = null;
    });
  return {
    receive,
    show,
    move: at.move,
    changed: schedule,
    expect: (/** @type {Place | null} */ place) => {
      request = place;
    },
  };
}

/**
 * The words and numbers of the whole run.
 * @param {HTMLElement} element
 * @param {Run} run
 * @param {number} current
 * @param {Around} around
 */
function writeAround(element, run, current, { fresh, headline, checkSum = null }) {
  const content = headlineOf(run);
  if (content) headline?.({ ...content, stale: fresh?.stale(run) ?? false });
  writeTitle(element, run, compared(run, checkSum));
  writeMeasures(element, run);
  writeRace(element, run, current);
}

/**
 * Buttons, the slider, the text and the keys.
 * @param {HTMLElement} element
 * @param {{ tree: import('../tree/view.js').TreeView, at: import('./playback.js').Playback, fit:
 *   () => void, leave: () => void, show: (index: number, key?: string) => void, pinned: () =>
 *   string | null, pick: (key: string | null) => void }} on
 */
function controls(element, { tree, at, fit, leave, show, pinned, pick }) {
  const $ = finder(element),
    along = (/** @type {import('../tree/view.js').Way} */ way) => () => pick(tree.walk(way));
  const back = () => {
      at.move(-1);
    },
    forward = () => {
      at.move(1);
    };
  for (const [name, act] of Object.entries({ back, forward, play: at.toggle, fit }))
    $(name).addEventListener('click', act);
  const parts = /** @type {NodeListOf<HTMLInputElement>} */ ($('phases').querySelectorAll('input'));
  for (const part of parts) part.addEventListener('click', () => at.play(Number(part.value)));
  $('scrub').addEventListener('input', () => show(Number($('scrub').value)));
  onToken($('ribbon'), show);
  const phases = Object.fromEntries([1, 2, 3, 4].map(phase => [phase, () => at.play(phase)]));
  keys(
    query(element, '.sv'),
    event => {
      const key = pinned(),
        // else up and down scroll the page
        up = event.target === $('svg') || event.shiftKey || key !== null;
      return {
        ...phases,
        ArrowLeft: event.shiftKey ? along('parent') : back,
        ArrowRight: event.shiftKey ? along('child') : forward,
        ArrowUp: up && along('up'),
        ArrowDown: up && along('down'),
        ' ': at.toggle,
        f: fit,
        Enter: () => {
          if (key !== null) tree.unfold(key);
        },
        Escape: !presents() && (key !== null || !at.resting) && leave,
      };
    },
    { own: $('scrub') },
  );
}
