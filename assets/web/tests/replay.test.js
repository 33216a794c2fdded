import assert from 'node:assert/strict';
import test from 'node:test';

import { nodeOf } from '../labs/node.js';
import { triesOf } from '../tree/tries.js';
import { step } from './page.js';

const chart = (tokens, rows) => ({ tokens, texts: tokens.map(token => `t${token}`), rows });
// Below the root x and y, both rejected; the target writes z.
const rejected = step([-1, 0, 0], 'rxx', {
  tokens: [9, 4, 5], texts: ['r', 'x', 'y'], p: [null, 0.1, 0.2], q: [null, 0.5, 0.3], accept: [null, 0.2, 0.3], coin: [null, 0.7, 0.6],
  sentences: ['root', 'why x', 'why y'], why: [0, 1, 2], own: 6, last: 'correction', pieces: ['z'],
  detail: {
    0: { after: chart([6, 5], { p: [0.4, 0.2], residual: [0.9, 0.05] }), facts: { rho: 2 } },
    1: { tried: chart([4, 5], { p: [0.1, 0.2], residual: [0.1, 0.2], draft: [0.5, 0.3] }) },
    2: { tried: chart([4, 5], { p: [0.1, 0.2], residual: [0, 0.3], draft: [0, 0.6] }) },
  },
});

test('the lab is told what the run drew at a node: children in order, acceptance, draws, sentences and rows', () => {
  const { told, tokens } = nodeOf(rejected, '2');
  assert.deepEqual(tokens, ['x', 'y', '(rest)', 't6']);
  assert.deepEqual([told.drafted, told.emitted, told.corrected, told.goesOn, told.facts], [[0, 1], [3], true, false, { rho: 2 }]);
  assert.deepEqual(told.tries.map(one => [one.node, one.token, one.outcome, one.accept_prob, one.coin, one.why]),
    [[1, 0, 'rejected', 0.2, 0.7, 'why x'], [2, 1, 'rejected', 0.3, 0.6, 'why y']]);
  assert.deepEqual(told.tries[0].before.draft.map(value => value && Math.round(100 * value)), [50, 30, 20, null], 'the rest is what is left');
  assert.deepEqual(told.tries[0].after, told.tries[1].before.p ? { residual: told.tries[1].before.residual, draft: told.tries[1].before.draft } : null);
  assert.deepEqual(told.tries[1].after.residual, [null, 0.05, null, 0.9], 'what was not recorded is not made up');
});

test('a node whose child was accepted goes on, and one that the rule did not visit has nothing to replay', () => {
  const here = { tokens: [9, 4, 5], texts: ['r', 'x', 'y'], p: [null, 0.5, 0.2], q: [null, 0.5, 0.1], coin: [null, 0.1, null], accept: [null, 1, null] };
  const accepted = nodeOf(step([-1, 0, 0], 'rau', here), '1').told;
  assert.deepEqual([accepted.goesOn, accepted.emitted, accepted.tries.length, accepted.drafted.length], [true, [0], 1, 2]);
  assert.equal(nodeOf(step([-1, 0, 0], 'ruu', here), '1').told, null);
});

test('the tries are in the order of the rule: from the root down, or leaves first', () => {
  const tree = step([-1, 0, 0, 2, 2, 4], 'rxaxau');
  assert.deepEqual(triesOf(tree), [1, 2, 3, 4]);
  const leaves = step([-1, 0, 0, 1, 1], 'rxuxx');
  assert.deepEqual([triesOf(leaves, true), triesOf(leaves)], [[3, 4, 1], [1, 3, 4]]);
});
