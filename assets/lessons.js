// The lessons: which one is shown, its text, its recordings in the player, and full screen. Text only ever becomes text
// nodes; **words** between stars become strong ones.

// The number of a lesson in an address such as ?lesson=3: null where none is asked for, and brought into range else.
function specvizLessonAsked(search, most) {
  const asked = new URLSearchParams(search).get('lesson');
  if (asked === null) return null;
  return /^-?\d+$/.test(asked.trim()) ? Math.min(most, Math.max(1, Number(asked))) : 1;
}

function specvizLessons(element, titles, fetchLesson, server) {
  const root = element.querySelector('.sv-lessons'), $ = selector => root.querySelector(selector);
  const stage = $('.sv-lesson-stage'), details = $('.sv-lesson-question details');
  const player = specvizPlayer(stage, server), known = new Map();
  let number = specvizLessonAsked(location.search, titles.length) ?? 1, lesson = null;
  let asked = specvizPlaceAsked(location.search, true);

  // ---- one lesson ----

  async function open(wanted) {
    number = Math.min(titles.length, Math.max(1, wanted));
    mark();
    root.setAttribute('aria-busy', 'true');
    const mine = number;
    try {
      if (!known.has(mine)) known.set(mine, JSON.parse(await fetchLesson(mine)));
    } catch {
      if (mine === number) failed();
      return;
    }
    if (mine !== number) return; // another one was asked for meanwhile
    lesson = known.get(mine);
    write();
    show(linked() || lesson.opens);
    root.setAttribute('aria-busy', 'false');
  }

  function linked() { // the step that the link of the page leads to, once
    if (!asked) return null;
    const recording = Math.min(lesson.runs.length - 1, asked.recording);
    const place = specvizPlaceIn(lesson.runs[recording].message.steps, asked);
    asked = null;
    return { recording, step: place.index, node: place.key };
  }

  function failed() {
    lesson = null;
    $('h2').textContent = titles[number - 1];
    paragraphs($('.sv-lesson-body'), ['This lesson did not arrive. The server may be gone; choose the lesson again to retry.']);
    $('.sv-lesson-tasks').hidden = true;
    root.setAttribute('aria-busy', 'false');
  }

  function write() {
    $('h2').textContent = `${lesson.number}. ${lesson.title}`;
    paragraphs($('.sv-lesson-body'), lesson.text);
    $('.sv-lesson-try p').textContent = lesson.task;
    $('.sv-lesson-question p').textContent = lesson.question;
    paragraphs(details.querySelector('div'), lesson.answer);
    details.open = false;
    $('.sv-lesson-tasks').hidden = false;
    stage.classList.toggle('timed', lesson.timed);
    stage.classList.toggle('flat', lesson.runs.every(run => run.message.steps.every(chained)));
    const runs = $('.sv-lesson-runs');
    runs.hidden = lesson.runs.length < 2;
    runs.replaceChildren(...lesson.runs.map((run, i) => {
      const button = make('button', run.label);
      button.type = 'button';
      button.addEventListener('click', () => show({ recording: i, step: lesson.opens.recording === i ? lesson.opens.step : 0, node: null }));
      return button;
    }));
    root.scrollTop = 0;
  }

  const chained = step => step.parents.every((parent, node) => parent === node - 1);

  function show(look) {
    const runs = $('.sv-lesson-runs').children;
    [...runs].forEach((button, i) => button.setAttribute('aria-pressed', i === look.recording));
    player.receive(JSON.stringify(lesson.runs[look.recording].message));
    player.show(look.step, look.node);
    // A node that is folded away cannot be pointed at; the player draws within a frame.
    if (look.node !== null) requestAnimationFrame(() => { if (!$('.node.selected')) $('.sv-expand').click(); });
  }

  function paragraphs(parent, texts) {
    parent.replaceChildren(...texts.map(text => {
      const line = document.createElement('p');
      text.split('**').forEach((part, i) => line.append(i % 2 ? make('strong', part) : part));
      return line;
    }));
  }

  function make(name, text) {
    const node = document.createElement(name);
    node.textContent = text;
    return node;
  }

  // ---- which lesson ----

  titles.forEach((title, i) => {
    const button = make('button', title);
    button.type = 'button';
    button.title = title;
    button.prepend(make('b', i + 1));
    button.addEventListener('click', () => open(i + 1));
    $('.sv-lessons-list').append(button);
  });

  function mark() {
    [...$('.sv-lessons-list').children].forEach((button, i) => {
      if (i + 1 === number) button.setAttribute('aria-current', 'true'); else button.removeAttribute('aria-current');
    });
    $('.sv-lessons-count').textContent = `Lesson ${number} of ${titles.length}`;
    $('[data-go=previous]').disabled = number === 1;
    $('[data-go=next]').disabled = number === titles.length;
    address();
  }

  // The address bar always holds the lesson's own link while the lessons are on the screen.
  function address() {
    const here = new URL(location.href), link = new URL(location.href);
    link.search = `?lesson=${number}`;
    $('.sv-lessons-link').href = link;
    for (const name of ['recording', 'step', 'node']) here.searchParams.delete(name);
    if (element.offsetParent) here.searchParams.set('lesson', number); else here.searchParams.delete('lesson');
    if (here.href !== location.href) history.replaceState(history.state, '', here);
  }
  new ResizeObserver(address).observe(element);

  function exact() { // the link as it is handed on leads to the step that is on the screen
    const link = new URL(location.href), at = $('.sv-svg').dataset.place;
    const recording = [...$('.sv-lesson-runs').children].findIndex(button => button.getAttribute('aria-pressed') === 'true');
    link.search = `?lesson=${number}${recording > 0 ? `&recording=${recording}` : ''}${lesson && at ? `&${at}` : ''}`;
    $('.sv-lessons-link').href = link;
  }
  for (const kind of ['pointerenter', 'focus']) $('.sv-lessons-link').addEventListener(kind, exact);

  // ---- full screen ----

  const projected = () => root.classList.contains('projected');

  function project(on) {
    if (on === projected()) return;
    root.classList.toggle('projected', on);
    document.documentElement.classList.toggle('sv-large', on); // every size is in rem
    $('[data-go=project]').setAttribute('aria-pressed', on);
    $('[data-go=project]').textContent = on ? 'Leave full screen' : 'Full screen';
    // Where the browser refuses (inside another page, say) the lesson still fills the window.
    if (on) root.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
    $('h2').focus({ preventScroll: true });
  }
  document.addEventListener('fullscreenchange', () => { if (!document.fullscreenElement) project(false); });

  const acts = { previous: () => open(number - 1), next: () => open(number + 1), project: () => project(!projected()) };
  for (const [name, act] of Object.entries(acts)) $(`[data-go=${name}]`).addEventListener('click', act);
  $('.sv-lesson-try button').addEventListener('click', () => { if (lesson) show(lesson.shows); });

  details.addEventListener('toggle', () => { if (details.open) details.scrollIntoView({ block: 'nearest' }); });

  // ---- keys: taken before the player sees them ----

  function turn(by) {
    const listed = $('.sv-lessons-list').contains(document.activeElement);
    open(number + by);
    if (listed) $('.sv-lessons-list').children[number - 1].focus();
  }

  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey, true);
    const at = event.target;
    if (!element.offsetParent || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!root.contains(at) && at !== document.body) return; // the rest of the page keeps its keys
    const arrows = $('.sv-lessons-list').contains(at) || (projected() && !stage.contains(at));
    const keys = {
      ArrowLeft: arrows && (() => turn(-1)), ArrowRight: arrows && (() => turn(1)),
      PageUp: projected() && (() => turn(-1)), PageDown: projected() && (() => turn(1)),
      Escape: projected() && (() => project(false)),
      f: () => project(!projected()), a: () => { details.open = !details.open; },
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || at.matches('select')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }
  document.addEventListener('keydown', onKey, true);

  open(number);
}
