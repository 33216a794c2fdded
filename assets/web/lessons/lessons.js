// The lessons: which one is shown, its text, its pictures, and how it is presented.

import { subscribe } from '../base/bus.js';
import { button, finder, press, query } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeOf, placeIn, placeText } from '../base/place.js';
import { presents } from '../base/page.js';
import { runPlayer } from '../stage/player.js';
import { treeLayout } from '../tree/layout.js';
import { lossyFigure } from './lossy.js';
import { raceFigure } from './race.js';
import { markMentions, mentioned, placesOf } from './mentions.js';
import { writeBlocks } from './text.js';
import { timesFigure } from './times.js';

/** @typedef {import('./types.js').Lesson} Lesson */
/** @typedef {import('./types.js').Place} Place */

/** @type {Record<string, import('./types.js').Figure>} */
const FIGURES = { race: raceFigure, times: timesFigure, lossy: lossyFigure };
/** @type {import('./types.js').Block[]} */
const FAILED = [{ spans: [['The lesson could not be loaded. Choose it again to retry.', '']] }];
const OLD_PAGES = /^(race|sender)/; // of the Lab, which are part of a lesson now

/**
 * The position of the lesson in an address such as ?lesson=trees; null where none is asked for.
 * Older links have numbers.
 * @param {string} search
 * @param {import('./types.js').Start} start
 */
export function lessonOf(search, { lessons, old }) {
  const request = new URLSearchParams(search),
    lesson = request.get('lesson');
  if (lesson === null)
    return OLD_PAGES.test(request.get('lab') ?? '')
      ? lessons.findIndex(([name]) => name === 'races')
      : null;
  const name = /^\d+$/.test(lesson.trim())
    ? old[Math.min(old.length - 1, Number(lesson))]
    : lesson.trim();
  return Math.max(
    0,
    lessons.findIndex(([id]) => id === name),
  );
}

/** The rows of the highest tree of a run. @param {Step[]} steps */
const rowsOf = steps => Math.max(...steps.map(step => treeLayout(step, () => true).rows));

/** Whether nothing was drafted. @param {Step[]} steps */
const isPlain = steps => steps.every(({ parents }) => parents.length === 1);

/**
 * Whether the screen shows what the exercise of a lesson leads to.
 * @param {Lesson} lesson
 * @param {number} picture which is shown
 * @param {string | undefined} place in it
 */
function isReached({ pictures, shows: { picture: there, step, node } }, picture, place) {
  if (picture !== there) return false;
  // A figure has no places.
  return !pictures[there].message || place === placeText(step, node);
}

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').Start} start
 * @param {Record<string, Ask>} server
 */
