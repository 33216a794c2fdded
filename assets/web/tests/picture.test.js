import assert from 'node:assert/strict';
import test from 'node:test';

import { plainCopy, xmlText } from '../tree/picture.js';
import { freshPage } from './page.js';

test('a picture holds drawn elements only: no areas for the pointer, no classes, no handlers', () => {
  const document = freshPage('<svg><g class="node a" data-at="0" onclick="alert(1)" transform="translate(1 2)"><rect class="hit" width="9"/><path class="shape" d="M0 0"/><text x="3">a\u0000</text></g></svg>');
  const copy = plainCopy(document.querySelector('g'));
  assert.equal(copy.querySelectorAll('rect').length, 0);
  assert.deepEqual([...copy.attributes].map(({ name }) => name), ['transform']);
  assert.equal(copy.querySelector('path').getAttribute('d'), 'M0 0');
  assert.equal(copy.querySelector('text').textContent, 'a\ufffd');
});

test('characters that XML has no place for become a sign', () => {
  assert.equal(xmlText('a\u0001b\ud800c😀\n'), 'a\ufffdb\ufffdc😀\n');
});
