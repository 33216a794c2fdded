// The button "Open": a file that somebody saved is sent to the server, whose answer is shown.

import { finder } from './dom.js';

const session = crypto.randomUUID?.() ?? String(Math.random());

/**
 * The server's answer to a saved run. The file is sent as it is, to a route of its own.
 * @param {Blob} file
 */
export async function sendFile(file) {
  const address = new URL(`open?session=${session}`, document.baseURI);
  const answer = await fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: file });
  const text = await answer.text();
  JSON.parse(text);
  return text;
}

/**
 * @param {Element} root has the button and the file input
 * @param {object} on
 * @param {(file: Blob) => Promise<string>} on.ask the server
 * @param {number} on.most the size in bytes above which a file is not even read
 * @param {() => string} on.busy why nothing can be opened now; empty where it can
 * @param {(text: string) => void} on.tell a sentence, or nothing
 * @param {(found: string) => void} on.show what the server made of the file
 */
export function fileOpener(root, { ask, most, busy, tell, show }) {
  const $ = finder(root), chosen = $('open-file');
  let latest = 0;

  /** @param {File} file */
  async function open(file) {
    tell(busy());
    if (busy()) return;
    if (file.size > most) {
      tell(`This file has ${(file.size / 1e6).toFixed(1)} MB; the limit is ${most / 1e6} MB. For larger runs use python -m specviz replay.`);
      return;
    }
    const number = ++latest;
    try {
      const found = await ask(file);
      if (number !== latest) return; // a later file was opened meanwhile
      const { error } = JSON.parse(found);
      if (error) tell(error); else show(found);
    } catch {
      tell('The file could not be sent. The server may not be running; try again.');
    }
  }

  $('open').addEventListener('click', () => chosen.click());
  chosen.addEventListener('change', () => {
    if (chosen.files.length) open(chosen.files[0]);
    chosen.value = ''; // so that the same file can be chosen again
  });
  return open;
}
