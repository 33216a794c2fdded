import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { finder } from '../base/dom.js';
import { pageHeader } from '../page/header.js';
import { inspectorView } from '../stage/inspector.js';
import { freshPage, step } from './page.js';

test('the numbers are those of the node that is tried, unless another is pointed at', () => {
  const { body } = freshPage(readFileSync(new URL('../stage/stage.html', import.meta.url), 'utf8'));
  const one = step([-1, 0, 0], 'rxa');
  const inspector = inspectorView(finder(body));
  const token = body.querySelector('.sv-why-fold .sv-token');
  const tokens = [
    [null, '1'],
    ['2', '1'],
    [null, '1'], // what is read stays
    [null, '2'],
    [null, null],
  ].map(([key, tried]) => {
    inspector.show(one, key, tried, false);
    return token.textContent;
  });
  assert.deepEqual(tokens, ['t1', 't2', 't2', 't2', '']);
});

test('the first button of the page leads to the tree, or to the panel of the tab', () => {
  const buttons = ['skip', 'theme-button', 'present-button'].map(
    name => `<button class="sv-${name}"></button>`,
  );
  const tree = '<div id="sv-stage"><svg class="sv-svg"></svg></div>';
  const { body } = freshPage(`${buttons.join('')}<div role="tabpanel"></div>
    <div role="tabpanel">${tree}</div>`);
  globalThis.addEventListener = () => {};
  pageHeader({ element: body });
  const [skip] = body.children;
  const panels = [...body.querySelectorAll('[role=tabpanel]')];
  const parts = [panels[0], panels[1].querySelector('.sv-svg')];
  for (const at of [0, 1]) {
    let focused = false;
    panels.forEach((panel, i) => {
      Object.defineProperty(panel, 'offsetParent', { configurable: true, value: i === at && body });
    });
    parts[at].focus = () => {
      focused = true;
    };
    skip.onclick();
    assert.ok(focused);
  }
});
