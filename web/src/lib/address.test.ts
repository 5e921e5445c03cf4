import { describe, expect, it } from 'vitest';
import { readAddress, writeAddress } from './address';

const DEFAULTS = { model: 'a', rate: '5', note: '' };

describe('the address', () => {
  it('contains only values that differ from the defaults, and reads back the same', () => {
    const state = { model: 'b/c d', rate: '5', note: 'x&y=z#?' };
    const text = writeAddress(state, DEFAULTS);
    expect(text).not.toContain('rate');
    expect(readAddress(text, DEFAULTS)).toEqual(state);
    expect(writeAddress(DEFAULTS, DEFAULTS)).toBe('');
  });
  it('keeps long values from the server', () => {
    const state = { ...DEFAULTS, note: '{"a": 1}'.repeat(100) };
    const text = writeAddress(state, DEFAULTS);
    expect(text.startsWith('#note=')).toBe(true);
    expect(readAddress(text, DEFAULTS)).toEqual(state);
  });
  it('drops unknown names', () => {
    expect(readAddress('?model=b&evil=1', DEFAULTS)).toEqual({ ...DEFAULTS, model: 'b' });
  });
});
