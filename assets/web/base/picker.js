// The strategy picker: a menu and the parameters of what is chosen, drawn from their schema. Its
// value is the strategy as text, such as "sequoia:size=16,depth=6", without the parameters that
// have their defaults.

import { make, slider } from './dom.js';

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} help
 * @property {string} value the default
 * @property {'number' | 'flag' | 'choice' | 'text'} type
 * @property {number} [min]
 * @property {number} [max]
 * @property {number} [step]
 * @property {string} [word] what a number may be instead
 * @property {string[]} [options]
 */
/** @typedef {{ name: string, title: string, fields: Field[] }} Strategy */

let ids = 0;
const FIRST = 2; // parameters of a strategy that are shown at once

/** The name in a strategy's text, and the text of each parameter. @param {string} text */
export function split(text) {
  const [name, ...parts] = text.split(':'),
    values = /** @type {Record<string, string>} */ ({});
  for (const part of parts.length ? parts.join(':').split(/,(?=[^,=]*=)/) : []) {
    const [key, ...value] = part.split('=');
    values[key.trim()] = value.join('=').trim();
  }
  return { name: name.trim(), values };
}

/** A strategy's text. @param {Strategy} strategy @param {Record<string, string>} values */
export function join({ name, fields }, values) {
  const parts = fields.filter(
    field => values[field.name] !== undefined && values[field.name] !== field.value,
  );
  return (
    name +
    (parts.length ? ':' : '') +
    parts.map(field => `${field.name}=${values[field.name]}`).join(',')
  );
}

/**
 * @param {Element} root
 * @param {Strategy[]} strategies
 * @param {{ label: string, folded: boolean }} look
 * @param {(text: string) => void} change gets what a visitor chose
 */
export function strategyPicker(root, strategies, { label, folded }, change) {
  const options = strategies.map(({ name, title }) => new Option(title, name));
  const select = make('select', options, { 'aria-label': label });
  const fields = make('div', '', 'sv-parameters');
  const fold = make('details', [make('summary', 'Parameters'), fields]);
  fold.open = !folded;
  root.replaceChildren(make('label', [make('span', label), select], 'sv-parameter'), fold);
  let values = /** @type {Record<string, string>} */ ({}); // parameters of the chosen one
  const chosen = () => strategies.find(({ name }) => name === select.value) ?? strategies[0];
  const send = () => change(join(chosen(), values));

  /** A parameter with its inputs and what it means. @param {Field} field */
  function rowOf(field) {
    const help = make('small', field.help, { id: `sv-parameter-${++ids}` });
    const inputs = inputsOf(field, values[field.name] ?? field.value, text => {
      values[field.name] = text;
      send();
    });
    for (const input of inputs) {
      const part = input.type === 'range' ? ', slider' : '';
      input.setAttribute('aria-describedby', help.id);
      input.setAttribute('aria-label', field.label + part);
    }
    return make('label', [make('span', field.label), ...inputs, help], 'sv-parameter');
  }

  function showFields() {
    const rows = chosen().fields.map(rowOf);
    fields.replaceChildren(...rows.slice(0, FIRST));
    fold.hidden = !rows.length;
    if (rows.length <= FIRST) return;
    const summary = make('summary', 'More');
    const more = make('details', [summary, ...rows.slice(FIRST)], 'sv-parameters');
    fields.append(more);
  }

  select.addEventListener('change', () => {
    values = {};
    showFields();
    send();
  });

  return {
    /** @param {string} text */
    receive(text) {
      const strategy = split(text);
      if (!strategies.some(({ name }) => name === strategy.name)) return;
      if (text === join(chosen(), values) && fields.children.length) return;
      select.value = strategy.name;
      values = strategy.values;
      showFields();
    },
    /** @param {Record<string, string>} marks */
    mark(marks) {
      for (const option of select.options) {
        const { title } = strategies[option.index],
          [mark = '', ...why] = (marks[option.value] ?? '').split('\n');
        option.text = mark ? `${title} ${mark}` : title;
        option.title = why.join(' ');
        option.className = mark ? 'sv-marked' : '';
      }
    },
  };
}

/**
 * The inputs of a parameter; a number has a slider and a box.
 * @param {Field} field
 * @param {string} value
 * @param {(text: string) => void} change
 * @returns {(HTMLInputElement | HTMLSelectElement)[]}
 */
function inputsOf(field, value, change) {
  if (field.type === 'choice') {
    const options = field.options ?? [];
    const select = make('select', options.map(option => new Option(option, option)));
    select.value = value;
    select.addEventListener('change', () => change(select.value));
    return [select];
  }
  const box = make('input');
  if (field.type === 'flag') {
    box.type = 'checkbox';
    box.checked = value === 'true';
    box.addEventListener('change', () => change(String(box.checked)));
    return [box];
  }
  const { min = 0, max = 1, step = 1 } = field;
  if (field.type === 'number' && !field.word)
    Object.assign(box, { type: 'number', min, max, step: step === 1 ? 1 : 'any' });
  box.value = value;
  box.addEventListener('change', () => change(box.value.trim()));
  if (field.type === 'text') return [box];
  const track = slider({ min, max, step, value: Number(value) }, at => {
    box.value = String(at);
  });
  track.addEventListener('change', () => change(box.value));
  box.addEventListener('input', () => {
    track.value = box.value;
  });
  return [track, box];
}
