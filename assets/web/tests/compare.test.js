import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { finder } from '../base/dom.js';
import { drawnAt } from '../compare/column.js';
import { filled } from '../compare/save.js';
import { play } from '../offline_comparison.js';
import { writeRuns } from '../stage/panel.js';
import { emptyRun } from '../stage/run.js';
import { freshPage, step } from './page.js';

test('the tree is that of the last step that drafted', () => {
  const [root, drafted] = [{ parents: [-1] }, { parents: [-1, 0, 0] }];
  assert.equal(drawnAt([drafted, drafted, root], 2), 1);
  assert.equal(drawnAt([drafted, drafted], 1), 1);
  assert.equal(drawnAt([drafted, drafted], 0), 0);
  assert.equal(drawnAt([root, root], 1), 1, 'plain decoding');
  assert.equal(drawnAt([], -1), -1);
});

test('the last two runs on one prompt can be compared', () => {
  const { body } = freshPage('<div class="sv-history"></div>');
  const made = (name, builder, prompt = 'Why?') => ({
    ...emptyRun(name),
    models: 'smollm2',
    weights: 'disk',
    steps: [{}],
    figures: { per_pass: 2 },
    head: { prompt, settings: `builder=${builder}&verifier=sequoia&drafter=model&seed=3` },
  });
  const [first, second] = [made('run 1', 'chain:depth=2'), made('run 2', 'sequoia:size=8')];
  writeRuns(finder(body), [first, second], second, () => {});
  const link = new URLSearchParams(body.querySelector('a').getAttribute('href'));
  const values = ['tab', 'prompt', 'seed', 'b.builder', 'c.builder', 'models'];
  assert.deepEqual(
    values.map(name => link.get(name)),
    ['compare', 'Why?', '3', 'chain:depth=2', 'sequoia:size=8', 'smollm2'],
  );
  writeRuns(finder(body), [first, made('run 3', 'k-ary', 'Another')], first, () => {});
  assert.equal(body.querySelector('a'), null);
  const other = { ...made('run 4', 'chain:depth=2'), models: 'tales' };
  writeRuns(finder(body), [first, other], first, () => {});
  assert.equal(body.querySelector('a'), null, 'Compare has one pair for all its runs');
  const chips = () => [...body.querySelectorAll('button')].map(chip => chip.textContent);
  assert.deepEqual(chips(), ['2.0 a pass, smollm2', '2.0 a pass, tales'], 'only what differs');
  writeRuns(finder(body), [first, second, other], first, () => {});
  assert.equal(chips()[2], '2.0 a pass, tales, chain:depth=2');
});

test('a comparison in a page of its own stays text, whatever it says', () => {
  const hostile = JSON.stringify({ prompt: '</script><script>$& $1 <!--' });
  const page = filled('<script id="run">{}</script><p>{}</p>', [hostile], 'http://here/?a=<b>');
  const [, data] = page.match(/^<script id="run">([^<]*)<\/script><p>{}<\/p>$/);
  assert.deepEqual(JSON.parse(data), { messages: [hostile], link: 'http://here/?a=<b>' });
});

test('a comparison in a page of its own opens at its end, whatever its settings were', () => {
  const board = readFileSync(new URL('../compare/compare.html', import.meta.url), 'utf8');
  const about = { letter: 'A', kind: 'plain', title: 'Plain decoding', details: '', lossy: null };
  const opened = { columns: [about], prompt: 'Why?', settings: 'seed=5', run: 'mine' };
  const steps = [step([-1], 'r'), step([-1], 'r', { index: 1 })];
  const clock = [[1, 1], [2, 2]];
  const decoded = { run: 'mine', state: 'running', updates: [{ at: 0, steps, clock }] };
  const times = { at: 0, clock: [[4, 1], [8, 2]] };
  const done = { run: 'mine', state: 'done', updates: [times], factors: ['1×'], headline: 'Done.' };
  const recorded = { columns: [about], prompt: 'Why?', run: 'recorded', badge: 'recorded' };
  const messages = [opened, decoded, done];
  for (const saved of [messages, [{ ...done, ...recorded, updates: [{ at: 0, steps, clock }] }]]) {
    const data = JSON.stringify({ messages: saved.map(one => JSON.stringify(one)), link: '' });
    const { body } = freshPage(`${board}<script id="run">${data}</script>`);
    // which linkedom cannot set
    Object.defineProperty(body.querySelector('select'), 'value', { value: '1', writable: true });
    const frames = [];
    globalThis.requestAnimationFrame = draw => frames.push(draw);
    play(body);
    while (frames.length) frames.shift()(performance.now());
    const text = part => body.querySelector(part).textContent;
    assert.deepEqual([text('.sv-standing'), text('.sv-state')], ['Done.', '']);
    assert.equal(body.querySelector('.stale'), null);
    assert.match(text('.sv-clock'), /step 2 of 2/);
    assert.equal(text('.sv-play'), '▶ Play');
  }
});
