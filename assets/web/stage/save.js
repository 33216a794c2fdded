// The menu "Save": a run as JSON or as a page that plays offline, the picture as SVG or PNG, and a
// run that somebody saved, chosen or dragged in.

import { copyText, downloadFile, finder, queryAll } from '../base/dom.js';
import { menu, onDrop } from '../base/page.js';
import { pictureOf, png } from '../tree/picture.js';
import { showCode } from './qr.js';
import { commandOf, pythonOf, runLink } from './share.js';

const WHOLE = ['json', 'html']; // what the server makes of a whole run
const LINKS = ['link', 'qr'];
const NO_LINK = 'A run from a file has no link. Press Run to decode it here.';
const session = crypto.randomUUID?.() ?? String(Math.random());

/**
 * The server's answer to a saved run. The file is sent as it is, to a route of its own.
 * @param {Blob} file
 */
async function sendFile(file) {
  const address = new URL(`open?session=${session}`, document.baseURI);
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: file,
  });
  const text = await answer.text();
  JSON.parse(text);
  return text;
}

/**
 * @typedef {object} Server what there is beside the page, each only where there is one
 * @property {Ask} [save]
 * @property {number} [most] the size in bytes above which a file is not even read; without it none
 *   is
 * @property {Ask} [code] the picture of a QR code, where a link can open a run
 */

/**
 * @param {HTMLElement} element
 * @param {Server} server
 * @param {{ current: () => { run: import('./run.js').Run, step: Step | undefined },
 *   replace: (text: string) => void }} stage
 */
export function saving(element, server, stage) {
  const $ = finder(element);
  const { code, most = 0 } = server;
  $('open').hidden = !most;
  for (const button of queryAll(menu($('save')), '[data-save]')) {
    const kind = button.dataset.save;
    button.hidden = LINKS.includes(kind) ? !code : WHOLE.includes(kind) && !server.save;
    button.onclick = () =>
      save(kind).catch(() => announce('Saving failed. The server may not be running.'));
  }

  /** @param {string} text @param {boolean} [done] rather than failed */
  function announce(text, done = false) {
    $('kept').hidden = !text;
    $('kept').dataset.done = done;
    $('kept').textContent = text;
    if (done) setTimeout(() => announce(''), 4000);
  }

  /** @param {string} text @param {string} what */
  async function copy(text, what) {
    announce(await copyText(text, what), true);
  }

  // ---- saving ----

  /** @param {string} kind */
  async function save(kind) {
    announce('');
    const { run, step } = stage.current();
    if (!step) return announce('Nothing to save yet. Press Run first.');
    const hasLink = code && run.origin !== 'file';
    const link = hasLink ? runLink(run, step.index, location.href) : '';
    if (LINKS.includes(kind)) {
      if (!hasLink) return announce(NO_LINK);
      if (kind === 'link') return copy(link, 'Link');
      const { error, image } = JSON.parse(await code({ link }));
      return error ? announce(error) : showCode($('qr'), image, link);
    }
    if (kind === 'python') return copy(pythonOf(run), 'Python');
    if (kind === 'command') return copy(commandOf(run), 'Command');
    if (server.save && WHOLE.includes(kind)) {
      const answer = JSON.parse(await server.save({ run: run.name, kind, link }));
      if (answer.error) return announce(answer.error);
      return download(`specviz-run.${kind}`, answer.text);
    }
    const caption = [`step ${step.index + 1} of ${run.steps.length}`, run.head.title, run.head.pair]
      .filter(Boolean)
      .join(' · ');
    const legends = [
      element.querySelectorAll('.sv-legend > [data-outcome]:not([hidden])'),
      element.querySelectorAll('.sv-whose:not([hidden]) > span'),
    ];
    const picture = pictureOf({ svg: $('svg'), paper: $('canvas'), legends }, caption);
    const content = kind === 'png' ? await png(picture) : picture.text;
    download(`specviz-step-${step.index + 1}.${kind}`, content);
  }

  /** @param {string} name @param {string | Blob} content */
  function download(name, content) {
    downloadFile(name, content);
    announce(`${name} saved.`, true);
  }

  // ---- opening ----

  let latest = /** @type {File | null} */ (null);

  /** @param {File} file */
  async function open(file) {
    if (file.size > most) {
      return announce(`The limit is ${most / 1e6} MB. For larger runs use specviz replay.`);
    }
    announce('');
    latest = file;
    try {
      const text = await sendFile(file);
      if (file !== latest) return; // another was opened meanwhile
      const { error } = JSON.parse(text);
      if (error) announce(error);
      else stage.replace(text);
    } catch {
      announce('The file could not be sent. The server may not be running; try again.');
    }
  }

  const input = $('open-file');
  $('open').onclick = () => input.click();
  input.onchange = () => {
    if (input.files.length) open(input.files[0]);
    input.value = ''; // so that the same file can be chosen again
  };
  if (most) onDrop(element, open);
}
