// Below the prompt: what to try with the chosen model, one sentence on it, and how far it is
// prepared.

import { publish, subscribe } from '../base/bus.js';
import { button, fieldIn, finder, press, say } from '../base/dom.js';
import { onPage } from '../base/page.js';

const LOOK = 1000; // milliseconds between two looks at how far a model is

/**
 * @typedef {{ about: string, opening: string, seed: number,
 *   prompts: Record<string, string> }} Examples
 */

/**
 * @param {HTMLElement} element
 * @param {{ prompt: string, examples: Record<string, Examples> }} options `prompt` selects its box
 * @param {string} first the models that the page opens with
 * @param {Ask | undefined} preparing how far the model is that the page opens with
 * @param {() => void} pressed asks about the settings, which have another prompt now
 */
export function promptHelp(element, { prompt, examples }, first, preparing, pressed) {
  const $ = finder(element);
  let chosen = '';

  /** @param {string} models */
  function show(models) {
    if (models === chosen) return;
    const earlier = textsOf(chosen);
    chosen = models;
    const { about = 'A pair of your own.', prompts = {}, opening, seed } = examples[models] ?? {};
    say($('about-model'), about);
    const chips = Object.entries(prompts).map(([name, text]) => button(name, () => fill(text)));
    $('chips').replaceChildren(...chips);
    mark();
    // An example of the model before makes way for this model's; what somebody wrote stays.
    const text = fieldIn(prompt)?.value ?? '';
    if (!opening || !earlier.includes(text) || textsOf(models).includes(text)) return;
    const settings = new URLSearchParams({ prompt: opening, seed: String(seed) });
    publish('opened', { search: `?${settings}` });
  }

  /** The prompts to try with a model. @param {string} models */
  const textsOf = models => Object.values(examples[models]?.prompts ?? {});

  /** Marks the one whose prompt is in the box. */
  function mark() {
    press($('chips'), textsOf(chosen).indexOf(fieldIn(prompt)?.value ?? ''));
  }

  /** @param {string} text */
  function fill(text) {
    const box = fieldIn(prompt);
    if (!box) return;
    box.value = text;
    box.dispatchEvent(new Event('input', { bubbles: true }));
    setTimeout(pressed); // once the page has what the box holds
  }

  /** Shows how far the model is, until it is there; another takes its place where it cannot be. */
  async function follow() {
    const { text, done, instead } = JSON.parse((await preparing?.({})) ?? '{}');
    $('preparing').hidden = !text;
    say($('preparing-text'), text ?? '');
    $('progress').hidden = Boolean(instead);
    if (done) $('progress').value = done;
    if (text && !instead) setTimeout(follow, LOOK);
    if (instead && chosen !== instead && !location.search.includes('prompt='))
      publish('opened', { search: `?models=${instead}` });
  }

  subscribe('settings', element, ({ models }) => show(models));
  subscribe('headline', element, mark); // which follows what a link sets
  onPage(element, 'input', mark);
  show(first);
  follow();
}
