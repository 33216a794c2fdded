// The comparison: runs that were decoded one after the other, replayed together on a shared clock.
// Each has a column with its text and its tree at that time; the race, remarks on the texts and the
// table stand around them.

import { finder, make, query, say } from '../base/dom.js';
import { sharedClock } from './clock.js';
import { runColumn } from './column.js';
import { writeTable, writeTexts } from './table.js';
import { raceChart, raceKey } from './tokens_over_time.js';

/** @typedef {import('./column.js').Column} Column */
/** @typedef {import('./types.js').About} About */
/** @typedef {import('./types.js').Message} Message */

/**
 * A comparison before its first run, from the message that opens it.
 * @param {Partial<Message>} message
 */
const opened = ({ run: name, badge, pair, when }) => ({
  name,
  badge,
  pair,
  when,
  state: 'running',
  note: '',
  columns: /** @type {Column[]} */ ([]),
  pairs: /** @type {import('./types.js').Pair[]} */ ([]),
  table: /** @type {import('./types.js').Row[]} */ ([]),
});

/** @param {HTMLElement} element @param {() => Promise<string>} recorded what the tab opens with */
export function compareBoard(element, recorded) {
  const root = query(element, '.sv-compare', HTMLElement),
    $ = finder(root);
  const race = raceChart($('race-svg', SVGSVGElement), seconds => clock.seek(seconds));
  const clock = sharedClock(root, {
    columns: () => run.columns,
    running: () => run.state === 'running',
    changed: () => schedule(),
  });
  let run = { ...opened({}), state: '' };
  let frame = /** @type {number | null} */ (null),
    whole = false;

  recorded()
    .then(text => {
      if (run.name === undefined) receive(text);
    })
    .catch(() => {
      if (run.name === undefined)
        say($('state'), 'The recorded runs could not be loaded. Run still works.');
    });

  // ---- what arrives ----

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    const message = /** @type {Message} */ (JSON.parse(text));
    if (message.columns) start(message, message.columns);
    else if (message.run && message.run !== run.name) return;
    for (const update of message.updates || []) apply(run.columns[update.at], update);
    if (message.pairs) run.pairs = message.pairs;
    if (message.table) run.table = message.table;
    if (message.state === 'stopped')
      for (const column of run.columns) {
        if (column.state === 'running' || column.state === 'waiting')
          column.state = column.steps.length ? 'stopped' : 'never';
      }
    if (message.state) {
      run.note = message.note || '';
      const was = run.state;
      run.state =
        message.state === 'stopped' && was !== 'running'
          ? 'done'
          : message.state === 'loading'
            ? was
            : message.state;
      if (was === 'running' && run.state !== 'running') clock.ended();
    }
    clock.follow();
    schedule(true);
  }

  /** @param {Message} message @param {About[]} columns */
  function start(message, columns) {
    const box = $('runs'),
      { badge, prompt } = message;
    if (run.name !== undefined && !badge && innerWidth < 760)
      element.scrollIntoView({ block: 'start' }); // on a phone Run is far above
    run = opened(message);
    box.replaceChildren();
    box.style.setProperty('--columns', String(columns.length));
    run.columns = columns.map(about =>
      runColumn(about, { recorded: Boolean(badge), prompt }, box, {
        seek: seconds => clock.seek(seconds),
        announce: text => say($('live'), text),
      }),
    );
    $('race-key').replaceChildren(
      ...columns.map(({ letter, title }) => {
        const item = make('span', '', 'sv-race-name');
        item.append(raceKey(letter), title);
        return item;
      }),
    );
    clock.begin(!badge);
  }

  /** @param {Column} column @param {import('./types.js').ColumnUpdate} update */
  function apply(column, { state, note, steps, clock: ends = [] }) {
    if (state) column.state = state;
    if (note) column.note = note;
    steps?.forEach((step, i) => column.add(step, ends[i]));
  }

  // ---- drawing: at most once a frame ----

  function schedule(all = false) {
    whole ||= all;
    frame ??= requestAnimationFrame(now => {
      frame = null;
      render(now);
    });
  }

  /** @param {number} now */
  function render(now) {
    if (!element.isConnected) return;
    const moving = clock.advance(now);
    if (whole) {
      whole = false;
      race.show(
        run.columns.map(({ about, ends, totals }) => ({ letter: about.letter, ends, totals })),
      );
      head();
      writeTexts(root, run.columns, run.pairs, seconds => clock.seek(seconds));
      writeTable(root, run.columns, run.table);
    }
    race.at(clock.time);
    for (const column of run.columns) column.show(clock.time);
    clock.write();
    if (moving) schedule();
  }

  function head() {
    $('title-line').textContent = [run.badge, run.when, run.pair].filter(Boolean).join(' · ');
    const at = run.columns.findIndex(column => column.state === 'running');
    say(
      $('state'),
      run.note ||
        (run.state === 'running' && at >= 0
          ? `Decoding ${run.columns[at].about.title}, ${at + 1} of ${run.columns.length}.`
          : run.state === 'stopped'
            ? 'Stopped.'
            : ''),
    );
    $('state').dataset.state = run.state;
  }

  return {
    receive,
    /** The controls hold something else than what is shown. */
    edited() {
      if (run.state === 'running') return;
      run.note = 'The settings changed: press Run.';
      schedule(true);
    },
  };
}
