// Values as people type them; undefined if the text is invalid. The program reads the same forms (src/base/parse_units.h).

const COUNTS: Record<string, number> = { '': 1, k: 1e3, thousand: 1e3, m: 1e6, mn: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9, g: 1e9, t: 1e12, tn: 1e12, trillion: 1e12 };
const SECONDS: Record<string, number> = { us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, sec: 1, second: 1, m: 60, min: 60, minute: 60, h: 3600, hr: 3600, hour: 3600, d: 86400, day: 86400, w: 604800, wk: 604800, week: 604800 };
const NUMBER = '(\\d+(?:\\.\\d+)?|\\.\\d+)';

/** Without the separators of thousands: "1,000", "12 345.6". A comma elsewhere stays, and no number has one: "2,9", "0,125". */
const plain = (text: string) => text.trim().toLowerCase().replace(/(?<![\d.,])[1-9]\d{0,2}(?:[,_ ]\d{3})+(?![\d,])/g, (grouped) => grouped.replace(/[,_ ]/g, ''));
const positive = (value: number) => (Number.isFinite(value) && value > 0 ? value : undefined);

/** A positive number with an optional unit, which `times` converts: "2.5", "30 %", "2 TB". */
export function parseNumber(text: string, unit: RegExp, times: (unit: string) => number = () => 1): number | undefined {
  const found = new RegExp(`^${NUMBER}(${unit.source})?$`, unit.flags).exec(plain(text));
  return found ? positive(Number(found[1]) * times(found[2] ?? '')) : undefined;
}

/** "2048", "1,000", "1.5k", "2 billion", "1e9", "500M tokens" */
export function parseCount(text: string): number | undefined {
  const found = new RegExp(`^${NUMBER}(e[+-]?\\d+)?\\s*([a-z]*?)\\s*(?:tokens?|gpus?)?$`).exec(plain(text));
  const unit = found ? COUNTS[found[3] ?? ''] : undefined;
  return found && unit !== undefined ? positive(Number(`${found[1] ?? ''}${found[2] ?? ''}`) * unit) : undefined;
}

/** "36h", "3 d 12 h", "2 weeks", "250 ms"; a bare number is in units of `bare` seconds. */
export function parseDuration(text: string, bare = 1): number | undefined {
  const words = plain(text);
  if (new RegExp(`^${NUMBER}$`).test(words)) return positive(Number(words) * bare);
  const part = new RegExp(`${NUMBER}\\s*([a-zµ]+)`, 'g');
  if (words.replace(part, '').trim() !== '') return undefined;
  let sum = 0;
  for (const [, amount, name = ''] of words.matchAll(part)) {
    const unit = SECONDS[name] ?? SECONDS[name.replace(/s$/, '')];
    if (unit === undefined) return undefined;
    sum += Number(amount) * unit;
  }
  return positive(sum);
}

/** Requests per second: "5", "5/s", "300/min", "10 rps", "2M/day" */
export function parseRate(text: string): number | undefined {
  const found = /^(.*?)\s*(?:(?:req(?:uests?)?)?\s*(?:\/|per)\s*([a-z]+)|rps|qps)?$/.exec(plain(text));
  const count = parseCount(found?.[1] ?? '');
  const name = found?.[2] ?? 's';
  const each = SECONDS[name] ?? SECONDS[name.replace(/s$/, '')];
  return count === undefined || each === undefined ? undefined : count / each;
}

/**
 * What is wrong with "h100-sxm=2.10, l4=0.50" or "2.49" before the program reads it; undefined if nothing is. A comma separates
 * prices, so a decimal comma would be read as two of them.
 */
export function wrongPrices(text: string): string | undefined {
  const comma = /(?:^|=)\s*(\$?\d+),(\d+)\s*(?:\/h)?\s*$/.exec(text) ?? /=\s*(\$?\d+),(\d+)(?=\s*,)/.exec(text);
  return comma ? `Write ${comma[1] ?? ''}${comma[2]?.length === 3 ? '' : '.'}${comma[2] ?? ''}: a comma separates prices.` : undefined;
}

/** "500", "$2.10/h", "2.1 USD", "10k" */
export function parseMoney(text: string): number | undefined {
  return parseCount(plain(text).replace(/^\$\s*/, '').replace(/\s*\/\s*(gpu-)?h(our)?$/, '').replace(/\s*(usd|\$|dollars?)$/, ''));
}
