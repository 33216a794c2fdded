import assert from 'node:assert/strict';
import test from 'node:test';

import { ticks } from '../figures/chart.js';
import { linkedNode } from '../labs/address.js';
import { runOf } from '../labs/draws.js';
import { nodeOf } from '../labs/node.js';
import { normalised, withProbability } from '../labs/rows.js';
import { nodeText } from '../labs/tree_picture.js';
import { lessonOf } from '../lessons/lessons.js';
import { step } from './page.js';

const close = (row, wanted) =>
  row.forEach((value, i) =>
    assert.ok(Math.abs(value - wanted[i]) < 1e-9, `${row} is not ${wanted}`),
  );

test('weights of any size are normalised, and one probability makes room for itself', () => {
  close(normalised([1, 3]), [0.25, 0.75]);
  close(normalised([NaN, -1, 0]), [0, 0, 0]);
  close(withProbability([0.2, 0.3, 0.5], 0, 0.5), [0.5, 0.1875, 0.3125]);
  close(withProbability([1, 0, 0], 0, 0.4), [0.4, 0.3, 0.3]);
});

const taken = step([-1, 0, 0, 1], 'raux', {
  tokens: [9, 4, 4, 5],
  texts: ['r', ' x', ' x', 'y'],
  path: [1],
  p: [null, 0.5, 0.5, 0.2],
  q: [null, 0.25, 0.25, 0.1],
});

test('what is taken of a node into the lab: its children, and all other tokens as one', () => {
  const root = nodeOf(taken, '2');
  assert.deepEqual(
    [root.names, root.p, root.q],
    [
      [' x', '(rest)'],
      [0.5, 0.5],
      [0.25, 0.75],
    ],
  );
  assert.deepEqual(
    [root.children, root.scheme, root.rest],
    [2, 'iid', true],
    'a token drawn twice is one token',
  );
  assert.deepEqual(nodeOf(taken, '0'), root);
  assert.deepEqual(
    nodeOf(taken, 'last').names,
    ['y', '(rest)'],
    'the children that the correction replaced',
  );
  assert.equal(nodeOf({ ...taken, path: [1, 3] }, 'last'), null, 'a bonus has no children');
  assert.equal(nodeOf({ ...taken, q: [null, null, null, null] }, '1'), null, 'no draft was asked');
});

test('a link holds a node', () => {
  const asked =
    '?tab=labs&lab=verification&rule=my-rule&p=1/2,1/2&q=1,0&children=2&levels=1&scheme=iid';
  assert.deepEqual(linkedNode(asked), {
    p: [0.5, 0.5],
    q: [1, 0],
    rule: 'my-rule',
    scheme: 'iid',
    children: 2,
    levels: 1,
  });
  assert.equal(linkedNode('?lab=verification&preset=cover'), null);
  assert.equal(JSON.stringify(linkedNode('?p=1,x&q=1,1/0').p), '[1,null]', 'an error of the server');
});

test('the lab takes as many tokens and children as it can enumerate', () => {
  const rows = {
    p: [0.5, ...new Array(15).fill(0.03)],
    draft: [0.25, ...new Array(15).fill(0.05)],
  };
  const chart = {
    tokens: [4, ...Array.from({ length: 15 }, (_, i) => 20 + i)],
    texts: Array.from({ length: 16 }, (_, i) => `${i}`),
    rows,
  };
  const full = nodeOf({ ...taken, detail: { 1: { tried: chart } } }, '1');
  assert.equal(full.names.length, 8);
  close([full.p.reduce((sum, value) => sum + value, 0), full.p.at(-1)], [1, 1 - 0.5 - 6 * 0.03]);
  const many = step([-1, ...new Array(9).fill(0)], 'ruuuuuuuuu', {
    p: new Array(10).fill(0.1),
    q: new Array(10).fill(0.1),
  });
  assert.equal(nodeOf(many, '1').children, 4);
});

test('a node of a tree is described in words', () => {
  const tree = { parents: [-1, 0, 0, 1], chance: [1, 0.5, 0.25, 0.2] };
  assert.match(nodeText(tree, 0), /with it go 3 drafted tokens/);
  assert.equal(
    nodeText(tree, 3),
    'Accepted with probability 0.20, and with 0.40 if its parent is accepted.',
  );
  assert.match(nodeText(tree, 2), /^Accepted with probability 0.25\.$/);
});

test('a rule that tests below a failed test decides about all tokens at once', () => {
  const chain = (outcome, more) => runOf(step([-1, 0, 1], outcome, more), [0, 1]).isBlock;
  const tests = { accept: [null, 0, 1], coin: [null, 0.1, 0.9], order: [1, 2] };
  assert.equal(chain('raa', tests), true, 'the longer block passes');
  assert.equal(chain('rxx', { ...tests, accept: [null, 0, 0.5] }), true, 'none passes');
  assert.equal(chain('raa', { ...tests, accept: [null, 0.5, 1] }), false);
  const siblings = step([-1, 0, 0], 'rxa', tests);
  assert.equal(runOf(siblings, [0, 1]).isBlock, false);
});

test('a try of a race has the arrival times of the race after its parent', () => {
  const times = { tokens: [7, 5], texts: ['7', '5'], rows: { times: [0.2, 0.5] } };
  const detail = { 0: { race: { target: times } } };
  const [one] = runOf(step([-1, 0], 'rx', { tokens: [0, 5], detail }), [5, 6, 7]).tries;
  assert.deepEqual(one.times, [0.5, null, 0.2]);
  assert.equal(runOf(step([-1, 0], 'rx'), [0, 1]).tries[0].times, undefined);
});

test('round numbers on an axis', () => {
  assert.deepEqual(ticks(1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(64), [0, 20, 40, 60]);
});

test('a link opens a lesson by its name, by an older number or by a page that is part of it now', () => {
  const start = {
    lessons: [
      ['one-pass', 'A'],
      ['trees', 'B'],
      ['races', 'C'],
    ],
    old: { 0: 'one-pass', 1: 'trees', race: 'races' },
  };
  const asked = [
    '',
    '?lesson=trees',
    '?lesson=1',
    '?lesson=99',
    '?lesson=-7',
    '?lesson=nothing',
    '?lab=race',
    '?lab=tree',
  ];
  assert.deepEqual(
    asked.map(search => lessonOf(search, start)),
    [0, 1, 1, 0, 0, 0, 2, 0],
  );
});
