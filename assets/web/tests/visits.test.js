// What a visitor does with whole parts of the page: their real templates, and a server that a test
// answers for.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { publish } from '../base/bus.js';
import { compareBoard } from '../compare/board.js';
import { nodeOf } from '../labs/node.js';
import { treeLab } from '../labs/trees.js';
import { verificationLab } from '../labs/verification.js';
import { lessonBook } from '../lessons/lessons.js';
import { followTabs, openTab } from '../page/address.js';
import { linkedControls, valuesOf } from '../page/links.js';
import { fire, freshPage, step } from './page.js';

const asset = name => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** Waits until something holds, however busy the machine is. */
async function until(holds) {
  for (let i = 0; i < 1000 && !holds(); i++) await new Promise(done => setTimeout(done, 5));
  assert.ok(holds(), String(holds));
}

/** A page with a template, and what browsers have beside it. */
function visited(template) {
  const { body } = freshPage(template);
  class Option {
    constructor(text, value) {
      const option = document.createElement('option');
      option.textContent = text;
      option.setAttribute('value', value);
      return option;
    }
  }
  Object.assign(globalThis, {
    Option,
    SVGSVGElement: globalThis.window.SVGElement,
    HTMLDetailsElement: HTMLElement,
    HTMLSelectElement: HTMLElement,
    MutationObserver: class {
      observe() {}
    },
    location: new URL('http://here/'),
    history: { replaceState() {} },
    addEventListener() {},
  });
  const { prototype } = globalThis.window.HTMLSelectElement;
  Object.defineProperty(prototype, 'value', { value: '', writable: true });
  globalThis.window.HTMLElement.prototype.scrollIntoView = () => {};
  return body;
}

test('what is typed into the Tree lab is what its trees are made of', async () => {
  const body = visited(asset('labs/trees.html'));
  const asked = [];
  const tree = {
    name: 'sequoia',
    title: 'Sequoia',
    parents: [-1, 0],
    chance: [1, 0.5],
    tokens: 1.5,
    speeds: { 'in memory': 1.2 },
    nodes: 2,
    levels: 1,
    passes: 1,
  };
  const answer = JSON.stringify({ trees: [tree], answer: 'Fast.' });
  const size = { title: 'Levels', min: 1, max: 8, value: 2 };
  const start = {
    sizes: { nodes: size, levels: size },
    builders: [['sequoia', 'Sequoia']],
    presets: [{ title: 'One', vector: '0.5, 0.2', nodes: 2, levels: 1, about: 'the first' }],
    own: 'your own',
    first: answer,
  };
  treeLab(body, start, async request => {
    asked.push(request);
    return answer;
  });
  fire(body.querySelector('.sv-lab-sizes input'), 'input');
  await until(() => asked.length === 1);
  assert.equal(asked.shift().vector, '0.5, 0.2');
  assert.match(body.querySelector('.sv-lab-about').textContent, /the first/);
  const box = body.querySelector('.sv-lab-vector');
  box.value = '0.8 0.1';
  fire(box, 'input');
  await until(() => asked.length === 1);
  assert.equal(asked[0].vector, box.value);
  assert.match(body.querySelector('.sv-lab-about').textContent, /your own/);
  assert.match(body.querySelector('.sv-lab-cards').textContent, /in memory 1\.20\u00a0×/);
});

test('a recorded race that cannot be loaded is named', async () => {
  const body = visited(asset('compare/compare.html'));
  compareBoard(body, { recorded: () => Promise.reject(new Error('no network')) });
  const standing = () => body.querySelector('.sv-standing').textContent;
  await until(() => standing() === 'The recorded runs could not be loaded. Run still works.');
});

test('the end of a text is named', () => {
  const body = visited(asset('compare/compare.html'));
  globalThis.matchMedia = () => ({ matches: true }); // nothing moves
  const board = compareBoard(body, {});
  const ends = step([-1], 'r', { index: 0, pieces: [''], last: 'bonus', own: 2, texts: ['.'] });
  const about = { letter: 'A', kind: 'plain', title: 'Plain', details: '', lossy: null };
  const updates = [{ at: 0, state: 'done', steps: [ends], clock: [[1, 1]] }];
  const message = { run: 'a', badge: 'recorded', columns: [about], updates, state: 'done' };
  board.receive(JSON.stringify(message));
  fire(body.querySelector('.sv-forward'), 'click');
  assert.equal(body.querySelector('.sv-node').textContent, 'Nothing was drafted; the target writes “end of text”.');
});

