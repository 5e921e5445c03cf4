import { describe, expect, it } from 'vitest';
import { moneyTicks, placeLabels, roomForLabels } from './axes';

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

describe('labels', () => {
  it('do not cover each other and stay inside, for any dots with room', () => {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 300; ++round) {
      const labels = Array.from({ length: 5 }, () => ({ x: 40 + random() * 520, y: 30 + random() * 240, text: 'lowest energy'.slice(0, 5 + Math.floor(random() * 8)) }));
      const boxes = placeLabels(labels, labels, 600, 300, 30).map((at, i) => {
        const label = labels[i] ?? { x: 0, y: 0, text: '' };
        const wide = 6.4 * label.text.length;
        const left = label.x + at.dx - (at.anchor === 'start' ? 0 : at.anchor === 'end' ? wide : wide / 2);
        return [left, label.y + at.dy - 7, left + wide, label.y + at.dy + 7] as const;
      });
      boxes.forEach((a, i) => {
        expect(a[0] >= 30 && a[2] <= 600 && a[1] >= 0 && a[3] <= 300).toBe(true);
        for (const b of boxes.slice(i + 1)) expect(a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1]).toBe(false);
      });
    }
  });
});

describe('ticks of money', () => {
  it('are inside any range, and at least two', () => {
    for (let i = 0; i < 500; ++i) {
      const least = 10 ** (-2 + 9 * Math.random());
      const range: [number, number] = [least, least * (1.75 + 10 ** (4 * Math.random()))];
      const ticks = moneyTicks(range, 7);
      expect(ticks.length, String(range)).toBeGreaterThanOrEqual(2);
      expect(ticks.length).toBeLessThanOrEqual(7);
      expect(ticks.every((tick, at) => tick >= range[0] && tick <= range[1] && tick > (ticks[at - 1] ?? 0))).toBe(true);
    }
  });
});
