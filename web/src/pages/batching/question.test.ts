import { describe, expect, it } from 'vitest';
import { DEFAULTS, rateWithin, searchFor, type Load } from './question';

describe('the search', () => {
  it('asks for the SLOs of the kind of model', () => {
    expect(searchFor(DEFAULTS, false)).toMatchObject({ slo: 'ttft=500ms,tpot=40ms', arrivals: 'poisson:8' });
    expect(searchFor(DEFAULTS, true)).toMatchObject({ slo: 'p99=100ms' });
    expect(searchFor(DEFAULTS, true)).not.toHaveProperty('isl');
  });
});

describe('the rate within a limit', () => {
  const loads: Load[] = [[1, 0.1], [2, 0.2], [3, 0.6]].map(([rate, seconds]) => ({ rate: rate ?? 0, seconds: seconds ?? 0, percentile: 'p95', metric: 'ttft' }));
  it('is where the line is crossed', () => {
    expect(rateWithin(loads, 'ttft', 'p95', 0.4)).toBeCloseTo(2.5);
    expect(rateWithin(loads, 'ttft', 'p95', 9)).toBe(3);
    expect(rateWithin(loads, 'ttft', 'p95', 0.01)).toBe(0);
    expect(rateWithin(loads, 'tpot', 'p95', 9)).toBe(0);
  });
});
