// Opens links: sets the controls of a tab to what an address says of them. Anyone may write a link:
// what a control cannot hold is replaced, and a sentence says so.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { join, split } from '../base/picker.js';
import { statusLine } from '../figures/card.js';
import { FIRST } from './address.js';

const UNCHANGED = { __type__: 'update' }; // as gradio writes it

/**
 * A control, or a parameter of a strategy: one of some options, a number up to `max`, a picker of
 * strategies of a kind, or else any text.
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {any} [value] what it holds first
 * @property {string[]} [options]
 * @property {any} [min]
 * @property {any} [max]
 * @property {string} [word] what a number may be instead
 * @property {any} [kind]
 */
/** @typedef {Record<string, import('../base/picker.js').Strategy[]>} Menus */

/**
 * The values of the controls that a link sets, and a sentence for each that is not as it says: a
 * number is brought into range, in place of what cannot be held stands what was held first.
 * @param {string} search
 * @param {Field[]} fields all controls
 * @param {Menus} menus
 */
export function valuesOf(search, fields, menus) {
  const request = new URLSearchParams(search);
  /** @type {string[]} */
  const changes = [];

  /** @param {Field} field @param {string} text @returns {any} */
  function valueOf({ name, label, value, options, min, max, word, kind }, text) {
    const isAny = max === undefined && !kind;
    if (options ? options.includes(text) : isAny || text === word) return text;
    const parsed = split(text);
    const strategy = menus[kind]?.find(one => one.name === parsed.name);
    for (const field of strategy?.fields ?? []) {
      const key = field.name;
      // "builder.size=16" is of older links
      const part = request.get(`${name}.${key}`) ?? parsed.values[key];
      if (part !== undefined) parsed.values[key] = valueOf(field, part);
    }
    if (strategy) return join(strategy, parsed.values);
    const number = Math.max(min, Math.min(max, Number(text || NaN)));
    if (number === Number(text)) return number;
    const used = Number.isNaN(number) ? value : number;
    changes.push(`${label} “${text.slice(0, 60)}” is not offered by this page: ${used} is used.`);
    return used;
  }
  // which older links have beside a builder that plain decoding did not use
  for (const letter of 'abc') {
    if (request.get(`${letter}.decodes`) === 'plain') request.set(`${letter}.builder`, 'plain');
  }
  const values = fields.map(field => {
    const text = request.get(field.name);
    return text === null ? UNCHANGED : valueOf(field, text);
  });
  return { values, changes };
}

/**
 * @param {HTMLElement} element
 * @param {object} about
 * @param {string} about.tab
 * @param {Record<string, string>} about.old the former names of tabs
 * @param {Field[]} about.fields all controls
 * @param {Menus} menus
 * @param {Ask} offered the pairs that may be chosen by now
 * @param {() => void} set has the controls set to what `data-values` holds, which then hears a
 *   "change"
 */
export function linkedControls(element, { tab, old, fields }, menus, offered, set) {
  const request = new URLSearchParams(location.search);
  const name = (request.get('tab') || FIRST).toLowerCase();
  const place = query(element, '.sv-notice');
  let count = 0;
  let computes = false;

  /** @param {string} search */
  async function open(search) {
    const models = fields.find(field => field.name === 'models');
    if (models) models.options = JSON.parse(await offered({}));
    const { values, changes } = valuesOf(search, fields, menus);
    if (values.every(value => value === UNCHANGED)) return;
    statusLine(element, { kind: changes[0] && 'error', text: changes.join(' ') });
    place.dataset.values = JSON.stringify([...values, String(++count)]);
    set();
  }

  let address = location.search;
  function openAddress() {
    open(address);
    address = '';
  }

  if ((old[name] || name) === tab && !request.has('lesson')) {
    computes = request.has(tab === FIRST ? 'run' : 'prompt');
    // In Explore once the stage shows what the page opens with: later, that would replace the run.
    if (tab !== FIRST) open(location.search);
    else subscribe('headline', element, openAddress);
  }
  if (tab === FIRST) subscribe('opened', element, ({ search }) => open(search));
  function run() {
    if (!computes) return;
    const button = document.getElementById(tab === FIRST ? 'sv-run' : 'sv-compare-run');
    computes = !button; // which may come after the controls are set
    button?.click();
    setTimeout(run, 50);
  }
  place.onchange = run;
}
