// The lessons: which one is shown, its text, and its recordings in the player. **Words** between stars become strong ones.

import { button, finder, make, query } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { placeAsked, placeIn, placeText } from '../base/place.js';
import { present, presents } from '../base/present.js';
import { termed } from '../base/terms.js';
import { runPlayer } from '../stage/player.js';
import { viewStage } from './view.js';
import { VIEWS } from './views.js';

/** @typedef {import('./types.js').Lesson} Lesson */
/** @typedef {import('./types.js').Look} Look */

/**
 * The number of a lesson in an address such as ?lesson=3: null where none is asked for, and brought into range else.
 * @param {string} search
 * @param {number} most
 */
export function lessonAsked(search, most) {
  const asked = new URLSearchParams(search).get('lesson');
  if (asked === null) return null;
  return /^-?\d+$/.test(asked.trim()) ? Math.min(most, Math.max(0, Number(asked))) : 1;
}

/**
 * @param {HTMLElement} element
 * @param {string[]} titles
 * @param {(number: number) => Promise<string>} fetchLesson
 * @param {{ save: import('../base/types.js').Ask }} server
 */
export function lessonBook(element, titles, fetchLesson, server) {
  const root = query(element, '.sv-lessons'), $ = (/** @type {string} */ selector) => query(root, selector);
  const last = titles.length - 1, details = $('.sv-lesson-question details'), known = /** @type {Map<number, Lesson>} */ (new Map());
  const player = runPlayer($('.sv-lesson-stage'), server), view = viewStage($('.sv-view'), VIEWS);
  let number = lessonAsked(location.search, last) ?? 1, lesson = /** @type {Lesson | null} */ (null);
  let asked = placeAsked(location.search, true);

  // ---- one lesson ----

  /** @param {number} wanted */
  async function open(wanted) {
    number = Math.min(last, Math.max(0, wanted));
    mark();
    root.setAttribute('aria-busy', 'true');
    const mine = number;
    /** @type {Lesson} */
    let found;
    try {
      found = known.get(mine) ?? JSON.parse(await fetchLesson(mine));
    } catch {
      if (mine === number) failed();
      return;
    }
    known.set(mine, found);
    if (mine !== number) return; // another one was asked for meanwhile
    lesson = found;
    writeLesson(root, found, i => show(found, { recording: i, step: found.view ? view.at() : found.opens.recording === i ? found.opens.step : 0, node: null }));
    show(found, linked(found) || found.opens);
    root.setAttribute('aria-busy', 'false');
  }

  /** The step that the link of the page leads to, once. @param {Lesson} of */
  function linked({ runs }) {
    if (!asked) return null;
    const recording = Math.min(runs.length - 1, asked.recording), { message } = runs[recording];
    const place = message ? placeIn(message.steps, asked) : { index: asked.index, key: null };
    asked = null;
    return { recording, step: place.index, node: place.key };
  }

  function failed() {
    lesson = null;
    $('h2').textContent = titles[number];
    paragraphs($('.sv-lesson-body'), ['The lesson could not be loaded. Choose it again to retry.']);
    $('.sv-lesson-tasks').hidden = true;
    root.setAttribute('aria-busy', 'false');
  }

  /** @param {Lesson} of @param {Look} look */
  function show({ runs, view: name }, look) {
    [...$('.sv-lesson-runs').children].forEach((other, i) => other.setAttribute('aria-pressed', i === look.recording));
    const run = runs[look.recording];
    $('.sv-view').hidden = !name;
    view.pause();
    if (!run.message) return view.show(name, run, look.step, look.node);
    player.receive(JSON.stringify(run.message));
    player.show(look.step, look.node);
    // A node that is folded away cannot be pointed at; the player draws within a frame.
    if (look.node !== null) requestAnimationFrame(() => { if (!$('.node.selected')) $('.sv-expand').click(); });
  }

  // ---- which lesson ----

  titles.forEach((title, i) => {
    const made = button(title, () => open(i));
    made.title = title;
    made.prepend(make('b', i));
    $('.sv-lessons-list').append(made);
  });

  function mark() {
    [...$('.sv-lessons-list').children].forEach((other, i) => {
      if (i === number) other.setAttribute('aria-current', 'true'); else other.removeAttribute('aria-current');
    });
    $('.sv-lessons-count').textContent = `Lesson ${number} of ${last}`;
    $('[data-go=previous]').disabled = number === 0;
    $('[data-go=next]').disabled = number === last;
    address();
  }

  // The address bar always holds the lesson's own link while the lessons are on the screen.
  function address() {
    const here = new URL(location.href), link = new URL(location.href);
    link.search = `?lesson=${number}`;
    $('.sv-lessons-link').href = link;
    for (const name of ['recording', 'step', 'node']) here.searchParams.delete(name);
    if (element.offsetParent) here.searchParams.set('lesson', String(number)); else here.searchParams.delete('lesson');
    if (here.href !== location.href) history.replaceState(history.state, '', here);
  }
  new ResizeObserver(address).observe(element);

  function exact() { // the link as it is handed on leads to the step that is on the screen
    const link = new URL(location.href), at = lesson?.view ? placeText(view.at(), null) : $('.sv-svg').dataset.place;
    const recording = [...$('.sv-lesson-runs').children].findIndex(other => other.getAttribute('aria-pressed') === 'true');
    link.search = `?lesson=${number}${recording > 0 ? `&recording=${recording}` : ''}${lesson && at ? `&${at}` : ''}`;
    $('.sv-lessons-link').href = link;
  }
  for (const kind of ['pointerenter', 'focus']) $('.sv-lessons-link').addEventListener(kind, exact);

  // ---- buttons and keys; keys are taken before the player sees them ----

  const acts = { previous: () => open(number - 1), next: () => open(number + 1) };
  for (const [name, act] of Object.entries(acts)) $(`[data-go=${name}]`).addEventListener('click', act);
  $('.sv-lesson-try button').addEventListener('click', () => { if (lesson) show(lesson, lesson.shows); });
  details.addEventListener('toggle', () => { if (details.open) details.scrollIntoView({ block: 'nearest' }); });

  /** @param {number} by */
  function turn(by) {
    const listed = $('.sv-lessons-list').contains(document.activeElement);
    open(number + by);
    if (listed) $('.sv-lessons-list').children[number].focus();
  }

  keys(root, event => {
    if (event.shiftKey) return {};
    const listed = $('.sv-lessons-list').contains(/** @type {Node} */ (event.target)), large = presents(), viewing = !!lesson?.view;
    /** @param {number} by */
    const goes = by => (listed ? () => turn(by) : viewing && (() => view.turn(by)));
    return {
      ArrowLeft: goes(-1), ArrowRight: goes(1), ' ': viewing && view.play,
      Home: viewing && (() => view.turn(-Infinity)), End: viewing && (() => view.turn(Infinity)),
      PageUp: large && (() => turn(-1)), PageDown: large && (() => turn(1)),
      f: () => present(!large), a: () => { details.open = !details.open; },
    };
  }, { own: $('.sv-scrub'), first: true });

  open(number);
}

