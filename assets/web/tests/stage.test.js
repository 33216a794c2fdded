import assert from 'node:assert/strict';
import test from 'node:test';

import { stepClock } from '../stage/clock.js';
import { weighed } from '../stage/detail.js';
import { stepSentence } from '../stage/inspector.js';
import { writeLegend, writeMeasures, writeWhose } from '../stage/panel.js';
import { headlineOf, raceOf, thenAndThere } from '../stage/beside_plain.js';
import { emptyRun, kindOf, takeMessage } from '../stage/run.js';
import { placeOf, valueAt } from '../stage/log_slider.js';
import { checkSum, compared, runLink, sumAsked } from '../stage/share.js';
import { growthSentence, grows } from '../tree/growth.js';
import { freshPage, step } from './page.js';

test('a run keeps its steps and the numbers that are sent with them', () => {
  const run = emptyRun('run 1'), figures = { tokens: 3, passes: 2, accepted: 2, compared: 3 };
  const steps = [step([-1, 0, 0], 'rxa', { index: 0, pieces: ['a', 'b'] }),
    step([-1, 0], 'ra', { index: 1, pieces: ['c'] })];
  assert.equal(takeMessage(run, { run: 'run 1', steps, state: 'running', figures }).length, 2);
  assert.equal(takeMessage(run, { run: 'run 1', steps, speedup: { speedup: 2, plain_tokens_per_s: 4 } }).length, 0, 'a step that is there is not taken again');
  assert.deepEqual([run.figures, run.against.speedup], [figures, 2]);
  assert.equal(kindOf(run), 'run');
});

test('the speedup stands beside both of the rates that it is the ratio of', () => {
  const run = emptyRun('run 1'), names = ['per-pass', 'acceptance', 'rate', 'speedup'], parts = ['draft', 'target', 'verify', 'other'];
  const { body } = freshPage(names.map(name => `<b class="sv-${name}"></b><i class="sv-${name}-of"></i>`).join('')
    + ['bar', 'key'].map(name => `<p class="sv-time-${name}">${parts.map(part => `<i class="${part}"></i>`).join('')}</p>`).join('')
    + '<p class="sv-time-line"></p>');
  const speedup = { speedup: 1.25, low: 1.1, high: 1.4, rounds: 3, tokens_per_s: 35, plain_tokens_per_s: 28 };
  takeMessage(run, { steps: [], speedup });
  writeMeasures(body, run);
  const said = name => body.querySelector(`.sv-${name}`).textContent;
  assert.deepEqual(['rate-of', 'speedup', 'speedup-of'].map(said), ['over 3 rounds: 35.0', '1.25×', '1.10–1.40 · plain 28.0/s']);
});

test('the speedup of a saved run says when and where it was measured', () => {
  assert.equal(thenAndThere({ date: '2026-11-23', machine: 'x86, 2 cores' }), '; measured on 2026-11-23, on x86, 2 cores');
  assert.equal(thenAndThere({ date: '', machine: '' }), '; measured when it was recorded');
});

test('the headline and the bars are of one measurement', () => {
  const run = emptyRun('run 1'), figures = { tokens: 96, passes: 22, per_pass: 96 / 22, rate: 500 };
  takeMessage(run, { steps: [], head: { recorded: false, lossy: null, settings: 'seed=1' }, figures });
  assert.equal(headlineOf(run).strong, '4.4 tokens per target pass');
  assert.equal(headlineOf(run).small, '96 tokens in 22 passes, with exactly the target’s distribution');
  assert.equal(raceOf(run).time, null, 'plain decoding was not timed yet');
  takeMessage(run, { steps: [], speedup: { speedup: 2, low: 1.9, high: 2.1, rounds: 3, tokens_per_s: 400, plain_tokens_per_s: 200, seconds: 0.24, plain_seconds: 0.48 } });
  assert.deepEqual(raceOf(run), { tokens: 96, passes: 22, time: { plain: 0.48, ours: 0.24 } }, 'both times are those of the rounds');
});

test('what is stopped while it waits leaves the run as it was; a comparison that was stopped says so', () => {
  const run = emptyRun('run 1');
  takeMessage(run, { steps: [], state: 'loading' });
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.equal(run.state, 'done');
  takeMessage(run, { steps: [], state: 'running', same: { kind: 'checking', text: '…' } });
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.deepEqual([run.state, run.same.kind], ['stopped', 'stopped']);
});

test('a run that is whole stays so when its comparison with plain decoding is stopped, and says how far that was', () => {
  const run = emptyRun('run 1');
  takeMessage(run, { steps: [step([-1], 'r')], state: 'running' });
  takeMessage(run, { steps: [], state: 'running', note: 'Timing', timing: { done: 1, of: 3 } });
  takeMessage(run, { steps: [], state: 'stopped' });
  assert.deepEqual([run.state, run.note], ['done', 'Whole run; the comparison with plain decoding was stopped after 1 of 3 rounds.']);
});

test('the clock follows a run that grows until somebody goes back', () => {
  let count = 0, moved = 0;
  const clock = stepClock(freshPage().body, { count: () => count, running: () => true, speed: () => 1, moved: () => { moved++; }, changed: () => {} });
  count = 3;
  clock.grown();
  clock.grown();
  assert.deepEqual([clock.current, moved], [2, 1]);
  clock.go(0);
  count = 5;
  clock.grown();
  assert.deepEqual([clock.current, clock.following], [0, false]);
  clock.go(99);
  assert.deepEqual([clock.current, clock.following], [4, true]);
});

