import assert from 'node:assert/strict';
import test from 'node:test';

import { stepper } from '../base/stepper.js';
import { placeCard } from '../stage/card_place.js';
import { short } from '../base/text.js';
import { comparedTexts, growthSentence, trySentence } from '../stage/sentences.js';
import { runHistory } from '../stage/history.js';
import { playback } from '../stage/playback.js';
import { emptyRun } from '../stage/run.js';
import { commandOf, pythonOf } from '../stage/share.js';
import { freshPage, step } from './page.js';

test('a step that is opened plays its verification, which can be paused, and a run is followed to its newest step', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const wait = ms => {
    for (let i = 0; i < ms; i += 100) t.mock.timers.tick(100);
  };
  const steps = [0, 1, 2].map(index => step([-1, 0], 'ra', { index, last: 'bonus' })),
    run = { running: false, count: 3 };
  const at = playback(freshPage().body, {
    steps: () => steps.slice(0, run.count),
    running: () => run.running,
    head: () => ({}),
    changed: () => {},
  });
  at.open(1);
  assert.deepEqual([at.current, at.frame.phase, at.playing], [1, 3, true]);
  at.toggle();
  wait(9000);
  assert.deepEqual([at.frame.phase, at.playing], [3, false]);
  at.move(1);
  assert.deepEqual([at.current, at.frame.phase], [1, 4], 'a step half played is moved in');
  at.toggle();
  wait(30_000);
  assert.deepEqual([at.current, at.playing], [2, false], 'the run plays to its end');
  at.reset();
  Object.assign(run, { running: true, count: 1 });
  at.grown();
  run.count = 3;
  at.grown();
  assert.deepEqual([at.current, at.frame.phase, at.following], [0, 4, true], 'at a readable pace');
  wait(300);
  assert.equal(at.current, 1);
  wait(300);
  assert.deepEqual([at.current, at.frame.phase, at.following], [2, 4, true]);
  at.show(0);
  at.grown();
  assert.deepEqual([at.current, at.following], [0, false]);
});

test('with less motion a step is shown at rest, and its parts one at a time', () => {
  const steps = [step([-1, 0], 'ra', { last: 'bonus' })],
    body = freshPage().body;
  globalThis.matchMedia = () => ({ matches: true });
  const at = playback(body, {
    steps: () => steps,
    running: () => false,
    head: () => ({}),
    changed: () => {},
  });
  at.open(0);
  assert.deepEqual([at.frame.phase, at.playing], [4, false]);
  at.play(3);
  assert.deepEqual([at.frame.phase, at.playing], [3, false]);
});

test('a run that ends opens the step that is worth showing, when all its text was shown', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const steps = [0, 1, 2].map(index => step([-1, 0], 'ra', { index, last: 'bonus' }));
  globalThis.matchMedia = () => ({ matches: false });
  const at = playback(freshPage().body, {
    steps: () => steps,
    running: () => true,
    head: () => ({}),
    changed: () => {},
  });
  const shown = [];
  at.grown(1);
  for (let i = 0; i < 12; i++) {
    shown.push(at.current);
    t.mock.timers.tick(100);
  }
  assert.deepEqual([...new Set(shown.slice(0, 8))], [0, 1, 2]);
  assert.deepEqual([at.current, at.frame.phase, at.following], [1, 3, false]);
});

test('a card stands beside its node and covers nothing of the accepted path', () => {
  const box = (left, top, wide, high) => ({ left, top, right: left + wide, bottom: top + high });
  const room = box(0, 0, 600, 300);
  const path = [box(0, 140, 80, 20), box(100, 140, 80, 20), box(200, 140, 380, 20)];
  const covers = ({ left, top }, size) =>
    path.some(
      other =>
        left < other.right &&
        left + size.width > other.left &&
        top < other.bottom &&
        top + size.height > other.top,
    );
  const size = { width: 220, height: 110 };
  for (const node of [
    ...path,
    box(200, 40, 60, 20),
    box(300, 250, 60, 20),
    box(560, 100, 60, 20),
  ]) {
    const at = placeCard(size, node, path, [], room);
    assert.ok(!covers(at, size), JSON.stringify([node, at]));
    assert.ok(at.left >= 0 && at.left + size.width <= 620);
  }
});

