import assert from 'node:assert/strict';
import test from 'node:test';

import { publish, subscribe } from '../base/bus.js';
import { freshPage } from './page.js';

test('a message goes to all who listen, and the last one to who listens later', () => {
  const document = freshPage('<i></i><b></b>'),
    heard = [];
  const [one, other] = [document.querySelector('i'), document.querySelector('b')];
  publish('node', 1);
  subscribe('node', one, message => heard.push(['one', message]));
  subscribe('node', other, message => heard.push(['other', message]));
  publish('node', 2);
  assert.deepEqual(heard, [
    ['one', 1],
    ['other', 1],
    ['one', 2],
    ['other', 2],
  ]);
  one.remove();
  publish('node', 3);
  other.remove();
  publish('node', 4);
  assert.deepEqual(heard.slice(4), [['other', 3]], 'what left the page hears no more');
});
