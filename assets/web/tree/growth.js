// How a tree grew, node by node: the number each node was chosen by, what was waiting beside it, and why it was chosen.
// `keys` and `growth` are what the builder recorded (growth_payload of specviz/player/payload.py); nothing here knows a builder.

import { finder } from '../base/dom.js';
import { probability, visible } from '../base/text.js';

/** @typedef {import('../base/types.js').Step} Step */

/**
 * How far a tree has grown: its newest node, and what is written beside nodes: a slot that waits or a share.
 * @typedef {{ newest: number, tags: Map<number, string> }} Grown
 */

/** Whether a builder recorded anything about the growth of this tree. @param {Step | undefined} step */
export function grows(step) {
  return Boolean(step && step.parents.length > 1 && step.growth && Object.keys(step.growth).length);
}

/**
 * The sentence on frame `at`: that of node `at`, or of the whole tree where `at` is the number of nodes.
 * @param {Step} step
 * @param {number} at
 * @param {string} keyTitle what the builder calls its keys
 */
export function growthSentence(step, at, keyTitle) {
  const { keys, waiting, split, cut, candidates, expected, length } = step.growth, n = step.parents.length;
  const name = (/** @type {number} */ node) => `“${visible(step.texts[node])}”`;
  const key = (/** @type {number} */ value) => (Number.isInteger(value) ? String(value) : probability(value));
  const told = /** @type {string[]} */ ([]);
  if (at < n) {
    told.push(`Node ${at} of ${n - 1}: ${name(at)} after ${name(step.parents[at])}`);
    if (keys && keys[at] !== null) told[0] += `, ${keyTitle} ${key(keys[at])}`;
    if (waiting && waiting[at - 1]) {
      const slots = waiting[at - 1].map(([parent, value]) => `after ${name(parent)} ${key(value)}`);
      told.push(slots.length ? `Best open slot. Other open slots: ${slots.join(', ')}` : 'Only open slot');
    }
    if (split) told.push(`Its subtree gets ${split[at]} of all ${n} nodes`);
    if (cut) told.push(`Candidate ${at} by rank`);
  } else {
    told.push(`All ${n - 1} nodes`);
    if (expected) told.push(`Expected: ${expected.toFixed(2)} tokens per pass`);
    if (length) told.push(`Planned draft length: ${length} tokens (two more after full acceptance, else one fewer)`);
    if (candidates) told.push(`Of ${candidates} candidates ${candidates - n + 1} were dropped`);
    if (cut && cut.texts.length) {
      const lost = cut.texts.map((text, i) => `“${visible(text)}” ${key(cut.keys[i])}`);
      told.push(`Best dropped candidates: ${lost.join(', ')}`);
    }
  }
  return told.map(sentence => `${sentence}.`).join(' ');
}

/**
 * Plays it.
 * @param {HTMLElement} element
 * @param {{ draw: () => void, say: (text: string) => void }} on the frame changed; what a screen reader hears
 */
export function growthPlayer(element, on) {
  const $ = finder(element);
  let step = /** @type {Step | null} */ (null), at = 0, keyTitle = 'key', timer = 0, playing = false;

  /** @param {Step} next @param {string} [title] of its keys */
  function start(next, title) {
    if (!grows(next)) return;
    step = next;
    keyTitle = title || 'key';
    at = 1;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) show(); else play();
  }

  function show() {
    const growing = step !== null;
    $('growing').hidden = !growing;
    $('phases').hidden = growing;
    $('grow').setAttribute('aria-pressed', growing);
    $('growing').textContent = step ? growthSentence(step, at, keyTitle) : '';
    if (growing && !playing) on.say($('growing').textContent);
    on.draw();
  }

  function play() {
    if (!step) return;
    playing = true;
    if (at >= step.parents.length) at = 1;
    show();
    timer = setTimeout(tick, 1000 / Number($('speed').value));
  }

  function pause() {
    clearTimeout(timer);
    playing = false;
  }

  function tick() {
    if (!step || !element.isConnected) return pause();
    at = Math.min(step.parents.length, at + 1);
    if (at === step.parents.length) pause(); else timer = setTimeout(tick, 1000 / Number($('speed').value));
    show();
  }

  function stop() {
    pause();
    step = null;
    show();
  }

  /** What the tree shows. @returns {Grown | null} */
  function frame() {
    if (!step) return null;
    const { waiting, split } = step.growth, tags = /** @type {Grown['tags']} */ (new Map());
    if (waiting) for (const [parent, value] of waiting[at - 1] || []) tags.set(parent, `◌ ${probability(value)}`);
    if (split) for (let node = 0; node <= at && node < split.length; node++) tags.set(node, `${split[node]}`);
    return { newest: at, tags };
  }

  return {
    start, stop, frame,
    get step() { return step; },
    get playing() { return playing; },
    /** @param {number} by */
    move(by) {
      if (!step) return;
      pause();
      at = Math.min(step.parents.length, Math.max(1, at + by));
      show();
    },
    toggle() {
      if (playing) { pause(); show(); } else play();
    },
  };
}
