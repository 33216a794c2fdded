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
  const score = make('p', '', 'sv-lossy-score');
  score.setAttribute('role', 'status');

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
    const choice = make('div', choices, 'sv-lossy-choice');
    choice.setAttribute('role', 'group');
    choice.setAttribute('aria-label', `rule ${number + 1}`);
    const verdict = make('p');
    const rule = start.answered ? [words, verdict] : [words, choice, verdict];
    return { row: make('tr', [make('th', number + 1), make('td', rule)]), choice, verdict };
  }

  function write() {
    lines.forEach(({ row, choice, verdict }, number) => {
      const rule = rules.rules[number];
      const isKnown = rules.tree === tree.value; // or the answer about a new tree is awaited
      const isJudged = isKnown && (start.answered || answers[number] !== null);
      press(choice, [true, false].indexOf(/** @type {any} */ (answers[number])));
      const isRight = (start.answered || answers[number]) === !rule.wrong_on;
      let answer = isRight ? 'Yes. ' : 'No. ';
      if (start.answered) answer = '';
      const known = isJudged ? answer + sentence(rule) : guesses(rule);
      verdict.textContent = isKnown ? known : 'Computing …';
      row.className = '';
      if (isJudged) row.className = isRight ? 'right' : 'wrong';
    });
    const right = answers.filter((word, number) => word === !rules.rules[number].wrong_on).length;
    const done = answers.filter(word => word !== null).length;
    score.textContent = start.answered
      ? ''
      : `${done} of ${answers.length} answered` +
        `${done ? `, ${right} right with these p and q` : ''}.`;
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
