// The words and numbers around the picture: what runs, the measures of the run, the legend with its
// counts.

import { draw, finder, make, query, say } from '../base/dom.js';
import { sayTerms } from '../base/terms.js';
import { PARTS } from '../base/words.js';
import { countGuesses, differ, outlineOf, rightOf, titleOf } from '../tree/sources.js';

const number = (/** @type {number} */ value) => value.toFixed(value < 100 ? 1 : 0);

/**
 * @param {HTMLElement} element
 * @param {import('./run.js').Run} run
 * @param {string | null} [first] what matters more than the run's state
 */
export function writeTitle(element, run, first = null) {
  const $ = finder(element),
    { head } = run;
  sayTerms(
    $('about-run'),
    [head.recorded && (head.badge || 'recorded run'), head.title, head.pair, head.lossy]
      .filter(Boolean)
      .join(' · '),
  );
  /** @type {Record<string, string>} */
  const words = {
    loading: 'loading',
    running: 'running',
    stopped: `stopped after ${run.steps.length} steps`,
  };
  say($('state'), first || run.note || words[run.state] || '');
  $('state').dataset.state = run.state;
  query(element, '.sv').dataset.recorded = String(Boolean(head.recorded));
  $('same').hidden = !run.same;
  if (run.same) say($('same'), run.same.text);
  $('same').dataset.kind = run.same ? run.same.kind : '';
}

/** @param {HTMLElement} element @param {import('./run.js').Run} run */
export function writeMeasures(element, run) {
  const $ = finder(element),
    { against, figures, head } = run;
  if (!figures) return $('measures').replaceChildren();
  const {
    tokens,
    passes,
    per_pass: perPass,
    acceptance,
    accepted,
    compared,
    rate,
    step_ms: stepMs,
    step_parts: parts,
  } = figures;
  const timed =
    against &&
    [
      `over ${against.rounds} rounds`,
      head.recorded && against.date,
      head.recorded && against.machine,
    ]
      .filter(Boolean)
      .join(', ');
  /** @type {[string, string, string][]} name, class and value */
  const rows = [
    [
      'tokens per target pass',
      'per-pass',
      `${perPass?.toFixed(2) ?? '–'} (${tokens} tokens in ${passes} passes)`,
    ],
    [
      'acceptance rate',
      'acceptance',
      acceptance === null
        ? '–'
        : `${Math.round(100 * acceptance)} % (${accepted} of ${compared} compared)`,
    ],
    [
      'tokens per second',
      'rate',
      rate === null ? '–' : `${number(rate)}${head.recorded ? ' when it was recorded' : ''}`,
    ],
    [
      'speedup vs. plain decoding',
      'speedup',
      against
        ? `${against.speedup.toFixed(2)}×: ${number(against.tokens_per_s)} against ${number(against.plain_tokens_per_s)} tokens/s, ${timed}`
        : '–',
    ],
    [
      'time per step',
      'step',
      stepMs
        ? `${stepMs.toFixed(1)} ms: ${PARTS.map((part, i) => `${part} ${Number(parts[i]).toFixed(1)}`).join(', ')}`
        : '–',
    ],
  ];
  $('measures').replaceChildren(
    ...rows.flatMap(([name, kind, value]) => [make('dt', name), make('dd', value, `sv-${kind}`)]),
  );
  $('time-line').textContent = stepMs ? `${stepMs.toFixed(1)} ms per step` : '';
}

/**
 * @param {HTMLElement} element
 * @param {number} current
 * @param {number} count
 * @param {boolean} playing
 * @param {number} phase of the step
 */
export function writeControls(element, current, count, playing, phase) {
  const $ = finder(element),
    scrub = $('scrub', HTMLInputElement),
    where = count ? `step ${current + 1} of ${count}` : 'no step yet';
  scrub.max = String(Math.max(0, count - 1));
  scrub.value = String(Math.max(0, current));
  scrub.setAttribute('aria-valuetext', where);
  $('where').textContent = where;
  $('play').textContent = playing ? '❚❚ Pause' : '▶ Play';
  $('play').setAttribute('aria-label', playing ? 'pause' : 'play');
  query(element, `.sv-phases [value="${phase}"]`, HTMLInputElement).checked = true;
}

/** @param {HTMLElement} element @param {Step} step @param {import('./frames.js').Frame} frame */
export function writeLegend(element, step, { later, nodes, phase }) {
  const letters = [...step.outcome]
    .slice(0, nodes + 1)
    .map((letter, node) => (node && later.has(node) && letter !== 'o' ? 'u' : letter));
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (
    element.querySelectorAll('.sv-legend [data-letter]')
  )) {
    const { letter = '' } = item.dataset,
      count = item.querySelector('b');
    if (count) count.textContent = String(letters.filter(other => other === letter).length);
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
 * @param {Step} step
 * @param {import('./run.js').Run} run
 */
export function writeWhose(element, step, run) {
  const box = finder(element)('whose'),
    here = countGuesses(new Map(), step);
  box.hidden = !differ(run.guessed);
  if (box.hidden) return;
  box.replaceChildren(
    ...[...run.guessed.keys()].map(name => {
      const item = make('span'),
        { nodes, accepted } = here.get(name) ?? { nodes: 0, accepted: 0 },
        { d, dash } = outlineOf(name);
      const svg = draw('svg', { viewBox: '-13 -13 26 26', 'aria-hidden': 'true' });
      draw('path', { class: 'outline', d, 'stroke-dasharray': dash }, svg);
      item.dataset.drafter = name;
      item.append(
        svg,
        `${titleOf(name)} `,
        make('b', nodes),
        `, ${accepted} accepted `,
        make('small', `whole run: ${rightOf(run.figures?.drafters[name])}`),
      );
      return item;
    }),
  );
}
