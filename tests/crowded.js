// Finds text that lies on other text, or is cut off, in a page as it stands; returns sentences. Text that only a screen
// reader gets, that is meant to end in an ellipsis or that can be scrolled to is no fault, nor is what floats on top.
() => {
  const TOLERANCE = 3, faults = [], lines = [];
  const quoted = text => `“${text.slice(0, 50)}”`;
  const name = element => {
    const kinds = (element.getAttribute('class') || '').trim().split(/\s+/).filter(Boolean).slice(0, 2);
    return [element.tagName.toLowerCase(), ...kinds].join('.');
  };
  const hides = way => /hidden|clip/.test(way), scrolls = way => /auto|scroll/.test(way);

  // What matters of a box, which is asked for by every text in it.
  const known = new Map();
  function boxOf(element) {
    if (!known.has(element)) {
      const style = getComputedStyle(element), frame = element.getBoundingClientRect(), picture = element instanceof SVGSVGElement;
      known.set(element, {
        frame,
        // the card at a node lies over the tree, but never over the accepted path
        floats: /fixed|sticky/.test(style.position) || element.matches('.sv-node-card'),
        unseen: frame.width <= 2 && (hides(style.overflowX) || style.clipPath !== 'none'), // for screen readers
        wide: hides(style.overflowX) && !picture && style.textOverflow !== 'ellipsis',
        high: hides(style.overflowY) && !picture && style.webkitLineClamp === 'none' && frame.height > 2,
        limitsX: hides(style.overflowX) || scrolls(style.overflowX) || picture,
        limitsY: hides(style.overflowY) || scrolls(style.overflowY) || picture,
      });
    }
    return known.get(element);
  }
  const floats = element => {
    for (let box = element; box; box = box.parentElement) {
      if (boxOf(box).floats) return box;
    }
    return null;
  };

  // What of a text can be seen, and the box that cuts it off, if one does.
  function view(parent, rects) {
    const seen = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
    let cutter = null;
    for (let box = parent; box && box !== document.body; box = box.parentElement) {
      const { frame, unseen, wide, high, limitsX, limitsY } = boxOf(box);
      if (unseen) return null;
      cutter ??= rects.some(rect => {
        const inside = rect.right > seen.left && rect.left < seen.right && rect.bottom > seen.top && rect.top < seen.bottom;
        const across = wide && (Math.min(rect.right, seen.right) > frame.right + TOLERANCE || Math.max(rect.left, seen.left) < frame.left - TOLERANCE);
        const down = high && (Math.min(rect.bottom, seen.bottom) > frame.bottom + TOLERANCE || Math.max(rect.top, seen.top) < frame.top - TOLERANCE);
        return inside && (across || down);
      }) ? box : null;
      if (limitsX) {
        seen.left = Math.max(seen.left, frame.left);
        seen.right = Math.min(seen.right, frame.right);
      }
      if (limitsY) {
        seen.top = Math.max(seen.top, frame.top);
        seen.bottom = Math.min(seen.bottom, frame.bottom);
      }
    }
    return { seen, cutter };
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim(), parent = node.parentElement;
    if (!text || /^(script|style|title|option|noscript)$/i.test(parent.tagName)) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || parent.closest('[aria-hidden=true]')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(rect => rect.width > 1 && rect.height > 1);
    const found = rects.length && view(parent, rects);
    if (!found) continue;
    const { seen, cutter } = found;
    if (cutter) faults.push(`cut off by ${name(cutter)}: ${name(parent)} ${quoted(text)}`);
    for (const rect of rects) {
      const left = Math.max(rect.left, seen.left), right = Math.min(rect.right, seen.right);
      const top = Math.max(rect.top, seen.top), bottom = Math.min(rect.bottom, seen.bottom);
      if (right - left > 2 && bottom - top > 2) lines.push({ parent, text, left, right, top, bottom });
    }
  }

  lines.sort((a, b) => a.top - b.top);
  lines.forEach((a, i) => {
    for (let j = i + 1; j < lines.length && lines[j].top < a.bottom; j++) {
      const b = lines[j], wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - b.top, least = 0.3 * Math.min(a.bottom - a.top, b.bottom - b.top);
      if (a.parent === b.parent || wide <= TOLERANCE || high <= Math.max(TOLERANCE, least)) continue;
      if (floats(a.parent) === floats(b.parent)) faults.push(`on one another: ${name(a.parent)} ${quoted(a.text)} and ${name(b.parent)} ${quoted(b.text)}`);
    }
  });

  for (const table of document.querySelectorAll('table')) {
    const box = table.parentElement;
    if (box.clientWidth && box.scrollWidth > box.clientWidth + TOLERANCE) faults.push(`wider than its box: ${name(table)} in ${name(box)}`);
  }

  const excess = document.documentElement.scrollWidth - innerWidth;
  if (excess > 0) faults.push(`the page is ${excess} px too wide`);
  return [...new Set(faults)];
}
