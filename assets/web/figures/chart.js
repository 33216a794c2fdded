// Round numbers for axes.

/**
 * About `many` round numbers between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} many
 */
export function ticks(low, high, many) {
  if (!(high > low)) return [low];
  const rough = (high - low) / many,
    power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9),
    last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(6)),
  );
}
