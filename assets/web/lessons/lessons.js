// The lessons: which one is shown, its text, its pictures, and how it is presented.

import { button, finder, make, press, query, queryAll } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeText } from '../base/place.js';
import { onPage, presents } from '../base/page.js';
import { runPlayer } from '../stage/player.js';
import { treeLayout } from '../tree/layout.js';
import { lossyFigure } from './lossy.js';
import { raceFigure } from './race.js';
import { mentioned, placesOf } from './mentions.js';
import { written } from './text.js';
import { timesFigure } from './times.js';

/** @typedef {import('./types.js').Lesson} Lesson */
/** @typedef {import('./types.js').Place} Place */

/** @type {Record<string, import('./types.js').Figure>} */
const FIGURES = { race: raceFigure, times: timesFigure, lossy: lossyFigure };
/**
 * The position of the lesson in an address such as ?lesson=trees; the first for any other.
 * @param {string} search
 * @param {import('./types.js').Start} start
 */
export function lessonOf(search, { lessons, old }) {
  const request = new URLSearchParams(search);
  const requested = request.get('lesson') ?? request.get('lab') ?? '';
  return Math.max(0, lessons.findIndex(([name]) => name === (old[requested] ?? requested)));
}

/** The rows of the highest tree of a run. @param {Step[]} steps */
const rowsOf = steps => Math.max(...steps.map(step => treeLayout(step).rows));

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').Start} start
 * @param {Record<string, Ask>} server
 */
export function lessonBook(element, start, server) {
  const root = query(element, '.sv-lessons');
  const $ = finder(root, 'sv-lesson-');
  const list = query(root, '.sv-lessons-list');
  /** @param {number} by */
  const move = by => (presents() ? advance(by) : player.position.move(by));
  const player = runPlayer($('run'), { save: server.save, onPlace: check, move });
  // The sentence above the tree says what the lesson shows; a card comes at what is touched.
  const touched = () => root.classList.remove('sv-idea');
  for (const kind of ['click', 'keydown']) $('run').addEventListener(kind, touched);
  let number = lessonOf(location.search, start);
  /** @type {Lesson | null} */
  let lesson = null;
  let picture = 0;
  let reached = 0; // the step of a figure

  // ---- one lesson ----

  /** @param {number} index where there is none, nothing changes */
  async function open(index) {
    if (!start.lessons[index]) return;
    number = index;
    press(list, number);
    seen();
    root.setAttribute('aria-busy', 'true');
    const [name, title] = start.lessons[index];
    const found = await server.open_lesson(name).then(JSON.parse).catch(() => null);
    if (index !== number) return; // another one was asked for meanwhile
    lesson = found;
    if (lesson) {
      write(lesson);
      show(lesson.opens);
    } else {
      query(root, 'h2').textContent = title;
      $('body').textContent = 'The lesson could not be loaded. Choose it again to retry.';
      $('more').hidden = true;
    }
    root.setAttribute('aria-busy', 'false');
  }

  /** @param {Lesson} of */
  function write(of) {
    const meant = placesOf(of);
    /** @param {import('./types.js').Part[]} parts */
    const elements = parts => written(parts, text => mentioned(text, meant, show));
    query(root, 'h2').textContent = of.title;
    query(root, '.sv-lessons-sentence').textContent = of.sentence;
    $('body').replaceChildren(...elements(of.body));
    query($('exercise'), 'span').replaceChildren(...elements(of.task));
    $('done').replaceChildren(...elements(of.answer));
    delete $('exercise').dataset.done;
    const folds = of.folds.map(([heading, parts]) =>
      make('details', [make('summary', heading), ...elements(parts)]),
    );
    $('folds').replaceChildren(...folds);
    const [, following] = start.lessons[number + 1] ?? [];
    $('next').hidden = !following;
    $('next').textContent = `Next: ${following} ▶`;
    $('more').hidden = false;
    $('pictures').hidden = of.pictures.length < 2;
    $('pictures').replaceChildren(
      ...of.pictures.map(({ label }, i) =>
        button(label, () => show({ picture: i })),
      ),
    );
  }

  /** @param {Partial<Place> & { picture: number }} place */
  function show({ picture: at, step = 0, node = null }) {
    if (!lesson) return;
    picture = at;
    const { message, label, name, data } = /** @type {any} */ (lesson.pictures[at]),
      box = $('figure');
    press($('pictures'), at);
    const example = lesson.examples[at - lesson.opens.picture] ?? label;
    query(root, '.sv-lessons-example').textContent = example;
    box.hidden = !name;
    $('run').hidden = !!name;
    if (name) {
      box.replaceChildren();
      box.className = `sv-lesson-figure sv-lesson-${name}`;
      FIGURES[name](box, data, step, reach);
      reach(step);
    } else {
      $('stage').style.setProperty('--rows', rowsOf(message.steps));
      player.receive(JSON.stringify(message));
      player.show(step, node === null ? null : String(node));
    }
    root.classList.add('sv-idea'); // the sentence that is presented, until the arrows go on
    focusTree();
  }

  /** @param {number} step of the figure */
  function reach(step) {
    reached = step;
    check(placeText(step));
  }

  // ---- the words about a place, and whether it is what the exercise leads to ----

  /** @param {string} place in the picture @param {boolean} [isPicked] not only pointed at */
  function check(place, isPicked = true) {
    for (const mention of queryAll(root, '.sv-mention'))
      mention.classList.toggle('here', mention.dataset.place === `${picture} ${place}`);
    if (!lesson || !isPicked || picture !== lesson.shows.picture) return;
    const { step, node } = lesson.shows;
    if (place === placeText(step, node)) $('exercise').dataset.done = 'true';
  }

  // ---- which lesson ----

  list.append(...start.lessons.map(([, title], i) => button(title, () => open(i))));

  // While the lessons are on the screen the address is the lesson's own.
  function seen() {
    const address = new URL(location.href);
    if (element.offsetParent) address.searchParams.set('lesson', start.lessons[number][0]);
    else address.searchParams.delete('lesson');
    if (address.href !== location.href) history.replaceState(history.state, '', address);
  }
  new ResizeObserver(seen).observe(element);
  const focusTree = () => presents() && query(root, '.sv-svg').focus();
  onPage(element, 'resize', focusTree, window);

  // ---- presenting: the arrows go through the parts of a step, its steps, figures, lessons ----

  /** @param {number} by 1 or -1 */
  function advance(by) {
    if (!lesson) return;
    const { message, steps = 0 } = lesson.pictures[picture];
    const step = reached + by;
    if (message) {
      const begins = root.classList.contains('sv-idea');
      touched();
      if (by > 0 && begins) player.position.play(1);
      else if (!player.position.move(by)) open(number + by);
    } else if (step >= 0 && step <= steps) show({ picture, step });
    else if (lesson.pictures[picture + by]?.name) show({ picture: picture + by });
    else open(number + by);
  }

  query($('exercise'), '.sv-plain').onclick = () => {
    if (lesson) show(lesson.shows);
  };
  $('next').onclick = () => {
    open(number + 1);
    root.scrollIntoView({ block: 'start' });
  };

  keys(
    root,
    () =>
      presents()
        ? {
            ArrowLeft: () => advance(-1),
            ArrowRight: () => advance(1),
            PageUp: () => open(number - 1),
            PageDown: () => open(number + 1),
          }
        : {},
    { first: true },
  );

  open(number);
}
