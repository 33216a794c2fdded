// Takes a node of a run into the Verification lab: the tokens whose p and q are known there, all
// others as one. The lab may not be on the page yet, so what is taken waits where the lab will look
// for it.

import { publish } from '../base/bus.js';
import { runOf } from './draws.js';
import { normalised } from './rows.js';

const MOST_TAKEN = 8,
  MOST_TAKEN_CHILDREN = 4; // what the lab can enumerate

/**
 * What opens a node, or null where p or q are not known: it is the node whose children the
 * selected token is one of.
 * @param {Step} step
 * @param {string} key
 * @param {string} [rule] of the run
 */
export function opensInLab(step, key, rule) {
  const content = nodeOf(step, key);
  if (!content) return null;
  return () => {
    publish('node', { ...content, rule, from: `step ${step.index + 1}` });
    publish('open-tab', 'verification lab');
  };
}

/** @typedef {{ token: number | null, text: string, p: number, q: number }} Token */

/** @param {Step} step @param {string} key @returns {Taken | null} */
export function nodeOf(step, key) {
  const end = step.path.at(-1) ?? 0,
    node = Number(key);
  const parent = key === 'last' ? end : Math.max(0, step.parents[node]);
  const children = step.parents.flatMap((above, i) => (above === parent ? [i] : []));
  if (!children.length) return null;
  // before the first try the draft is still whole
  const chart = step.detail[children[0]]?.tried;
  const { p: target, draft } = chart?.rows ?? {};
  const known = target && draft ? (chart?.tokens ?? []) : [];
  /** @type {any[]} */
  const tokens = [
    ...children.map(i => [step.tokens[i], step.texts[i], step.p[i], step.q[i]]),
    ...known.map((token, i) => [token, chart?.texts[i], target[i], draft[i]]),
  ].map(([token, text, p, q]) => ({ token, text, p, q }));
  if (tokens.some(({ p, q }) => p === null || q === null)) return null;
  /** @type {Token[]} */
  const listed = tokens
    .filter(({ token }, i) => tokens.findIndex(other => other.token === token) === i)
    .slice(0, MOST_TAKEN - 1);
  /** @param {'p' | 'q'} name */
  const remainder = name =>
    Math.max(0, 1 - listed.reduce((sum, token) => sum + token[name], 0));
  /** @type {Token} */
  const left = { token: null, text: '(rest)', p: remainder('p'), q: remainder('q') };
  const whole = left.p < 5e-4 && left.q < 5e-4 && listed.length > 1; // payloads are rounded
  if (!whole) listed.push(left);
  return {
    drawn: runOf(
      step,
      listed.map(({ token }) => token),
      parent,
    ),
    names: listed.map(token => token.text),
    p: normalised(listed.map(({ p }) => p)),
    q: normalised(listed.map(({ q }) => q)),
    scheme: step.scheme,
    rest: !whole,
    children: Math.min(children.length, MOST_TAKEN_CHILDREN),
  };
}
