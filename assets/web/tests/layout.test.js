import assert from 'node:assert/strict';
import test from 'node:test';

import { childrenOf, treeLayout } from '../tree/layout.js';
import { step } from './page.js';

const keys = layout => layout.marks.map(mark => mark.key);
const spot = (layout, key) => {
  const { x, y } = layout.marks.find(mark => mark.key === key);
  return [x, y];
};

//  0 ─ 1x ─ 3u ─ 4u        one accepted child after a rejected one;
//                          below the rejected one no node was visited
//    └ 2a ─ 5a ─ last
const tree = step([-1, 0, 0, 1, 3, 2], 'rxauua', { last: 'bonus' });

test('children keep their order', () => {
  assert.deepEqual(childrenOf(tree), [[1, 2], [3], [5], [4], [], []]);
});

test('the accepted path is straight, and siblings stand in the order in which they were tried', () => {
  const layout = treeLayout(tree);
  assert.deepEqual(keys(layout), ['0', '1', '3', '4', '2', '5', 'last']);
  for (const key of ['0', '2', '5', 'last']) assert.equal(spot(layout, key)[1], 1);
  assert.deepEqual(spot(layout, '1'), [1, 0], 'tried before the accepted one');
  assert.equal(layout.rows, 2);
  assert.deepEqual(
    layout.marks.map(mark => mark.order),
    [0, 1, 0, 0, 2, 0, 0],
    'an only child has no number',
  );
});

test('the target’s own token follows the siblings that were tried and precedes those that were not', () => {
  const layout = treeLayout(step([-1, 0, 0, 0], 'rxxu', { last: 'correction' }));
  assert.deepEqual(keys(layout), ['0', '1', '2', 'last', '3']);
  assert.deepEqual(
    layout.marks.map(mark => mark.y),
    [2, 0, 1, 2, 3],
  );
  assert.deepEqual(
    layout.marks.map(mark => mark.order),
    [0, 1, 2, 0, 3],
  );
});

test('every node is drawn once, in a place of its own, for many random trees', () => {
  let seed = 1;
  const random = below => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const n = 2 + random(80),
      parents = [-1],
      letters = ['r'];
    for (let i = 1; i < n; i++) {
      parents.push(random(i));
      const above = letters[parents[i]],
        taken = parents.some((parent, j) => j < i && parent === parents[i] && letters[j] === 'a');
      if ('ra'.includes(above) && !taken) letters.push('axu'[random(3)]);
      else letters.push('ux'.includes(above) ? 'u' : 'xu'[random(2)]);
    }
    const layout = treeLayout(step(parents, letters.join('')));
    assert.deepEqual(
      layout.marks.map(mark => mark.node).toSorted((a, b) => a - b),
      parents.map((_, node) => node),
    );
    assert.equal(new Set(layout.marks.map(mark => `${mark.x} ${mark.y}`)).size, n);
    assert.ok(layout.marks.every(mark => mark.y >= 0 && mark.y < layout.rows));
    for (const mark of layout.marks) {
      const rows = layout.marks.filter(other => other.from === mark).map(other => other.y);
      assert.deepEqual(
        rows,
        rows.toSorted((a, b) => a - b),
        'siblings out of order',
      );
    }
  }
});
