import { signedPercent } from '../../lib/format';
import { describe, expect, it } from 'vitest';
import type { Plan, Schemas } from '../../api/client';
import { changeShown, caveatsOf, clickedDot, closeCall, deadlineChange, longerDeadline, reasonsOf, workPerDollar } from './compare';

const plan = (gpus: number, gpu: string, usd: number, hours: number, more: Partial<Plan> = {}) => ({ gpus, gpu, usd_total: usd, hours, provider: 'runpod', instance: `${String(gpus)}x${gpu}`, region: 'any', purchase: 'on-demand', basis: 'measured', ...more }) as Plan;
const found = (more: Partial<Schemas['Recommend']>) => ({ plans: [], ...more }) as unknown as Schemas['Recommend'];

describe('a close call', () => {
  const first = plan(2, 'mi300x', 100, 10);
  it('names the fastest within 5 %', () => {
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 103, 9), plan(4, 'mi300x', 104, 5)] }), false)).toBe('close call: 4 × mi300x for $4.00 more is twice as fast');
    expect(closeCall(found({ plans: [first], pareto: [first, plan(8, 'h100', 101, 3, { provider: 'lambda' })] }), false)).toBe('close call: 8 × h100 at lambda for $1.00 more is 3.3 times as fast');
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 103, 10)] }), false)).toBe('close call: 2 × h200 costs only $3.00 more');
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 100, 10)] }), false)).toBe('close call: 2 × h200 costs the same');
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 101, 5, { held_back: 'its price is 431 days old' })] }), false)).toBeUndefined();
  });
  it('does not exist if the next plan is far and the first is certain', () => {
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 130, 5)], confidence: 0.7 }), false)).toBeUndefined();
    expect(closeCall(found({ plans: [first, plan(2, 'h200', 130, 5)], confidence: 0.4 }), false)).toBe('close call: 2 × h200 for $30.00 more is twice as fast');
    expect(closeCall(found({}), false)).toBeUndefined();
  });
  it('for a service names the TTFT', () => {
    const service = plan(3, 'a40', 1000, 730, { ttft_seconds: 0.5 });
    expect(closeCall(found({ plans: [service, plan(2, 'l40', 1020, 730, { ttft_seconds: 0.25 })] }), true)).toBe('close call: 2 × l40 for $20.00/month more has a TTFT of 250 ms instead of 500 ms');
  });
});

describe('a selected plan', () => {
  it('has its own caveats, not those of the first plan', () => {
    const [first, second] = [plan(2, 'mi300x', 100, 10), plan(2, 'tpu', 120, 10, { basis: 'specification' })];
    const answer = found({ plans: [first, second], caveats: ['no mi300x benchmark backs this', 'its price is old'], warnings: ['its price is old'] });
    expect(caveatsOf(answer, first)).toEqual(['no mi300x benchmark backs this', 'its price is old']);
    expect(caveatsOf(answer, second)).toEqual(['no tpu benchmark: the speed comes from the data sheet']);
  });
});

describe('a longer deadline', () => {
  const answer = (usd: number) => found({ plans: [plan(16, 'b200', 130, 0.95)], changes: [{ what: 'spot machines', flags: '--purchase spot', plan: plan(1, 'a', 9, 1) }, { what: 'a later deadline', flags: '--deadline 80min', plan: plan(8, 'b200', usd, 1.2) }] } as Partial<Schemas['Recommend']>);
  it('is a row with what it saves, or that it saves nothing', () => {
    expect(longerDeadline(answer(97.5))).toBe('Longer deadline: 1 h 20 min saves 25 % (8 × b200, $97.50).');
    expect(longerDeadline(answer(129.9))).toBe('Longer deadline: 1 h 20 min saves nothing, this plan takes 57 min.');
    // A plan that the next longer deadline does not allow may be cheaper.
    expect(longerDeadline(answer(129.9), plan(2, 'b200', 126.1, 7))).toBe('Longer deadline: 1 h 20 min saves nothing; 7 h saves 3.0 % (2 × b200, $126.10).');
    expect(longerDeadline(answer(97.5), plan(2, 'b200', 91, 7))).toBe('Longer deadline: 1 h 20 min saves 25 % (8 × b200, $97.50); 7 h saves 30 % (2 × b200, $91.00).');
    expect(longerDeadline(answer(97.5), plan(8, 'b200', 97.5, 1.2))).toBe('Longer deadline: 1 h 20 min saves 25 % (8 × b200, $97.50).');
    expect(longerDeadline(answer(130), plan(16, 'b200', 130, 0.95))).toBe('Longer deadline: 1 h 20 min saves nothing, and neither does any longer one.');
    expect(longerDeadline(answer(130), plan(2, 'b200', 91, 7, { held_back: 'its price is 431 days old' }))).toBe('Longer deadline: 1 h 20 min saves nothing, this plan takes 57 min.');
    expect(longerDeadline(found({ plans: [plan(1, 'a', 1, 1)] }))).toBeUndefined();
    // No change is offered if the next longer deadlines save nothing.
    const first = found({ plans: [plan(16, 'b200', 130, 0.95)] });
    expect(longerDeadline(first, plan(2, 'b200', 91, 7))).toBe('Longer deadline: 7 h saves 30 % (2 × b200, $91.00); this plan takes 57 min.');
    expect(longerDeadline(first, plan(16, 'b200', 130, 0.95))).toBe('Longer deadline: none saves money; this plan takes 57 min.');
    expect(longerDeadline(first, plan(2, 'b200', 91, 7, { held_back: 'its price is 431 days old' }))).toBe('Longer deadline: none saves money; this plan takes 57 min.');
  });
});

