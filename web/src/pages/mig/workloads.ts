// The workloads to place: a small table that is converted to the YAML file of `mig`.

import { valueIn, wrongIn } from '../../lib/number_field';
import { MIG } from '../numbers';

/** A row of the table, as typed: it may not be valid yet. */
export interface Workload {
  name: string;
  memory: string; // GiB
  load: string; // percent of a whole GPU
  replicas: string;
}

export const EXAMPLE: Workload[] = [
  { name: 'intent', memory: '3', load: '6', replicas: '3' },
  { name: 'embedder', memory: '8', load: '10', replicas: '2' },
  { name: 'chat-small', memory: '16', load: '22', replicas: '1' },
  { name: 'reranker', memory: '14', load: '12', replicas: '1' },
  { name: 'summariser', memory: '34', load: '35', replicas: '1' },
];

/** "intent:3:6:3;embedder:8:10:2", the form in the address. */
export function encode(workloads: Workload[]): string {
  return workloads.map((each) => [each.name, each.memory, each.load, each.replicas].map((cell) => cell.replace(/[:;]/g, '-')).join(':')).join(';');
}

/** Also rows that are not valid yet. */
export function decode(text: string): Workload[] {
  return text.split(';').flatMap((part) => {
    const [name, memory, load, replicas] = part.split(':');
    return part === '' ? [] : [{ name: name ?? '', memory: memory ?? '', load: load ?? '', replicas: replicas ?? '' }];
  });
}

/** What is wrong with each row; empty if all can be placed. */
export function mistakesOf(workloads: Workload[]): string[] {
  const names = new Set<string>();
  return workloads.flatMap((each, i) => {
    const row = each.name === '' ? `Row ${String(i + 1)}` : each.name;
    const twice = names.has(each.name);
    names.add(each.name);
    return [
      ...(/^[\w.-]+$/.test(each.name) ? [] : [`${row}: type a name of letters, digits, dots and dashes.`]),
      ...(twice ? [`${row}: two workloads have this name.`] : []),
      ...(['memory', 'load', 'replicas'] as const).flatMap((name) => { const wrong = wrongIn(MIG[name], each[name]); return wrong === undefined ? [] : [`${row}, ${MIG[name].label}: ${wrong}`]; }),
    ];
  });
}

/** "0.1.2;1.0.2": slices that the user moved, as GPU, slice and new GPU. */
export function readMoves(text: string): [number, number, number][] {
  return text.split(';').flatMap((part) => {
    const move = part.split('.').map(Number);
    return part !== '' && move.length === 3 && move.every((each) => Number.isInteger(each) && each >= 0) ? [move as [number, number, number]] : [];
  });
}

export function toYaml(workloads: Workload[]): string {
  const lines = workloads.flatMap((each) => [`  - name: ${each.name}`, `    memory: ${String(valueIn(MIG.memory, each.memory))}GiB`, `    load: ${String(valueIn(MIG.load, each.load))}%`, `    replicas: ${String(valueIn(MIG.replicas, each.replicas))}`]);
  return ['workloads:', ...lines, ''].join('\n');
}

export interface Piece {
  profile: string;
  start: number;
  size: number;
  workload: string;
  replica: number;
}

export interface Board {
  gpu: string;
  pieces: Piece[];
}

/** "2x1g.10gb,3g.40gb", the form of a layout in --check. */
export function layoutOf(profiles: string[]): string {
  const counts = new Map<string, number>();
  for (const profile of profiles) counts.set(profile, (counts.get(profile) ?? 0) + 1);
  return [...counts].map(([profile, count]) => (count > 1 ? `${String(count)}x${profile}` : profile)).join(',');
}

/** Moves a slice from one GPU to another; --check decides its position. */
export function moved(boards: Board[], from: number, piece: number, to: number): Board[] | null {
  const taken = boards[from]?.pieces[piece];
  if (!taken || from === to || !boards[to]) return null;
  return boards.map((board, i) => {
    if (i === from) return { ...board, pieces: board.pieces.filter((_, j) => j !== piece) };
    return i === to ? { ...board, pieces: [...board.pieces, taken] } : board;
  });
}

/** Places the slices of a board at the positions that --check returns for their profiles. */
export function placed(board: Board, created: { profile: string; start: number; size: number }[]): Board {
  const free = [...created];
  return {
    ...board,
    pieces: board.pieces.map((piece) => {
      const at = free.findIndex((slice) => slice.profile === piece.profile);
      const slice = free.splice(at, 1)[0];
      return slice ? { ...piece, start: slice.start, size: slice.size } : piece;
    }),
  };
}
