// The buttons "Save" and "Open" of a comparison: all of its runs as one file, and back.

import { finder, give } from '../base/dom.js';
import { fileOpener } from '../base/open_file.js';

const RUNNING = 'The runs are in progress. Stop them before you open a file.';
const PART = 'A comparison can be saved when all of its runs have ended.';

/**
 * @typedef {object} Server
 * @property {() => Promise<string>} recorded what the tab opens with
 * @property {import('../base/types.js').Ask} save
 * @property {import('../base/types.js').Ask} open
 * @property {number} most the size in bytes above which a file is not even read
 */

/**
 * @param {Element} root
 * @param {Server} server
 * @param {{ shown: () => import('./board.js').Comparison, replace: (text: string) => void }} board
 */
export function keeping(root, server, { shown, replace }) {
  const $ = finder(root);

  /** @param {string} text */
  function tell(text) {
    $('kept').hidden = !text;
    $('kept').textContent = text;
  }

  async function save() {
    const { name, columns } = shown();
    if (columns.some(column => column.state !== 'done')) return tell(PART);
    const { error, text } = JSON.parse(await server.save({ run: name, kind: 'json' }));
    tell(error || '');
    if (!error) give('specviz-comparison.json', new Blob([text], { type: 'application/json' }));
  }

  $('save').addEventListener('click', () => save().catch(() => tell('Saving failed. The server may not be running.')));
  fileOpener(root, { ask: server.open, most: server.most, busy: () => (shown().state === 'running' ? RUNNING : ''), tell, show: replace });
  return () => tell('');
}
