import type { Schemas } from '../../api/client';

export const DEFAULTS = {
  model: 'llama-3.1-8b',
  users: '200',
  turns: '6',
  system: '1536', // tokens of the system prompt that all users share
  turn: '512', // tokens that a turn adds: the question and the answer before it
  size: '40', // GB, the line in the chart
};
export type State = typeof DEFAULTS;
export interface Point { bytes: number; hit_rate: number }

export const BLOCK = 512; // tokens

/**
 * Conversations as a trace in Mooncake's format: users take turns, and each prompt repeats the conversation so far.
 * All begin with the same system prompt. Only whole blocks can be found again, so lengths are rounded down to blocks.
 */
export function conversations(state: State): string {
  const [users, turns] = [Number(state.users), Number(state.turns)];
  const shared = Math.floor(Number(state.system) / BLOCK), added = Number(state.turn) / BLOCK;
  const lines: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    for (let user = 0; user < users; user += 1) {
      const own = Math.floor(added * (turn + 1));
      const ids = [...Array(shared).keys(), ...Array.from({ length: own }, (_, i) => shared + (user * Math.ceil(added * turns) + i))];
      if (ids.length > 0) lines.push(JSON.stringify({ timestamp: (turn * users + user) * 100, input_length: ids.length * BLOCK, output_length: 1, hash_ids: ids }));
    }
  }
  return lines.join('\n');
}

/** The curve with its knee. */
export const pointsOf = (answer: Pick<Schemas['Cache'], 'curve' | 'knee'>): Point[] => [...(answer.curve ?? []), answer.knee as unknown as Point].map((point) => ({ bytes: point.bytes ?? 0, hit_rate: point.hit_rate })).sort((a, b) => a.bytes - b.bytes);

/** The hit rate of a cache of this size, between the points of the curve. */
export function hitRate(curve: Point[], bytes: number): number {
  let before = { bytes: 0, hit_rate: 0 };
  for (const point of curve) {
    if (point.bytes >= bytes) return before.hit_rate + ((point.hit_rate - before.hit_rate) * (bytes - before.bytes)) / Math.max(1, point.bytes - before.bytes);
    before = point;
  }
  return before.hit_rate;
}