export function lessonBook(element, start, server) {
  const root = query(element, '.sv-lessons', HTMLElement),
    $ = finder(root, 'sv-lesson-'),
    last = start.lessons.length - 1;
  const list = query(root, '.sv-lessons-list', HTMLElement);
  const mark = markMentions(root, () => picture);
  const player = runPlayer($('run', HTMLElement), { save: server.save, onPlace: check });
  // The sentence above the tree says what the lesson shows; a card comes at what is touched.
  const touched = () => root.classList.remove('sv-idea');
  for (const kind of ['pointerdown', 'keydown']) $('run').addEventListener(kind, touched);
  const loaded = /** @type {Map<number, Lesson>} */ (new Map());
  let number = lessonOf(location.search, start) ?? 0;
  let lesson = /** @type {Lesson | null} */ (null);
  let picture = 0;
  let link = placeOf(location.search, true);

  // ---- one lesson ----

  /** @param {number} place @param {boolean} [atEnd] at its last step */
  async function open(place, atEnd = false) {
    const index = (number = Math.min(last, Math.max(0, place)));
    choose();
    root.setAttribute('aria-busy', 'true');
    try {
      loaded.set(
        index,
        loaded.get(index) ?? JSON.parse(await server.open_lesson(start.lessons[index][0])),
      );
    } catch {
      if (index === number) failed();
      return;
    }
    if (index !== number) return; // another one was asked for meanwhile
    lesson = /** @type {Lesson} */ (loaded.get(index));
    write(lesson);
    show(linked(lesson) ?? (atEnd ? { picture: 0, step: Infinity } : lesson.opens));
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

  function failed() {
    lesson = null;
    query(root, 'h2').textContent = start.lessons[number][1];
    writeBlocks($('body'), FAILED);
    $('more').hidden = true;
    root.setAttribute('aria-busy', 'false');
  }

  /** @param {Lesson} of */
  function write(of) {
    const { title, body, exercise, question, answer, notes, pictures, timed } = of;
    const meant = placesOf(of);
    const mention = (/** @type {string} */ text) => mentioned(text, meant, show);
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
    $('next').hidden = number === last;
    $('next').textContent = number < last ? `Next: ${start.lessons[number + 1][1]} ▶` : '';
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
    const example = at === lesson.opens.picture || name ? lesson.example : `Another run: ${label}`;
    query(root, '.sv-lessons-example').textContent = example;
    box.hidden = !name;
    $('run').hidden = !!name;
    if (name) {
      box.replaceChildren();
      box.className = `sv-lesson-figure sv-lesson-${name}`;
      FIGURES[name](box, data, server);
      check();
    } else {
      $('stage').style.setProperty('--rows', String(rowsOf(message.steps)));
      $('run').classList.toggle('plain', isPlain(message.steps));
      player.receive(JSON.stringify(message));
      player.show(Math.min(message.steps.length - 1, step), node === null ? null : String(node));
    }
    root.classList.add('sv-idea'); // the sentence that is presented, until the arrows go on
    if (presents()) query(root, '.sv-svg').focus();
  }

  // ---- the words about a place, and whether it is what the exercise leads to ----

  /** @param {string} [place] in a run */
  function check(place) {
    if (place) mark(place);
    if (lesson && isReached(lesson, picture, place)) $('exercise').dataset.done = 'true';
  }

  // ---- which lesson ----

  list.append(...start.lessons.map(([, title], i) => button(title, () => open(i))));

  /** Marks the lesson in the list, and in the address. */
  function choose() {
    [...list.children].forEach((other, i) => {
      if (i === number) other.setAttribute('aria-current', 'true');
      else other.removeAttribute('aria-current');
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
  subscribe('type', element, () => {
    if (presents()) query(root, '.sv-svg').focus();
  });

  // ---- presenting: the arrows go through the parts of a step, its steps, figures, lessons ----

  /** @param {number} by 1 or -1 */
  function advance(by) {
    const next = lesson?.pictures[picture + by];
    const isFigure = !lesson?.pictures[picture].message;
    if (isFigure && next?.name) return show({ picture: picture + by });
    if (isFigure) return void open(number + by, by < 0);
    const begins = root.classList.contains('sv-idea');
    touched();
    if (by > 0 && begins) player.position.play(1);
    else if (!player.position.move(by) && number + by >= 0 && number + by <= last)
      open(number + by, by < 0);
  }

  query($('exercise'), '.sv-plain').addEventListener('click', () => {
    if (lesson) show(lesson.shows);
  });
  $('next').addEventListener('click', () => {
    open(number + 1);
    root.scrollIntoView({ block: 'start' });
  });

  keys(
    root,
    event => {
      if (event.shiftKey) return {};
      const listed = list.contains(/** @type {Node} */ (event.target)),
        large = presents();
      /** @param {number} by */
      const move = by =>
        large
          ? () => advance(by)
          : listed &&
            (() =>
              open(number + by).then(() =>
                /** @type {HTMLElement} */ (list.children[number]).focus(),
              ));
      return {
        ArrowLeft: move(-1),
        ArrowRight: move(1),
        PageUp: large && (() => open(number - 1)),
        PageDown: large && (() => open(number + 1)),
        p: () => show({ picture: (picture + 1) % (lesson?.pictures.length ?? 1) }),
      };
    },
    { own: query(root, '.sv-scrub', HTMLInputElement), first: true },
  );

  open(number);
}
