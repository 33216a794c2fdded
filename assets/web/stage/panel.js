// The words and numbers around the picture: what runs, the measures of the run, the legend with its counts.

import { draw, finder, make, query, say } from '../base/dom.js';
import { sayTerms } from '../base/terms.js';
import { PARTS } from '../base/words.js';
import { countGuesses, differ, outlineOf, rightOf, titleOf } from '../tree/sources.js';

const number = (/** @type {number} */ value) => value.toFixed(value < 100 ? 1 : 0);

/** @param {HTMLElement} element @param {import('./run.js').Run} run @param {string | null} [first] what matters more than the run's state */
export function writeTitle(element, run, first = null) {
  const $ = finder(element), { head } = run;
  sayTerms($('about-run'), [head.recorded && (head.badge || 'recorded run'), head.title, head.pair, head.lossy].filter(Boolean).join(' · '));
  /** @type {Record<string, string>} */
  const words = { loading: 'loading', running: 'running', stopped: `stopped after ${run.steps.length} steps` };
  say($('state'), first || run.note || words[run.state] || '');
  $('state').dataset.state = run.state;
  query(element, '.sv').dataset.recorded = String(Boolean(head.recorded));
  $('same').hidden = !run.same;
  if (run.same) say($('same'), run.same.text);
  $('same').dataset.kind = run.same ? run.same.kind : '';
}

/** @param {HTMLElement} element @param {import('./run.js').Run} run */
export function writeMeasures(element, run) {
  const $ = finder(element), { against, figures, head } = run, plain = against && number(against.plain_tokens_per_s);
  /** @type {(name: string, value: number | null | undefined, write: (value: number) => string, note: string) => void} */
  const put = (name, value, write, note) => {
    $(name).textContent = value === null || value === undefined ? '–' : write(value);
    $(`${name}-of`).textContent = note;
  };
  put('per-pass', figures?.per_pass, value => value.toFixed(2), `${figures?.tokens ?? 0} tokens in ${figures?.passes ?? 0} passes`);
  put('acceptance', figures?.acceptance, ratio => `${Math.round(100 * ratio)} %`, `${figures?.accepted ?? 0} of ${figures?.compared ?? 0} compared`);
  put('rate', figures?.rate, number, head.recorded ? 'when it was recorded' // the ratio is of the rate over all rounds
    : against ? `over ${against.rounds} ${against.rounds === 1 ? 'round' : 'rounds'}: ${number(against.tokens_per_s)}` : 'on this machine');
  put('speedup', against?.speedup, ratio => `${ratio.toFixed(2)}×`,
    against ? `${against.low.toFixed(2)}–${against.high.toFixed(2)} · plain ${plain}/s${head.recorded ? ', as recorded' : ''}` : head.recorded ? 'not recorded' : 'when the run ends');
  PARTS.forEach((part, i) => {
    const spent = figures?.step_parts[i];
    query(element, `.sv-time-bar .${part}`, HTMLElement).style.flexGrow = String(figures?.step_ms ? Number(spent) / figures.step_ms : 0);
    query(element, `.sv-time-key .${part}`).textContent = figures?.step_ms ? `${part} ${Number(spent).toFixed(1)}` : part;
  });
  $('time-line').textContent = figures?.step_ms ? `${figures.step_ms.toFixed(1)} ms per step` : '';
}

/** @param {HTMLElement} element @param {number} current @param {number} count @param {boolean} playing @param {number} phase of the step */
export function writeControls(element, current, count, playing, phase) {
  const $ = finder(element), scrub = $('scrub', HTMLInputElement), where = count ? `step ${current + 1} of ${count}` : 'no step yet';
  scrub.max = String(Math.max(0, count - 1));
  scrub.value = String(Math.max(0, current));
  scrub.setAttribute('aria-valuetext', where);
  $('where').textContent = where;
  $('play').textContent = playing ? '❚❚ Pause' : '▶ Play';
  $('play').setAttribute('aria-label', playing ? 'pause' : 'play');
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll('button[data-phase]'))) {
    if (Number(button.dataset.phase) === phase) button.setAttribute('aria-current', 'step'); else button.removeAttribute('aria-current');
  }
}

/** @param {HTMLElement} element @param {import('../base/types.js').Step} step @param {import('./frames.js').Frame} frame */
export function writeLegend(element, step, { later, nodes, phase }) {
  const shown = [...step.outcome].slice(0, nodes + 1).map((letter, node) => (node && later.has(node) && letter !== 'o' ? 'u' : letter));
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll('.sv-legend [data-letter]'))) {
    const { letter = '' } = item.dataset, count = item.querySelector('b');
    if (count) count.textContent = String(shown.filter(other => other === letter).length);
    item.hidden = 'po'.includes(letter) && !step.outcome.includes(letter);
  }
  const last = finder(element)('last');
  last.style.visibility = step.last && phase === 4 ? '' : 'hidden';
  query(last, 'svg').setAttribute('class', `node ${step.last}`);
  query(last, 'span').textContent = step.last ?? '';
}

/**
 * Who guessed the nodes of a step and accepted by drafter so far, where more than one drafter did.
 * @param {HTMLElement} element
 * @param {import('../base/types.js').Step} step
 * @param {import('./run.js').Run} run
 */
export function writeWhose(element, step, run) {
  const box = finder(element)('whose'), here = countGuesses(new Map(), step);
  box.hidden = !differ(run.guessed);
  if (box.hidden) return;
  box.replaceChildren(...[...run.guessed.keys()].map(name => {
    const item = make('span'), { nodes, accepted } = here.get(name) ?? { nodes: 0, accepted: 0 }, { d, dash } = outlineOf(name);
    const svg = draw('svg', { viewBox: '-13 -13 26 26', 'aria-hidden': 'true' });
    draw('path', { class: 'outline', d, 'stroke-dasharray': dash }, svg);
    item.dataset.drafter = name;
    item.append(svg, `${titleOf(name)} `, make('b', nodes), `, ${accepted} accepted `, make('small', `whole run: ${rightOf(run.figures?.drafters[name])}`));
    return item;
  }));
}
