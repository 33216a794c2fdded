// The words and numbers around the picture: the title line, the measures of the run, the legend with its counts.

import { draw, finder, make, one, say } from '../base/dom.js';
import { PARTS } from '../base/words.js';
import { countGuesses, differ, outlineOf, rightOf, titleOf } from '../tree/sources.js';
import { rateOf } from './run.js';

const number = (/** @type {number} */ value) => value.toFixed(value < 100 ? 1 : 0);
const milliseconds = (/** @type {number} */ value) => (1000 * value).toFixed(1);

/** @param {HTMLElement} element @param {import('./run.js').Run} run */
export function writeTitle(element, run) {
  const $ = finder(element), { head } = run;
  $('recorded').hidden = !head.recorded;
  $('recorded').textContent = head.badge || 'recorded run';
  $('lossy').hidden = !head.lossy;
  $('lossy').title = head.lossy || '';
  $('title-line').textContent = [head.title, head.pair].filter(Boolean).join(' · ');
  /** @type {Record<string, string>} */
  const words = { loading: 'loading', running: 'running', stopped: `stopped after ${run.steps.length} steps` };
  say($('state'), run.note || words[run.state] || '');
  $('state').dataset.state = run.state;
  $('same').hidden = !run.same;
  if (run.same) say($('same'), run.same.text);
  $('same').dataset.kind = run.same ? run.same.kind : '';
}

/** @param {HTMLElement} element @param {import('./run.js').Run} run */
export function writeMeasures(element, run) {
  const $ = finder(element), count = run.steps.length, rate = rateOf(run);
  /** @type {(name: string, value: string, note: string) => void} */
  const put = (name, value, note) => {
    $(name).textContent = value;
    $(`${name}-of`).textContent = note;
  };
  put('per-pass', count ? (run.tokens / count).toFixed(2) : '–', `${run.tokens} tokens in ${count} passes`);
  put('acceptance', run.compared ? `${Math.round(100 * run.accepted / run.compared)} %` : '–',
    `${run.accepted} of ${run.compared} compared`);
  const { against, plain } = run;
  put('rate', rate ? number(rate) : '–', run.head.recorded ? 'when it was recorded' // the ratio is of the rate over all rounds
    : against ? `over ${against.rounds} ${against.rounds === 1 ? 'round' : 'rounds'}: ${number(against.tokens_per_s)}` : 'on this machine');
  const ratio = against ? against.speedup : rate && plain ? rate / plain : null;
  put('speedup', ratio ? `${ratio.toFixed(2)}×` : '–',
    against && plain ? `${against.low.toFixed(2)}–${against.high.toFixed(2)} · plain ${number(plain)}/s`
      : plain ? `plain: ${number(plain)} tokens/s` : run.head.recorded ? 'not recorded' : 'when the run ends');
  const total = run.seconds.reduce((sum, value) => sum + value, 0);
  PARTS.forEach((part, i) => {
    one(element, `.sv-time-bar .${part}`).style.flexGrow = total ? run.seconds[i] / total : 0;
    one(element, `.sv-time-key .${part}`).textContent =
      run.rated ? `${part} ${milliseconds(run.seconds[i] / run.rated)}` : part;
  });
  $('time-line').textContent = run.rated ? `a step takes ${milliseconds(total / run.rated)} ms` : "a step's time";
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
    one(item, 'b').textContent = count;
    item.hidden = 'po'.includes(letter) && !count;
  }
  $('sum').querySelector('b').textContent = step.outcome.length;
  $('sum').lastChild.textContent = step.outcome.length === 1 ? ' node' : ' nodes';
  last.hidden = !step.last;
  last.querySelector('svg').setAttribute('class', `node ${step.last}`);
  last.querySelector('span').textContent = `${step.last} (not a node)`;
}

/**
 * Who guessed the nodes of a step and who was right so far, where more than one drafter did.
 * @param {HTMLElement} element
 * @param {import('../base/types.js').Step} step
 * @param {import('./run.js').Run} run
 */
export function writeWhose(element, step, run) {
  const box = finder(element)('whose'), here = countGuesses(new Map(), step);
  box.hidden = !differ(run.guessed);
  if (box.hidden) return;
  box.replaceChildren(...[...run.guessed].map(([name, all]) => {
    const item = make('span'), { nodes, accepted } = here.get(name) ?? { nodes: 0, accepted: 0 };
    item.dataset.drafter = name;
    item.append(outlineKey(name), `${titleOf(name)} `, make('b', nodes), `, ${accepted} accepted `);
    item.append(make('small', `whole run: ${rightOf(all)}`));
    return item;
  }));
}

/** @param {string} name */
function outlineKey(name) {
  const svg = draw('svg', { viewBox: '-13 -13 26 26', 'aria-hidden': 'true' }), { d, dash } = outlineOf(name);
  draw('path', { class: 'outline', d, 'stroke-dasharray': dash }, svg);
  return svg;
}