test('the card is next to its node, however many marks there are, and beside them where that is free', () => {
  const box = (left, top, width, height) => ({
    left,
    top,
    right: left + width,
    bottom: top + height,
  });
  const room = box(0, 0, 1200, 300);
  const path = [box(0, 60, 1200, 20)];
  const card = { width: 250, height: 110 };
  const branches = [...Array(30).keys()].map(i => box(40 * i, 100 + 20 * (i % 8), 40, 20));
  for (const node of [box(1150, 240, 40, 20), box(600, 140, 40, 20), box(20, 20, 40, 20)]) {
    const { left, top } = placeCard(card, node, path, branches, room);
    const across = Math.max(left - node.right, node.left - left - card.width);
    const down = Math.max(top - node.bottom, node.top - top - card.height);
    assert.ok(across <= 8 && down <= 60, JSON.stringify([node, left, top]));
  }
  const beside = placeCard(card, box(300, 200, 40, 20), path, [box(0, 100, 290, 200)], room);
  assert.ok(beside.left >= 290, 'beside the branches');
});

test('a draw and a probability have the digits that tell them apart', () => {
  const certain = step([-1, 0], 'rx', { accept: [null, 0], coin: [null, 0.2] });
  assert.match(trySentence(certain, 1), /never kept, so rejected/);
  assert.deepEqual([0.0002, 0.004, 0.25, 0].map(short), ['0.0002', '0.004', '0.25', '0.00']);
  assert.deepEqual(comparedTexts(0.25, 0.25), ['0.25', '0.25']);
  assert.deepEqual(comparedTexts(0.5001, 0.5003), ['0.5001', '0.5003']);
  assert.deepEqual(comparedTexts(0.68, 0.9982), ['0.680', '0.998'], 'not certain');
});

/** A stepper over `count` positions under a clock of the test's own. */
function made(t, count, more = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const seen = [],
    element = freshPage('<div></div>').querySelector('div'),
    on = stepper(element, {
      count: () => count.now,
      changed: () => seen.push(on?.at),
      pace: () => 100,
      ...more,
    });
  return {
    on,
    seen,
    element,
    wait: ms => {
      for (let i = 0; i < ms; i += 50) t.mock.timers.tick(50);
    },
  };
}

test('a stepper goes to the given place, and never out of range', t => {
  const { on } = made(t, { now: 3 });
  assert.equal(on.at, -1);
  for (const [asked, there] of [
    [7, 2],
    [-4, 0],
    [1, 1],
  ]) {
    on.go(asked);
    assert.equal(on.at, there);
  }
  on.move(1);
  on.move(1); // there is no further position
});

test('it plays to its end and says so once, and begins again from there', t => {
  let ended = 0;
  const { on, seen, wait } = made(t, { now: 3 }, { ended: () => ended++ });
  on.play();
  wait(1000);
  assert.deepEqual([...new Set(seen)], [0, 1, 2]);
  assert.deepEqual([on.playing, ended], [false, 1]);
  on.toggle();
  assert.deepEqual([on.playing, on.at], [true, 0]);
  on.toggle();
  wait(1000);
  assert.deepEqual([on.playing, on.at, ended], [false, 0, 1]);
});

test('its clock ends with the element', t => {
  const { on, element, wait } = made(t, { now: 9 });
  on.play();
  element.remove();
  wait(500);
  assert.deepEqual([on.playing, on.at], [false, 0]);
});

