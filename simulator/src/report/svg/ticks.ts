/** Round values from `least` to `most`, about so many, to be marked on an axis. */
export function evenTicks(least: number, most: number, about: number): number[] {
  const rough = (most - least) / about;
  if (!(rough > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((times) => rough <= times * power) ?? 10);
  const first = Math.ceil(least / step - 1e-9);
  const count = Math.floor(most / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Powers of ten from `least` to `most`, both above 0, with those just outside. */
export function powerTicks(least: number, most: number): number[] {
  const first = Math.floor(Math.log10(least) + 1e-9);
  const last = Math.ceil(Math.log10(most) - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}
