import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amountOf, period, periodInText, running, setPeriod } from './period';

describe('running costs', () => {
  beforeEach(() => {
    const kept = new Map<string, string>();
    Object.assign(globalThis, { localStorage: { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => kept.set(name, value) }, dispatchEvent: () => true });
  });
  afterEach(() => { Reflect.deleteProperty(globalThis, 'localStorage'); });
  it('are per month until the visitor chooses years, which are twelve months', () => {
    expect(period()).toBe('month');
    expect(running(2913)).toBe('$2,913/month');
    setPeriod('year');
    expect(running(2913)).toBe('$34,956/year');
    expect(amountOf(2913)).toBe('$34,956');
    expect(running(null)).toBe('–');
    expect(running(-100)).toBe('−$1,200/year');
  });
  it('are converted in sentences of the program; other amounts stay', () => {
    const text = 'saves $1,234.50/month (of $2.5k per month); a GPU costs $2.10/h, and the job $99';
    expect(periodInText(text)).toBe(text);
    setPeriod('year');
    expect(periodInText(text)).toBe('saves $14,814/year (of $30,000 per year); a GPU costs $2.10/h, and the job $99');
  });
});