test('a node of a run opens with what was drawn there, until somebody draws again', async () => {
  const body = visited(asset('labs/verification.html'));
  const recorded = step([-1, 0, 0], 'rxa', {
    tokens: [9, 4, 5],
    texts: ['r', ' named', ' blue'],
    p: [null, 0.2, 0.8],
    q: [null, 0.6, 0.4],
    accept: [null, 0.33, 1],
    coin: [null, 0.7, 0.2],
    sentences: ['', 'Recorded: rejected.', 'Recorded: accepted.'],
    why: [0, 1, 2],
  });
  const drawn = step([-1, 0], 'ra', { tokens: [9, 0], sentences: ['Drawn now.'] });
  const start = {
    rules: [['sequoia', 'Sequoia']],
    schemes: [['iid', 'independent']],
    names: 'abcdefgh',
    most: { children: 4, levels: 3, seed: 99 },
    examples: [],
    first: '',
  };
  const server = {
    preview: async ({ p, q, rule }) =>
      rule === 'sequoia' && JSON.stringify({ p, q, step: drawn, row: { kind: 'failed', reason: '', title: '' } }),
    table: async () => JSON.stringify({ error: 'none' }),
  };
  const node = { ...nodeOf(recorded, '1'), rule: 'not-here', from: 'step 3' };
  publish('node', node);
  verificationLab(body, start, server);
  const shown = () => body.querySelector('.sv-v-try').textContent;
  await until(() => body.querySelector('.sv-v').getAttribute('aria-busy') === 'false');
  assert.match(shown(), /named.*rejected.*Recorded: rejected/);
  assert.match(body.querySelector('.sv-v-about').textContent, /step 3 of the run, as it was drawn/);
  fire(body.querySelector('[data-do=draw]'), 'click');
  await until(() => shown().includes('Drawn now'));
});

test('the run of a lesson is saved as a page by its own name', async () => {
  const template = asset('lessons/lessons.html').replace('<!-- stage -->', asset('stage/stage.html'));
  const body = visited(template);
  const head = { recorded: true, prompt: 'Why?' };
  const message = { run: 'trees, branching', steps: [step([-1, 0], 'ra')], head, state: 'done' };
  const blank = { tag: 'p', attrs: {}, parts: [] };
  const lesson = {
    title: 'Trees',
    body: [blank],
    task: [],
    answer: [blank],
    folds: [['Why?', [blank]]],
    examples: [],
    pictures: [{ label: 'A tree', message }],
    opens: { picture: 0, step: 0, node: null },
    shows: { picture: 0, step: 0, node: null },
  };
  const saved = [];
  lessonBook(body, { lessons: [['trees', 'Trees']], old: [] }, {
    open_lesson: async () => JSON.stringify(lesson),
    save: async request => {
      saved.push(request);
      return JSON.stringify({ error: 'asked' });
    },
  });
  await until(() => body.querySelector('.sv-lessons').getAttribute('aria-busy') === 'false');
  assert.equal(+body.querySelector('.sv-lesson-stage').style.getPropertyValue('--rows'), 1);
  fire(body.querySelector('[data-save=html]'), 'click');
  await until(() => body.querySelector('.sv-kept').textContent);
  assert.deepEqual(saved, [{ run: 'trees, branching', kind: 'html', link: '' }]);
  assert.equal(body.querySelector('.sv-kept').textContent, 'asked');
});

test('a comparison goes on after a message that names no run, as one on the queue', () => {
  const body = visited(asset('compare/compare.html'));
  const board = compareBoard(body, {});
  const send = message => board.receive(JSON.stringify(message));
  const about = { letter: 'A', kind: 'chain', title: 'Chain', details: '', lossy: null };
  const update = text => ({
    at: 0,
    state: 'running',
    steps: [step([-1, 0], 'ra', { index: text.length - 1, pieces: [text] })],
    clock: [[text.length, text.length]],
  });
  send({ run: 'comparison 1', columns: [about], prompt: 'Hi', state: 'running', updates: [update('a')] });
  send({ run: '', state: 'loading', note: 'Another visitor computes.' });
  send({ run: 'comparison 1', state: 'running', updates: [update('bc')] });
  assert.equal(body.querySelector('.sv-ribbon').textContent, 'Hiabc');
  send({ run: 'comparison 0', updates: [update('def')] });
  assert.equal(body.querySelector('.sv-ribbon').textContent, 'Hiabc', 'not of this one');
});

test('a tab that a button opens is an entry of the history, so that Back leaves it', () => {
  const body = visited(`<button role="tab" aria-selected="true">Explore</button>
    <button role="tab" aria-selected="false">Verification lab</button>`);
  const entries = [];
  globalThis.history.pushState = (_, title, address) => entries.push(address.search);
  followTabs();
  openTab('verification lab');
  openTab('explore'); // which is open
  assert.deepEqual(entries, ['?tab=verification%20lab']);
  assert.equal(body.children.length, 2);
});

