// The Verification lab: a node whose p and q are set by hand, what the server makes of it, and the tables below. Names
// of tokens may come from a model's text; they only ever become text nodes.

import { subscribe } from '../base/bus.js';
import { button, finder, make, query } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { visible } from '../base/text.js';
import { linkedNode } from './address.js';
import { asker, finite } from './asker.js';
import { notice, writeLaw, writeRules } from './law.js';
import { shareBars, withOneLess, withOneMore } from './shares.js';
import { tryStepper } from './tries.js';

/** @typedef {import('./types.js').Rejected} Rejected */
/** @typedef {import('./types.js').Start} Start */
/** @typedef {import('./types.js').LabNode & { names: string[] }} State what is looked at, with the names of its tokens */
/** @typedef {Pick<State, 'names' | 'levels' | 'rule'>} About what an answer is about */
/** @typedef {{ look: import('../base/types.js').Ask, table: import('../base/types.js').Ask }} Server */

/**
 * @param {HTMLElement} element
 * @param {Start} start
 * @param {Server} server
 */
export function verificationLab(element, start, server) {
  const root = query(element, '.sv-v'), $ = finder(root, 'sv-v-');
  /** @type {State} */
  const state = { names: [], p: [], q: [], children: 2, levels: 1, rule: '', scheme: null, seed: 0 };
  let replay = /** @type {{ told: import('./types.js').Told, names: string[] } | null} */ (null); // what a run did at the node that it is of
  const tries = tryStepper(root), bars = shareBars(root, state, wait => { own(); ask(wait); });
  const ask = asker(root, work, failed);
  menus(root, start, { load, change });

  // ---- what is looked at ----

  /** @param {Partial<State>} node */
  function put(node) {
    replay = null;
    Object.assign(state, { children: 2, levels: 1, scheme: null, seed: 0 }, node);
    bars.show();
    controls();
    ask();
  }

  /** @param {number} number of an example */
  function load(number) {
    const { p, q, children, levels, rule, scheme, seed, why } = start.presets[number];
    mark(number);
    $('why').textContent = why;
    put({ names: [...start.names].slice(0, p.length), p: [...p], q: [...q], children, levels, rule, scheme, seed });
  }

  /** @param {import('../base/types.js').Messages['node']} taken */
  function take({ names, p, q, children, scheme, rule, from, rest, drafted, told, tokens }) {
    mark(null);
    const known = start.rules.find(other => other.name === rule) || start.rules[0];
    $('why').textContent = [told ? `Replay of ${from} of the run: its p and q at this node, its children in their order, and its draws. “Draw again” makes new draws.`
      : `Taken from ${from} of the run: its p and q at this node. The rule did not compare its children; the draws here are new.`,
      rest && 'All tokens that the run did not record are combined into one token, “(rest)”, so in new draws and in the tables acceptance is usually higher than with the whole vocabulary.',
      drafted > children && `The node had ${drafted} children; new draws use ${children}.`].filter(Boolean).join(' ');
    const shown = names.map(text => (text === '(rest)' ? text : visible(text)));
    put({ names: shown, p, q, children, rule: known.name, scheme: scheme === known.scheme || !(scheme in start.schemes) ? null : scheme });
    if (told) replay = { told, names: tokens.map(text => (text === '(rest)' ? text : visible(text))) };
    controls();
    root.scrollIntoView({ block: 'start' });
  }

  /** @param {number | null} number */
  function mark(number) {
    [...$('presets').children].forEach((other, i) => other.setAttribute('aria-pressed', i === number));
  }

  // What was said about an example, or where a node was taken, holds for its rows and its tree under any rule and seed.
  function own() {
    replay = null;
    mark(null);
    $('why').textContent = 'Custom node. Choose an example above to restore its values.';
  }

  /** @param {Partial<State>} news */
  function change(news) {
    replay = null;
    Object.assign(state, news);
    if (Object.keys(news).some(name => name !== 'rule' && name !== 'seed')) own();
    controls();
    ask();
  }

  function controls() {
    $('rule').value = state.rule;
    $('scheme').value = state.scheme || '';
    $('shape').value = `${state.children} ${state.levels}`;
    if (document.activeElement !== $('seed')) $('seed').value = replay ? '' : state.seed;
    $('input').dataset.size = state.names.length;
    root.querySelector('[data-do=more]').disabled = state.names.length >= start.most.tokens;
    root.querySelector('[data-do=less]').disabled = state.names.length <= 2;
  }

  // ---- tools ----

  /** @param {string[]} names @param {(weights: number[]) => number[]} resized */
  function resize(names, resized) {
    state.names = names;
    change({ p: resized(state.p), q: resized(state.q) });
    bars.show();
  }

  /** @param {number} by */
  function step(by) {
    tries.move(by);
    $('live').textContent = `${$('where').textContent}. ${[...$('try').querySelectorAll('h3, p')].map(line => line.textContent).join('. ')}`;
  }

  const acts = {
    more: () => resize([...state.names, [...start.names].find(letter => !state.names.includes(letter)) ?? '?'], withOneMore),
    less: () => resize(state.names.slice(0, -1), withOneLess),
    swap: () => { change({ p: state.q, q: state.p }); bars.refresh(); },
    back: () => step(-1),
    next: () => step(1),
    draw: () => {
      change({ seed: (Number.isSafeInteger(state.seed) ? state.seed + 1 : 0) % start.most.seed });
      $('seed').value = state.seed;
    },
  };
  for (const [name, act] of Object.entries(acts)) root.querySelector(`[data-do=${name}]`).addEventListener('click', act);
  keys(root, event => (event.shiftKey || /** @type {Element} */ (event.target).matches('.sv-v-scroll') ? {} : { ArrowLeft: acts.back, ArrowRight: acts.next, d: acts.draw }), { first: true });

  // ---- what the server answers ----

  /** @param {() => boolean} stale */
  async function work(stale) {
    const { names, p, q, seed, ...chosen } = state, about = { names: [...names], levels: state.levels, rule: state.rule };
    const asked = { ...chosen, p: p.map(finite), q: q.map(finite), seed: finite(seed) };
    const told = /** @type {import('./types.js').Seen | Rejected} */ (JSON.parse(await server.look(asked)));
    if (stale()) return;
    if (told.error !== undefined) return failed(told.error);
    seen(told, about);
    const rules = /** @type {import('./types.js').Rules | Rejected} */ (JSON.parse(await server.table(asked)));
    if (rules.error === undefined) writeRules(root, rules, about.rule, rule => change({ rule }));
  }

  /** @param {string} text */
  function failed(text) {
    notice($('verdict'), 'error', text);
    $('said').textContent = '';
    root.classList.add('stale');
  }

  /** @param {import('./types.js').Seen} told @param {About} about */
  function seen(told, about) {
    root.classList.remove('stale');
    notice($('verdict'), told.kind, told.reason);
    $('said').textContent = told.said.join(' ');
    const rule = start.rules.find(other => other.name === about.rule)?.title ?? about.rule;
    if (replay) tries.show(replay.told, replay.names, { p: told.p, q: told.q, levels: 1 });
    else if (told.run) tries.show(told.run, about.names, { p: told.p, q: told.q, levels: about.levels }); else tries.clear();
    writeLaw(root, told.exact ?? null, about, rule, told.kind === 'lossless' || told.kind === 'useless');
  }

  subscribe('node', element, take);
  if (!state.names.length) {
    const asked = (new URLSearchParams(location.search).get('preset') || '').toLowerCase(), linked = linkedNode(location.search, start);
    if (linked?.node) put({ names: [...start.names].slice(0, linked.node.p.length), ...linked.node });
    else load(Math.max(0, start.presets.findIndex(preset => asked && preset.title.toLowerCase().includes(asked))));
    if (linked) $('why').textContent = linked.why;
  }
}

