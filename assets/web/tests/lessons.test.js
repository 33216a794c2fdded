import assert from 'node:assert/strict';
import test from 'node:test';

import { lossyFigure } from '../lessons/lossy.js';
import { freshPage } from './page.js';

const rules = [
  { words: 'one', exact: true, verdicts: { small: 'exact, small.', large: 'exact.' } },
  { words: 'two', exact: false, verdicts: { small: 'lossy elsewhere.', large: 'lossy here.' } },
];

test('a rule gives its answer away only to who answers, or when it is its turn', () => {
  const box = freshPage('<div></div>').querySelector('div');
  // Of a select, linkedom has no value that can be set.
  const { prototype } = globalThis.window.HTMLSelectElement;
  Object.defineProperty(prototype, 'value', { value: '', writable: true });
  const reached = [];
  const drawn = revealed => {
    box.replaceChildren();
    lossyFigure(box, rules, revealed, step => reached.push(step));
    return [...box.querySelectorAll('li')];
  };
  const says = row => row.querySelector('p').textContent;
  const score = () => box.querySelector('[role=status]').textContent;
  const answer = (row, word) =>
    [...row.querySelectorAll('button')].find(one => one.textContent === word).click();

  assert.deepEqual(drawn(0).map(says), ['', '']);
  let [first, second] = drawn(1);
  assert.deepEqual([says(first), says(second)], ['It is exact.', '']);
  assert.equal(score(), '1 of 2 answers shown, 0 guessed right.');

  [first, second] = drawn(0);
  answer(first, 'exact');
  answer(second, 'exact');
  assert.deepEqual([first.className, second.className], ['right', 'wrong']);
  assert.equal(says(first), 'Yes, it is exact.');
  assert.equal(says(second), 'No, it is lossy here.');
  assert.equal(score(), '2 of 2 answers shown, 1 guessed right.');
  assert.deepEqual(reached, [1, 2]);
  answer(second, 'lossy');
  assert.equal(second.className, 'right');

  const tree = box.querySelector('select');
  tree.value = 'small';
  tree.onchange();
  assert.equal(says(second), 'Yes, it is lossy elsewhere.');
  [first, second] = drawn(2);
  assert.equal(says(second), 'Yes, it is lossy elsewhere.', 'an arrow keeps the tree');
});
