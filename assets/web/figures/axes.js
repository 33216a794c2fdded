// Round numbers for the axes of every chart.

/**
 * About `many` round numbers between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} many
 */
export function ticks(low, high, many) {
  if (!(high > low)) return [low];
  const rough = (high - low) / many, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/**
 * Powers of ten between two ends, with twos and fives where there are few.
 * @param {number} low above 0
 * @param {number} high
 */
export function logTicks(low, high) {
  if (high / low < 8) return ticks(low, high, 5);
  const step = high / low > 1e5 ? 100 : 10;
  /** @type {number[]} */
  const found = [];
  for (let v = 10 ** Math.ceil(Math.log10(low)); v <= high * 1.001; v *= step) found.push(v);
  if (high / low < 200) for (const v of [...found, found[0] / 10]) for (const m of [2, 5]) if (v * m >= low && v * m <= high) found.push(v * m);
  return found;
}
