import { describe, expect, it } from 'vitest';
import { staircase } from './staircase';

describe('the best trade-offs', () => {
  it('decrease from left to right for any input', () => {
    // A small deterministic generator: the rows are the same every time.
    let seed = 1;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 200; ++round) {
      const dots = Array.from({ length: 1 + Math.floor(random() * 12) }, () => ({ x: Math.floor(random() * 6), y: Math.floor(random() * 6) }));
      const line = staircase(dots, (dot) => dot.x, (dot) => dot.y);
      line.slice(1).forEach((dot, i) => {
        expect(dot.x).toBeGreaterThan(line[i]?.x ?? NaN);
        expect(dot.y).toBeLessThan(line[i]?.y ?? NaN);
      });
      // Every dot is on the line, or a dot on the line beats it.
      for (const dot of dots) expect(line.some((best) => best.x <= dot.x && best.y <= dot.y)).toBe(true);
    }
  });
});
