import { describe, expect, it } from 'vitest';
import { onLocalClock } from './zone';

describe('hours of a day on a local clock', () => {
  it('cover the same time with the same values in every zone', () => {
    const values = Array.from({ length: 24 }, (_, hour) => (hour % 5 === 3 ? null : hour));
    const total = (parts: { from: number; to: number; value: number }[]) => parts.reduce((sum, part) => sum + (part.to - part.from) * part.value, 0);
    for (let ahead = -12; ahead <= 14; ahead += 0.25) {
      const parts = onLocalClock(values, ahead);
      expect(total(parts)).toBeCloseTo(total(onLocalClock(values, 0)), 9);
      for (const part of parts) {
        expect(part.from).toBeGreaterThanOrEqual(0);
        expect(part.to).toBeLessThanOrEqual(24);
        expect(part.to).toBeGreaterThan(part.from);
        // The middle of the part, back in UTC, is in the hour that has this value.
        expect(values[Math.floor(((((part.from + part.to) / 2 - ahead) % 24) + 24) % 24)]).toBe(part.value);
      }
    }
  });
});