/**
 * @param {HTMLElement} root
 * @param {Start} start
 * @param {{ load: (number: number) => void, change: (news: Partial<State>) => void }} on
 */
function menus(root, start, { load, change }) {
  const $ = finder(root, 'sv-v-');
  const option = (/** @type {string} */ value, /** @type {string} */ text) => Object.assign(make('option', text), { value });
  $('rule').append(...start.rules.map(rule => option(rule.name, rule.title)));
  $('scheme').append(option('', 'as the rule requires'), ...Object.entries(start.schemes).map(([scheme, text]) => option(scheme, text)));
  for (let k = 1; k <= start.most.children; k++) $('shape').append(option(`${k} 1`, k === 1 ? '1 child' : `${k} children`));
  for (let n = 2; n <= start.most.levels; n++) $('shape').append(option(`1 ${n}`, `a chain of ${n}`));
  start.presets.forEach((preset, i) => $('presets').append(button(preset.title, () => load(i))));
  $('rule').addEventListener('change', () => change({ rule: $('rule').value }));
  $('scheme').addEventListener('change', () => change({ scheme: $('scheme').value || null }));
  $('shape').addEventListener('change', () => {
    const [children, levels] = $('shape').value.split(' ').map(Number);
    change({ children, levels });
  });
  $('seed').addEventListener('change', () => change({ seed: $('seed').value === '' ? NaN : Number($('seed').value) }));
}
