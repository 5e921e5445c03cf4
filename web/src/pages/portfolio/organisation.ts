// Edits the organisation as text, as the user sees it: a pin keeps one option of a workload.

export { default as EXAMPLE } from '../../../../examples/portfolio/team.yaml?raw';

export interface Listed {
  name: string;
  /** Each option as it is written, without its dash. */
  options: string[];
  /** The line of the workload, and the first and last line of each option. */
  line: number;
  spans: [number, number][];
}

const indentOf = (line: string) => line.length - line.trimStart().length;

/** The workloads and options of a file in the block form of the example; nothing for other forms of YAML. */
export function listed(text: string): Listed[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^workloads:\s*$/.test(line));
  if (start < 0) return [];
  const found: Listed[] = [];
  let now: Listed | undefined;
  let dash = -1; // the indent of the options' dashes while they are read
  lines.slice(start + 1).some((line, i) => {
    const at = start + 1 + i;
    if (line.trim() === '' || line.trim().startsWith('#')) return false;
    const indent = indentOf(line);
    if (indent === 0 && !line.startsWith('-')) return true; // the next section
    const name = /^\s*-\s+name:\s*(\S+)\s*$/.exec(line)?.[1];
    if (name !== undefined && (dash < 0 || indent < dash)) {
      now = { name, options: [], line: at, spans: [] };
      found.push(now);
      dash = -1;
    } else if (now && /^\s*options:\s*$/.test(line)) {
      dash = Infinity;
    } else if (now && dash >= 0) {
      if (dash === Infinity && line.trim().startsWith('- ')) dash = indent;
      if (indent === dash && line.trim().startsWith('- ')) {
        now.options.push(line.trim().slice(2));
        now.spans.push([at, at]);
      } else if (indent > dash && now.spans.length > 0) {
        const span = now.spans[now.spans.length - 1];
        if (span) span[1] = at;
      } else dash = -1;
    }
    return false;
  });
  return found;
}

/** "chat=0;rerank=1": pinned workloads and the option each must keep. */
export function readPins(text: string): Map<string, number> {
  return new Map(text.split(';').flatMap((part) => {
    const [name, option] = part.split('=');
    return name && option !== undefined && /^\d+$/.test(option) ? [[name, Number(option)] as [string, number]] : [];
  }));
}

export const writePins = (pins: Map<string, number>) => [...pins].map(([name, option]) => `${name}=${String(option)}`).join(';');

/** The file with only the pinned option of each pinned workload. `now` counts options, so it is left out there. */
export function pinned(text: string, pins: Map<string, number>): string {
  const gone = new Set<number>();
  const all = listed(text);
  const lines = text.split('\n');
  all.forEach((workload, i) => {
    const option = pins.get(workload.name);
    if (option === undefined || !workload.spans[option]) return;
    workload.spans.forEach(([from, to], j) => { if (j !== option) for (let line = from; line <= to; ++line) gone.add(line); });
    const end = all[i + 1]?.line ?? lines.length;
    for (let line = workload.line; line < end; ++line) if (/^\s*now:/.test(lines[line] ?? '')) gone.add(line);
  });
  return lines.filter((_, i) => !gone.has(i)).join('\n');
}
