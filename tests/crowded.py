"""Finds text that lies on other text, or is cut off, in a page as it stands: `crowded(page)`."""

# Every run of text that can be seen, with the rectangles of its lines. Text that a screen reader alone gets, that is
# meant to be cut with an ellipsis, or that can be scrolled to is left out, as is what lies under something on top.
FIND = """() => {
  const TOLERANCE = 3, found = [], faults = [];
  const cuts = style => [style.overflowX, style.overflowY].map(way => /hidden|clip/.test(way));
  const scrolls = style => [style.overflowX, style.overflowY].map(way => /auto|scroll/.test(way));
  const name = element => {
    const own = typeof element.className === 'string' ? element.className : element.className.baseVal;
    return `${element.tagName.toLowerCase()}${own ? '.' + own.trim().split(/\\s+/).slice(0, 2).join('.') : ''}`;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const text = node.data.trim(), parent = node.parentElement;
    if (!text || !parent || /^(SCRIPT|STYLE|TITLE|OPTION|TEXTAREA|NOSCRIPT)$/i.test(parent.tagName)) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    let rects = [...range.getClientRects()].filter(rect => rect.width > 1 && rect.height > 1);
    if (!rects.length || parent.closest('.sv-live, [aria-hidden=true], .sr-only')) continue;
    let left = -Infinity, right = Infinity, top = -Infinity, bottom = Infinity, cut = null;
    for (let box = parent; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box), frame = box.getBoundingClientRect();
      if (style.clipPath !== 'none' && frame.width <= 2) { rects = []; break; }
      const [cutX, cutY] = cuts(style), [scrollX, scrollY] = scrolls(style), picture = box instanceof SVGSVGElement;
      if (style.textOverflow === 'ellipsis' && cutX) [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
      else if (cutX && !picture && cut === null) {
        const out = rects.find(rect => rect.right > Math.min(right, frame.right) + TOLERANCE || rect.left < Math.max(left, frame.left) - TOLERANCE);
        if (out) cut = box;
      }
      if (cutY && !picture && cut === null && style.webkitLineClamp === 'none') {
        const out = rects.find(rect => rect.bottom - TOLERANCE > Math.min(bottom, frame.bottom) && rect.top < Math.min(bottom, frame.bottom)
          || rect.top + TOLERANCE < Math.max(top, frame.top) && rect.bottom > Math.max(top, frame.top));
        if (out && frame.height > 2) cut = box;
      }
      if (cutX || scrollX || picture) [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
      if (cutY || scrollY || picture) [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
    }
    if (cut && !parent.closest('svg, .sv-ribbon')) faults.push(`cut off by ${name(cut)}: ${name(parent)} “${text.slice(0, 60)}”`);
    for (const rect of rects) {
      const shown = { left: Math.max(rect.left, left), right: Math.min(rect.right, right), top: Math.max(rect.top, top), bottom: Math.min(rect.bottom, bottom) };
      if (shown.right - shown.left < 2 || shown.bottom - shown.top < 2) continue;
      const middle = [(shown.left + shown.right) / 2, (shown.top + shown.bottom) / 2];
      found.push({ parent, text, ...shown, middle });
    }
  }
  const sorted = found.sort((a, b) => a.top - b.top);
  for (let i = 0; i < sorted.length; i++) {
    const a = sorted[i];
    for (let j = i + 1; j < sorted.length && sorted[j].top < a.bottom; j++) {
      const b = sorted[j], lines = Math.min(a.bottom - a.top, b.bottom - b.top);
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (a.parent === b.parent || wide <= TOLERANCE || high <= Math.max(TOLERANCE, 0.3 * lines)) continue;
      if (layer(a.parent) !== layer(b.parent)) continue;
      faults.push(`on one another: ${name(a.parent)} “${a.text.slice(0, 40)}” and ${name(b.parent)} “${b.text.slice(0, 40)}”`);
    }
  }
  function layer(element) { // what floats lies on top on purpose
    for (let box = element; box; box = box.parentElement) if (/fixed|sticky/.test(getComputedStyle(box).position)) return box;
    return null;
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} px too wide`);
  return [...new Set(faults)];
}"""


def crowded(page):
    """The faults of a page as it stands, as sentences."""
    return page.evaluate(FIND)
