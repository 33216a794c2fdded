import assert from 'node:assert/strict';
import test from 'node:test';

import { lossyFigure } from '../lessons/lossy.js';
import { freshPage } from './page.js';

const rule = wrongOn => ({
  wrong_here: false,
  wrong_on: wrongOn,
  accepted: 1.5,
  text: 'a',
  probability: 0.4,
  target: 0.5,
});
const four = answered => ({
  words: ['one', 'two'],
  trees: { 'a chain': [rule(null), rule('two children')] },
  tree: 'a chain',
  answered,
});

// What linkedom has no like of.
globalThis.Option = function option(name) {
  return Object.assign(document.createElement('option'), { textContent: name, value: name });
};

function choosable() {
  const select = Object.getPrototypeOf(document.createElement('select'));
  Object.defineProperty(select, 'value', { value: '', writable: true, configurable: true });
}

test('a right answer and a wrong one differ in word and class, and each is counted', () => {
  const box = freshPage('<div></div>').querySelector('div');
  choosable();
  lossyFigure(box, four(false));
  const [first, second] = box.querySelectorAll('.sv-lossy-rules tr');
  const says = row => row.querySelector('p').textContent;
  const answer = (row, word) =>
    [...row.querySelectorAll('button')].find(one => one.textContent === word).click();
  assert.equal(first.className, '');
  assert.doesNotMatch(says(first), /Exact|Lossy/, 'nothing is given away before an answer');
  answer(first, 'exact');
  answer(second, 'exact');
  assert.deepEqual([first.className, second.className], ['right', 'wrong']);
  assert.match(says(first), /^Yes\. Exact/);
  assert.match(says(second), /^No\. Lossy, though right on this tree: choose “two children”/);
  assert.match(box.querySelector('.sv-lossy-score').textContent, /^2 of 2 answered, 1 right/);
  answer(second, 'lossy');
  assert.equal(second.className, 'right');
});

test('the picture of the answers has all of them', () => {
  const box = freshPage('<div></div>').querySelector('div');
  choosable();
  lossyFigure(box, four(true));
  assert.match(box.querySelector('.sv-lossy-score').textContent, /^2 of 2 answered, 2 right/);
});