/** @param {HTMLElement} parent @param {string[]} texts */
function paragraphs(parent, texts) {
  parent.replaceChildren(...texts.map(text => {
    const line = make('p');
    text.split('**').forEach((part, i) => line.append(...(i % 2 ? [make('strong', part)] : termed(part))));
    return line;
  }));
}

/** @param {{ parents: number[] }} step */
const chained = step => step.parents.every((parent, node) => parent === node - 1);

/** @param {HTMLElement} root @param {Lesson} lesson @param {(recording: number) => void} chosen */
function writeLesson(root, lesson, chosen) {
  const $ = finder(root, 'sv-lesson-'), details = $('question').querySelector('details'), stage = $('stage'), runs = $('runs');
  query(root, 'h2').textContent = `${lesson.number}. ${lesson.title}`;
  paragraphs($('body'), lesson.text);
  $('try').querySelector('p').textContent = lesson.task;
  $('links').replaceChildren(...lesson.links.map(([label, query]) => Object.assign(make('a', label), { href: `?${query}` })));
  $('question').querySelector('p').textContent = lesson.question;
  paragraphs(details.querySelector('div'), lesson.answer);
  details.open = false;
  $('tasks').hidden = false;
  stage.classList.toggle('timed', lesson.timed);
  for (const fold of stage.querySelectorAll('.sv-why-fold, .sv-timing')) fold.open = true;
  stage.classList.toggle('flat', lesson.runs.every(run => run.message?.steps.every(chained)));
  stage.classList.toggle('viewing', !!lesson.view);
  runs.hidden = lesson.runs.length < 2;
  runs.replaceChildren(...lesson.runs.map((run, i) => button(run.label, () => chosen(i))));
  root.scrollTop = 0;
}
