// What a finger does on the whole page.

import assert from 'node:assert/strict';
import test from 'node:test';

import { arrowsBySwipe, keepSliders } from '../base/page.js';
import { fire, freshPage } from './page.js';

test('a finger that begins on a slider and scrolls the page leaves the slider as it was', () => {
  const document = freshPage('<div></div><input type="range">');
  const [box, input] = document.body.children;
  const heard = [];
  input.addEventListener('input', () => heard.push(input.value));
  globalThis.Event = globalThis.window.Event;
  keepSliders(box);
  input.value = '3';
  fire(input, 'pointerdown');
  input.value = '8'; // where the finger is
  fire(input, 'pointercancel');
  assert.deepEqual([input.value, heard], ['3', ['3']]);
});

test('presented, a swipe across the screen is an arrow key', () => {
  const document = freshPage('<p></p><input>');
  const [part, input] = document.body.children;
  const pressed = [];
  document.body.addEventListener('keydown', ({ key }) => pressed.push(key));
  globalThis.KeyboardEvent = class extends globalThis.window.Event {
    constructor(kind, { key, bubbles }) {
      super(kind, { bubbles });
      this.key = key;
    }
  };
  arrowsBySwipe(part);
  const swipe = (target, x, y) => {
    const pointerType = 'touch';
    fire(target, 'pointerdown', { pointerType, clientX: 500, clientY: 500 });
    fire(target, 'pointerup', { pointerType, clientX: 500 + x, clientY: 500 + y });
  };
  swipe(part, -200, 10);
  document.documentElement.id = 'sv-present';
  swipe(part, -200, 10);
  swipe(part, 200, -10);
  swipe(part, 80, 70); // scrolls
  swipe(part, 20, 0); // a tap
  swipe(input, 200, 0);
  assert.deepEqual(pressed, ['ArrowRight', 'ArrowLeft']);
});
