// The menu "Save" of a comparison: the chart as a picture, or all of it as a page that plays
// offline.

import { copyText, downloadFile, query } from '../base/dom.js';
import { menu } from '../base/page.js';
import { pictureOf, png } from '../tree/picture.js';

const PLACE = 'id="run">{}'; // where the page of the server has room for what it shows

/**
 * @param {HTMLElement} root of the comparison
 * @param {Ask | undefined} page answers with a page without a comparison
 * @param {{ caption: () => string, messages: () => string[],
 *   link: () => string }} comparison
 */
export function savesComparison(root, page, comparison) {
  async function savePicture() {
    const svg = query(root, '.sv-chart-svg');
    const legends = [root.querySelectorAll('.sv-run h3')];
    const parts = { svg, paper: query(root, '.sv-chart'), legends };
    downloadFile('specviz-compare.png', await png(pictureOf(parts, comparison.caption())));
  }

  async function copyLink() {
    const summary = query(save, 'summary');
    summary.textContent = await copyText(comparison.link(), 'Link');
    setTimeout(() => summary.replaceChildren('Save'), 4000);
  }

  async function savePage() {
    const text = filled((await page?.({})) ?? '', comparison.messages(), comparison.link());
    downloadFile('specviz-compare.html', text);
  }

  const save = menu(query(root, '.sv-save'));
  query(save, '[data-save=png]').onclick = savePicture;
  query(save, '[data-save=html]').onclick = savePage;
  query(save, '[data-save=link]').onclick = copyLink;
  for (const kind of ['html', 'link']) query(save, `[data-save=${kind}]`).hidden = !page;
}

/**
 * The page with a comparison in it. Prompts and tokens stay text: no tag can begin in the JSON.
 * @param {string} page
 * @param {string[]} messages
 * @param {string} link
 */
export function filled(page, messages, link) {
  const data = JSON.stringify({ messages, link }).replace(/</g, '\\u003c');
  return page.replace(PLACE, () => `id="run">${data}`);
}
