// Four rules on a small tree. The visitor says which are exact; the server runs each under every
// random outcome.

import { button, make, press } from '../base/dom.js';
import { asker } from '../labs/asker.js';
import { rowControls } from '../labs/rows.js';

/** @typedef {import('./types.js').Rules} Rules */
/** @typedef {import('./types.js').JudgedRule} JudgedRule */

/** @type {import('./types.js').Figure} */
export function lossyFigure(box, start, server) {
  let rules = /** @type {Rules} */ (start);
  /** The answer of the visitor to each rule. */
  const answers = /** @type {(boolean | null)[]} */ (rules.rules.map(() => null));
  const state = { names: rules.tokens, p: rules.p, q: rules.q };
  const score = make('p', '', { class: 'sv-lossy-score', role: 'status' });

  const tree = make('select', rules.trees.map(name => new Option(name)));
  tree.value = rules.tree;
  tree.addEventListener('change', () => {
    write();
    ask();
  });

  const rows = make('div', '', 'sv-v-rows');
  const lines = rules.rules.map(({ words }, number) => line(words, number));
  const body = make('tbody', lines.map(({ row }) => row));
  box.append(
    make('label', ['The tree', tree]),
    make('details', [make('summary', 'Change p and q'), rows]),
    make('table', [body], 'sv-lossy-rules'),
    score,
  );

  const ask = asker(
    box,
    () => server.four_rules({ tree: tree.value, p: state.p, q: state.q }),
    answer => {
      rules = answer;
      write();
    },
    text => {
      tree.value = rules.tree;
      write();
      score.textContent = text;
    },
  );
  rowControls(box, state, () => ask(150)).show();

  write();

  /** @param {string} words @param {number} number */
  function line(words, number) {
    const choices = ['exact', 'lossy'].map(word =>
      button(word, () => {
        answers[number] = word === 'exact';
        write();
      }),
    );
    const look = { class: 'sv-lossy-choice', role: 'group', 'aria-label': `rule ${number + 1}` };
    const choice = make('div', choices, look);
    const verdict = make('p');
    const rule = start.answered ? [words, verdict] : [words, choice, verdict];
    return { row: make('tr', [make('th', number + 1), make('td', rule)]), choice, verdict };
  }

  function write() {
    const isKnown = rules.tree === tree.value;
    lines.forEach(({ row, choice, verdict }, number) => {
      const rule = rules.rules[number];
      const answer = start.answered ? !rule.wrong_on : answers[number];
      press(choice, [true, false].indexOf(/** @type {any} */ (answer)));
      row.className = '';
      if (!isKnown) verdict.textContent = 'Computing …';
      else if (answer === null) verdict.textContent = guesses(rule);
      else {
        const isRight = answer === !rule.wrong_on;
        const word = isRight ? 'Yes. ' : 'No. ';
        verdict.textContent = (start.answered ? '' : word) + sentence(rule);
        row.className = isRight ? 'right' : 'wrong';
      }
    });
    if (start.answered) return;
    const right = answers.filter((word, number) => word === !rules.rules[number].wrong_on).length;
    const done = answers.filter(word => word !== null).length;
    const judged = done && isKnown ? `, ${right} right with these p and q` : '';
    score.textContent = `${done} of ${answers.length} answered${judged}.`;
  }
}

/** @param {JudgedRule} rule */
function sentence(rule) {
  const { wrong_here: here, wrong_on: on, text, probability, target } = rule;
  if (here)
    return (
      `Lossy: on this tree it writes “${text}” with ${probability.toFixed(3)}; ` +
      `the target writes it with ${target.toFixed(3)}.`
    );
  if (on) return `Lossy, though right on this tree: choose “${on}”. ${guesses(rule)}`;
  return `Exact: on none of these trees does any text differ. ${guesses(rule)}`;
}

/** @param {JudgedRule} rule */
const guesses = ({ accepted }) => `It accepts ${accepted.toFixed(2)} tokens here.`;
