import { describe, expect, it } from 'vitest';
import { COUNT, HOURLY, RATE, TIME, type Scale } from '../lib/number_field';
import { fromPosition, matching, stepFrom, toPosition } from './fields';

describe('a slider', () => {
  it('reaches both ends and returns to its position', () => {
    expect(fromPosition(0, 3600, 86400)).toBe(3600);
    expect(fromPosition(1000, 3600, 86400)).toBe(86400);
    for (const value of [1, 5, 20, 130]) expect(fromPosition(toPosition(value, 1, 1000), 1, 1000)).toBeCloseTo(value, 0);
  });
  it('gives round numbers', () => {
    expect(String(fromPosition(333, 0.1, 1000))).toHaveLength(3);
    for (let at = 1; at < 1000; ++at) expect(fromPosition(at, 3600, 60 * 86400, TIME.step) % 900).toBe(0);
  });
  it('moves with the keys to the next displayed value, from end to end and back', () => {
    const sliders: [Scale, number, number][] = [[RATE, 0.1, 1000], [COUNT, 1, 131072], [TIME, 3600, 60 * 86400], [TIME, 0.005, 20], [HOURLY, 0.1, 20]];
    for (const [scale, least, most] of sliders) {
      for (const up of [true, false]) {
        let value = up ? least : most;
        for (let presses = 0; value !== (up ? most : least); ++presses) {
          const next = stepFrom(value, up, least, most, scale.step);
          expect(scale.show(next)).not.toBe(scale.show(value));
          expect(next > value).toBe(up);
          expect(presses).toBeLessThan(700);
          value = next;
        }
      }
    }
    expect(stepFrom(5.2, true, 0.1, 1000)).toBe(5.3);
    expect(stepFrom(10, false, 0.1, 1000)).toBe(9.9);
    expect(stepFrom(5.237, true, 0.1, 1000)).toBe(5.3);
    expect(stepFrom(2000, true, 0.1, 1000)).toBe(2000); // typed beyond the end: stays
  });
  it('shows text that can be typed back', () => {
    for (const [scale, value] of [[RATE, 5.2], [COUNT, 2048], [COUNT, 131072], [TIME, 302400], [TIME, 0.25], [HOURLY, 2.1]] as const) expect(scale.read(scale.show(value), 1)).toBe(value);
  });
});

describe('the search for a model', () => {
  const choices = ['qwen2.5-1.5b', 'llama-3.1-8b', 'llama-3.1-70b'].map((value) => ({ value, note: '', words: value }));
  it('matches every word, and ranks prefixes first', () => {
    expect(matching(choices, 'llama 70').map((each) => each.value)).toEqual(['llama-3.1-70b']);
    expect(matching(choices, '')).toHaveLength(3);
    expect(matching(choices, 'zzz')).toEqual([]);
  });
});
