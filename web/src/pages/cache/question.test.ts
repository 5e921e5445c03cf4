import { describe, expect, it } from 'vitest';
import { wrongFields } from '../../lib/number_field';
import { CACHE } from '../numbers';
import { conversations, DEFAULTS, hitRate, type Point } from './question';

interface Request {
  hash_ids: number[];
}
const read = (text: string) => text.split('\n').map((line) => JSON.parse(line) as Request);

describe('cache', () => {
  it('repeats the conversation in each turn, and shares only the system prompt between users', () => {
    const requests = read(conversations({ ...DEFAULTS, users: '3', turns: '4', system: '1024', turn: '512' }));
    expect(requests).toHaveLength(12);
    requests.forEach((request, i) => {
      const before = requests[i - 3];
      if (before) expect(request.hash_ids.slice(0, before.hash_ids.length)).toEqual(before.hash_ids);
    });
    const [first, second] = requests.slice(9).map((request) => new Set(request.hash_ids));
    expect([...(first ?? [])].filter((id) => second?.has(id))).toEqual([0, 1]);
  });
  it('interpolates between the points of the curve', () => {
    const curve = [{ bytes: 100, hit_rate: 0.2 }, { bytes: 300, hit_rate: 0.6 }] as unknown as Point[];
    expect(hitRate(curve, 50)).toBeCloseTo(0.1);
    expect(hitRate(curve, 200)).toBeCloseTo(0.4);
    expect(hitRate(curve, 900)).toBeCloseTo(0.6);
  });
  it('fit into a request, whatever a link contains', () => {
    for (const given of ['end', '5000000', '1e26', 'Infinity', 'NaN', '-5', 'many']) {
      const state = { ...DEFAULTS, ...Object.fromEntries(Object.entries(CACHE).map(([name, field]) => [name, given === 'end' ? String(field.most) : given])) };
      const wrong = Object.keys(wrongFields(CACHE, state));
      if (given === 'end') expect(JSON.stringify({ trace: conversations(state) }).length).toBeLessThan(8 * 2 ** 20);
      expect(wrong.length > 0).toBe(given !== 'end');
    }
  });
});
