import { describe, expect, it } from 'vitest';
import { dated, lines, today } from './save';

describe('saved files', () => {
  it('have the date in their name, before the extension', () => {
    expect(today(new Date(2026, 0, 5))).toBe('2026-01-05');
    expect(dated('rightsize-plans.csv', '2026-11-16')).toBe('rightsize-plans-2026-11-16.csv');
    expect(dated('roofline', '2026-11-16')).toBe('roofline-2026-11-16');
  });
  it('wrap long notes between words without losing any', () => {
    const text = 'The area of a dot is its time. Left of the dashed line memory is the limit, right of it compute.';
    for (const most of [10, 30, 200]) {
      const broken = lines(text, most);
      expect(broken.join(' ')).toBe(text);
      for (const line of broken) expect(line.length <= most || !line.includes(' ')).toBe(true);
    }
  });
});
