import type { BatchPlan, Schemas } from '../../api/client';
import { describe, expect, it } from 'vitest';
import { chosenPlan, DEFAULTS, missed, nearestPlan, ownLoad, quickOf, rateWithin, replicasShown, searchFor, type Load } from './question';

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

describe('a plan of replicas of two sizes', () => {
  const mixed = { gpu: 'h100-sxm', gpus: 20, replicas: 2, tp: 8, beside: { gpu: 'h100-sxm', replicas: 1, tp: 4 }, load: 0.67, slos: [], ttft_ms: { p50: 24, p95: 48, p99: 71 } } as unknown as BatchPlan;
  it('names every replica: the sizes add up to its GPUs', () => {
    for (const [replicas, tp, more, size] of [[2, 8, 1, 4], [1, 1, 3, 2], [5, 4, 1, 1]] as const) {
      const { value, note } = replicasShown({ gpu: 'g', replicas, tp, beside: { gpu: 'g', replicas: more, tp: size } });
      const parts = [...(note ?? '').matchAll(/(\d+) × (\d+)/g)].map(([, count, each]) => [Number(count), Number(each)] as const);
      expect(parts.reduce((sum, [count, each]) => sum + count * each, 0)).toBe(replicas * tp + more * size);
      expect(Number(value)).toBe(replicas + more);
    }
    expect(replicasShown({ gpu: 'g', replicas: 3, tp: 1 })).toEqual({ value: '3' });
  });
  it('is drawn at its own load only', () => {
    expect(ownLoad(mixed, 64).map((load) => [load.rate, load.percentile, load.seconds])).toEqual([[64, 'p50', 0.024], [64, 'p95', 0.048], [64, 'p99', 0.071]]);
  });
});

describe('the quick search', () => {
  const last = { plan: { gpu: 'g', gpus: 4, replicas: 4, tp: 1 }, capacity_per_second: 60 } as unknown as Schemas['Batch'];
  it('tries about as many replicas as any rate needs', () => {
    for (const rate of [0.1, 3, 15, 64, 777, 2000]) {
      const quick = quickOf(searchFor({ ...DEFAULTS, rate: String(rate) }, false), last) as unknown as { replicas: string; requests: string; tp: number };
      const tried = quick.replicas.split(',').map(Number);
      const needed = rate / 15;
      expect(tried.every((each, i) => Number.isInteger(each) && each > (tried[i - 1] ?? 0))).toBe(true);
      expect(tried.some((each) => each >= needed && each <= 1.5 * needed + 1)).toBe(true);
      expect(Number(quick.requests)).toBeGreaterThanOrEqual(Math.min(50000, 50 * rate));
      expect(quick.tp).toBe(1);
    }
    expect(quickOf(searchFor(DEFAULTS, false), undefined)).toBeNull();
  });
});
