// A link to what is seen: its settings and the step on the screen. Whoever opens it sees the same
// recording, or the run computed again and, by the check sum of its text, whether it is the same.

import { placeText } from '../base/place.js';

/** @typedef {import('./run.js').Run} Run */

// What the page calls pairs that have no name elsewhere.
const SHIPPED = ['tales', 'toy', 'This pair'];

/**
 * @param {Run} run
 * @param {number} current the step on the screen
 * @param {string} address of the page
 */
export function runLink(run, current, address) {
  const link = new URL(address);
  const { models, weights, origin, sum } = run;
  const { prompt = '', settings = '' } = run.head;
  // the recording itself is shown again, a run is computed again
  const isRecorded = origin.startsWith('recorded');
  const request = new URLSearchParams({
    prompt,
    ...(models && { models }),
    ...(weights && { weights }),
    ...(isRecorded ? { picture: origin } : { run: sum }),
  });
  link.search = `?${request}&${settings}&${placeText(current, null)}`;
  link.hash = '';
  return link.href;
}

/**
 * The settings of a run by name, its prompt first.
 * @param {Run} run
 * @returns {[string, string][]}
 */
function settingsOf({ head: { prompt = '', settings = '' } }) {
  return [['prompt', prompt], ...new URLSearchParams(settings)];
}

/**
 * The names of the models of a run, none for those that ship with specviz, and where they lie.
 * @param {Run} run
 * @returns {[string, string][]}
 */
function pairOf({ models = '', head: { offload = '' } }) {
  const [target, draft = ''] = models.split('|');
  const names = { target: SHIPPED.includes(target) ? '' : target, draft, offload };
  return Object.entries(names).filter(([, value]) => value);
}

/** A run in Python. @param {Run} run */
export function pythonOf(run) {
  const values = settingsOf(run).map(([name, text]) => {
    const isNumber = text !== '' && Number.isFinite(Number(text)) && name !== 'prompt';
    return `    ${name}=${isNumber ? text : JSON.stringify(text)},`;
  });
  const names = pairOf(run).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const place = [...names, 'chat=None'].join(', ');
  return [
    'import specviz',
    '',
    `pair = specviz.load_pair(${place})`,
    `config = specviz.RunConfig(\n${values.join('\n')}\n)`,
    'trace = specviz.run(pair, config)',
    'print(trace.text, trace.tokens_per_pass)',
    '',
  ].join('\n');
}

/** The same on the command line. @param {Run} run */
export function commandOf(run) {
  /** @param {string} text */
  const quoted = text => `'${text.replace(/'/g, `'\\''`)}'`;
  const flags = settingsOf(run).map(
    ([name, text]) => `--${name.replace(/_/g, '-')} ${quoted(text)}`,
  );
  const place = pairOf(run).map(([name, value]) => ` --${name} ${quoted(value)}`);
  return `specviz generate ${flags.join(' ')}${place.join('')}`;
}
