import { describe, expect, it } from 'vitest';
import { Ahead } from './ahead';

function setUp() {
  const asked: string[] = [];
  const given: string[] = [];
  const open = new Map<string, () => void>();
  const ahead = new Ahead(
    (question, signal) =>
      new Promise((done, fail) => {
        asked.push(question);
        open.set(question, () => { done(question); });
        signal.addEventListener('abort', () => { given.push(question); fail(new Error('given up')); });
      }),
  );
  const answer = async (question: string) => {
    open.get(question)?.();
    await new Promise((done) => setTimeout(done, 0));
  };
  return { ahead, asked, given, answer };
}

describe('prefetching', () => {
  it('requests one question after the other', async () => {
    const { ahead, asked, answer } = setUp();
    ahead.likely(['up', 'down']);
    expect(asked).toEqual(['up']);
    await answer('up');
    expect(asked).toEqual(['up', 'down']);
  });

  it('is aborted for a real question', async () => {
    const { ahead, asked, given } = setUp();
    ahead.likely(['up', 'down']);
    ahead.now('elsewhere');
    await new Promise((done) => setTimeout(done, 0));
    expect(given).toEqual(['up']);
    expect(asked).toEqual(['up']);
    ahead.likely(['next']);
    expect(asked).toEqual(['up', 'next']);
  });

  it('continues if it is the real question', async () => {
    const { ahead, asked, given, answer } = setUp();
    ahead.likely(['up', 'down']);
    ahead.now('up');
    await answer('up');
    expect(given).toEqual([]);
    expect(asked).toEqual(['up']);
  });

  it('never repeats a request in progress', async () => {
    const { ahead, asked, answer } = setUp();
    ahead.likely(['up']);
    ahead.likely(['up', 'down']);
    await answer('up');
    expect(asked).toEqual(['up', 'down']);
  });
});
