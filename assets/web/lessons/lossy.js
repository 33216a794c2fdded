// Four rules. The visitor says which are exact; the server has run each under every random outcome.

import { button, make, press, query } from '../base/dom.js';

/** The answer of the visitor to each rule. @type {(boolean | undefined)[]} */
const guesses = [];
let tree = ''; // the one that the visitor chose

/** @type {import('./types.js').Figure} */
export function lossyFigure(
  box,
  /** @type {import('./types.js').JudgedRule[]} */ rules,
  revealed, // how many answers are shown whatever the visitor answers
  reach,
) {
  const score = make('p', '', { role: 'status' });
  const names = Object.keys(rules[0].verdicts);
  tree ||= names[names.length - 1]; // where every mistake shows
  const trees = make('select', names.map(name => make('option', name)));
  trees.value = tree;
  trees.onchange = () => {
    tree = trees.value;
    write();
  };
  const rows = rules.map(({ words }, i) => {
    const choices = [true, false].map(guess =>
      button(guess ? 'exact' : 'lossy', () => {
        guesses[i] = guess;
        reach(write());
      }),
    );
    const look = { role: 'group', 'aria-label': `rule ${i + 1}` };
    const text = make('span', `${i + 1}. ${words}`);
    return make('li', [text, make('div', choices, look), make('p')]);
  });
  box.append(make('label', ['The tree: ', trees]), make('ul', rows), score);
  write();

  /** Returns the first rule whose answer is not shown. */
  function write() {
    let next = rules.length;
    let shown = 0;
    let right = 0;
    rules.forEach(({ exact, verdicts }, i) => {
      const guess = guesses[i];
      if (guess === undefined && i >= revealed) {
        next = Math.min(next, i);
        return;
      }
      shown += 1;
      let begin = 'It is';
      if (guess !== undefined) {
        const isRight = guess === exact;
        right += Number(isRight);
        begin = isRight ? 'Yes, it is' : 'No, it is';
        rows[i].className = isRight ? 'right' : 'wrong';
        press(query(rows[i], 'div'), guess ? 0 : 1);
      }
      query(rows[i], 'p').textContent = `${begin} ${verdicts[tree]}`;
    });
    score.textContent = `${shown} of ${rules.length} answers shown, ${right} guessed right.`;
    return next;
  }
}
