import { describe, expect, it } from 'vitest';
import type { Plan, Schemas } from '../../api/client';
import { linesOf } from './beside';
import { choicesOf, labelsOf, worthATest } from './compare';
import { documentOf } from './decide';

const plan = (gpus: number, gpu: string, usd: number, hours: number, more: Partial<Plan> = {}) => ({ rank: 1, gpus, gpu, usd_total: usd, usd_per_hour: usd / hours, hours, instances: 1, provider: 'runpod', instance: `${String(gpus)}x${gpu}`, region: 'any', purchase: 'on-demand', basis: 'measured', ...more }) as Plan;
const found = (more: Partial<Schemas['Recommend']>) => ({ plans: [], ...more }) as unknown as Schemas['Recommend'];

describe('the plans that can be selected', () => {
  const first = plan(8, 'b200', 90, 2, { energy_kwh: 16 });
  const answer = found({ plans: [first, plan(4, 'mi300x', 70, 7, { basis: 'specification', energy_kwh: 27 }), plan(4, 'b200', 88, 3, { energy_kwh: 15 })], pareto: [first, plan(64, 'b200', 160, 0.3, { energy_kwh: 22 })] });
  it('are the ranked ones and the front, each once', () => {
    expect(choicesOf(answer).map((each) => each.key)).toEqual(['1', '2', '3', 'p2']);
  });
  it('have labels that are true of them', () => {
    const labels = labelsOf(answer, false);
    const all = choicesOf(answer);
    expect(Object.fromEntries(labels)).toEqual({ 1: ['recommended'], 2: ['cheapest by data sheet'], 3: ['cheapest with a benchmark', 'lowest energy'], p2: ['fastest'] });
    const fastest = all.find((each) => labels.get(each.key)?.includes('fastest'));
    for (const each of all) expect(each.plan.hours).toBeGreaterThanOrEqual(fastest?.plan.hours ?? Infinity);
  });
  it('give a decision exactly one plan', () => {
    const kept = JSON.parse(documentOf(answer, choicesOf(answer)[3]?.plan ?? first)) as { plans: Plan[] };
    expect(kept.plans.map((each) => [each.rank, each.gpus])).toEqual([[1, 64]]);
  });
});

describe('two plans side by side', () => {
  it('differ by the second against the first', () => {
    const lines = linesOf(plan(2, 'a', 100, 10), plan(4, 'b', 80, 5), false);
    expect(lines.find((line) => line.name === 'Total cost')).toEqual({ name: 'Total cost', cells: ['$100.00', '$80.00'], difference: '−20 %' });
    expect(lines.find((line) => line.name === 'Time')?.difference).toBe('−50 %');
    expect(lines.some((line) => line.name === 'TTFT')).toBe(false);
  });
});

describe('a plan without a benchmark', () => {
  it('is worth a test if the program says so', () => {
    expect(worthATest(found({}))).toBeUndefined();
    expect(worthATest(found({ experiment: { plan: plan(4, 'mi300x', 70, 7), saving_share: 0.222, test_usd: 4.78, test_seconds: 1800 } as never }))).toBe('Worth a test: 4 × mi300x at runpod could save 22 % ($70.00) but has no benchmark. A test of 30 min costs about $4.78.');
    expect(worthATest(found({ experiment: { plan: plan(4, 'mi300x', 70, 7), saving_share: 0, test_usd: 4.78, test_seconds: 1800 } as never }))).toBe('Test it first: mi300x has no benchmark. A test of 30 min costs about $4.78.');
  });
});
