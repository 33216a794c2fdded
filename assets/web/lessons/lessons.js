// The lessons: which one is shown, its text, its pictures, and how it is presented.

import { button, finder, press, query, queryAll } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeOf, placeIn, placeText } from '../base/place.js';
import { onPage, presents } from '../base/page.js';
import { runPlayer } from '../stage/player.js';
import { treeLayout } from '../tree/layout.js';
import { lossyFigure } from './lossy.js';
import { raceFigure } from './race.js';
import { mentioned, placesOf } from './mentions.js';
import { writeBlocks } from './text.js';
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
  const asked = request.get('lesson') ?? request.get('lab') ?? '';
  return Math.max(0, lessons.findIndex(([name]) => name === (old[asked] ?? asked)));
}

/** The rows of the highest tree of a run. @param {Step[]} steps */
const rowsOf = steps => Math.max(...steps.map(step => treeLayout(step).rows));

/** Whether nothing was drafted. @param {Step[]} steps */
const isPlain = steps => steps.every(({ parents }) => parents.length === 1);

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
  let link = placeOf(location.search, true);

  // ---- one lesson ----

  /** @param {number} index where there is none, nothing changes */
  async function open(index) {
    if (!start.lessons[index]) return;
    number = index;
    mark();
    root.setAttribute('aria-busy', 'true');
    const [name, title] = start.lessons[index];
    const found = await server.open_lesson(name).then(JSON.parse).catch(() => null);
    if (index !== number) return; // another one was asked for meanwhile
    lesson = found;
    if (lesson) {
      write(lesson);
      show(linked(lesson) ?? lesson.opens);
    } else {
      query(root, 'h2').textContent = title;
      $('body').textContent = 'The lesson could not be loaded. Choose it again to retry.';
      $('more').hidden = true;
    }
    root.setAttribute('aria-busy', 'false');
  }

  /**
   * The place that the link of the page leads to, once.
   * @param {Lesson} of
   * @returns {Place | null}
   */
  function linked({ pictures }) {
    if (!link) return null;
    const at = Math.min(pictures.length - 1, link.recording),
      { message } = pictures[at];
    const place = message ? placeIn(message.steps, link) : { index: 0, key: null };
    link = null;
    return { picture: at, step: place.index, node: place.key };
  }

  /** @param {Lesson} of */
  function write(of) {
    const { title, body, exercise, question, answer, notes, pictures, timed } = of;
    const meant = placesOf(of);
    /** @param {string} text */
    const mention = text => mentioned(text, meant, show);
    query(root, 'h2').textContent = title;
    query(root, '.sv-lessons-sentence').textContent = of.sentence;
    writeBlocks($('body'), body, mention);
    writeBlocks(query($('exercise'), 'div'), exercise.slice(0, 1), mention);
    writeBlocks($('done'), exercise.slice(1), mention); // the answer
    delete $('exercise').dataset.done;
    query($('question'), 'summary').textContent = question;
    writeBlocks(query($('question'), 'div'), answer);
    writeBlocks(query($('notes'), 'div'), notes);
    for (const fold of ['question', 'notes']) $(fold).open = false;
    const [, following] = start.lessons[number + 1] ?? [];
    $('next').hidden = !following;
    $('next').textContent = `Next: ${following} ▶`;
    $('more').hidden = false;
    $('stage').classList.toggle('timed', timed);
    $('pictures').hidden = pictures.length < 2;
    $('pictures').replaceChildren(
      ...pictures.map(({ label }, i) =>
        button(label, () => show({ picture: i })),
      ),
    );
  }

  /** @param {Partial<Place> & { picture: number }} place */
  function show({ picture: at, step = 0, node = null }) {
    if (!lesson) return;
    picture = at;
    const { message, label, name = '', data } = /** @type {any} */ (lesson.pictures[at]),
      box = $('figure');
    press($('pictures'), at);
    const example = lesson.examples[at - lesson.opens.picture] ?? (name ? '' : label);
    query(root, '.sv-lessons-example').textContent = example;
    box.hidden = !name;
    $('run').hidden = !!name;
    if (name) {
      box.replaceChildren();
      box.className = `sv-lesson-figure sv-lesson-${name}`;
      FIGURES[name](box, data);
      check();
    } else {
      $('stage').style.setProperty('--rows', rowsOf(message.steps));
      $('run').classList.toggle('plain', isPlain(message.steps));
      player.receive(JSON.stringify(message));
      player.show(step, node === null ? null : String(node));
    }
    root.classList.add('sv-idea'); // the sentence that is presented, until the arrows go on
    focusTree();
  }

  // ---- the words about a place, and whether it is what the exercise leads to ----

  /** @param {string} [place] in a run @param {boolean} [isPicked] not only pointed at */
  function check(place, isPicked = true) {
    for (const mention of queryAll(root, '.sv-mention'))
      mention.classList.toggle('here', mention.dataset.place === `${picture} ${place}`);
    if (!lesson || !isPicked || picture !== lesson.shows.picture) return;
    const { step, node } = lesson.shows;
    // A figure has no places.
    if (!place || place === placeText(step, node)) $('exercise').dataset.done = 'true';
  }

  // ---- which lesson ----

  list.append(...start.lessons.map(([, title], i) => button(title, () => open(i))));

  /** Marks the lesson in the list, and in the address. */
  function mark() {
    [...list.children].forEach((other, i) => {
      other.ariaCurrent = i === number ? 'true' : null;
    });
    seen();
  }

  // While the lessons are on the screen the address is the lesson's own.
  function seen() {
    const address = new URL(location.href),
      on = !!element.offsetParent;
    for (const name of ['recording', 'step', 'node']) address.searchParams.delete(name);
    if (on) address.searchParams.set('lesson', start.lessons[number][0]);
    else address.searchParams.delete('lesson');
    if (address.href !== location.href) history.replaceState(history.state, '', address);
  }
  new ResizeObserver(seen).observe(element);
  const focusTree = () => {
    if (presents()) query(root, '.sv-svg').focus();
  };
  onPage(element, 'resize', focusTree, window);

  // ---- presenting: the arrows go through the parts of a step, its steps, figures, lessons ----

  /** @param {number} by 1 or -1 */
  function advance(by) {
    const next = lesson?.pictures[picture + by];
    const isFigure = !lesson?.pictures[picture].message;
    if (isFigure && next?.name) return show({ picture: picture + by });
    if (isFigure) return void open(number + by);
    const begins = root.classList.contains('sv-idea');
    touched();
    if (by > 0 && begins) player.position.play(1);
    else if (!player.position.move(by)) open(number + by);
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
    ({ shiftKey }) =>
      presents() && !shiftKey
        ? {
            ArrowLeft: () => advance(-1),
            ArrowRight: () => advance(1),
            PageUp: () => open(number - 1),
            PageDown: () => open(number + 1),
          }
        : {},
    { own: query(root, '.sv-scrub'), first: true },
  );

  open(number);
}
