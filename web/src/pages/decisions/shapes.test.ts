import { describe, expect, it } from 'vitest';
import { joined, type Decision } from './shapes';

describe('decisions', () => {
  it('have their saving, if known', () => {
    const decisions = [{ id: 'D1' }, { id: 'D2' }] as Decision[];
    const rows = joined(decisions, { measured_usd: 5, predicted_usd: 0, decisions: [{ id: 'D2', verdict: 'kept', measured_usd: 5, predicted_usd: null }] });
    expect(rows.map((row) => [row.id, row.verdict, row.measured_usd])).toEqual([['D1', null, null], ['D2', 'kept', 5]]);
    expect(joined(decisions, undefined)[0]?.measured_usd).toBeNull();
  });
});
