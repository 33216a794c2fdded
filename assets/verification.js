// The Verification lab: bars that are dragged or moved by keys, what the server makes of them, and the tables below.
// Names of tokens may come from a model's text; they only ever become text nodes.

function specvizVerification(element, start, server) {
  const root = element.querySelector('.sv-v'), $ = name => root.querySelector(`.sv-v-${name}`);
  const tries = specvizTries(root);
  const state = { names: [], p: [], q: [], children: 2, levels: 1, rule: '', law: null, seed: 0 };
  let answer = null, busy = false, again = false, timer, place = 0, unread = false;

  // ---- the menus ----

  const option = (value, text) => { const made = specvizMake('option', text); made.value = value; return made; };
  $('rule').append(...start.rules.map(rule => option(rule.name, rule.title)));
  $('law').append(option('', 'drawn as the rule asks'), ...Object.entries(start.laws).map(([law, text]) => option(law, text)));
  for (let k = 1; k <= start.most.children; k++) $('shape').append(option(`${k} 1`, k === 1 ? '1 child' : `${k} children`));
  for (let n = 2; n <= start.most.levels; n++) $('shape').append(option(`1 ${n}`, `a chain of ${n}`));
  start.presets.forEach((preset, i) => {
    const button = specvizMake('button', preset.title);
    button.type = 'button';
    button.addEventListener('click', () => load(i));
    $('presets').append(button);
  });
  $('rule').addEventListener('change', () => change({ rule: $('rule').value }));
  $('law').addEventListener('change', () => change({ law: $('law').value || null }));
  $('shape').addEventListener('change', () => {
    const [children, levels] = $('shape').value.split(' ').map(Number);
    change({ children, levels });
  });
  $('seed').addEventListener('change', () => change({ seed: $('seed').value === '' ? NaN : Number($('seed').value) }));

  // ---- what is looked at ----

  function put(node) {
    Object.assign(state, { children: 2, levels: 1, law: null, seed: 0 }, node);
    place = 0;
    rows();
    controls();
    ask();
  }

  function load(number) {
    const preset = start.presets[number];
    mark(number);
    $('why').textContent = preset.why;
    const { p, q, children, levels, rule, law, seed } = preset;
    put({ names: [...start.names].slice(0, p.length), p: [...p], q: [...q], children, levels, rule, law, seed });
  }

  function take() {
    const node = window.specvizNode;
    if (!node) return false;
    window.specvizNode = null;
    mark(null);
    const { names, p, q, children, law, rule } = node;
    const known = start.rules.find(other => other.name === rule) || start.rules[0];
    $('why').textContent = [`Taken from ${node.from} of the run: its p and q at this node; what is drawn here is new.`,
      node.rest && 'All tokens that the run did not keep are one token here, “(rest)”, so what is accepted here usually comes out higher than with the whole vocabulary.',
      node.drafted > children && `The node had ${node.drafted} children; here are ${children}.`].filter(Boolean).join(' ');
    const shown = names.map(text => (text === '(rest)' ? text : specvizVisible(text)));
    put({ names: shown, p, q, children, rule: known.name, law: law === known.law || !(law in start.laws) ? null : law });
    root.scrollIntoView({ block: 'start' });
    return true;
  }
  document.addEventListener('specviz-node', function onNode() {
    if (!element.isConnected) return document.removeEventListener('specviz-node', onNode);
    take();
  });

  function mark(number) {
    [...$('presets').children].forEach((button, i) => button.setAttribute('aria-pressed', i === number));
  }

  // What was said about an example, or where a node was taken, holds for its rows and its tree under any rule and seed.
  function own() {
    mark(null);
    $('why').textContent = 'A node of your own. The examples above bring theirs back.';
  }

  function change(news) {
    Object.assign(state, news);
    if (Object.keys(news).some(name => name !== 'rule' && name !== 'seed')) own();
    if ('rule' in news || 'law' in news || 'children' in news) place = 0;
    controls();
    ask();
  }

  function controls() {
    $('rule').value = state.rule;
    $('law').value = state.law || '';
    $('shape').value = `${state.children} ${state.levels}`;
    if (document.activeElement !== $('seed')) $('seed').value = state.seed;
    $('input').dataset.size = state.names.length;
    root.querySelector('[data-do=more]').disabled = state.names.length >= start.most.tokens;
    root.querySelector('[data-do=less]').disabled = state.names.length <= 2;
  }

  // ---- the bars of p and q ----

  const shares = name => {
    const total = state[name].reduce((sum, weight) => sum + Math.max(0, weight || 0), 0);
    return state[name].map(weight => (total > 0 ? Math.max(0, weight || 0) / total : 0));
  };

  function rows() {
    $('rows').replaceChildren(...state.names.map((text, token) => {
      const row = specvizMake('div', '', 'sv-v-row');
      row.append(specvizMake('b', text), line('p', token), line('q', token));
      return row;
    }));
    refresh();
  }

  function line(name, token) {
    const made = specvizMake('div', '', `sv-v-line ${name}`), bar = specvizMake('div', '', 'sv-v-bar'), box = specvizMake('input');
    const label = `${name === 'p' ? 'target p' : 'draft q'} of ${state.names[token]}`;
    bar.append(specvizMake('u'));
    bar.tabIndex = 0;
    for (const [key, value] of Object.entries({ role: 'slider', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 1 })) bar.setAttribute(key, value);
    Object.assign(box, { type: 'number', min: 0, step: 'any' });
    box.setAttribute('aria-label', `${label}, as a number`);
    const drag = event => {
      const { left, width } = bar.getBoundingClientRect();
      move(name, token, (event.clientX - left) / width);
    };
    bar.addEventListener('pointerdown', event => { bar.setPointerCapture(event.pointerId); drag(event); bar.focus(); event.preventDefault(); });
    bar.addEventListener('pointermove', event => { if (bar.hasPointerCapture(event.pointerId)) drag(event); });
    bar.addEventListener('keydown', event => {
      const now = shares(name)[token], by = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 };
      const value = { Home: 0, End: 1 }[event.key] ?? (event.key in by ? now + by[event.key] * (event.shiftKey ? 10 : 1) : null);
      if (value === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      move(name, token, value);
    });
    box.addEventListener('change', () => {
      state[name][token] = box.value === '' ? NaN : Number(box.value);
      own();
      refresh(box);
      ask();
    });
    made.append(specvizMake('span', name), bar, box);
    return made;
  }

  // One share is set, the others keep their proportions and make room for it.
  function move(name, token, wanted) {
    const value = Math.round(1000 * Math.min(1, Math.max(0, wanted))) / 1000, row = shares(name);
    const others = row.reduce((sum, share, i) => sum + (i === token ? 0 : share), 0);
    state[name] = row.map((share, i) => (i === token ? value : others > 0 ? (share / others) * (1 - value) : (1 - value) / (row.length - 1)));
    own();
    refresh();
    ask(40);
  }

  function refresh(typed = null) {
    for (const name of ['p', 'q']) {
      const row = shares(name);
      root.querySelectorAll(`.sv-v-line.${name}`).forEach((made, token) => {
        const bar = made.querySelector('.sv-v-bar'), box = made.querySelector('input');
        bar.firstChild.style.width = `${100 * row[token]}%`;
        bar.setAttribute('aria-valuenow', row[token].toFixed(3));
        if (box !== typed && !Number.isNaN(state[name][token])) box.value = Number(state[name][token].toPrecision(4));
      });
    }
  }

  // ---- tools ----

  function more() {
    const letters = [...start.names].filter(letter => !state.names.includes(letter));
    state.names.push(letters[0]);
    for (const name of ['p', 'q']) {
      const row = shares(name), share = 1 / (row.length + 1);
      state[name] = [...row.map(value => value * (1 - share)), share];
    }
    change({ p: state.p });
    rows();
  }

  function less() {
    state.names.pop();
    for (const name of ['p', 'q']) {
      const row = shares(name).slice(0, -1), total = row.reduce((sum, value) => sum + value, 0);
      state[name] = row.map(value => (total > 0 ? value / total : 1 / row.length));
    }
    change({ p: state.p });
    rows();
  }

  function swap() {
    change({ p: state.q, q: state.p });
    refresh();
  }

  function step(by) {
    tries.move(by);
    $('live').textContent = `${$('where').textContent}. ${[...$('try').querySelectorAll('h3, p')].map(line => line.textContent).join('. ')}`;
  }

  const acts = {
    more, less, swap, back: () => step(-1), next: () => step(1),
    draw: () => { place = 0; change({ seed: (Number.isSafeInteger(state.seed) ? state.seed + 1 : 0) % start.most.seed }); $('seed').value = state.seed; },
  };
  for (const [name, act] of Object.entries(acts)) root.querySelector(`[data-do=${name}]`).addEventListener('click', act);

  // ---- asking the server: one question at a time, always about the latest node ----

  function ask(wait = 0) {
    unread = true;
    root.setAttribute('aria-busy', 'true');
    clearTimeout(timer);
    timer = setTimeout(() => { if (busy) again = true; else work(); }, wait);
  }

  async function work() {
    busy = true;
    do {
      again = unread = false;
      const { names, ...asked } = state, about = { names: [...names], levels: state.levels, rule: state.rule };
      for (const name of ['p', 'q']) asked[name] = asked[name].map(weight => (Number.isFinite(weight) ? weight : null));
      if (!Number.isFinite(asked.seed)) asked.seed = null;
      try {
        const told = JSON.parse(await server.look(asked));
        if (!again) seen(told, about);
        if (!again && !told.error) table(JSON.parse(await server.table(asked)), about);
      } catch {
        failed('The server did not answer. Change anything to ask again.');
      }
    } while (again);
    busy = false;
    if (!unread) root.setAttribute('aria-busy', 'false');
  }

  function failed(text) {
    notice($('verdict'), 'error', text);
    $('said').textContent = '';
    root.classList.add('stale');
  }

  function notice(line, kind, text) {
    line.dataset.kind = kind;
    if (line.querySelector('.text').textContent !== text) line.querySelector('.text').textContent = text;
  }

  function seen(told, about) {
    if (told.error) return failed(told.error);
    root.classList.remove('stale');
    answer = told;
    notice($('verdict'), told.kind, told.reason);
    $('said').textContent = told.said.join(' ');
    if (!told.run) {
      tries.clear();
      law(null, about);
      return;
    }
    tries.show(told.run, about.names, { p: told.p, q: told.q, levels: about.levels }, Math.max(place, 0));
    law(told.exact, about);
  }

  // ---- what is written, against p ----

  function law(exact, about) {
    const box = $('chart'), rule = start.rules.find(other => other.name === about.rule).title;
    if (!exact || !exact.texts) {
      notice($('exact'), '', '');
      box.replaceChildren(specvizMake('p', exact ? 'There are too many outcomes here to try them all; take fewer tokens or children.'
        : 'This rule cannot work on this tree.', 'sv-v-note'));
      return;
    }
    const equal = exact.deviation <= 1e-12, lossless = answer.kind === 'lossless' || answer.kind === 'useless';
    const how = exact.proof === 'enumeration' ? `${exact.runs === 1 ? 'the only outcome' : `all ${exact.runs} outcomes`} of ${rule} enumerated` : 'the winner of the target’s own race has the law p';
    const found = equal ? `Exactly the target’s own law (largest deviation ${small(exact.deviation)}; ${how}).`
      : `Not the target’s law: the largest deviation is ${exact.deviation.toFixed(4)} (${how}).`;
    notice($('exact'), equal ? 'lossless' : 'lossy', found + (equal && !lossless ? ' On these rows only: the rule does not promise it.' : ''));
    const texts = exact.texts.map(text => text.map(token => about.names[token]).join(' '));
    const caption = exact.of > texts.length ? `the ${texts.length} likeliest of ${exact.of} texts` : about.levels > 1 ? `the first ${about.levels} tokens` : 'the first token';
    const chart = specvizBars(caption, texts, { p: exact.own, law: exact.law });
    chart.querySelector('thead tr').append(specvizMake('th', 'difference'));
    chart.querySelectorAll('tbody tr').forEach((row, i) => {
      const by = exact.law[i] - exact.own[i];
      row.append(specvizMake('td', Math.abs(by) < 5e-5 ? '0' : `${by > 0 ? '+' : '−'}${Math.abs(by).toFixed(4)}`, Math.abs(by) < 5e-5 ? '' : 'off'));
    });
    box.replaceChildren(chart);
  }

  const small = value => (value === 0 ? '0' : value.toExponential(0).replace('e-', '·10⁻').replace(/\d+$/, digits => [...digits].map(d => '⁰¹²³⁴⁵⁶⁷⁸⁹'[d]).join('')));

  // ---- every rule ----

  function table(data, about) {
    if (data.error) return;
    const most = Math.max(data.levels, 1e-9), what = data.levels > 1 ? `tokens of ${data.levels}` : 'accepted';
    $('note').textContent = data.levels > 1
      ? 'Expected number of accepted tokens. The line is the ceiling, the sum of 1 − TV of the first tokens’ laws; it need not be reached.'
      : 'The chance that a child is accepted. The line is the optimal-transport ceiling of lossless rules for children drawn this way.';
    const head = specvizMake('tr');
    head.append(...['rule', '', what, 'ceiling', 'children', 'law'].map(text => specvizMake(text ? 'th' : 'td', text)));
    $('rules').querySelector('thead').replaceChildren(head);
    $('rules').querySelector('tbody').replaceChildren(...data.rows.map(row => {
      const made = specvizMake('tr', '', row.rule === about.rule ? 'own' : ''), name = specvizMake('th');
      const pick = specvizMake('button', row.title);
      pick.type = 'button';
      pick.title = row.reason;
      pick.setAttribute('aria-pressed', row.rule === about.rule);
      pick.addEventListener('click', () => change({ rule: row.rule }));
      name.append(pick);
      const drawn = specvizMake('td'), cells = [];
      if (row.accepted !== null) {
        const track = specvizMake('i'), bar = specvizMake('u', '', row.kind), line = specvizMake('em');
        bar.style.width = `${100 * Math.min(1, row.accepted / most)}%`;
        line.style.left = `${100 * Math.min(1, row.ceiling / most)}%`;
        track.append(bar, line);
        drawn.append(track);
      }
      if (row.kind === 'impossible') {
        const why = specvizMake('td', row.reason, 'none');
        why.colSpan = 5;
        made.append(name, why);
        return made;
      }
      cells.push(drawn, specvizMake('td', row.accepted === null ? 'too many' : row.accepted.toFixed(4)), specvizMake('td', row.ceiling.toFixed(4)),
        specvizMake('td', SV_LAWS[row.law] || row.law));
      const law = specvizMake('td', '', `sv-v-kind ${row.kind}`);
      const off = row.deviation !== null && row.deviation > 1e-12;
      law.textContent = row.kind === 'lossy' ? `≠ ${off ? row.deviation.toFixed(3) : 'lossy'}` : '= p';
      law.title = `${row.reason} ${row.proof === 'enumeration' ? `${row.runs} ${row.runs === 1 ? 'outcome' : 'outcomes'} enumerated.` : row.proof === 'closed form' ? 'By a closed form.' : 'Too many outcomes to enumerate.'}`;
      made.append(name, ...cells, law);
      return made;
    }));
  }

  // ---- keys ----

  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey, true);
    const target = event.target;
    if (!element.offsetParent || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!root.contains(target) && target !== document.body) return;
    if (target.matches('input, select, [role=slider], .sv-v-scroll')) return;
    const act = { ArrowLeft: acts.back, ArrowRight: acts.next, d: acts.draw, D: acts.draw }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }
  document.addEventListener('keydown', onKey, true);

  if (!take()) load(0);
}

const SV_LAWS = { iid: 'independent', distinct: 'without replacement', top: 'most probable', race: 'shared race' };