test('the last runs are kept, and a recording of the run on the screen is not put in its place', () => {
  const history = runHistory();
  const [empty] = history.runs;
  const head = { settings: 'seed=2', prompt: 'a' };
  const message = (run, more = {}) => ({
    run,
    steps: [],
    head,
    models: 'm',
    weights: 'disk',
    ...more,
  });
  const first = history.take(message('run 1', { state: 'done' }), empty);
  assert.equal(first.run.name, 'run 1');
  const recorded = { ...head, recorded: true };
  assert.equal(history.take(message('recorded x', { head: recorded }), first.run), null);
  const other = message('recorded x', { head: { ...recorded, settings: 'seed=3' } });
  const second = history.take(other, first.run);
  assert.equal(second.run.name, 'recorded x');
  assert.equal(history.take(other, first.run).run, second.run, 'a recording is there again');
  for (let i = 2; i < 9; i++) history.take(message(`run ${i}`), second.run);
  assert.deepEqual(
    history.runs.map(({ name }) => name),
    [3, 4, 5, 6, 7, 8].map(i => `run ${i}`),
  );
});

test('what comes of an older run never takes the place of the run that was chosen since', () => {
  const history = runHistory();
  const [empty] = history.runs;
  const about = settings => ({ settings, prompt: 'a' });
  const message = (run, more = {}) => ({ run, steps: [], models: 'm', weights: 'disk', ...more });
  const recording = settings =>
    message(`recorded ${settings}`, { head: { ...about(settings), recorded: true }, state: 'done' });
  const begun = history.take(message('run 1', { head: about('T=1'), state: 'running' }), empty);
  assert.ok(begun.isOnScreen);
  const other = history.take(recording('size=64'), begun.run, false);
  assert.ok(other.isOnScreen, 'a recording that was asked for');
  const timing = message('run 1', { timing: { done: 1, of: 3 }, state: 'running' });
  const later = history.take(timing, other.run, false);
  assert.deepEqual([later.isOnScreen, begun.run.timing.done], [false, 1]);
  assert.equal(history.take(message('', { state: 'stopped' }), other.run, false).run, begun.run);
  assert.deepEqual([begun.run.state, other.run.state], ['done', 'done']);
  const second = message('run 2', { head: about('T=1'), state: 'running' });
  assert.equal(history.take(message('', { state: 'loading' }), other.run, false), null);
  assert.equal(history.take(second, other.run, false).isOnScreen, false);
  const third = message('run 3', { head: about('size=64'), state: 'running' });
  assert.ok(history.take(third, other.run, false).isOnScreen, 'in place of its own recording');
  assert.equal(history.take(message('run 9', { state: 'done' }), other.run), null);
});

test('a run in Python and as a command', () => {
  const run = {
    ...emptyRun('run 1'),
    head: { prompt: `it's "a"`, settings: 'builder=chain:depth=2&seed=3' },
  };
  assert.match(
    pythonOf(run),
    /prompt="it's \\"a\\"",\n {4}builder="chain:depth=2",\n {4}seed=3,\n/,
  );
  assert.match(
    pythonOf({ ...run, head: { ...run.head, offload: 'disk' } }),
    /load_pair\(offload="disk", chat=None\)/,
  );
  const chat = { ...run, models: 'smollm2|early-exit:8' };
  assert.match(pythonOf(chat), /load_pair\(target="smollm2", draft="early-exit:8", chat=None\)/);
  assert.match(commandOf(chat), /--target 'smollm2' --draft 'early-exit:8'$/);
  assert.equal(
    commandOf(run),
    `specviz generate --prompt 'it'\\''s "a"' --builder 'chain:depth=2' --seed '3'`,
  );
});

test('a node that is added is named with its number and the slots that were left', () => {
  const growth = { keys: [null, 0.6, 0.3], waiting: [[[0, 0.3]], []] };
  const grown = step([-1, 0, 0], 'rar', { growth });
  const [first, second] = [1, 2].map(node => growthSentence(grown, node, 'probability'));
  const others = 'The best open slot; others: after “t0” 0.300.';
  assert.equal(first, `Node 1 of 2: “t1” after “t0”, probability 0.600. ${others}`);
  assert.match(second, /^Node 2 of 2: .*, probability 0.300. The only open slot.$/);
});
