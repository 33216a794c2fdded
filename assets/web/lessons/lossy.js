// Four rules on a small tree. The visitor says which are exact; the server has run each under every
// random outcome.

import { button, make, press } from '../base/dom.js';

/** @typedef {import('./types.js').JudgedRule} JudgedRule */

/** The answer of the visitor to each rule. @type {(boolean | undefined)[]} */
const answers = [];

/** @type {import('./types.js').Figure} */
export function lossyFigure(box, /** @type {import('./types.js').Rules} */ rules) {
  const { words, trees, tree: first, answered } = rules;
  const isExact = trees[first].map(rule => !rule.wrong_on);
  const score = make('p', '', { class: 'sv-lossy-score', role: 'status' });
  const tree = make('select', Object.keys(trees).map(name => new Option(name)));
  tree.value = first;
  tree.onchange = write;
  const lines = words.map((text, i) => {
    const choices = [true, false].map(answer =>
      button(answer ? 'exact' : 'lossy', () => {
        answers[i] = answer;
        write();
      }),
    );
    const look = { class: 'sv-lossy-choice', role: 'group', 'aria-label': `rule ${i + 1}` };
    const choice = make('div', choices, look);
    const verdict = make('p');
    const row = make('tr', [make('th', i + 1), make('td', [text, choice, verdict])]);
    return { row, choice, verdict };
  });
  const body = make('tbody', lines.map(({ row }) => row));
  const table = make('table', [body], 'sv-lossy-rules');
  box.append(make('label', ['The tree', tree]), table, score);
  write();

  function write() {
    lines.forEach(({ row, choice, verdict }, i) => {
      const rule = trees[tree.value][i];
      const answer = answers[i];
      verdict.textContent = answered ? sentence(rule) : guesses(rule);
      if (answer === undefined) return;
      const isRight = answer === isExact[i];
      press(choice, answer ? 0 : 1);
      verdict.textContent = `${isRight ? 'Yes' : 'No'}. ${sentence(rule)}`;
      row.className = isRight ? 'right' : 'wrong';
    });
    const done = answers.filter(answer => answer !== undefined).length;
    const right = answers.filter((answer, i) => answer === isExact[i]).length;
    if (answered && !done) return;
    score.textContent = `${done} of ${words.length} answered, ${right} right.`;
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
