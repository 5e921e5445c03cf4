export type Row = Record<string, string | number | boolean | null | undefined>;

function cell(value: Row[string]): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  // Spreadsheets would interpret text that begins like a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** The rows with the columns of the first, as CSV with a header. */
export function toCsv(rows: Row[]): string {
  const first = rows[0];
  if (!first) return '';
  const names = Object.keys(first);
  return [names.map(cell).join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(','))].join('\n') + '\n';
}
