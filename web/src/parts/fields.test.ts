import { describe, expect, it } from 'vitest';
import { fromPosition, matching, toPosition } from './fields';

describe('a slider', () => {
  it('reaches both ends and comes back to where it stood', () => {
    expect(fromPosition(0, 3600, 86400)).toBe(3600);
    expect(fromPosition(1000, 3600, 86400)).toBe(86400);
    for (const value of [1, 5, 20, 130]) expect(fromPosition(toPosition(value, 1, 1000), 1, 1000)).toBeCloseTo(value, 0);
  });
  it('gives round numbers', () => {
    expect(String(fromPosition(333, 0.1, 1000))).toHaveLength(3);
  });
});

describe('the search for a model', () => {
  const choices = ['qwen2.5-1.5b', 'llama-3.1-8b', 'llama-3.1-70b'].map((value) => ({ value, note: '', words: value }));
  it('wants every word, and puts what begins so first', () => {
    expect(matching(choices, 'llama 70').map((each) => each.value)).toEqual(['llama-3.1-70b']);
    expect(matching(choices, '')).toHaveLength(3);
    expect(matching(choices, 'zzz')).toEqual([]);
  });
});
