import { describe, expect, it } from 'vitest';
import { roomForLabels } from './axes';

describe('space for labels after bars', () => {
  it('keeps every label inside and the bars as long as possible', () => {
    for (let i = 0; i < 200; ++i) {
      const width = 150 + 400 * Math.random();
      const bars = Array.from({ length: 1 + Math.floor(8 * Math.random()) }, () => ({ value: 0.1 + Math.random(), label: 'x'.repeat(1 + Math.floor(12 * Math.random())) }));
      const longest = Math.max(...bars.map((bar) => bar.value));
      const room = roomForLabels(bars, width);
      const ends = bars.map((bar) => (bar.value / longest) * (width - room) + 12 + 6.4 * bar.label.length);
      expect(Math.max(...ends)).toBeLessThan(width + 0.001);
      expect(Math.max(...ends, width - room + 12)).toBeGreaterThan(width - 0.001);
    }
  });
  it('does not shorten the longest bar for a long label after a short one', () => {
    const bars = [{ value: 10, label: '10 M' }, { value: 1, label: '1 M, the price is old' }];
    expect(roomForLabels(bars, 300)).toBeLessThan(40);
  });
});
