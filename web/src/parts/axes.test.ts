import { describe, expect, it } from 'vitest';
import { boxOf, cutApart, firstOf, moneyTicks, once, placeLabels, roomForLabels, standsAtAnother, TIME_TICKS, within } from './axes';
import { duration, money, number, shortMoney } from '../lib/format';

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
  it('of several names are as long as there is room', () => {
    const names = ['recommended', 'cheapest', 'fastest', 'lowest energy'];
    expect(firstOf(names, 60)).toBe('recommended, cheapest, fastest, lowest energy');
    expect(firstOf(names, 30)).toBe('recommended, cheapest +2 more');
    expect(firstOf(names, 4)).toBe('recommended');
    expect(firstOf([], 4)).toBe('');
    for (let most = 11; most < 60; ++most) expect(firstOf(names, most).length).toBeLessThanOrEqual(most);
  });
  it('without room are marked; the others do not cover each other', () => {
    let seed = 3;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 100; ++round) {
      const labels = Array.from({ length: 25 }, () => ({ x: 40 + random() * 260, y: 20 + random() * 160, text: 'hyperstack'.slice(0, 3 + Math.floor(random() * 7)) }));
      const boxes = placeLabels(labels, labels, { width: 320, height: 200, least: 30, skip: true }).flatMap((at, i) => {
        const label = labels[i];
        if (!label || at.crowded) return [];
        // It is next to its own dot, and nearer to it than to any other.
        expect([Math.abs(at.dy) <= 15, at.far, standsAtAnother(label, at, labels)]).toEqual([true, false, false]);
        return [boxOf(label, at)];
      });
      expect(boxes.length).toBeGreaterThan(3);
      boxes.forEach((a, i) => {
        expect(a[0] >= 0 && a[2] <= 320 && a[1] >= 0 && a[3] <= 200).toBe(true);
        for (const b of boxes.slice(i + 1)) expect(a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1]).toBe(false);
      });
    }
  });
  it('do not cover each other and stay inside, for any dots with room', () => {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 300; ++round) {
      const labels = Array.from({ length: 5 }, () => ({ x: 40 + random() * 520, y: 30 + random() * 240, text: 'lowest energy'.slice(0, 5 + Math.floor(random() * 8)) }));
      const boxes = placeLabels(labels, labels, { width: 600, height: 300, least: 30 }).map((at, i) => {
        const label = labels[i] ?? { x: 0, y: 0, text: '' };
        expect(at.far).toBe(Math.abs(at.dy) > 15 || standsAtAnother(label, at, labels));
        return boxOf(label, at);
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

describe('labels of one axis', () => {
  const different = (labels: string[]) => { const shown = labels.filter(Boolean); expect(shown.length).toBeGreaterThan(0); expect(new Set(shown).size, shown.join(' | ')).toBe(shown.length); };
  it('differ in any range, also where the format has too few digits', () => {
    for (let i = 0; i < 500; ++i) {
      const least = 10 ** (-3 + 10 * Math.random());
      const step = least * 10 ** (2 - 6 * Math.random());
      const ticks = Array.from({ length: 2 + Math.floor(6 * Math.random()) }, (_, at) => least + at * step);
      for (const format of [shortMoney, duration, (value: number) => number(value), (value: number) => money(value), (value: number) => new Date(1e12 + 1e3 * value).toISOString().slice(0, 19)]) different(ticks.map(once(format)));
      const range: [number, number] = [least, least * (1.75 + 10 ** (4 * Math.random()))];
      different(moneyTicks(range, 7).map(shortMoney));
      if (range[0] > 0.001 && range[1] < 30 * 86400) expect(new Set(within(TIME_TICKS, range, 7).map((tick) => duration(tick))).size).toBe(within(TIME_TICKS, range, 7).length);
    }
  });
  it('stay different and short for any names', () => {
    for (let i = 0; i < 300; ++i) {
      const word = () => Array.from({ length: 1 + Math.floor(20 * Math.random()) }, () => 'ab-0'[Math.floor(4 * Math.random())]).join('');
      const [head, tail, most] = [word().repeat(2), word().repeat(2), 8 + Math.floor(18 * Math.random())];
      const names = [...new Set(Array.from({ length: 12 }, () => head + word() + tail))];
      const labels = names.map(cutApart(names, most));
      different(labels);
      expect(labels.every((label) => label.length <= most)).toBe(true);
    }
  });
});
