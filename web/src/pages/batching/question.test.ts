import type { BatchPlan, Schemas } from '../../api/client';
import { describe, expect, it } from 'vitest';
import { chosenPlan, DEFAULTS, missed, nearestPlan, rateWithin, searchFor, type Load } from './question';

describe('the search', () => {
  it('uses the SLOs of the kind of model', () => {
    expect(searchFor(DEFAULTS, false)).toMatchObject({ slo: 'ttft=500ms,tpot=40ms', arrivals: 'poisson:8' });
    expect(searchFor(DEFAULTS, true)).toMatchObject({ slo: 'p99=100ms' });
    expect(searchFor(DEFAULTS, true)).not.toHaveProperty('isl');
  });
});

describe('the rate within a limit', () => {
  const loads: Load[] = [[1, 0.1], [2, 0.2], [3, 0.6]].map(([rate, seconds]) => ({ rate: rate ?? 0, seconds: seconds ?? 0, percentile: 'p95', metric: 'ttft' }));
  it('is where the curve crosses the limit', () => {
    expect(rateWithin(loads, 'ttft', 'p95', 0.4)).toBeCloseTo(2.5);
    expect(rateWithin(loads, 'ttft', 'p95', 9)).toBe(3);
    expect(rateWithin(loads, 'ttft', 'p95', 0.01)).toBe(0);
    expect(rateWithin(loads, 'tpot', 'p95', 9)).toBe(0);
  });
  it('never shows a setting that misses a limit as the answer', () => {
    const plan = (value_ms: number) => ({ gpu: 'g', slos: [{ metric: 'ttft', slo_percentile: 'p95', value_ms, limit_ms: 50 }] }) as unknown as BatchPlan;
    const answer = (found: BatchPlan | null, ...frontier: BatchPlan[]) => ({ plan: found, frontier }) as unknown as Schemas['Batch'];
    for (const at of [0, 1, 7]) {
      expect(chosenPlan(answer(null, plan(105), plan(49)), at)).toBeUndefined();
      expect(missed(chosenPlan(answer(plan(40), plan(105), plan(49), plan(40)), at) ?? plan(999))).toEqual([]);
    }
    expect(nearestPlan(answer(null, plan(105), plan(53.5), plan(80)))?.slos[0]?.value_ms).toBe(53.5);
    expect(nearestPlan(answer(null))).toBeUndefined();
  });
});
