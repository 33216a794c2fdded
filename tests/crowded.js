// Finds text that lies on other text, or is cut off, in a page as it stands; returns sentences. Text that only a screen
// reader gets, that is meant to end in an ellipsis or that can be scrolled to is no fault, nor is what floats on top.
() => {
  const TOLERANCE = 3, faults = [], lines = [];
  const quoted = text => `“${text.slice(0, 50)}”`;
  const name = element => {
    const kinds = (element.getAttribute('class') || '').trim().split(/\s+/).filter(Boolean).slice(0, 2);
    return [element.tagName.toLowerCase(), ...kinds].join('.');
  };
  const floats = element => {
    for (let box = element; box; box = box.parentElement) {
      // the card at a node lies over the tree, but never over the accepted path
      if (/fixed|sticky/.test(getComputedStyle(box).position) || box.matches('.sv-node-card')) return box;
    }
    return null;
  };

  // What of a text can be seen, and the box that cuts it off, if one does.
  function view(parent, rects) {
    const seen = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
    let cutter = null;
    for (let box = parent; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box), frame = box.getBoundingClientRect(), picture = box instanceof SVGSVGElement;
      const hides = way => /hidden|clip/.test(way), scrolls = way => /auto|scroll/.test(way);
      if (frame.width <= 2 && (hides(style.overflowX) || style.clipPath !== 'none')) return null; // for screen readers
      const wide = hides(style.overflowX) && !picture && style.textOverflow !== 'ellipsis';
      const high = hides(style.overflowY) && !picture && style.webkitLineClamp === 'none' && frame.height > 2;
      cutter ??= rects.some(rect => {
        const inside = rect.right > seen.left && rect.left < seen.right && rect.bottom > seen.top && rect.top < seen.bottom;
        const across = wide && (Math.min(rect.right, seen.right) > frame.right + TOLERANCE || Math.max(rect.left, seen.left) < frame.left - TOLERANCE);
        const down = high && (Math.min(rect.bottom, seen.bottom) > frame.bottom + TOLERANCE || Math.max(rect.top, seen.top) < frame.top - TOLERANCE);
        return inside && (across || down);
      }) ? box : null;
      if (hides(style.overflowX) || scrolls(style.overflowX) || picture) {
        seen.left = Math.max(seen.left, frame.left);
        seen.right = Math.min(seen.right, frame.right);
      }
      if (hides(style.overflowY) || scrolls(style.overflowY) || picture) {
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
