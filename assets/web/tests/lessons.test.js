import assert from 'node:assert/strict';
import test from 'node:test';

import { lossyFigure } from '../lessons/lossy.js';
import { freshPage } from './page.js';

const rule = (words, wrongOn) => ({
  words,
  wrong_here: false,
  wrong_on: wrongOn,
  accepted: 1.5,
  text: 'a',
  probability: 0.4,
  target: 0.5,
});
const four = answered => ({
  tokens: ['a', 'b'],
  p: [0.5, 0.5],
  q: [0.5, 0.5],
  trees: ['a chain', 'two children'],
  tree: 'a chain',
  answered,
  rules: [rule('one', ''), rule('two', 'two children')],
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
  lossyFigure(box, four(false), {});
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

test('until the server answered about another tree, no rule is judged on the one before', async () => {
  const box = freshPage('<div></div>').querySelector('div');
  choosable();
  let answer = text => text;
  const server = { four_rules: () => new Promise(resolve => (answer = resolve)) };
  const other = { ...four(false), tree: 'two children' };
  lossyFigure(box, four(false), server);
  const says = () => box.querySelector('.sv-lossy-rules p').textContent;
  const choose = async tree => {
    const select = box.querySelector('select');
    select.value = tree;
    select.dispatchEvent(new window.Event('change'));
    await new Promise(done => setTimeout(done, 5));
  };
  box.querySelector('.sv-lossy-rules button').click();
  assert.match(says(), /^Yes/);
  await choose('two children');
  assert.equal(says(), 'Computing …');
  const late = answer;
  await choose('a chain');
  late(JSON.stringify(other));
  await new Promise(done => setTimeout(done));
  assert.match(says(), /^Yes/, 'the tree that is chosen now');
  await choose('two children');
  answer(JSON.stringify(other));
  await new Promise(done => setTimeout(done));
  assert.match(says(), /^Yes/);
  await choose('a chain');
  answer('{"error": "No."}');
  await new Promise(done => setTimeout(done));
  assert.equal(box.querySelector('select').value, 'two children', 'what is shown');
});
