// The strategy picker: a menu and the parameters of what is chosen, drawn from their schema. Its
// value is the strategy as text, such as "sequoia:size=16,depth=6", without the parameters that
// have their defaults.

import { make, queryAll, slider } from './dom.js';

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
  const chosen = () => strategies.find(({ name }) => name === select.value) ?? strategies[0];

  /** The strategy's text: its parameters are what their inputs hold. */
  function textNow() {
    const values = queryAll(fields, '[name]').map(({ name, type, value, checked }) => [
      name,
      type === 'checkbox' ? String(checked) : value.trim(),
    ]);
    return join(chosen(), Object.fromEntries(values));
  }

  /** @param {Record<string, string>} [values] those that are not the default */
  function showFields(values = {}) {
    const rows = chosen().fields.map(field => rowOf(field, values[field.name] ?? field.value));
    fields.replaceChildren(...rows.slice(0, FIRST));
    fold.hidden = !rows.length;
    if (rows.length <= FIRST) return;
    const summary = make('summary', 'More');
    fields.append(make('details', [summary, ...rows.slice(FIRST)], 'sv-parameters'));
  }

  root.addEventListener('change', ({ target }) => {
    if (target === select) showFields();
    change(textNow());
  });

  return {
    /** @param {string} text */
    receive(text) {
      const { name, values } = split(text);
      if (!strategies.some(strategy => strategy.name === name)) return;
      if (text === textNow() && fields.children.length) return;
      select.value = name;
      showFields(values);
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
 * A parameter with its input and what it means; a number has a slider, too.
 * @param {Field} field
 * @param {string} value
 */
function rowOf(field, value) {
  const help = make('small', field.help, { id: `sv-parameter-${++ids}` });
  const input = inputOf(field, value);
  input.setAttribute('aria-describedby', help.id);
  input.setAttribute('aria-label', field.label);
  const row = make('label', [make('span', field.label), input, help], 'sv-parameter');
  if (field.type !== 'number') return row;
  const { min = 0, max = 1, step = 1 } = field;
  const track = slider({ min, max, step, value: input.value }, at => {
    input.value = at;
  });
  track.setAttribute('aria-label', `${field.label}, slider`);
  input.oninput = () => {
    track.value = input.value;
  };
  input.after(track);
  return row;
}

/** @param {Field} field @param {string} value */
function inputOf({ name, type, options = [], min = 0, max = 1, step = 1, word }, value) {
  /** @type {any} */
  const box = make(type === 'choice' ? 'select' : 'input', options.map(text => new Option(text)));
  if (type === 'flag') Object.assign(box, { type: 'checkbox', checked: value === 'true' });
  if (type === 'number' && !word)
    Object.assign(box, { type, min, max, step: step === 1 ? 1 : 'any' });
  return Object.assign(box, { name, value });
}
