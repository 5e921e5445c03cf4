import { describe, expect, it } from 'vitest';
import { Refused, takeEvents } from './client';

describe('events', () => {
  it('are complete, however the stream is split', () => {
    const text = 'event: a\ndata: {"x":\ndata: 1}\n\n: still here\n\nevent: b\ndata: 2\n\nevent: c\nda';
    const first = takeEvents(text.slice(0, 20));
    expect(first.events).toEqual([]);
    const { events, rest } = takeEvents(first.rest + text.slice(20));
    expect(events).toEqual([
      { event: 'a', data: '{"x":\n1}' },
      { event: 'b', data: '2' },
    ]);
    expect(rest).toBe('event: c\nda');
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
