import assert from 'node:assert/strict';
import test from 'node:test';

import { keys } from '../base/keys.js';
import { fire, freshPage } from './page.js';

function part(more) {
  const document = freshPage('<button class="other"></button><section><svg></svg><button></button><input type="range"><textarea></textarea></section>');
  const root = document.querySelector('section'), done = [];
  const acts = Object.fromEntries(['ArrowLeft', ' ', 'e', 'Enter', '0'].map(key => [key, () => done.push(key)]));
  keys(root, () => acts, { own: root.querySelector('input'), ...more });
  const press = (where, key, modifiers) => {
    done.length = 0;
    const event = fire(where === 'body' ? document.body : document.querySelector(where), 'keydown', { key, ...modifiers });
    assert.equal(event.defaultPrevented, done.length > 0);
    return done.join();
  };
  return { root, press, document };
}

test('a letter or a digit acts only while the focus is inside, an arrow also elsewhere', () => {
  const { press } = part();
  assert.equal(press('svg', 'e'), 'e');
  assert.equal(press('svg', 'E'), 'e');
  assert.equal(press('svg', '0'), '0');
  for (const key of ['e', 'E', '0']) assert.equal(press('body', key) + press('.other', key), '');
  assert.equal(press('body', 'ArrowLeft'), 'ArrowLeft');
  assert.equal(press('body', ' '), ' ');
  assert.equal(press('.other', 'ArrowLeft'), 'ArrowLeft');
});

test('fields keep their keys, except for the one that leaves them to the part', () => {
  const { press } = part();
  assert.equal(press('textarea', 'e') + press('textarea', 'ArrowLeft'), '');
  assert.equal(press('input', 'ArrowLeft'), 'ArrowLeft');
  assert.equal(press('section button', ' ') + press('section button', 'Enter'), '');
  assert.equal(press('section button', 'ArrowLeft'), 'ArrowLeft');
});

test('what is held with ctrl, alt or the command key is not ours', () => {
  const { press } = part();
  for (const held of ['ctrlKey', 'altKey', 'metaKey']) assert.equal(press('svg', 'e', { [held]: true }), '');
});

test('a part that sees keys first leaves those of other parts alone', () => {
  const { press } = part({ first: true });
  assert.equal(press('.other', 'ArrowLeft'), '');
  assert.equal(press('body', 'ArrowLeft'), 'ArrowLeft');
  assert.equal(press('svg', 'e'), 'e');
});

test('keys end when their part leaves the page', () => {
  const { root, press } = part();
  root.remove();
  assert.equal(press('body', 'ArrowLeft'), '');
  globalThis.document.body.append(root);
  assert.equal(press('svg', 'ArrowLeft'), '', 'the listener is gone, not only silent');
});
