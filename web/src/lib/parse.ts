// Values as people type them; undefined if the text is invalid. The program reads the same forms (src/base/parse_units.h).

const COUNTS: Record<string, number> = { '': 1, k: 1e3, thousand: 1e3, m: 1e6, mn: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9, g: 1e9, t: 1e12, tn: 1e12, trillion: 1e12 };
const SECONDS: Record<string, number> = { ms: 1e-3, s: 1, sec: 1, second: 1, m: 60, min: 60, minute: 60, h: 3600, hr: 3600, hour: 3600, d: 86400, day: 86400, w: 604800, wk: 604800, week: 604800 };
const NUMBER = '(\\d+(?:\\.\\d+)?|\\.\\d+)';

const plain = (text: string) => text.trim().toLowerCase().replace(/(\d)[,_ ](?=\d{3}(?!\d))/g, '$1');
const positive = (value: number) => (Number.isFinite(value) && value > 0 ? value : undefined);

/** "2048", "1,000", "1.5k", "2 billion", "1e9", "500M tokens" */
export function parseCount(text: string): number | undefined {
  const found = new RegExp(`^${NUMBER}(e\\+?\\d+)?\\s*([a-z]*?)\\s*(?:tokens?|gpus?)?$`).exec(plain(text));
  const unit = found ? COUNTS[found[3] ?? ''] : undefined;
  return found && unit !== undefined ? positive(Number(`${found[1] ?? ''}${found[2] ?? ''}`) * unit) : undefined;
}

/** "36h", "3 d 12 h", "2 weeks", "250 ms"; a bare number is in units of `bare` seconds. */
export function parseDuration(text: string, bare = 1): number | undefined {
  const words = plain(text);
  if (new RegExp(`^${NUMBER}$`).test(words)) return positive(Number(words) * bare);
  const part = new RegExp(`${NUMBER}\\s*([a-z]+)`, 'g');
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

/** "500", "$2.10/h", "2.1 USD", "10k" */
export function parseMoney(text: string): number | undefined {
  return parseCount(plain(text).replace(/^\$\s*/, '').replace(/\s*\/\s*(gpu-)?h(our)?$/, '').replace(/\s*(usd|\$|dollars?)$/, ''));
}
