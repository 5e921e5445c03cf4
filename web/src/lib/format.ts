// Numbers as people read them, rounded as in the program's reports.

const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** Three significant digits, thousands separated. */
export function number(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size === 0) return '0';
  return trim(value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
}

export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined || !Number.isFinite(usd)) return '–';
  const size = Math.abs(usd);
  const sign = usd < 0 ? '−' : '';
  if (size >= 1e6) return `${sign}$${number(size / 1e6)}M`;
  if (size >= 1000) return `${sign}$${Math.round(size).toLocaleString('en-US')}`;
  if (size >= 1 || size === 0) return `${sign}$${size.toFixed(2)}`;
  const text = number(size);
  return `${sign}$${/\.\d{2}/.test(text) ? text : size.toFixed(2)}`; // at least cents, as $0.50
}

/** The interval around a prediction; cents would suggest too much precision. */
export function moneyRange(low: number | null | undefined, high: number | null | undefined): string {
  const round = (usd: number | null | undefined) => (typeof usd === 'number' && usd >= 10 && usd < 1000 ? `$${number(Math.round(usd))}` : money(usd));
  return `80 % between ${round(low)} and ${round(high)}`;
}

/** For axes: $20k rather than $20,000. */
export function shortMoney(usd: number): string {
  const size = Math.abs(usd);
  const sign = usd < 0 ? '−' : '';
  if (size >= 1e6) return `${sign}$${trim((size / 1e6).toFixed(1))}M`;
  if (size >= 1000) return `${sign}$${trim((size / 1000).toFixed(1))}k`;
  return `${sign}$${number(size)}`;
}

const PARTS: [number, string][] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
];
const PAIRS: [number, string, number, string][] = [
  [86400, 'd', 3600, 'h'],
  [3600, 'h', 60, 'min'],
  [60, 'min', 1, 's'],
];

/** "250 ms", "3 min 20 s", "5 h 12 min", "3 d 12 h" */
export function duration(seconds: number | null | undefined, digits = 3): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds === 0) return '0 s';
  const size = Math.abs(seconds);
  const pair = PAIRS.find(([unit]) => size >= unit);
  if (!pair) {
    const [unit, name] = PARTS.find(([each]) => size >= each) ?? [1e-6, 'µs'];
    return `${number(seconds / unit, digits)} ${name}`;
  }
  const [unit, name, part, partName] = pair;
  const parts = Math.round(size / part);
  const rest = parts % (unit / part);
  const whole = `${seconds < 0 ? '-' : ''}${number((parts - rest) / (unit / part))} ${name}`;
  return rest === 0 ? whole : `${whole} ${number(rest)} ${partName}`;
}

/** A time with as many digits as tell it from another one. */
export function apart(seconds: number, other: number): string {
  const digits = [3, 4, 5, 6].find((each) => duration(seconds, each) !== duration(other)) ?? 3;
  return duration(seconds, digits);
}

/** The unit in which a time is shown, in seconds; a bare number typed over it has this unit. */
export function unitOf(seconds: number): number {
  return PAIRS.find(([unit]) => seconds >= unit)?.[0] ?? PARTS.find(([unit]) => seconds >= unit)?.[0] ?? 1e-3;
}

/** The form of a flag: "36h", "250ms". */
export function durationFlag(seconds: number): string {
  const exact = (value: number) => String(Number(value.toPrecision(8)));
  if (seconds >= 3600) return `${exact(seconds / 3600)}h`;
  return seconds >= 1 ? `${exact(seconds)}s` : `${exact(seconds * 1000)}ms`;
}

export function gib(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '–';
  return `${number(bytes / 2 ** 30)} GiB`;
}

export function percent(share: number | null | undefined, digits = 0): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  return `${(100 * share).toFixed(digits).replace(/^-(0(\.0*)?)$/, '$1')} %`;
}

/** "+1 %", "−20 %" */
export function signedPercent(share: number): string {
  const size = number(Math.abs(100 * share), Math.abs(share) < 0.1 ? 1 : 2);
  return size === '0' ? '0 %' : `${share < 0 ? '−' : '+'}${size} %`;
}

export function magnitude(value: number): string {
  for (const [unit, name] of [
    [1e12, ' T'],
    [1e9, ' B'],
    [1e6, ' M'],
    [1e3, ' k'],
  ] as const) {
    if (Math.abs(value) >= unit) return number(value / unit) + name;
  }
  return number(value);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Long names keep both ends, which tell hosts and teams apart: "ip-10-0-…7-21". */
export function middleCut(text: string, most: number, end = Math.floor((most - 1) / 2)): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1 - end)}…${end > 0 ? text.slice(-end) : ''}`;
}

/** Numbers and their units stay on one line. */
export function tied(text: string): string {
  return text.replace(/(?<=\d) (?=(%|[µm]?s|min|h|d|[kMGT]i?B|kWh|J|W|B|M)(?![\w]))/g, '\u00a0');
}

/** Also counts and their names: "64 × h100-sxm". */
export const knit = (text: string) => tied(text).replace(/(?<=\d) ×/g, '\u00a0×').replace(/× (?=\w)/g, '×\u00a0');

/** "there is no driver" -> "There is no driver." */
export function sentence(text: string): string {
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
