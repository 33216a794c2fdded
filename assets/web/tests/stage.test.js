import assert from 'node:assert/strict';
import test from 'node:test';

import { finder } from '../base/dom.js';
import { detailOf } from '../stage/detail.js';
import { framesOf, isDecided } from '../stage/frames.js';
import { listOf } from '../stage/inspector.js';
import { nodeSentence, stepSentence, trySentence } from '../stage/sentences.js';
import { writeMeasures, writeWhose } from '../stage/panel.js';
import { headlineOf } from '../stage/beside_plain.js';
import { emptyRun, takeMessage } from '../stage/run.js';
import { freshPage, outcomes, step } from './page.js';

test('a run keeps its steps and the numbers that are sent with them', () => {
  const run = emptyRun('run 1'),
    figures = { tokens: 3, passes: 2, accepted: 2, compared: 3 };
  const steps = [
    step([-1, 0, 0], 'rxa', { index: 0, pieces: ['a', 'b'] }),
    step([-1, 0], 'ra', { index: 1, pieces: ['c'] }),
  ];
  assert.equal(takeMessage(run, { run: 'run 1', steps, state: 'running', figures }).length, 2);
  assert.equal(
    takeMessage(run, { run: 'run 1', steps, speedup: { speedup: 2, plain_tokens_per_s: 4 } })
      .length,
    0,
    'a step that is there is not taken again',
  );
  assert.deepEqual([run.figures, run.speedup.speedup], [figures, 2]);
  assert.equal(run.origin, 'run');
});

test('the race of a drafted token is the one that it ran in, after its parent', () => {
  const raced = text => ({
    race: { target: { tokens: [1], texts: [text], rows: { times: [0.5] } } },
  });
  const one = step([-1, 0, 1, 0], 'raux', {
    detail: { 0: raced('won'), 1: raced('next') },
    own: 7,
  });
  freshPage();
  const winner = node =>
    detailOf(one, node).map(table => table.querySelector('tbody th').textContent);
  assert.deepEqual([1, 3].map(winner), [['won'], ['won']], 'accepted and rejected');
  assert.deepEqual([null, 0].map(winner), [['next'], ['won']], 'what follows the path, the root');
});

test('a run in numbers has a row for each', () => {
  const run = emptyRun('run 1');
  const { body } = freshPage('<dl class="sv-measures"></dl>');
  const table = [['acceptance rate', '50 %', '1 of 2 compared'], ['tokens per second', '–', '']];
  const values = () => [...body.querySelectorAll('dd')].map(value => value.textContent);
  writeMeasures(finder(body), run);
  assert.deepEqual(values(), [], 'none is known yet');
  writeMeasures(finder(body), { ...run, figures: { table } });
  assert.deepEqual(values(), ['50 % (1 of 2 compared)', '–']);
});

test('the headline is of the measurement and says how sure it is', () => {
  const run = emptyRun('run 1'),
    figures = { tokens: 96, passes: 22, per_pass: 96 / 22, rate: 500 };
  takeMessage(run, {
    steps: [],
    head: { recorded: false, lossy: null, settings: 'seed=1' },
    figures,
  });
  assert.equal(headlineOf(run).strong, '4.4 tokens per target pass');
  assert.deepEqual([headlineOf(run).text, headlineOf(run).small], [' instead of 1', 'exact · seed 1']);
  assert.equal(
    headlineOf({ ...run, head: { ...run.head, declared: true, offload: 'disk' } }).small,
    'declared exact by its rule, not proven here · seed 1',
  );
  takeMessage(run, {
    steps: [],
    speedup: {
      speedup: 2,
      low: 1.9,
      high: 2.1,
      rounds: 3,
      tokens_per_s: 400,
      plain_tokens_per_s: 200,
      seconds: 0.24,
      plain_seconds: 0.48,
    },
  });
  const timedRun = headlineOf({ ...run, origin: 'file', state: 'done', head: { offload: 'disk' } });
  assert.equal(timedRun.strong + timedRun.text, '2.0 times as fast as plain decoding, weights on disk');
  assert.equal(timedRun.small, '4.4 tokens per target pass instead of 1');
  const late = { ...run, state: 'done', speedup: null, timing: { done: 0, of: 3 } };
  assert.match(headlineOf(late).small, /not timed, as other work came first/);
  assert.doesNotMatch(headlineOf({ ...late, note: 'stopped' }).small, /other work/);
  const apart = headlineOf({ ...run, state: 'done', speedup: { ...run.speedup, high: 3.6 } });
  assert.equal(apart.strong, 'about 2.0 times as fast as plain decoding');
  const slow = headlineOf({ ...run, state: 'done', speedup: { ...run.speedup, speedup: 0.5, low: 0.48 } });
  assert.match(slow.small, /^a step costs as much as 8\.7 plain passes here/);
  assert.deepEqual([slow.slow, apart.slow], [true, false]);
  const fast = headlineOf({ ...run, state: 'done', speedup: { ...run.speedup, speedup: 4.7 } });
  assert.match(fast.small, /timed without the first pass/, 'more than the tokens per pass explain');
  assert.match(headlineOf({ ...run, origin: 'run' }).small, /seed 1/);
});

test('what is stopped while it waits leaves the run as it was; a comparison that is stopped says nothing', () => {
  const run = emptyRun('run 1');
  takeMessage(run, { steps: [], state: 'loading', note: 'Loading the models.' });
  assert.equal(headlineOf(run).strong, 'Loading the models.');
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.equal(run.state, 'done');
  takeMessage(run, { steps: [], state: 'running', same: { kind: 'checking', text: '…' } });
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.deepEqual([run.state, run.same], ['stopped', undefined]);
});

