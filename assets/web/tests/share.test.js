import assert from 'node:assert/strict';
import test from 'node:test';

import { runHistory } from '../stage/history.js';
import { emptyRun } from '../stage/run.js';
import { checkSum, compared, runLink, checkSumOf } from '../stage/share.js';
import { step } from './page.js';

test('a shared run is the same where its text is', () => {
  const run = {
    ...emptyRun('run 1'),
    state: 'done',
    steps: [step([-1], 'r', { pieces: ['a', 'ü'] })],
    head: { prompt: 'Hi & you', settings: 'builder=chain&seed=3' },
  };
  const link = runLink(run, 0, 'http://x/?old=1#y'),
    expected = checkSumOf(new URL(link).search);
  assert.equal(
    link,
    `http://x/?prompt=Hi+%26+you&run=${checkSum(run)}&builder=chain&seed=3&step=1`,
  );
  assert.equal(compared(run, expected), 'Same text as the shared run.');
  assert.match(
    compared({ ...run, steps: [step([-1], 'r', { pieces: ['b'] })] }, expected),
    /^Not the text/,
  );
  assert.deepEqual(
    [compared({ ...run, state: 'running' }, expected), compared(run, null), checkSumOf('?run=xyz')],
    [null, null, null],
  );
});

test('a run of the settings of a recording says whether its text is the same', () => {
  const history = runHistory();
  const head = { prompt: 'Hi', settings: 'seed=3' };
  const steps = text => [step([-1], 'r', { pieces: [text] })];
  const take = message => history.take(message, history.runs.at(-1)).run;
  const first = { ...head, recorded: true };
  take({ run: 'recorded a', head: first, state: 'done', steps: steps('a') });
  const same = take({ run: 'run 1', head, state: 'done', steps: steps('a') });
  assert.equal(compared(same, null), 'Same text as the recording.');
  const other = take({ run: 'run 2', head, state: 'done', steps: steps('b') });
  assert.match(compared(other, null), /^Not the recording’s text/);
  const next = { ...head, settings: 'seed=4' };
  const own = take({ run: 'run 3', head: next, state: 'done', steps: steps('b') });
  assert.equal(compared(own, null), null, 'nothing was recorded of another seed');
});
