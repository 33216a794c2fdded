// "Your engine's log": a text from the clipboard or a file, and what the server makes of it. JSON in, text nodes out.

import { finder, make } from '../base/dom.js';
import { lineChart } from './chart.js';
import { downloadButton } from './card.js';
import { dataTable } from './table.js';

/**
 * One engine, as app/tabs/speedup/engine_log.py writes it.
 * @typedef {object} Report
 * @property {string} title
 * @property {string} verdict a few words
 * @property {'measured' | 'projection' | ''} kind of the verdict
 * @property {string[][]} rows
 * @property {import('../papers/types.js').Lines | null} chart
 * @property {{ code: string, text: string, flag: string | null }[]} advice
 * @property {string[]} notes
 * @property {import('./card.js').File[]} files
 */

/**
 * @param {HTMLElement} element
 * @param {import('../base/types.js').Ask} ask
 * @param {number} most the size in bytes above which a text is not sent
 */
export function engineLog(element, ask, most) {
  const $ = finder(element, 'sv-log-'), text = $('text'), chosen = $('chosen'), root = finder(element)('log');
  const notice = finder(element)('notice');

  /** @param {string} sentence @param {string} [kind] */
  function tell(sentence, kind = 'note') {
    notice.dataset.kind = sentence ? kind : '';
    notice.querySelector('.text').textContent = sentence;
  }

  /** @param {File | undefined} file */
  async function take(file) {
    if (!file) return;
    if (file.size > most) return tell(tooLarge(file.size), 'error');
    text.value = await file.text();
    await diagnose();
  }

  /** @param {number} size */
  function tooLarge(size) {
    return `This text has ${(size / 1e6).toFixed(1)} MB; the limit is ${most / 1e6} MB. Use a part of it, or python -m specviz doctor.`;
  }

  async function diagnose() {
    const size = new Blob([text.value]).size;
    if (!text.value.trim()) return tell('Paste a log first.', 'error');
    if (size > most) return tell(tooLarge(size), 'error');
    $('go').disabled = true;
    tell('Reading the text.');
    try {
      const found = JSON.parse(await ask({ text: text.value, baseline: $('baseline').value }));
      tell(found.error || '', 'error');
      if (found.reports) $('reports').replaceChildren(...found.reports.map(reportBlock));
    } catch {
      tell('The text could not be sent. The server may not be running; try again.', 'error');
    }
    $('go').disabled = false;
  }

  $('go').addEventListener('click', diagnose);
  $('file').addEventListener('click', () => chosen.click());
  chosen.addEventListener('change', () => {
    take(chosen.files[0]);
    chosen.value = ''; // so that the same file can be chosen again
  });
  /** @param {DragEvent} event */
  function onDrag(event) {
    const carries = Boolean(event.dataTransfer?.types.includes('Files'));
    root.classList.toggle('dropping', carries && event.type === 'dragover');
    if (!carries) return;
    event.preventDefault();
    if (event.type === 'drop') take(event.dataTransfer?.files[0]);
  }
  for (const kind of ['dragover', 'dragleave', 'drop']) root.addEventListener(kind, onDrag);
}

/** @param {Report} report @param {number} place */
function reportBlock(report, place) {
  const section = make('section', '', 'sv-block'), head = make('h3', report.title);
  const verdict = make('span', report.verdict, 'sv-source');
  verdict.dataset.kind = report.kind;
  head.append(verdict);
  const numbers = make('div', '', 'sv-log-numbers');
  numbers.append(dataTable(['', ''], report.rows, `${report.title}, report ${place + 1}`));
  if (report.chart) numbers.append(lineChart(report.chart));
  const list = make('ul', '', 'sv-log-advice');
  report.advice.forEach(({ code, text, flag }) => {
    const item = make('li');
    item.append(make('b', code), ` ${text}`);
    if (flag) item.append(make('code', flag));
    list.append(item);
  });
  const files = make('p', '', 'sv-files');
  files.append(...report.files.map(file => downloadButton(file, report.title)));
  section.append(head, numbers, list, ...report.notes.map(note => make('p', note)), files);
  return section;
}
