import { describe, expect, it } from 'vitest';
import { eventReader, Refused } from './client';

describe('events', () => {
  it('are complete, however the stream is split', () => {
    const text = 'event: a\ndata: {"x":\ndata: 1}\n\n: still here\n\nevent: b\ndata: 2\n\nevent: c\nda';
    for (let size = 1; size <= text.length; ++size) {
      const read = eventReader();
      const events = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => read(text.slice(i * size, (i + 1) * size))).flat();
      expect(events).toEqual([
        { event: 'a', data: '{"x":\n1}' },
        { event: 'b', data: '2' },
      ]);
    }
  });
});

describe('an error response', () => {
  it('contains every mistake and hint', () => {
    const refused = new Refused(400, { error: 'a', errors: [{ message: 'a', hints: ['try b'] }, { message: 'c' }] });
    expect(refused.messages).toEqual(['a', 'c']);
    expect(refused.hints).toEqual(['try b']);
    expect(new Refused(503, {}).message).toContain('503');
  });
});
