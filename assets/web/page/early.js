// In the page's head, before gradio listens: a click on Run that comes too early is kept, and repeated until the page has
// taken it (app/parts/job.py says so). Then the page is ready, and nothing of this is left.

(() => {
  const PACE = 700, PATIENCE = 60_000; // milliseconds
  let timer = 0, since = 0, own = false;

  /** @param {Event} event */
  function clicked({ target }) {
    if (own || !(target instanceof Element) || !target.closest('#sv-run')) return;
    since = Date.now();
    clearInterval(timer);
    timer = window.setInterval(again, PACE);
  }

  function again() {
    if (Date.now() - since > PATIENCE) return clearInterval(timer);
    own = true;
    document.getElementById('sv-run')?.click();
    own = false;
  }

  function taken() {
    clearInterval(timer);
    document.removeEventListener('click', clicked, true);
  }

  document.addEventListener('click', clicked, true);
  document.addEventListener('sv-asked', taken, { once: true });
})();
