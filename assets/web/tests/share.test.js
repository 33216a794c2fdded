import assert from 'node:assert/strict';
import test from 'node:test';

import { emptyRun } from '../stage/run.js';
import { runLink } from '../stage/share.js';

test('a link has the settings of a run and a step, and replaces what the address had', () => {
  const run = {
    ...emptyRun('run 1'),
    sum: '0123abcd',
    head: { prompt: 'Hi & you', settings: 'builder=chain&seed=3' },
  };
  const link = runLink(run, 0, 'http://x/?old=1#y');
  assert.equal(link, 'http://x/?prompt=Hi+%26+you&run=0123abcd&builder=chain&seed=3&step=1');
});
