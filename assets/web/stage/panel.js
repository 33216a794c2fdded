// The words and numbers around the picture: the title line, the measures of the run, the legend with its counts.

import { draw, finder, make, query, say } from '../base/dom.js';
import { PARTS } from '../base/words.js';
import { countGuesses, differ, outlineOf, rightOf, titleOf } from '../tree/sources.js';

const number = (/** @type {number} */ value) => value.toFixed(value < 100 ? 1 : 0);

/** @param {HTMLElement} element @param {import('./run.js').Run} run @param {string | null} [first] what matters more than the run's state */
export function writeTitle(element, run, first = null) {
  const $ = finder(element), { head } = run;
  $('recorded').hidden = !head.recorded;
  $('recorded').textContent = head.badge || 'recorded run';
  $('lossy').hidden = !head.lossy;
  $('lossy').title = head.lossy || '';
  $('title-line').textContent = [head.title, head.pair].filter(Boolean).join(' · ');
  /** @type {Record<string, string>} */
  const words = { loading: 'loading', running: 'running', stopped: `stopped after ${run.steps.length} steps` };
  say($('state'), first || run.note || words[run.state] || '');
  $('state').dataset.state = run.state;
  $('same').hidden = !run.same;
  if (run.same) say($('same'), run.same.text);
  $('same').dataset.kind = run.same ? run.same.kind : '';
}

/** @param {HTMLElement} element @param {import('./run.js').Run} run */
export function writeMeasures(element, run) {
  const $ = finder(element), { against, figures: known, head } = run, plain = against && number(against.plain_tokens_per_s);
  /** @type {(name: string, value: number | null | undefined, write: (value: number) => string, note: string) => void} */
  const put = (name, value, write, note) => {
    $(name).textContent = value === null || value === undefined ? '–' : write(value);
    $(`${name}-of`).textContent = note;
  };
  put('per-pass', known?.per_pass, value => value.toFixed(2), `${known?.tokens ?? 0} tokens in ${known?.passes ?? 0} passes`);
  put('acceptance', known?.acceptance, share => `${Math.round(100 * share)} %`, `${known?.accepted ?? 0} of ${known?.compared ?? 0} compared`);
  put('rate', known?.rate, number, head.recorded ? 'when it was recorded' // the ratio is of the rate over all rounds
    : against?.rounds ? `over ${against.rounds} ${against.rounds === 1 ? 'round' : 'rounds'}: ${number(against.tokens_per_s)}` : 'on this machine');
  put('speedup', against?.speedup, ratio => `${ratio.toFixed(2)}×`,
    against?.rounds ? `${against.low.toFixed(2)}–${against.high.toFixed(2)} · plain ${plain}/s${head.recorded ? ', as recorded' : ''}`
      : plain ? `plain: ${plain} tokens/s` : head.recorded ? 'not recorded' : 'when the run ends');
  PARTS.forEach((part, i) => {
    const spent = known?.step_parts[i];
    query(element, `.sv-time-bar .${part}`).style.flexGrow = known?.step_ms ? Number(spent) / known.step_ms : 0;
    query(element, `.sv-time-key .${part}`).textContent = known?.step_ms ? `${part} ${Number(spent).toFixed(1)}` : part;
  });
  $('time-line').textContent = known?.step_ms ? `${known.step_ms.toFixed(1)} ms per step` : 'time per step';
}

/** @param {HTMLElement} element @param {number} current @param {number} count @param {boolean} moving */
export function writeControls(element, current, count, moving) {
  const $ = finder(element), scrub = $('scrub'), play = $('play'), where = count ? `step ${current + 1} of ${count}` : 'no step yet';
  scrub.max = Math.max(0, count - 1);
  scrub.value = Math.max(0, current);
  scrub.setAttribute('aria-valuetext', where);
  $('where').textContent = where;
  play.textContent = moving ? '❚❚ Pause' : '▶ Play';
  play.setAttribute('aria-label', moving ? 'pause' : 'play');
}

/** @param {HTMLElement} element @param {import('../base/types.js').Step} step */
export function writeLegend(element, step) {
  const $ = finder(element), last = $('last');
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll('.sv-legend [data-letter]'))) {
    const { letter = '' } = item.dataset, count = [...step.outcome].filter(other => other === letter).length;
    query(item, 'b').textContent = count;
    item.hidden = 'po'.includes(letter) && !count;
  }
  $('sum').querySelector('b').textContent = step.outcome.length;
  $('sum').lastChild.textContent = step.outcome.length === 1 ? ' node' : ' nodes';
  last.hidden = !step.last;
  last.querySelector('svg').setAttribute('class', `node ${step.last}`);
  last.querySelector('span').textContent = `${step.last} (not a node)`;
}

/** Lets the legend show the nodes of one outcome only. @param {HTMLElement} element */
export function filters(element) {
  const svg = finder(element)('svg'), buttons = /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll('.sv-legend [data-letter]'));
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const only = svg.dataset.only === button.dataset.letter ? '' : button.dataset.letter;
      svg.dataset.only = only;
      for (const other of buttons) other.setAttribute('aria-pressed', String(other.dataset.letter === only));
    });
  }
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
    const item = make('span'), { nodes, accepted } = here.get(name) ?? { nodes: 0, accepted: 0 };
    item.dataset.drafter = name;
    item.append(outlineKey(name), `${titleOf(name)} `, make('b', nodes), `, ${accepted} accepted `);
    item.append(make('small', `whole run: ${rightOf(run.figures?.drafters[name])}`));
    return item;
  }));
}

/** @param {string} name */
function outlineKey(name) {
  const svg = draw('svg', { viewBox: '-13 -13 26 26', 'aria-hidden': 'true' }), { d, dash } = outlineOf(name);
  draw('path', { class: 'outline', d, 'stroke-dasharray': dash }, svg);
  return svg;
}
