import { describe, expect, it } from 'vitest';
import { toCsv } from './csv';

describe('CSV', () => {
  it('quotes special characters and disables formulas', () => {
    expect(toCsv([{ a: 'x,y', b: 1 }, { a: 'say "hi"', b: null }, { a: '=1+1', b: -2 }])).toBe('a,b\n"x,y",1\n"say ""hi""",\n\'=1+1,-2\n');
  });
  it('is empty without rows', () => {
    expect(toCsv([])).toBe('');
  });
});
