// The race: tokens that run the same distances at the speeds p and q. The server works out the times; here they are drawn.

import { button, finder, make, one } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { visible } from '../base/text.js';
import { asker, finite } from './asker.js';
import { notice } from './law.js';
import { measureBars } from './measures.js';
import { shareBars } from './shares.js';

/** @typedef {import('./types.js').Raced} Raced */
/** @typedef {import('./types.js').RaceStart['presets'][number]} Preset */

const RACES = /** @type {const} */ (['p', 'q']);
const TITLES = { p: 'target', q: 'draft' }, RUN_MS = 2600, WHOLE = 1000;

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').RaceStart} start
 * @param {import('../base/types.js').Ask} askRace
 */
export function raceView(element, start, askRace) {
  const root = one(element, '.sv-r'), $ = finder(root, 'sv-r-'), $v = finder(root, 'sv-v-');
  const state = { names: /** @type {string[]} */ ([]), p: /** @type {number[]} */ ([]), q: /** @type {number[]} */ ([]), seed: 0 };
  const bars = shareBars(root, state, wait => { own(); ask(wait); });
  const ask = asker(root, work, failed);
  let raced = /** @type {Raced | null} */ (null), frame = 0;

  // ---- what is asked ----

  /** @param {() => boolean} stale */
  async function work(stale) {
    const told = /** @type {Raced | import('./types.js').Rejected} */ (
      JSON.parse(await askRace({ p: state.p.map(finite), q: state.q.map(finite), seed: finite(state.seed) })));
    if (stale()) return;
    if (told.error !== undefined) failed(told.error); else seen(told);
  }

  /** @param {string} text */
  function failed(text) {
    notice($('verdict'), 'error', text);
    root.classList.add('stale');
  }

  /** @param {Raced} told */
  function seen(told) {
    raced = told;
    root.classList.remove('stale');
    $v('said').textContent = told.said.join(' ');
    measureBars(root.querySelector('.sv-r-worth dl'), told.worth);
    $('lanes').replaceChildren(...state.names.map((name, token) => tokenLanes(told, name, token)));
    notice($('verdict'), ...verdict(told, state.names));
    stop();
    draw();
  }

  // ---- the race ----

  const length = () => Math.max(...RACES.map(name => winning(/** @type {Raced} */ (raced), name)));

  function draw() {
    if (!raced) return;
    const share = Number($('time').value) / WHOLE, time = share * length(), farthest = Math.max(...raced.noise);
    $('clock').textContent = `time ${time.toFixed(2)}`;
    [...$('lanes').children].forEach((row, token) => {
      for (const name of RACES) {
        const lane = one(row, `.sv-r-lane.${name}`), arrival = raced?.times[name][token] ?? null, end = winning(/** @type {Raced} */ (raced), name);
        const gone = arrival === null ? 0 : Math.min(1, Math.min(time, end) / arrival);
        one(lane, 'u').style.width = `${(100 * gone * /** @type {Raced} */ (raced).noise[token]) / farthest}%`;
        lane.classList.toggle('won', gone >= 1 - 1e-9);
      }
    });
  }

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
    root.querySelector('[data-do=play]').textContent = '▶ Run';
  }

  function play() {
    if (frame || !raced) return stop();
    const time = $('time'), began = performance.now(), from = Number(time.value) >= WHOLE ? 0 : Number(time.value) / WHOLE;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) { time.value = String(WHOLE); return draw(); }
    root.querySelector('[data-do=play]').textContent = '❚❚ Pause';
    /** @param {number} now */
    function tick(now) {
      const share = Math.min(1, from + Math.max(0, now - began) / RUN_MS);
      time.value = String(share * WHOLE);
      draw();
      if (share < 1 && element.isConnected) frame = requestAnimationFrame(tick); else stop();
    }
    frame = requestAnimationFrame(tick);
  }

  // ---- controls ----

  /** @param {number | null} number */
  function mark(number) {
    [...$v('presets').children].forEach((other, i) => other.setAttribute('aria-pressed', String(i === number)));
  }

  function own() {
    mark(null);
    $v('why').textContent = 'Custom rows. Choose an example above to restore its values.';
  }

  /** @param {number} number */
  function load(number) {
    const { why, names, p, q, seed } = start.presets[number];
    mark(number);
    $v('why').textContent = why;
    Object.assign(state, { names: names.map(visible), p: [...p], q: [...q], seed });
    $v('seed').value = seed;
    bars.show();
    ask();
  }

  /** @param {number} seed */
  function noise(seed) {
    state.seed = seed;
    own();
    ask();
  }

  start.presets.forEach(({ title }, i) => $v('presets').append(button(title, () => load(i))));
  const acts = {
    play,
    draw: () => {
      $v('seed').value = String((Number.isSafeInteger(state.seed) ? state.seed + 1 : 0) % start.most.seed);
      noise(Number($v('seed').value));
    },
  };
  for (const [name, act] of Object.entries(acts)) root.querySelector(`[data-do=${name}]`).addEventListener('click', act);
  $v('seed').addEventListener('change', () => noise($v('seed').value === '' ? NaN : Number($v('seed').value)));
  $('time').addEventListener('input', () => { stop(); draw(); });
  keys(root, event => (event.shiftKey ? {} : { p: acts.play, d: acts.draw }), { own: $('time') });
  load(0);
}

/** When a race is over: its winner's time. @param {Raced} raced @param {typeof RACES[number]} name */
const winning = (raced, name) => Number(raced.times[name][raced.order[name][0]]);

/** What both races came to: a kind of notice and a sentence. @param {Raced} raced @param {string[]} names @returns {[string, string]} */
export function verdict(raced, names) {
  const [target, draft] = RACES.map(name => raced.order[name][0]), place = raced.order.q.indexOf(target) + 1;
  if (target === draft) return ['lossless', `“${names[target]}” wins both races: the draft’s token is accepted.`];
  return ['lossy', `“${names[draft]}” wins the draft’s race, “${names[target]}” the target’s: the draft’s token is rejected. `
    + (place ? `The target’s winner is number ${place} of the draft’s arrivals, so a batch of ${place} drafts has it.` : 'The target’s winner never arrives in the draft’s race.')];
}

/** @param {Raced} raced @param {string} name @param {number} token */
function tokenLanes(raced, name, token) {
  const row = make('li'), farthest = Math.max(...raced.noise);
  row.append(make('b', name));
  for (const race of RACES) {
    const lane = make('div', '', `sv-r-lane ${race}`), track = make('i'), post = make('em'), arrival = raced.times[race][token];
    post.style.left = `${(100 * raced.noise[token]) / farthest}%`;
    track.append(make('u'), post);
    const place = raced.order[race].indexOf(token) + 1;
    lane.append(track, make('span', arrival === null ? 'never' : arrival < 100 ? arrival.toFixed(2) : arrival.toPrecision(2)));
    lane.append(make('small', place === 1 ? '■ first' : place ? `number ${place}` : ''));
    lane.setAttribute('role', 'img');
    lane.setAttribute('aria-label', `${name}, ${TITLES[race]}: ${arrival === null ? 'never arrives' : `arrives at ${arrival.toFixed(2)}, number ${place}`}`);
    row.append(lane);
  }
  return row;
}
