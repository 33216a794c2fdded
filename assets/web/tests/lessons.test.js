import assert from 'node:assert/strict';
import test from 'node:test';

import { lossyFigure } from '../lessons/lossy.js';
import { freshPage } from './page.js';

const rules = [
  { words: 'one', exact: true, verdict: 'exact: no text differs.' },
  { words: 'two', exact: false, verdict: 'lossy: with two guesses.' },
];

test('a rule gives its answer away only to who answers, or when it is its turn', () => {
  const box = freshPage('<div></div>').querySelector('div');
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
  assert.deepEqual([says(first), says(second)], ['It is exact: no text differs.', '']);
  assert.equal(score(), '1 of 2 answers shown, 0 guessed right.');

  [first, second] = drawn(0);
  answer(first, 'exact');
  answer(second, 'exact');
  assert.deepEqual([first.className, second.className], ['right', 'wrong']);
  assert.equal(says(first), 'Yes, it is exact: no text differs.');
  assert.equal(says(second), 'No, it is lossy: with two guesses.');
  assert.equal(score(), '2 of 2 answers shown, 1 guessed right.');
  assert.deepEqual(reached, [1, 2]);
  answer(second, 'lossy');
  assert.equal(second.className, 'right');
});
