// Numbers as people read them; the same roundings as the program's own reports.

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
  const sign = usd < 0 ? '-' : '';
  if (size >= 1e6) return `${sign}$${number(size / 1e6)}M`;
  if (size >= 1000) return `${sign}$${Math.round(size).toLocaleString('en-US')}`;
  if (size >= 1 || size === 0) return `${sign}$${size.toFixed(2)}`;
  return `${sign}$${number(size)}`;
}

/** For axes: $20k rather than $20,000. */
export function shortMoney(usd: number): string {
  const size = Math.abs(usd);
  if (size >= 1e6) return `$${trim((usd / 1e6).toFixed(1))}M`;
  if (size >= 1000) return `$${trim((usd / 1000).toFixed(1))}k`;
  return `$${number(usd)}`;
}

const SPANS: [number, string][] = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
];

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds === 0) return '0 s';
  const size = Math.abs(seconds);
  // Two days and more are days; 36 hours is still hours.
  const [unit, name] = SPANS.find(([each]) => size >= (each === 86400 ? 2 * each : each)) ?? [1e-6, 'µs'];
  return `${number(seconds / unit)} ${name}`;
}

/** What a flag takes: "36h", "250ms". */
export function durationFlag(seconds: number): string {
  if (seconds >= 3600) return `${number(seconds / 3600, 4).replace(/,/g, '')}h`;
  if (seconds >= 1) return `${number(seconds, 4).replace(/,/g, '')}s`;
  return `${number(seconds * 1000, 4).replace(/,/g, '')}ms`;
}

export function gib(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '–';
  return `${number(bytes / 2 ** 30)} GiB`;
}

export function percent(share: number | null | undefined, digits = 0): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  return `${(100 * share).toFixed(digits)} %`;
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
