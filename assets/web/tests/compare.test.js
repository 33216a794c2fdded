import assert from 'node:assert/strict';
import test from 'node:test';

import { standing } from '../compare/board.js';
import { clockText, largeText } from '../compare/column.js';
import { filled } from '../compare/save.js';
import { writeRuns } from '../stage/panel.js';
import { emptyRun } from '../stage/run.js';
import { freshPage } from './page.js';

const run = (title, ends, totals, factor) => ({
  about: { title },
  ends,
  totals,
  factor,
  state: 'done',
});
const tree = run('Tree', [0.1, 0.2], [5, 8], '4.0×');
const plain = run('Plain', [0.1, 0.3, 0.8], [1, 2, 8], '1×');

test('who is through, and how far the others are', () => {
  assert.equal(standing([plain, tree], 0.1), '');
  // there the clock stands still, though it is not the end
  const first = 'Done: Tree in 0.20 s. Plain is at 1 of 8.';
  assert.equal(standing([plain, tree], 0.2), `${first} Play shows the rest.`);
  assert.equal(standing([plain, tree], 0.21), first);
  assert.equal(standing([plain, tree], 0.8), 'All are done: Tree in 0.20 s, Plain in 0.80 s.');
  assert.equal(standing([], 1), '');
});

test('two runs that end within a few percent of each other are called so', () => {
  const chain = run('Chain', [0.1, 0.203], [4, 8], '3.9×');
  const tie = 'Tree and Chain end within 1 % of each other.';
  assert.equal(
    standing([plain, chain, tree], 0.2),
    'Done: Tree in 0.20 s. Chain is at 4 of 8, Plain is at 1 of 8. Play shows the rest.',
    'not of runs that have not ended',
  );
  assert.ok(standing([plain, chain, tree], 0.8).endsWith(`0.80 s. ${tie}`));
});

test('the time of a run stands beside it once it is final', () => {
  const whole = { ...tree, steps: [{}, {}] };
  assert.equal(clockText(whole, 1), '8 tokens in 2 steps, 0.200 s');
  assert.equal(clockText({ ...whole, factor: '' }, 1), '8 tokens in 2 steps');
});

test('in large type stands how far a run is, and at its end how many times as fast it was', () => {
  assert.equal(largeText(tree, -1), '0 of 8');
  assert.equal(largeText(tree, 0), '5 of 8');
  assert.equal(largeText(tree, 1), '4.0×');
  assert.equal(largeText({ ...tree, factor: '' }, 1), '8 of 8', 'not timed');
  assert.equal(largeText({ ...tree, state: 'running' }, 1), '8 tokens', 'of how many is not known');
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
  writeRuns(body, [first, second], second, () => {});
  const link = new URLSearchParams(body.querySelector('a').getAttribute('href'));
  const values = ['tab', 'again', 'prompt', 'seed', 'a.decodes', 'b.builder', 'c.builder', 'models'];
  assert.deepEqual(
    values.map(name => link.get(name)),
    ['compare', 'true', 'Why?', '3', 'plain', 'chain:depth=2', 'sequoia:size=8', 'smollm2'],
  );
  writeRuns(body, [first, made('run 3', 'k-ary', 'Another')], first, () => {});
  assert.equal(body.querySelector('a'), null);
  const other = { ...made('run 4', 'chain:depth=2'), models: 'tales' };
  writeRuns(body, [first, other], first, () => {});
  assert.equal(body.querySelector('a'), null, 'Compare has one pair for all its runs');
  const names = [...body.querySelectorAll('button')].map(chip => chip.textContent.split(',')[0]);
  assert.deepEqual(names, ['smollm2', 'tales']);
  other.head.pair = 'Tales 28M, weights read at 0.9 GB/s';
  writeRuns(body, [first, other], first, () => {});
  assert.match(body.querySelectorAll('button')[1].textContent, /^Tales 28M, chain 2/, 'as in the menu');
});

test('a comparison in a page of its own stays text, whatever it says', () => {
  const hostile = JSON.stringify({ prompt: '</script><script>$& $1 <!--' });
  const page = filled('<script id="run">{}</script><p>{}</p>', [hostile], 'http://here/?a=<b>');
  const [, data] = page.match(/^<script id="run">([^<]*)<\/script><p>{}<\/p>$/);
  assert.deepEqual(JSON.parse(data), { messages: [hostile], link: 'http://here/?a=<b>' });
});
