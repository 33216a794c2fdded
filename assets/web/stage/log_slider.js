// Sliders from 1 to a thousand: gradio's are linear, where one pixel is four nodes. A logarithmic one takes its place; it
// writes into the number box beside it, which gradio reads, and follows it.

const FINE = 1000; // places of the slider

/** @param {number} place @param {number} low @param {number} high */
export const valueAt = (place, low, high) => Math.round(low * (high / low) ** (place / FINE));
/** @param {number} value @param {number} low @param {number} high */
export const placeOf = (value, low, high) => Math.round(FINE * Math.log(Math.max(low, value) / low) / Math.log(high / low));

/** Puts logarithmic sliders where they are due, and all of them where their numbers are. @param {Element} root */
export function logSliders(root) {
  for (const box of root.querySelectorAll('.sv-log')) {
    const linear = /** @type {HTMLInputElement | null} */ (box.querySelector('[data-testid=range-input]'));
    const number = /** @type {HTMLInputElement | null} */ (box.querySelector('[data-testid=number-input]'));
    if (!linear || !number) continue;
    const low = Number(linear.min), high = Number(linear.max);
    let slider = /** @type {HTMLInputElement | null} */ (box.querySelector('.sv-log-slider'));
    if (!slider) {
      const made = slider = Object.assign(document.createElement('input'), { type: 'range', min: '0', max: String(FINE), className: 'sv-log-slider' });
      made.setAttribute('aria-label', String(linear.getAttribute('aria-label')));
      made.addEventListener('input', () => {
        number.value = String(valueAt(Number(made.value), low, high));
        number.dispatchEvent(new Event('input', { bubbles: true }));
        shown(made, low, high);
      });
      made.addEventListener('change', () => number.dispatchEvent(new Event('blur')));
      number.addEventListener('input', () => follow(made, number, low, high));
      linear.hidden = true;
      linear.after(made);
    }
    follow(slider, number, low, high);
  }
}

/** @param {HTMLInputElement} slider @param {HTMLInputElement} number @param {number} low @param {number} high */
function follow(slider, number, low, high) {
  if (document.activeElement !== slider) slider.value = String(placeOf(Number(number.value), low, high));
  shown(slider, low, high);
}

/** @param {HTMLInputElement} slider @param {number} low @param {number} high */
function shown(slider, low, high) {
  slider.style.setProperty('--range_progress', `${Number(slider.value) / FINE * 100}%`);
  slider.setAttribute('aria-valuetext', String(valueAt(Number(slider.value), low, high)));
}
