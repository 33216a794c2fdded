import assert from 'node:assert/strict';
import test from 'node:test';

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
