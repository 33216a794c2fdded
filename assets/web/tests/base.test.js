import assert from 'node:assert/strict';
import test from 'node:test';

import { barTable } from '../base/bars.js';
import { keys } from '../base/keys.js';
import { closedByEscape } from '../base/escape.js';
import { onPage, onResize, present, presents } from '../base/page.js';
import { placeOf, placeIn, placeText } from '../base/place.js';
import { follow, pathOf, spansOf } from '../base/ribbon.js';
import { termed } from '../base/terms.js';
import { fitted, probability, readable, visible } from '../base/text.js';
import { fire, freshPage, step } from './page.js';

test('what cannot be seen gets a sign', () => {
  assert.equal(visible(' a\tb\r\n'), '·a⇥b↵');
  assert.equal(visible('\u202eabc\x00'), '\\x202eabc\\x00');
  assert.equal(visible(''), '∅');
  assert.equal(readable(' two words '), 'two words');
  assert.equal(readable('  '), '··');
  assert.deepEqual([0.5, 0.0001, 0].map(probability), ['0.500', '1.0e-4', '0.000']);
});

test('labels are cut where their width ends, not after so many code points', () => {
  const width = text =>
    [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? 16 : 8), 0);
  assert.equal(fitted('abcdefgh', 64, width), 'abcdefgh');
  assert.equal(fitted('abcdefghi', 64, width), 'abcdefg…');
  assert.equal(fitted('漢字仮名交', 64, width), '漢字仮…');
  assert.ok(width(fitted('漢字仮名交じり文', 70, width)) <= 70);
  assert.equal(
    fitted('👩‍👩‍👧‍👦ab', 24, text => 8 * [...new Intl.Segmenter().segment(text)].length),
    '👩‍👩‍👧‍👦ab',
  );
  assert.equal(
    fitted('👩‍👩‍👧‍👦ab', 16, text => 8 * [...new Intl.Segmenter().segment(text)].length),
    '👩‍👩‍👧‍👦…',
  );
  assert.equal(fitted('abc', 0, width), '…');
});

test('a place in a run is written and read, and what is out of range is brought into range', () => {
  assert.equal(placeText(4, '3'), 'step=5&node=3');
  assert.equal(placeText(4, '3+'), 'step=5');
  assert.deepEqual(placeOf('?step=5&node=3'), { of: 'run', index: 4, key: '3' });
  assert.deepEqual(placeOf('?step=1&picture=recorded'), { of: 'recorded', index: 0, key: null });
  for (const search of ['', '?step=x', '?lesson=1&step=3'])
    assert.equal(placeOf(search), null);
  const steps = [step([-1, 0], 'ru'), step([-1], 'r', { last: 'bonus' })];
  assert.deepEqual(placeIn(steps, { index: 9, key: 'last' }), { index: 1, key: 'last' });
  for (const key of ['7', '-1', 'length', '<b>'])
    assert.deepEqual(placeIn(steps, { index: 0, key }), { index: 0, key: null });
});

test('the text of a step: a span a token, with the node that wrote it', () => {
  freshPage();
  const one = step([-1, 0, 0, 2], 'rxaa', {
    index: 3,
    pieces: ['<b>', '\n', '!'],
    last: 'correction',
  });
  one.path = pathOf(one);
  assert.deepEqual(one.path, [2, 3]);
  const spans = spansOf(one);
  assert.deepEqual(
    spans.map(span => [span.textContent, span.className, span.dataset.step, span.dataset.key]),
    [
      ['<b>', 'accepted later', '3', '2'],
      ['\n', 'accepted newline later', '3', '3'],
      ['!', 'correction later', '3', 'last'],
    ],
  );
});

test('the step at hand is marked, later ones as well', () => {
  const document = freshPage('<div></div>'),
    box = document.querySelector('div');
  const spans = [0, 1, 2].map(() => [box.appendChild(document.createElement('span'))]);
  follow(box, spans, 1);
  assert.deepEqual(
    spans.map(([span]) => span.className),
    ['', 'here', 'later'],
  );
});

const sized = (element, sizes) => {
  for (const name in sizes) Object.defineProperty(element, name, { value: sizes[name] });
  return element;
};
const placed = (box, text, offsetTop, offsetHeight) => {
  const span = box.appendChild(box.ownerDocument.createElement('span'));
  span.textContent = text;
  return sized(span, { offsetTop, offsetHeight });
};

test('a box of one line shows the last that is written, not the empty one after its line break', () => {
  const box = sized(freshPage().body, { offsetTop: 0, clientHeight: 20 });
  const first = [placed(box, 'one', 0, 20), placed(box, '\n', 0, 40)];
  const spans = [first, [placed(box, 'two', 20, 20)]];
  follow(box, spans, 0);
  assert.equal(Math.abs(box.scrollTop), 0);
  follow(box, spans, 1, 0);
  assert.equal(Math.abs(box.scrollTop), 0, 'nothing of the next step is written yet');
  follow(box, spans, 1);
  assert.equal(box.scrollTop, 20);
});

test('a text that goes back stands above its last line, and no empty lines below it', () => {
  const box = sized(freshPage().body, { offsetTop: 0, clientHeight: 60 });
  const spans = [0, 20, 40, 60, 80].map(top => [placed(box, 'one', top, 20)]);
  follow(box, spans, 4);
  assert.equal(box.scrollTop, 40);
  follow(box, spans, 2);
  assert.equal(Math.abs(box.scrollTop), 0, 'what is later is hidden');
});