const MENUS = {
  builder: [
    { name: 'sequoia', title: 'Sequoia', fields: [{ name: 'size', label: 'Tree size', type: 'number', value: '16', min: 1, max: 1024 }] },
    { name: 'k-ary', title: 'K-ary', fields: [{ name: 'width', label: 'Width', type: 'number', value: '2', min: 1, max: 9 }] },
  ],
};
const FIELDS = [
  { name: 'models', label: 'Model', value: 'tales', options: ['tales', 'smollm2'] },
  { name: 'prompt', label: 'Prompt', value: '' },
  { name: 'seed', label: 'Seed', value: 6, min: 0, max: 2 ** 53 },
  { name: 'temperature', label: 'Temperature', value: 0.6, min: 0, max: 2 },
  { name: 'builder', label: 'Tree builder', value: 'sequoia', kind: 'builder' },
];
const KEPT = { __type__: 'update' };

test('a link sets the controls that it names, also a parameter apart as older links have it', () => {
  const { values, changes } = valuesOf('?seed=3&utm=x&prompt=&temperature=0.50&models=smollm2', FIELDS, MENUS);
  assert.deepEqual([values, changes], [['smollm2', '', 3, 0.5, KEPT], []]);
  const old = valuesOf('?builder=k-ary&builder.width=3', FIELDS, MENUS);
  assert.deepEqual([old.values[4], old.changes], ['k-ary:width=3', []]);
  const plain = [{ name: 'b.builder', label: 'B', value: 'plain', kind: 'builder' }];
  const menu = { builder: [...MENUS.builder, { name: 'plain', title: 'Plain', fields: [] }] };
  assert.deepEqual(valuesOf('?b.decodes=plain&b.builder=k-ary', plain, menu).values, ['plain'], 'with a builder that was not used');
  for (const search of ['', '?', '?%', '?utm_source=x', '?__theme=dark', '?__proto__=1&a.b=2&step=5'])
    assert.deepEqual(valuesOf(search, FIELDS, MENUS).values, Array(5).fill(KEPT), search);
});

test('what a control cannot hold is brought into range or replaced, and a sentence says so', () => {
  const cases = {
    'temperature=9': [3, 2],
    'temperature=1e999': [3, 2],
    'temperature=-1': [3, 0],
    'temperature=nan': [3, 0.6],
    'seed=many': [2, 6],
    'seed=': [2, 6],
    [`seed=${'9'.repeat(5000)}`]: [2, 2 ** 53],
    'models=%2Fetc%2Fpasswd': [0, 'tales'],
    'models=org/x|org/y': [0, 'tales'],
    'builder=<img src=x>': [4, 'sequoia'],
    'builder=constructor': [4, 'sequoia'],
    'builder=sequoia:size=0': [4, 'sequoia:size=1'],
    'builder=sequoia:size=99999': [4, 'sequoia:size=1024'],
    'builder=sequoia:size=x': [4, 'sequoia'],
    'builder=sequoia:size=3&builder.size=9999': [4, 'sequoia:size=1024'],
  };
  for (const [search, [at, value]] of Object.entries(cases)) {
    const { values, changes } = valuesOf(`?${search}`, FIELDS, MENUS);
    assert.equal(values[at], value, search);
    assert.equal(changes.length, 1, search);
    assert.match(changes[0], /“.{0,60}” is not offered by this page: .* is used\.$/, search);
  }
  assert.equal(valuesOf('?builder=sequoia:__proto__=1', FIELDS, MENUS).values[4], 'sequoia');
});

test('a link to a run presses Run once, as soon as it is there', async () => {
  /** @param {string} search */
  async function pressed(search) {
    const body = visited('<p><span class="sv-notice"><span class="text"></span></span></p>');
    location.search = search;
    let presses = 0;
    const about = { tab: 'explore', old: {}, fields: FIELDS };
    linkedControls(body.querySelector('p'), about, MENUS, async () => '["tales", "new"]', () => {});
    publish('headline', {});
    for (const time of ['first', 'second']) body.querySelector('.sv-notice').onchange(time);
    const button = document.createElement('button');
    button.id = 'sv-run';
    button.click = () => presses++;
    body.append(button);
    await new Promise(done => setTimeout(done, 200));
    const { values } = body.querySelector('.sv-notice').dataset;
    return [presses, values && JSON.parse(values)[0], body.querySelector('.text').textContent];
  }
  assert.deepEqual(await pressed('?run=0123abcd&prompt=a&models=tales'), [1, 'tales', '']);
  const [presses, models, text] = await pressed('?run=0123abcd&prompt=a&models=other/one');
  assert.deepEqual([presses, models], [1, 'tales'], 'no model of a stranger');
  assert.match(text, /^Model “other\/one” is not offered/);
  assert.equal((await pressed('?run=0123abcd&models=new'))[1], 'new', 'which was named since the page began');
  assert.equal((await pressed('?prompt=a'))[0], 0);
  assert.equal((await pressed('?tab=measure&run=0123abcd&prompt=a'))[0], 0);
});
