// The Verification lab: a node whose p and q are set by hand, and what the server computes about
// it.

import { subscribe } from '../base/bus.js';
import { button, finder, press, query } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { presents, turnsPages } from '../base/page.js';
import { visible } from '../base/text.js';
import { linkedNode } from './address.js';
import { asker } from './asker.js';
import { runOf } from './draws.js';
import { writeLaw, writeRules } from './results.js';
import { rowControls } from './rows.js';
import { tryStepper } from './tries.js';

/** @typedef {import('./types.js').Start} Start */
/** @typedef {import('./types.js').LabNode & { names: string[] }} State */

const REST =
  ' All other tokens are one, “(rest)”, so acceptance is higher than with the whole vocabulary.';

/** @param {HTMLElement} element @param {Start} start @param {Record<string, Ask>} server */
export function verificationLab(element, start, server) {
  const root = query(element, '.sv-v'),
    $ = finder(root, 'sv-v-');
  const state = /** @type {State} */ ({ names: /** @type {string[]} */ ([]) });
  // what a run of the page drew, until something else is asked for
  /** @type {import('./types.js').Run | null} */
  let recorded = null;
  let example = 0;
  const { show: showTries, position } = tryStepper(root);
  const rows = rowControls(root, state, () => {
    recorded = null;
    unmark();
    ask(60);
  });
  const ask = asker(root, () => server.preview(state), show, failed);

  // ---- what is looked at ----

  /**
   * @param {Partial<State> & { p: number[] }} node its tokens are letters, unless it names them; a
   *   rule or scheme that is not here is replaced
   * @param {string} about
   * @param {string} [first] the answer, where it is known
   */
  function put(node, about, first = '') {
    const names = [...start.names].slice(0, node.p.length);
    Object.assign(state, { names, children: 2, levels: 1, seed: 0 }, node);
    const isHere = start.rules.some(([name]) => name === state.rule);
    const other = state.rule && !isHere ? ` Its rule “${state.rule}” is not in the lab.` : '';
    if (!isHere) state.rule = start.rules[0][0];
    if (!start.schemes.some(([name]) => name === state.scheme)) state.scheme = null;
    $('about').textContent = about + other;
    rows.show();
    controls();
    if (first) seen(JSON.parse(first));
    ask();
  }

  /** @param {number} number of an example @param {string} [first] */
  function load(number, first = '') {
    recorded = null;
    example = number;
    mark(number);
    put(start.examples[number], start.examples[number].about, first);
  }

  /** @param {number} number */
  function mark(number) {
    press($('examples'), number);
  }

  /** What is said of an example is true of its rule and its numbers. */
  function unmark() {
    mark(-1);
    $('about').textContent = '';
  }

  /** @param {Partial<State>} change */
  function set(change) {
    recorded = null;
    Object.assign(state, change);
    if (!('seed' in change)) unmark();
    controls();
    ask();
  }

  function controls() {
    $('rule').value = state.rule;
    $('scheme').value = state.scheme ?? '';
    $('shape').value = `${state.children} ${state.levels}`;
  }

  /** @param {Messages['node']} node of a run */
  function showNode({ drawn, names, p, q, children, scheme, rule, from, rest }) {
    mark(-1);
    recorded = drawn;
    put(
      { names: names.map(visible), p, q, children, rule, scheme },
      `A node of ${from} of the run, as it was drawn there.${rest ? REST : ''}`,
    );
    root.scrollIntoView({ block: 'start' });
  }

  // ---- controls ----

  $('rule').append(...start.rules.map(([name, title]) => new Option(title, name)));
  $('scheme').append(...start.schemes.map(([name, text]) => new Option(text, name)));
  for (let k = 1; k <= start.most.children; k++)
    $('shape').append(new Option(k === 1 ? '1 child' : `${k} children`, `${k} 1`));
  for (let n = 2; n <= start.most.levels; n++)
    $('shape').append(new Option(`a chain of ${n}`, `1 ${n}`));
  $('examples').append(...start.examples.map(({ title }, i) => button(title, () => load(i))));
  $('rule').onchange = () => set({ rule: $('rule').value });
  $('scheme').onchange = () => set({ scheme: $('scheme').value || null });
  $('shape').onchange = () => {
    const [children, levels] = $('shape').value.split(' ').map(Number);
    set({ children, levels });
  };

  const turn = turnsPages(root); // the table of all rules is the second
  const acts = {
    back: () => (root.scrollTop ? turn(-1) : position.move(-1)),
    next: () => {
      if (root.scrollTop) {
        turn(-1);
        load((example + 1) % start.examples.length);
      } else if (presents() && position.atEnd) turn(1);
      else position.move(1);
    },
    all: () => $('results').scrollIntoView({ behavior: 'smooth' }),
    draw: () => set({ seed: (state.seed + 1) % start.most.seed }),
    chain: () => set({ children: 1, levels: 2 }),
  };
  for (const [name, act] of Object.entries(acts))
    query(root, `[data-do=${name}]`).onclick = act;
  keys(
    root,
    () => ({ ArrowLeft: acts.back, ArrowRight: acts.next, ' ': position.toggle, d: acts.draw }),
    { first: true },
  );

  // ---- what the server answers ----

  /** The chosen rule at once, then all rules. @type {Parameters<typeof asker>[2]} */
  async function show(answer, stale) {
    seen(answer);
    const rules = /** @type {Answer<Parameters<typeof writeRules>[1]>} */ (
      JSON.parse(await server.table(state))
    );
    if (!stale() && rules.error === undefined)
      writeRules(root, rules, state.rule, other => set({ rule: other }));
  }

  /** @param {string} text */
  function failed(text) {
    $('error').textContent = text;
    root.classList.add('stale');
  }

  /** @param {import('./types.js').Seen} data */
  function seen(data) {
    $('error').textContent = '';
    root.classList.remove('stale');
    const drawn = data.step && runOf(data.step, [...state.names.keys()]);
    showTries(recorded ?? drawn, [...state.names], { p: data.p, q: data.q });
    writeLaw(root, data, state.names);
    query(root, '[data-do=chain]').hidden = !data.row.needs_chain;
  }

  subscribe('node', element, showNode);
  const linked = linkedNode(location.search);
  if (linked) put(linked, 'This node was opened from a link.');
  else if (!state.names.length) load(0, start.first);
}