test('a step in one sentence', () => {
  const one = step([-1, 0, 1], 'raa', { texts: ['r', ' a', ' b'], path: [1, 2], pieces: [' a', ' b', ' c'], last: 'bonus' });
  assert.equal(stepSentence(one), '2 of 2 drafted nodes accepted: “a b”; the target adds “c”.');
  assert.equal(stepSentence({ ...one, path: [], last: null }), '0 of 2 drafted nodes accepted.');
  const probed = step([-1, 0], 'ro', { pieces: [' c'], last: 'bonus' });
  assert.equal(stepSentence(probed), 'Nothing was drafted; the target writes “c”.');
});

test('how a tree grew is told node by node', () => {
  const one = step([-1, 0, 0], 'ruu', { growth: { keys: [null, 0.5, 0.25], waiting: [[[0, 0.4]], []] } });
  assert.ok(grows(one) && !grows(step([-1, 0], 'ru')));
  assert.equal(growthSentence(one, 1, 'chance'), 'Node 1 of 2: “t1” after “t0”, chance 0.500. Best open slot. Other open slots: after “t0” 0.400.');
  assert.equal(growthSentence(one, 2, 'chance'), 'Node 2 of 2: “t2” after “t0”, chance 0.250. Only open slot.');
  assert.equal(growthSentence(one, 3, 'chance'), 'All 2 nodes.');
});

test('a run counts accepted by drafter, drafter by drafter, and says so where there is more than one', () => {
  const run = emptyRun('run 1'), box = freshPage('<div class="sv-whose" hidden></div>').body;
  const first = step([-1, 0, 0, 1], 'rxau', { index: 0, drafter: [null, 'model', 'retrieval', 'model'] });
  const second = step([-1, 0], 'ra', { index: 1, drafter: [null, 'model'] });
  takeMessage(run, { steps: [second] });
  writeWhose(box, second, run);
  assert.ok(box.firstChild.hidden);
  const drafters = { model: { accepted: 1, compared: 2, acceptance: 0.5 }, retrieval: { accepted: 1, compared: 1, acceptance: 1 } };
  takeMessage(run, { steps: [first], figures: { drafters } });
  assert.deepEqual([...run.guessed], [['model', { nodes: 3, accepted: 1 }], ['retrieval', { nodes: 1, accepted: 1 }]]);
  writeWhose(box, first, run);
  assert.ok(!box.firstChild.hidden);
  assert.deepEqual([...box.querySelectorAll('span')].map(item => item.textContent), [
    'Draft model 2, 0 accepted whole run: 1 of 2 compared, 50 %', 'Retrieval 1, 1 accepted whole run: 1 of 1 compared, 100 %']);
});

test('bars leave out what no row gives any weight, but never the token in question', () => {
  const chart = { tokens: [7, 8, 9], texts: ['a', 'b', 'c'], rows: { p: [1, 0, 0], draft: [0.5, 1e-9, 0] } };
  assert.deepEqual(weighed(chart, 9), { tokens: [7, 9], texts: ['a', 'c'], rows: { p: [1, 0], draft: [0.5, 0] } });
  assert.deepEqual(weighed({ ...chart, rows: { p: [1, 0, 0], draft: [0, 0.4, 0.6] } }).tokens, [7, 8, 9]);
});

test('a logarithmic slider has as many places for 1 to 32 as for 32 to 1024', () => {
  assert.deepEqual([0, 500, 1000].map(place => valueAt(place, 1, 1024)), [1, 32, 1024]);
  for (const value of [1, 2, 16, 333, 1024]) assert.equal(valueAt(placeOf(value, 1, 1024), 1, 1024), value);
});

test('a shared run is the same where its text is', () => {
  const run = { ...emptyRun('run 1'), state: 'done', steps: [step([-1], 'r', { pieces: ['a', 'ü'] })], head: { prompt: 'Hi & you', settings: 'builder=chain&seed=3' } };
  const link = runLink(run, 0, 'http://x/?old=1#y'), wanted = sumAsked(new URL(link).search);
  assert.equal(link, `http://x/?prompt=Hi+%26+you&run=${checkSum(run)}&builder=chain&seed=3&step=1`);
  assert.equal(compared(run, wanted), 'Same text as the shared run.');
  assert.match(compared({ ...run, steps: [step([-1], 'r', { pieces: ['b'] })] }, wanted), /^Not the text/);
  assert.deepEqual([compared({ ...run, state: 'running' }, wanted), compared(run, null), sumAsked('?run=xyz')], [null, null, null]);
});

test('the legend counts one node and several', () => {
  const { body } = freshPage('<p class="sv-legend"></p><p class="sv-sum">= <b></b> nodes</p><p class="sv-last"><svg></svg><span></span></p>');
  const said = one => (writeLegend(body, one), body.querySelector('.sv-sum').textContent);
  assert.deepEqual([step([-1], 'r'), step([-1, 0], 'ra')].map(said), ['= 1 node', '= 2 nodes']);
});