describe('another deadline', () => {
  const [before, after] = [plan(2, 'mi300x', 100, 10), plan(4, 'mi300x', 101, 5)];
  const breakpoints = [{ when: 'mi300x costs 26 % more', then: 'x' }, { when: 'the deadline is under 14 h 11 min', then: '1 x 4x_MI300X (4 x mi300x) at runpod, on-demand for $101 in 7 h' }];
  it('reports its effect, and from when it would have one', () => {
    expect(deadlineChange(604800, 302400, before, before, breakpoints)).toBe('7 d → 3 d 12 h: same plan; changes below 14 h 11 min (4 × mi300x, +1 %)');
    expect(deadlineChange(604800, 302400, before, after, undefined)).toBe('7 d → 3 d 12 h: now 4 × mi300x, +1 %');
    expect(deadlineChange(604800, 1209600, before, before, breakpoints)).toBe('A longer deadline saves nothing: the cheapest plan needs 10 h.');
    expect(deadlineChange(7200, 3600, before, undefined, [])).toBe('2 h → 1 h: no plan finishes in time');
  });
  it('uses readable signs', () => {
    expect([0.0149, -0.2, 0.266, 0].map(signedPercent)).toEqual(['+1 %', '−20 %', '+27 %', '0 %']);
  });
});

describe('work per dollar', () => {
  it('for the same work is in the order of cost', () => {
    const work = { tokens_per_second: 1000, work_seconds: 1e6 };
    expect(workPerDollar(plan(1, 'a', 100, 1, work), false)).toBe(10);
    expect(workPerDollar(plan(1, 'a', 101, 1, work), false)).toBeLessThan(10);
    expect(workPerDollar(plan(1, 'a', 100, 1, { usd_per_million_tokens: 0.25 }), true)).toBe(4);
  });
});

describe('clicks on the chart', () => {
  it('reach every dot, also those that cover each other', () => {
    let seed = 5;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 50; ++round) {
      const dots = Array.from({ length: 20 }, (_, i) => ({ key: String(i), time: 10 ** (3 * random()), usd: 10 ** (2 * random()) }));
      dots.push(...dots.slice(0, 3).map((dot, i) => ({ ...dot, key: `p${String(i)}` })), ...dots.slice(0, 1).map((dot) => ({ ...dot, key: 'q' })));
      for (const dot of dots) {
        const nearest = dots.find((each) => each.time === dot.time && each.usd === dot.usd) ?? dot; // what the chart reports
        const reached = new Set<string>();
        let picked: string | undefined;
        for (let click = 0; click < dots.length; ++click) reached.add((picked = clickedDot(dots, nearest, picked).key));
        expect(reached).toContain(dot.key);
      }
    }
  });
});

describe('rejected GPUs', () => {
  it('have a reason each; those without a price are only named', () => {
    const rejected = (what: string, stage: string) => ({ what, gpu: what, stage, need: 'x', have: 'y', count: 1, nearest_fix: null }) as unknown as Parameters<typeof reasonsOf>[0][number];
    const found = reasonsOf([rejected('l4', 'memory'), rejected('a16', 'price'), rejected('h20', 'price')]);
    expect([found.reasons.map((each) => each.what), found.unpriced]).toEqual([['l4'], ['a16', 'h20']]);
  });
});

describe('a change', () => {
  it('names the values that lead to its plan', () => {
    expect(changeShown({ what: 'two changes', flags: '--purchase spot --budget 54' })).toBe('spot terms and a budget of $54.00');
    expect(changeShown({ what: 'two changes', flags: '--precision bf16 --budget 1,062' })).toBe('bf16 and a budget of $1,062');
    expect(changeShown({ what: 'two changes', flags: '--deadline 36h --max-gpus 128' })).toBe('a deadline of 1 d 12 h and Maximum GPUs 128');
    expect(changeShown({ what: 'the soonest plan', flags: '--deadline 17min' })).toBe('a deadline of 17 min');
    expect(changeShown({ what: 'a larger budget', flags: '--budget 77' })).toBe('a larger budget');
    expect(changeShown({ what: 'longer latency limits', flags: '--ttft-slo 17ms --tpot-slo 5ms' })).toBe('a TTFT limit of 17 ms and a TPOT limit of 5 ms');
  });
});
