// Opens links: sets the controls of a tab to what an address says of them. What is wrong there the
// tab says itself, as of anything that its controls hold.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { FIRST } from './address.js';

const UNCHANGED = { __type__: 'update' }; // as gradio writes it

/**
 * The values of the controls that a link sets; empty where it sets none.
 * @param {string} search
 * @param {Record<string, string | number>} opening what all controls hold first, by name
 * @returns {unknown[]}
 */
export function valuesOf(search, opening) {
  const texts = Object.fromEntries(new URLSearchParams(search));
  // "builder=sequoia&builder.size=16", as older links have it, is "builder=sequoia:size=16"
  for (const [name, text] of Object.entries(texts)) {
    const [, owner = '', parameter] = name.match(/^(.+)\.(.+)$/) ?? [];
    const start = texts[owner] ?? opening[owner];
    if (typeof start !== 'string') continue;
    const divider = start.includes(':') ? ',' : ':';
    texts[owner] = `${start}${divider}${parameter}=${text}`;
  }
  // which those have beside a builder that plain decoding did not use
  for (const letter of 'abc') {
    if (texts[`${letter}.decodes`] === 'plain') texts[`${letter}.builder`] = 'plain';
  }
  const names = Object.keys(opening);
  if (!names.some(name => name in texts)) return [];
  return names.map(name => {
    const text = texts[name] ?? UNCHANGED;
    // As the control holds it: a text that it makes a number of later would be another value.
    const number = Number(text || NaN);
    return typeof opening[name] === 'number' && Number.isFinite(number) ? number : text;
  });
}

/**
 * @param {HTMLElement} element
 * @param {object} about
 * @param {string} about.tab
 * @param {Record<string, string>} about.old the former names of tabs
 * @param {string[]} about.models those that the page offers
 * @param {Record<string, string | number>} about.opening
 * @param {() => void} set has the controls set to what `data-values` holds, which then hears a
 *   "change"
 */
export function linkedControls(element, { tab, old, models, opening }, set) {
  const request = new URLSearchParams(location.search);
  const name = (request.get('tab') || FIRST).toLowerCase();
  const place = query(element, '[data-values]');
  let count = 0;
  let computes = false;

  /** @param {string} search */
  function open(search) {
    const values = valuesOf(search, opening);
    if (!values.length) return;
    place.dataset.values = JSON.stringify([...values, String(++count)]);
    set();
  }

  let address = location.search;
  function openAddress() {
    open(address);
    address = '';
  }

  if ((old[name] || name) === tab && !request.has('lesson')) {
    // "run" is of older links
    const ofRun = request.has('again') || request.has('run');
    const isRun = tab === FIRST ? ofRun : request.has('prompt');
    // a stranger's link loads no model of his own
    computes = isRun && models.includes(request.get('models') ?? models[0]);
    // In Explore once the stage shows what the page opens with: later, that would replace the run.
    if (tab !== FIRST) open(location.search);
    else subscribe('headline', element, openAddress);
  }
  if (tab === FIRST) subscribe('opened', element, ({ search }) => open(search));
  place.onchange = () => {
    if (computes) document.getElementById(tab === FIRST ? 'sv-run' : 'sv-compare-run')?.click();
    computes = false;
  };
}