test('the first use of a term in a text explains itself', () => {
  freshPage();
  const parts = text =>
    termed(text)
      .map(part => (typeof part === 'string' ? part : `[${part.textContent}]`))
      .join('');
  assert.equal(
    parts('The residual of p and q; a residual has sum 1.'),
    'The [residual] of [p] and [q]; a residual has sum 1.',
  );
  assert.equal(
    parts('5.2 tokens per target pass, lossless'),
    '5.2 [tokens per target pass], [lossless]',
  );
  assert.equal(
    parts('min(1, p / q), p/q, top-p, P[k], map'),
    'min(1, p / q), p/q, top-p, P[k], map',
  );
});

test('presenting is one class, and pictures are drawn again', () => {
  const { body } = freshPage();
  let drawn = 0;
  onResize(body, () => {
    drawn += 1;
  });
  globalThis.Event = window.Event;
  present(true);
  assert.deepEqual([presents(), drawn], [true, 1]);
  present(true);
  present(false);
  assert.deepEqual([presents(), drawn], [false, 2]);
});

function keyed(more) {
  const document = freshPage(
    '<button class="other"></button><section><svg></svg><button></button><input type="range"><input type="radio"><textarea></textarea></section>',
  );
  const root = document.querySelector('section'),
    done = [];
  const acts = Object.fromEntries(
    ['ArrowLeft', ' ', 'e', 'Enter', '0'].map(key => [key, () => done.push(key)]),
  );
  keys(root, () => acts, { own: root.querySelector('input'), ...more });
  const press = (where, key, modifiers) => {
    done.length = 0;
    const event = fire(
      where === 'body' ? document.body : document.querySelector(where),
      'keydown',
      { key, ...modifiers },
    );
    assert.equal(event.defaultPrevented, done.length > 0);
    return done.join();
  };
  return { root, press, document };
}

test('a letter or a digit acts only inside, an arrow also elsewhere, and fields keep their keys but for the part’s own', () => {
  const { press } = keyed();
  for (const [where, key] of [
    ['svg', 'e'],
    ['svg', '0'],
    ['body', 'ArrowLeft'],
    ['body', ' '],
    ['.other', 'ArrowLeft'],
    ['input', 'ArrowLeft'],
    ['section button', 'ArrowLeft'],
    ['[type=radio]', 'e'],
  ]) {
    assert.equal(press(where, key), key, `${key} on ${where}`);
  }
  assert.equal(press('svg', 'E'), 'e');
  for (const key of ['e', 'E', '0']) assert.equal(press('body', key) + press('.other', key), '');
  assert.equal(
    press('[type=radio]', 'ArrowLeft') +
      press('textarea', 'e') +
      press('textarea', 'ArrowLeft') +
      press('section button', ' ') +
      press('section button', 'Enter'),
    '',
  );
});

test('space chooses a choice that is not chosen yet, and acts on one that is', () => {
  const { press, document } = keyed();
  assert.equal(press('[type=radio]', ' '), '');
  document.querySelector('[type=radio]').setAttribute('checked', '');
  assert.equal(press('[type=radio]', ' '), ' ');
});

test('what is held with ctrl, alt or the command key is not ours', () => {
  const { press } = keyed();
  for (const held of ['ctrlKey', 'altKey', 'metaKey'])
    assert.equal(press('svg', 'e', { [held]: true }), '');
});

test('a part that sees keys first leaves those of other parts alone', () => {
  const { press } = keyed({ first: true });
  assert.equal(press('.other', 'ArrowLeft'), '');
  assert.equal(press('body', 'ArrowLeft'), 'ArrowLeft');
  assert.equal(press('svg', 'e'), 'e');
});

test('listeners end when their part leaves the page', () => {
  const { root, press } = keyed();
  let heard = 0;
  onPage(root, 'drop', () => {
    heard++;
  });
  fire(document.body, 'drop');
  root.remove();
  assert.equal(press('body', 'ArrowLeft'), '');
  fire(document.body, 'drop');
  document.body.append(root);
  fire(document.body, 'drop');
  assert.deepEqual(
    [press('svg', 'ArrowLeft'), heard],
    ['', 1],
    'the listeners are gone, not only silent',
  );
});

test('a table of bars has a row for each thing and text as text', () => {
  freshPage('<p></p>');
  const table = barTable({
    caption: 'c',
    series: [{ name: 'p' }, { name: 'exact', mark: true }],
    rows: [
      { name: '<b>', values: [0.5, 0.25], kind: 'own' },
      { name: 'x', values: [null, 0.1] },
      { name: 'y', values: [0, 0] },
    ],
  });
  assert.equal(table.querySelectorAll('b').length, 0);
  assert.deepEqual(
    [...table.querySelectorAll('tbody th')].map(cell => cell.textContent),
    ['<b>', 'x', 'y'],
  );
  assert.equal(table.querySelector('.own i').style.width, '100%');
  assert.equal(table.querySelector('.own em').style.left, '50%');
  assert.deepEqual(
    [...table.querySelectorAll('tbody tr:nth-child(2) td')].map(cell => cell.textContent),
    ['', '–', '0.100'],
  );
  assert.equal(table.querySelector('tr:last-child i'), null, '0 is no bar');
  assert.equal(table.querySelector('tr:last-child em').style.left, '0%');
});

test('Escape closes the topmost of what is open, and nothing that is not on the screen', () => {
  const { body } = freshPage('<div></div><p></p>');
  const open = new Set(['page', 'drawer', 'menu']);
  for (const layer of ['drawer', 'menu', 'page'])
    closedByEscape(body.firstChild, layer, () => open.delete(layer));
  const left = () => {
    const event = fire(body, 'keydown', { key: 'Escape' });
    return [[...open], event.defaultPrevented];
  };
  assert.deepEqual(left(), [['page', 'drawer'], true]);
  assert.deepEqual(left(), [['page'], true]);
  body.firstChild.remove();
  assert.deepEqual(left(), [['page'], false]);
});
