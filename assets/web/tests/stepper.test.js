import assert from 'node:assert/strict';
import test from 'node:test';
import { barTable } from '../base/bars.js';
import { stepper } from '../base/stepper.js';
import { freshPage } from './page.js';

/** A stepper over `count` positions under a clock of the test's own. */
function made(t, count, more = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const seen = [], element = freshPage('<div></div>').querySelector('div'), on = stepper(element, { count: () => count.now, changed: () => seen.push(on?.at), pace: () => 100, ...more });
  return { on, seen, element, wait: ms => { for (let i = 0; i < ms; i += 50) t.mock.timers.tick(50); } };
}

test('a stepper goes where it is told, and never out of range', t => {
  const { on } = made(t, { now: 3 });
  assert.equal(on.at, -1);
  for (const [asked, there] of [[7, 2], [-4, 0], [1, 1]]) {
    on.go(asked);
    assert.equal(on.at, there);
  }
  on.move(1);
  on.move(1); // there is no further position
});

test('it plays to its end and says so once, and begins again from there', t => {
  let ended = 0;
  const { on, seen, wait } = made(t, { now: 3 }, { ended: () => ended++ });
  on.play();
  wait(1000);
  assert.deepEqual([...new Set(seen)], [0, 1, 2]);
  assert.deepEqual([on.playing, ended], [false, 1]);
  on.toggle();
  assert.deepEqual([on.playing, on.at], [true, 0]);
  on.toggle();
  wait(1000);
  assert.deepEqual([on.playing, on.at, ended], [false, 0, 1]);
});

test('it waits at the last position while more may come', t => {
  const count = { now: 1 };
  const { on, wait } = made(t, count, { growing: () => count.now < 3 });
  on.play();
  wait(500);
  assert.deepEqual([on.playing, on.at], [true, 0]);
  count.now = 3;
  wait(500);
  assert.deepEqual([on.playing, on.at], [false, 2]);
});

test('its clock ends with the element', t => {
  const { on, element, wait } = made(t, { now: 9 });
  on.play();
  element.remove();
  wait(500);
  assert.deepEqual([on.playing, on.at], [false, 0]);
});

test('a table of bars has a row for each thing and text as text', () => {
  freshPage('<p></p>');
  const table = barTable({ caption: 'c', series: [{ name: 'p', kind: 'p' }, { name: 'exact', mark: true }],
    rows: [{ name: '<b>', values: [0.5, 0.25], kind: 'own' }, { name: 'x', values: [null, 0.1] }] });
  assert.equal(table.querySelectorAll('b').length, 0);
  assert.deepEqual([...table.querySelectorAll('tbody th')].map(cell => cell.textContent), ['<b>', 'x']);
  assert.equal(table.querySelector('.own i').style.width, '100%');
  assert.equal(table.querySelector('.own em').style.left, '50%');
  assert.deepEqual([...table.querySelectorAll('tbody tr:last-child td')].map(cell => cell.textContent), ['', '–', '0.100']);
});
