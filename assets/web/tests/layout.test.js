import assert from 'node:assert/strict';
import test from 'node:test';

import {
  childrenOf,
  roomyLayout,
  sparseLayout,
  stairLayout,
  treeLayout,
} from '../tree/layout.js';
import { step } from './page.js';

const none = () => false,
  every = () => true;
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

test('the accepted path is straight, siblings stand in the order in which they were tried, what was not visited is folded', () => {
  const layout = treeLayout(tree, none);
  assert.deepEqual(keys(layout), ['0', '1', '2', '5', 'last']);
  for (const key of ['0', '2', '5', 'last']) assert.equal(spot(layout, key)[1], layout.spine);
  assert.deepEqual(spot(layout, '1'), [1, 0], 'tried before the accepted one');
  assert.equal(layout.marks[1].hidden, 2);
  assert.deepEqual([layout.rows, layout.columns, layout.spine], [2, 4, 1]);
  assert.deepEqual(
    layout.marks.map(mark => mark.order),
    [0, 1, 2, 0, 0],
    'an only child has no number',
  );
});

test('the target’s own token follows the siblings that were tried and precedes those that were not', () => {
  const layout = treeLayout(step([-1, 0, 0, 0], 'rxxu', { last: 'correction' }), none);
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

test('unfolded, every node is there once and nothing is hidden', () => {
  const layout = treeLayout(tree, every);
  assert.deepEqual(keys(layout).toSorted(), ['0', '1', '2', '3', '4', '5', 'last']);
  assert.ok(layout.marks.every(mark => mark.hidden === 0));
});

test('many siblings that were not visited share one fold, which counts what is below them', () => {
  const wide = step([-1, 0, 0, 0, 0, 0, 0, 5], 'rxuuuuuu');
  const layout = treeLayout(wide, none),
    fold = layout.marks.at(-1);
  assert.deepEqual(keys(layout), ['0', '1', '2', '3', '4', '0+']);
  assert.equal(fold.hidden, 3);
});

test('folds open as long as there is room, and what stays folded says how many', () => {
  const wide = step([-1, 0, 0, 1, 1, 1, 2], 'raxuuux');
  assert.equal(treeLayout(step([-1, 0, 1, 1], 'ruuu'), none).marks.at(-1).hidden, 2);
  // 1 has two children, below 2 hangs a chain of two
  const deep = step([-1, 0, 0, 1, 1, 2, 5], 'ruuuuuu');
  const folded = roomyLayout(deep, none, { rows: 2, columns: 9 });
  assert.deepEqual(
    folded.marks.map(mark => [mark.key, mark.hidden]),
    [
      ['0', 0],
      ['1', 2],
      ['2', 0],
      ['5', 0],
      ['6', 0],
    ],
  );
  assert.equal(folded.rows, 2);
  const open = roomyLayout(deep, none, { rows: 3, columns: 9 });
  assert.ok(open.marks.every(mark => !mark.hidden));
  assert.equal(open.rows, 3);
  assert.equal(roomyLayout(wide, none, { rows: 99, columns: 99 }).marks.length, 7);
});

test('a tree that does not fit keeps its folds, and columns limit it as well as rows', () => {
  const chain = step([-1, 0, 1, 2, 3], 'ruuuu');
  assert.equal(roomyLayout(chain, none, { rows: 0, columns: 0 }).marks.at(-1).hidden, 3);
  const some = roomyLayout(chain, none, { rows: 5, columns: 3 });
  assert.deepEqual([some.columns, some.marks.at(-1).hidden], [3, 2]);
});

test('in little room every node is there, only what was visited has a name, and the other rows are low', () => {
  const { marks, rows, spine } = sparseLayout(tree);
  assert.deepEqual(
    marks.filter(mark => mark.bare).map(mark => mark.key),
    ['3', '4'],
  );
  assert.equal(marks.length, 7);
  assert.ok(spine === 1 && rows < 3);
  const wide = sparseLayout(step([-1, 0, 0, 0, 0], 'rauuu', { last: 'bonus' }));
  assert.ok(wide.rows < treeLayout(step([-1, 0, 0, 0, 0], 'rauuu', { last: 'bonus' }), every).rows);
});

test('in little room the accepted path is the last row, and only what was tried is numbered', () => {
  const { marks, spine } = sparseLayout(step([-1, 0, 0, 0, 1], 'rxauu', { last: 'bonus' }));
  assert.deepEqual(
    marks.filter(mark => mark.y === spine).map(mark => mark.key),
    ['0', '2', 'last'],
  );
  assert.ok(marks.every(mark => mark.y <= spine));
  assert.deepEqual(
    marks.filter(mark => mark.order).map(mark => [mark.key, mark.order]),
    [
      ['1', 1],
      ['2', 2],
    ],
  );
});

test('every node of a chain has a row for its name', () => {
  const layout = stairLayout(step([-1, 0, 1, 2], 'raxu', { last: 'correction' }));
  assert.deepEqual(
    layout.marks.map(mark => [mark.key, mark.x, mark.y]),
    [
      ['0', 0, 0],
      ['1', 1, 1],
      ['2', 2, 2],
      ['3', 3, 3],
      ['last', 2, 4],
    ],
  );
  assert.equal(layout.rows, 5);
});

test('what somebody opened stays open though there is no room', () => {
  const chain = step([-1, 0, 1, 2, 3], 'ruuuu');
  const layout = roomyLayout(chain, key => key === '1', { rows: 0, columns: 0 });
  assert.deepEqual(keys(layout), ['0', '1', '2']);
});

test('every node is drawn or counted in a fold, for many random trees in any room', () => {
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
    const room = { rows: random(30), columns: 1 + random(12) };
    const folded = treeLayout(step(parents, letters.join('')), none),
      layout = roomyLayout(step(parents, letters.join('')), none, room);
    for (const one of [folded, layout]) {
      const shown = one.marks.filter(mark => mark.node !== undefined).length;
      assert.equal(shown + one.marks.reduce((sum, mark) => sum + mark.hidden, 0), n);
      assert.equal(
        new Set(one.marks.map(mark => `${mark.x} ${mark.y}`)).size,
        one.marks.length,
        'two marks in one place',
      );
      assert.ok(
        one.marks.every(mark => mark.y >= 0 && mark.y < one.rows),
        'a mark beyond the rows',
      );
      for (const mark of one.marks) {
        const rows = one.marks
          .filter(other => other.from === mark && other.key !== 'last')
          .map(other => other.y);
        assert.deepEqual(
          rows,
          rows.toSorted((a, b) => a - b),
          'siblings out of order',
        );
      }
    }
    assert.ok(
      layout.rows <= Math.max(room.rows, folded.rows) &&
        layout.columns <= Math.max(room.columns, folded.columns),
    );
  }
});
