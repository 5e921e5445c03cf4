import { describe, expect, it } from 'vitest';
import { joined, totalSaved, type Decision, type Row } from './shapes';

describe('decisions', () => {
  it('have their saving, if known', () => {
    const decisions = [{ id: 'D1' }, { id: 'D2' }] as Decision[];
    const rows = joined(decisions, { measured_usd: 5, predicted_usd: 0, decisions: [{ id: 'D2', verdict: 'kept', measured_usd: 5, predicted_usd: null }] });
    expect(rows.map((row) => [row.id, row.verdict, row.measured_usd])).toEqual([['D1', null, null], ['D2', 'kept', 5]]);
    expect(joined(decisions, undefined)[0]?.measured_usd).toBeNull();
  });
  it('add up by team to the total, and to nothing if nothing was measured', () => {
    const rows = [['a', 5], ['b', -3], ['a', null], ['c', null]].map(([team, measured_usd]) => ({ team, measured_usd }) as Row);
    const of = (team: string) => totalSaved(rows.filter((row) => row.team === team));
    expect(of('c')).toBeUndefined();
    expect((of('a') ?? 0) + (of('b') ?? 0)).toBe(totalSaved(rows));
  });
});
