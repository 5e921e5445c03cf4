import { describe, expect, it } from 'vitest';
import { missing } from './decide';

describe('a decision', () => {
  it('says what is missing', () => {
    expect(Object.keys(missing({ workload: '', before: '' }))).toEqual(['workload']);
    expect(Object.keys(missing({ workload: 'chat', before: 'a lot' }))).toEqual(['before']);
    expect(missing({ workload: 'chat', before: '$9,200' })).toEqual({});
    expect(missing({ workload: 'chat', before: '' })).toEqual({});
  });
});
