// Sender and receiver: a recorded text that crosses as codewords, step by step. Tokens come from models: only text nodes.

import { finder, make, one } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { visible } from '../base/text.js';
import { MARKS } from '../base/words.js';
import { notice } from './law.js';
import { measureBars } from './measures.js';

/** @typedef {import('./types.js').Transcript} Transcript */
/** @typedef {import('./types.js').ChannelSide} Side */

const PHASES = ['drafting', 'sending', 'received'];
const PHASE_MS = 700, READ_MS = 1500;

/**
 * @param {HTMLElement} element
 * @param {() => Promise<string>} fetchTranscript
 */
export async function channelView(element, fetchTranscript) {
  const root = one(element, '.sv-c'), $ = finder(root, 'sv-c-');
  /** @type {Transcript} */
  let data;
  try {
    data = JSON.parse(await fetchTranscript());
  } catch {
    notice($('verdict'), 'error', 'The recording could not be loaded. Reload the page to try again.');
    return;
  }
  let code = data.codes[1], receiver = data.receivers[0], step = 0, timer = 0, playing = false;

  // ---- one step, in three phases ----

  /** @param {number} wanted @param {boolean} [slowly] */
  function show(wanted, slowly = false) {
    clearTimeout(timer);
    step = Math.min(code.words.length - 1, Math.max(0, wanted));
    write();
    phase(slowly && !matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 2);
  }

  /** @param {number} now */
  function phase(now) {
    root.dataset.phase = PHASES[now];
    if (now < 2) timer = setTimeout(() => phase(now + 1), PHASE_MS);
    else if (playing && step === code.words.length - 1) play(false);
    else if (playing) timer = setTimeout(() => (element.offsetParent ? show(step + 1, true) : play(false)), READ_MS);
  }

  /** @param {boolean} on */
  function play(on) {
    playing = on;
    root.querySelector('[data-do=play]').textContent = on ? '❚❚ Pause' : '▶ Play';
    if (on) show(step === code.words.length - 1 ? 0 : step, true); else show(step);
  }

  function write() {
    const word = code.words[step], from = step ? code.words[step - 1].end : 0, sent = word.sent;
    $('where').textContent = `step ${step + 1} of ${code.words.length}`;
    side('sender', data.sender, 'target and draft', from, word.end);
    side('receiver', receiver, 'the draft alone', from, word.end);
    const excess = make('small', word.excess);
    excess.title = 'the excess of an index that the tree has no child for, in Elias’ gamma code';
    $('word').replaceChildren(word.leaf, ...(word.excess ? [' ', excess] : []));
    $('word').setAttribute('aria-label', `codeword ${word.leaf} ${word.excess}`);
    $('means').textContent = `leaf ${parseInt(word.leaf, 2) + 1} of ${code.leaves}: ${numbers(data.indices.slice(from, word.end))}`;
    $('log').replaceChildren(...code.words.slice(0, step + 1).flatMap(({ leaf, excess: more }, i) => [make(i === step ? 'b' : 'span', leaf + more), ' ']));
    $('log').scrollTop = $('log').scrollHeight;
    measureBars(root.querySelector('.sv-c-bits dl'), [
      ['KL divergence, lower bound of H[R]', data.bits.kl, data.bits.kl.toFixed(2)],
      ['H[R], entropy of the accepted index', data.bits.entropy, data.bits.entropy.toFixed(2)],
      [`sent so far: ${sent} bits for ${word.end} tokens`, sent / word.end, (sent / word.end).toFixed(2)],
      ['KL + log(KL + 1) + 4, upper bound of H[R]', data.bits.upper, data.bits.upper.toFixed(2)],
      ['the number of a token, with no draft', data.bits.plain, data.bits.plain.toFixed(2)],
    ], data.bits.plain);
    verdict(word.end);
  }

  /** @param {string} name @param {Side} shown @param {string} has @param {number} from @param {number} end */
  function side(name, shown, has, from, end) {
    const box = one(root, `.sv-c-${name}`), now = make('mark', lines(shown.pieces.slice(from, end)));
    one(box, '.sv-c-has').textContent = `${has}, seed ${shown.seed}`;
    one(box, '.sv-c-drafts').replaceChildren(...shown.drawn.slice(from, end).map((drawn, i) => drafts(drawn, data.indices[from + i], name === 'sender')));
    one(box, '.sv-c-text').replaceChildren(make('span', data.prompt), lines(shown.pieces.slice(0, from)), now);
  }

  /** @param {number} end */
  function verdict(end) {
    const other = data.sender.tokens.findIndex((token, i) => token !== receiver.tokens[i]);
    const same = other < 0 || other >= end;
    notice($('verdict'), same ? 'lossless' : 'lossy', same ? `Both sides have the same ${end} tokens. The receiver never saw the target.`
      : `The receiver’s text differs from token ${other + 1} on: with another seed the same index stands for another draft.`);
  }

  // ---- controls ----

  const option = (/** @type {number} */ value, /** @type {string} */ text) => Object.assign(make('option', text), { value });
  $('code').append(...data.codes.map(({ width, drafted }, i) => option(i, `${width} bits, a tree of ${drafted} drafts`)));
  $('seed').append(...data.receivers.map(({ seed }, i) => option(i, seed === data.sender.seed ? `${seed}, the sender’s` : `${seed}, another`)));
  $('code').value = '1';
  $('about').textContent = `Recorded with the ${data.pair}, temperature ${data.temperature}. Both sides know the code, which was made for another text`
    + ` (“${data.tuned.prompt} …”, ${data.tuned.tokens} tokens). KL, H[R] and its upper bound are means over this text; a code for one mean distribution sends more than H[R].`;
  $('code').addEventListener('change', () => { // the step that holds the same token
    const at = code.words[step].end;
    code = data.codes[Number($('code').value)];
    play(false);
    show(code.words.findIndex(word => word.end >= at));
  });
  $('seed').addEventListener('change', () => { receiver = data.receivers[Number($('seed').value)]; show(step); });

  const go = (/** @type {number} */ to) => { if (playing) play(false); show(to, to === step + 1); };
  const acts = { play: () => play(!playing), back: () => go(step - 1), next: () => go(step + 1) };
  for (const [name, act] of Object.entries(acts)) root.querySelector(`[data-do=${name}]`).addEventListener('click', act);
  keys(root, event => (event.shiftKey ? {} : {
    ArrowLeft: acts.back, ArrowRight: acts.next, p: acts.play, Home: () => go(0), End: () => go(code.words.length - 1),
  }), { first: true });
  show(0);
  root.setAttribute('aria-busy', 'false');
}

/** Text in which line breaks take no lines. @param {string[]} pieces */
const lines = pieces => pieces.join('').replace(/\n/g, '↵');

/**
 * The drafts of a position up to the accepted one; the receiver does not judge the others, it counts them.
 * @param {string[]} drawn
 * @param {number} index
 * @param {boolean} judged
 */
function drafts(drawn, index, judged) {
  const row = make('ol', '', 'sv-v-track'), gap = index - drawn.length;
  row.append(make('li', `index ${index}`, 'sv-c-index'));
  drawn.forEach((token, i) => {
    const last = i === drawn.length - 1, outcome = last ? 'accepted' : judged ? 'rejected' : 'waiting', item = make('li', '', outcome);
    if (last && gap > 0) row.append(make('li', `… ${gap} more`, 'sv-c-gap'));
    item.append(make('b', MARKS[outcome]), make('span', visible(token)), make('small', last ? ', accepted' : judged ? ', rejected' : ', counted'));
    row.append(item);
  });
  return row;
}

/** @param {number[]} indices */
const numbers = indices => `${indices.length === 1 ? 'index' : 'indices'} ${indices.join(' ')}`;
