import assert from 'node:assert/strict';
import test from 'node:test';

import { standing } from '../compare/board.js';
import { largeText } from '../compare/column.js';

const run = (title, ends, totals, factor) => ({
  about: { title },
  ends,
  totals,
  factor,
  state: 'done',
});
const tree = run('Tree', [0.1, 0.2], [5, 8], '4.0×');
const plain = run('Plain', [0.1, 0.3, 0.8], [1, 2, 8], '1×');

test('who is through, and how far the others are', () => {
  assert.equal(standing([plain, tree], 0.1), '');
  assert.equal(standing([plain, tree], 0.2), 'Done: Tree in 0.20 s. Plain is at 1 of 8.');
  assert.equal(standing([plain, tree], 0.8), 'All are done: Tree in 0.20 s, Plain in 0.80 s.');
  assert.equal(standing([], 1), '');
});

test('in large type stands how far a run is, and at its end how many times as fast it was', () => {
  assert.equal(largeText(tree, -1), '0 of 8');
  assert.equal(largeText(tree, 0), '5 of 8');
  assert.equal(largeText(tree, 1), '4.0×');
  assert.equal(largeText({ ...tree, factor: '' }, 1), '8 of 8', 'not timed');
});
