import assert from 'node:assert/strict';
import test from 'node:test';

import { panZoom, pinched, zoomed } from '../base/panzoom.js';
import { canvas, fire, freshPage } from './page.js';

const LIMITS = [0.15, 4];

function picture() {
  const svg = canvas(freshPage()), seen = { tapped: 0, pointed: [] };
  const hand = panZoom(svg, { changed: () => {}, tapped: () => { seen.tapped++; }, pointed: target => seen.pointed.push(target) });
  hand.set({ x: 10, y: 20, k: 1 }, false);
  const pointer = (kind, pointerId, clientX, clientY) => fire(svg, `pointer${kind}`, { pointerId, clientX, clientY, button: 0 });
  return { svg, hand, seen, pointer };
}

test('zooming keeps the point under the pointer, and stays within its limits', () => {
  const view = zoomed({ x: 10, y: 20, k: 1 }, 2, 110, 70, LIMITS);
  assert.deepEqual(view, { k: 2, x: -90, y: -30 });
  assert.equal((110 - view.x) / view.k, 100);
  assert.equal(zoomed({ x: 0, y: 0, k: 1 }, 99, 0, 0, LIMITS).k, 4);
});

test('two fingers that part zoom about their middle, and move with it', () => {
  const view = pinched({ x: 0, y: 0, k: 1 }, [{ x: 100, y: 0 }, { x: 200, y: 0 }], [{ x: 60, y: 10 }, { x: 260, y: 10 }], LIMITS);
  assert.deepEqual(view, { k: 2, x: -140, y: 10 });
});

test('a drag moves the picture and is no tap; a still pointer taps', () => {
  const { hand, seen, pointer } = picture();
  pointer('down', 1, 100, 100);
  pointer('move', 1, 103, 100);
  pointer('up', 1, 103, 100);
  assert.deepEqual([hand.view, seen.tapped], [{ x: 10, y: 20, k: 1 }, 1]);
  pointer('down', 1, 100, 100);
  pointer('move', 1, 140, 90);
  pointer('up', 1, 140, 90);
  assert.deepEqual([hand.view, seen.tapped, hand.moved], [{ x: 50, y: 10, k: 1 }, 1, true]);
});

test('a second finger pinches from where both are, and lifting one goes on from there: nothing jumps', () => {
  const { hand, seen, pointer } = picture();
  pointer('down', 1, 100, 100);
  pointer('down', 2, 200, 100);
  assert.deepEqual(hand.view, { x: 10, y: 20, k: 1 });
  pointer('move', 2, 300, 100);
  assert.equal(hand.view.k, 2);
  const before = { ...hand.view };
  pointer('up', 1, 100, 100);
  assert.deepEqual(hand.view, before);
  pointer('move', 2, 310, 100);
  assert.deepEqual(hand.view, { ...before, x: before.x + 10 });
  pointer('up', 2, 310, 100);
  assert.equal(seen.tapped, 0);
});

test('a pointer that was not pressed here moves nothing, whatever another one does', () => {
  const { hand, pointer, seen } = picture();
  pointer('down', 1, 100, 100);
  pointer('move', 7, 500, 300);
  pointer('up', 7, 500, 300);
  assert.deepEqual([hand.view, seen.tapped], [{ x: 10, y: 20, k: 1 }, 0]);
  pointer('cancel', 1, 0, 0);
  pointer('move', 1, 300, 300);
  assert.deepEqual(hand.view, { x: 10, y: 20, k: 1 });
  assert.equal(seen.pointed.length, 1);
});

test('the wheel belongs to the page unless ctrl is held', () => {
  const { svg, hand } = picture(), wheel = ctrlKey => fire(svg, 'wheel', { deltaY: -120, clientX: 0, clientY: 0, ctrlKey });
  assert.equal(wheel(false).defaultPrevented, false);
  assert.equal(hand.view.k, 1);
  assert.equal(wheel(true).defaultPrevented, true);
  assert.ok(hand.view.k > 1);
});