test('a run that is whole stays so when its comparison with plain decoding is stopped, and says so', () => {
  const run = emptyRun('run 1');
  takeMessage(run, { steps: [step([-1], 'r')], state: 'running' });
  takeMessage(run, { steps: [], state: 'running', note: 'Timing', timing: { done: 1, of: 3 } });
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.deepEqual(
    [run.state, run.note],
    ['done', 'Whole run; its timing was stopped.'],
  );
});

test('a step in one sentence', () => {
  const one = step([-1, 0, 1], 'raa', {
    texts: ['r', ' a', ' b'],
    path: [1, 2],
    pieces: [' a', ' b', ' c'],
    last: 'bonus',
  });
  assert.equal(
    stepSentence(one),
    '2 of 2 drafted tokens accepted: “a b”; the target adds “c” without a further pass.',
  );
  assert.equal(stepSentence({ ...one, path: [], last: null }), '0 of 2 drafted tokens accepted; the text ends there.');
  const probed = step([-1, 0], 'ro', { pieces: [' c'], last: 'bonus' });
  assert.equal(stepSentence(probed), 'Nothing was drafted; the target writes “c”.');
});

test('accepted by drafter is written where there is more than one', () => {
  const run = emptyRun('run 1'),
    box = freshPage('<div class="sv-whose" hidden></div>').body;
  const drafters = { model: '1 of 2 compared, 50 %' };
  takeMessage(run, { steps: [], figures: { drafters } });
  writeWhose(finder(box), run);
  assert.ok(box.firstChild.hidden);
  const both = { ...drafters, retrieval: '1 of 1 compared, 100 %' };
  takeMessage(run, { steps: [], figures: { drafters: both } });
  writeWhose(finder(box), run);
  assert.ok(!box.firstChild.hidden);
  assert.deepEqual(
    [...box.querySelectorAll('span')].map(item => item.textContent),
    ["Pair's own draft 1 of 2 compared, 50 %", 'Retrieval 1 of 1 compared, 100 %'],
  );
});

test('what became of a node is known from the frame on that decides it', () => {
  const tree = step([-1, 0, 0], 'rxa', { order: [1, 2] });
  const frames = framesOf(tree);
  const known = key => frames.map(frame => Number(isDecided(tree, frame, key))).join('');
  assert.equal(frames.map(({ phase }) => phase).join(''), '112334');
  assert.deepEqual([known('1'), known('2'), known(null)], ['000111', '000011', '111111']);
});

test('a step has four phases, of which the third is one frame a try', () => {
  const one = step([-1, 0, 0, 1], 'rxau', {
    p: [null, 0.609, 0.07, null],
    q: [null, 0.767, 0.05, null],
    accept: [null, 0.794, 0.715, null],
    coin: [null, 0.967, 0.683, null],
    pieces: [' b', ' c'],
    texts: ['r', ' boy', ' b', ' x'],
    tokens: [0, 1, 2, 3],
    last: 'bonus',
    path: [2],
    detail: {
      2: { tried: { tokens: [2], texts: [' b'], rows: { residual: [0.141], draft: [0.198] } } },
    },
  });
  const frames = framesOf(one);
  assert.deepEqual(
    frames.map(frame => frame.phase),
    [1, 1, 1, 2, 3, 3, 4],
  );
  assert.deepEqual(
    frames.filter(frame => frame.phase === 3).map(frame => [frame.at, [...frame.later]]),
    [
      [1, [2]],
      [2, []],
    ],
  );
  assert.match(frames[2].text, /^The draft, cheaper than the target, proposes 3 tokens in 1 dra/);
  assert.equal(
    trySentence(one, 1),
    '“boy” is tried first. The draft gave it q = 0.77, the target p = 0.61: kept with probability 0.79. The draw was u = 0.97: rejected.',
  );
  assert.match(
    trySentence({ ...one, scheme: 'distinct' }, 2),
    /second\. After .* the target’s residual gives it 0\.14, the draft 0\.20: kept/,
  );
  freshPage();
  const card = (/** @type {number} */ node) =>
    [...listOf(one, node).querySelectorAll('dt')].map(name => name.textContent.split(' ').at(-1));
  assert.deepEqual(card(1), ['p', 'q', 'probability', '1']);
  assert.deepEqual(card(2), ['residual', 'q', 'probability', '1']); // independent draws
  assert.match(
    trySentence({ ...one, coin: [null, null, null, null] }, 1),
    /^“boy” is tried first\. why$/,
    'a rule without draws uses its own words',
  );
  assert.equal(
    trySentence({ ...one, outcome: outcomes('raxu'), accept: [null, 1, 1, null], p: [null, 0.8, 0, 0] }, 1),
    '“boy” is tried first. The draft gave it q = 0.77, the target p = 0.80: always kept, since p ≥ q.',
  );
  assert.equal(nodeSentence(one, '1'), trySentence(one, 1), 'a node says what its try said');
  assert.match(nodeSentence(one, 'last'), /^“c”, bonus\. The tree ends here/);
  const below = step([-1, 0, 1, 1], 'raxa', { order: [2, 3] });
  const tries = framesOf(below).filter(frame => frame.phase === 3);
  const shown = tries.map(frame => [frame.at, [...frame.later]]);
  assert.deepEqual(
    shown,
    [
      [2, [3, 1]],
      [3, []],
    ],
    'a node without a try comes after the last',
  );
});
