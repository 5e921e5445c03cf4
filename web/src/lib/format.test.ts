import { describe, expect, it } from 'vitest';
import { knit, apart, duration, durationFlag, magnitude, money, moneyRange, number, percent, plural, shortMoney, tied, unitOf, middleCut } from './format';

describe('a line', () => {
  it('keeps counts and names together', () => {
    expect(knit('64 × h100-sxm at 85 %')).toBe('64\u00a0×\u00a0h100-sxm at 85\u00a0%');
  });
  it('keeps numbers and their units together', () => {
    expect(tied('54 % of 2 × a40 for 7 h 6 min at 1 time')).toBe('54\u00a0% of 2 × a40 for 7\u00a0h 6\u00a0min at 1 time');
  });
});

describe('numbers', () => {
  it('keep three digits and separate thousands', () => {
    expect(number(1234567)).toBe('1,234,567');
    expect(number(0.012345)).toBe('0.0123');
    expect(number(9.5)).toBe('9.5');
    expect(number(100)).toBe('100');
    expect(number(0)).toBe('0');
    expect(number(NaN)).toBe('–');
  });
  it('show cents below a thousand dollars', () => {
    expect(money(66.964)).toBe('$66.96');
    expect(money(18063.2)).toBe('$18,063');
    expect(money(0.00182)).toBe('$0.00182');
    expect([0.5, 0.73, 0.526, 0.998, -0.5].map(money)).toEqual(['$0.50', '$0.73', '$0.526', '$0.998', '−$0.50']);
    expect(money(2_500_000)).toBe('$2.5M');
    expect(money(null)).toBe('–');
    expect(moneyRange(170.45, 358.02)).toBe('80 % between $170 and $358');
    expect(moneyRange(2.004, 9.5)).toBe('80 % between $2.00 and $9.50');
    expect(shortMoney(20000)).toBe('$20k');
  });
  it('show times in usual units', () => {
    expect(duration(7 * 86400)).toBe('7 d');
    expect(duration(36 * 3600)).toBe('1 d 12 h');
    expect(duration(302400)).toBe('3 d 12 h');
    expect(duration(51087)).toBe('14 h 11 min');
    expect(duration(86399)).toBe('24 h');
    expect(duration(89.5e-6, 2)).toBe('90 µs');
    expect(duration(0.25)).toBe('250 ms');
    expect([apart(0.05003, 0.05), apart(0.06, 0.05), apart(0.05, 0.05)]).toEqual(['50.03 ms', '60 ms', '50 ms']);
    expect(duration(90)).toBe('1 min 30 s');
    expect(unitOf(302400)).toBe(86400);
    expect(unitOf(0.25)).toBe(0.001);
    expect(duration(undefined)).toBe('–');
  });
  it('become flags that the program reads back', () => {
    expect(durationFlag(604800)).toBe('168h');
    expect(durationFlag(0.05)).toBe('50ms');
    expect(durationFlag(1.5)).toBe('1.5s');
    expect(durationFlag(60 * 86400)).toBe('1440h');
    expect(durationFlag(360900)).toBe('100.25h');
  });
  it('show shares, counts and sizes', () => {
    expect(percent(0.511)).toBe('51 %');
    expect(percent(-0.0001)).toBe('0 %');
    expect(percent(-0.0001, 1)).toBe('0.0 %');
    expect(percent(-0.02)).toBe('-2 %');
    expect(magnitude(8.03e9)).toBe('8.03 B');
    expect(plural(1, 'GPU')).toBe('1 GPU');
    expect(plural(2, 'GPU')).toBe('2 GPUs');
  });
});

describe('long names', () => {
  it('keep both ends and never exceed the space', () => {
    const name = 'ip-10-11-212-47.eu-central-1.compute.internal/7';
    for (let most = 2; most < 60; ++most) {
      const cut = middleCut(name, most);
      expect(cut.length).toBe(Math.min(most, name.length));
      if (most > 4) expect([cut.slice(0, 2), cut.slice(-2)]).toEqual(['ip', '/7']);
    }
  });
});

describe('axes', () => {
  it('write the sign before the dollar, as everywhere', () => {
    expect([-25, -1500, -2e6, 25].map(shortMoney)).toEqual(['−$25', '−$1.5k', '−$2M', '$25']);
  });
});
