// The words and numbers around the picture: what runs, the measures of the run, the legend with its
// counts.

import { button, makeSvg, make, queryAll, say } from '../base/dom.js';
import { sayTerms, termed } from '../base/terms.js';
import { markOf } from '../tree/paint.js';
import { DRAFTERS } from '../base/words.js';
import { outlineOf } from '../tree/sources.js';
import { timesText } from './beside_plain.js';

const RARE = ['passed', 'probe']; // outcomes that are listed where they occur
// what Compare takes of the settings of a run
const STRATEGIES = ['builder', 'verifier', 'drafter'];
const NUMBERS = ['temperature', 'max_new_tokens', 'seed'];

/** Finds a part of the player by its class, without "sv-". @typedef {(name: string) => any} Find */

/**
 * @param {Find} $
 * @param {import('./run.js').Run} run
 */
export function writeTitle($, run) {
  const { head, same = { kind: '', text: '' } } = run;
  const parts = [head.badge, head.title, head.pair, head.lossy].filter(Boolean);
  sayTerms($('about-run'), parts.join(' · '));
  say($('state'), stateText(run));
  $('state').dataset.state = run.state;
  $('svg').dataset.of = run.origin;
  $('same').hidden = !same.text;
  say($('same'), same.text);
  $('same').dataset.kind = same.kind;
}

/**
 * The last runs, each a button that shows it again, where there is more than one.
 * @param {Find} $
 * @param {import('./run.js').Run[]} runs
 * @param {import('./run.js').Run} current
 * @param {(run: import('./run.js').Run) => void} show
 */
export function writeRuns($, runs, current, show) {
  const box = $('history');
  const listed = runs.filter(({ steps, figures }) => steps.length && figures?.per_pass);
  box.hidden = listed.length < 2;
  if (box.hidden) return;
  const all = listed.map(factsOf);
  const texts = listed.map(({ figures, state, speedup }, i) => {
    const own = all[i].filter(fact => all.some(others => !others.includes(fact)));
    const perPass = `${figures?.per_pass?.toFixed(1)} a pass`;
    const isTimed = speedup && state !== 'running';
    return [isTimed ? `${timesText(speedup.speedup)}×` : perPass, ...own].join(', ');
  });
  const written = `${texts.join('|')} ${listed.indexOf(current)}`;
  if (box.dataset.texts === written) return; // a button that has the focus stays
  box.dataset.texts = written;
  box.replaceChildren(
    'Last runs',
    ...listed.map((run, i) =>
      button(texts[i], () => show(run), { 'aria-pressed': run === current, title: texts[i] }),
    ),
    ...comparison(listed.slice(-2)),
  );
}

/** In what a run may differ from another, in words. @param {import('./run.js').Run} run */
function factsOf({ head, models, weights }) {
  const settings = [...new URLSearchParams(head.settings)].map(([name, value]) => {
    const [start] = value.split(','); // a strategy with its first number
    const words = start.replace(':size=', ' ');
    return /^[a-z]/.test(start) ? words : `${name.replaceAll('_', ' ')} ${start}`;
  });
  return [models, weights, ...settings, head.badge, `“${head.prompt}”`].filter(Boolean);
}

/**
 * A link that runs the last two again in Compare, beside plain decoding; none where their prompts
 * or their models differ, or their settings do not.
 * @param {import('./run.js').Run[]} runs
 */
function comparison([first, second]) {
  const { prompt = '', settings } = second.head;
  const { models = '', weights = '' } = second;
  const areAlike = first.head.prompt === prompt && first.models === models;
  if (!areAlike || first.head.settings === settings) return [];
  const link = new URLSearchParams({ tab: 'compare', prompt, models, weights });
  for (const [letter, { head }] of Object.entries({ b: first, c: second })) {
    for (const [name, value] of new URLSearchParams(head.settings)) {
      if (STRATEGIES.includes(name)) link.set(`${letter}.${name}`, value);
      else if (NUMBERS.includes(name)) link.set(name, value);
    }
  }
  return [Object.assign(make('a', 'Compute the last two again in Compare'), { href: `?${link}` })];
}

/** @param {import('./run.js').Run} run */
function stateText({ state, note, steps, figures }) {
  if (note) return note;
  if (state === 'running' && figures?.rate) {
    return `Decoding: ${figures.tokens} tokens, ${figures.rate.toFixed(1)} tokens/s.`;
  }
  if (state === 'stopped') return `stopped after ${steps.length} steps`;
  return state === 'running' || state === 'loading' ? state : '';
}

/** @param {Find} $ @param {import('./run.js').Run} run */
export function writeMeasures($, { figures }) {
  const cells = (figures?.table ?? []).flatMap(([name, value, note]) => [
    make('dt', name),
    make('dd', note ? `${value} (${note})` : value),
  ]);
  $('measures').replaceChildren(...cells);
}

/** Gives each outcome in the legend its mark. @param {Find} $ */
export function drawLegend($) {
  for (const item of queryAll($('legend'), '[data-outcome]')) {
    if (!item.firstElementChild) item.replaceChildren(...termed(item.textContent));
    item.prepend(markOf(item.dataset.outcome));
  }
}

/** @param {Find} $ @param {Step} step @param {import('./frames.js').Frame} frame */
export function writeLegend($, step, { phase, later, lastNode }) {
  const outcomes = step.outcome.slice(0, lastNode + 1).map((outcome, node) => {
    const isLater = node > 0 && later.has(node) && outcome !== 'probe';
    return isLater ? 'unreached' : outcome;
  });
  for (const item of queryAll($('legend'), '[data-outcome]')) {
    const { outcome } = item.dataset;
    const count = item.querySelector('b');
    item.hidden = RARE.includes(outcome) && !step.outcome.includes(outcome);
    if (count) count.textContent = outcomes.filter(other => other === outcome).length;
    else item.hidden = phase < 4 || outcome !== step.last; // the target's own token is drawn last
  }
}

/**
 * How often each drafter was right, where there are several.
 * @param {Find} $
 * @param {import('./run.js').Run} run
 */
export function writeWhose($, { figures }) {
  const drafters = Object.entries(figures?.drafters ?? {});
  $('whose').hidden = drafters.length < 2;
  const items = drafters.map(([name, accepted]) => {
    const svg = makeSvg('svg', { viewBox: '-13 -13 26 26', 'aria-hidden': 'true' });
    makeSvg('path', { class: 'outline', ...outlineOf(name) }, svg);
    return make('span', [svg, make('b', DRAFTERS[name] || name), ` ${accepted}`]);
  });
  $('whose').replaceChildren(...items);
}
