import { describe, expect, it } from 'vitest';
import { Newest } from './newest';

function setUp(patient: boolean) {
  const asked: string[] = [];
  const shown: string[] = [];
  const open = new Map<string, (answer: string) => void>();
  const given: string[] = [];
  let time = 0;
  const newest = new Newest<string>(
    (question, signal) => {
      asked.push(question);
      signal.addEventListener('abort', () => given.push(question));
      return new Promise((done) => open.set(question, done));
    },
    { asked: () => undefined, answered: (answer) => shown.push(answer), failed: () => undefined },
    patient,
    () => time,
  );
  const answer = async (question: string) => {
    open.get(question)?.(question.toUpperCase());
    await Promise.resolve();
    await Promise.resolve();
  };
  return { newest, asked, shown, given, answer, pass: (ms: number) => { time += ms; } };
}

describe('requests while a slider moves', () => {
  it('show intermediate answers and skip to the newest question', async () => {
    const { newest, asked, shown, given, answer } = setUp(true);
    for (const question of ['a', 'b', 'c']) newest.next(question);
    expect(asked).toEqual(['a']);
    await answer('a');
    expect(asked).toEqual(['a', 'c']);
    await answer('c');
    expect(shown).toEqual(['A', 'C']);
    expect(given).toEqual([]);
  });

  it('abort one that takes too long', async () => {
    const { newest, asked, shown, given, answer, pass } = setUp(true);
    newest.next('a');
    pass(1500);
    newest.next('b');
    expect(given).toEqual(['a']);
    await answer('a');
    await answer('b');
    expect(asked).toEqual(['a', 'b']);
    expect(shown).toEqual(['B']);
  });

  it('abort an outdated request at once', async () => {
    const { newest, shown, given, answer } = setUp(false);
    newest.next('a');
    newest.next('b');
    expect(given).toEqual(['a']);
    await answer('b');
    expect(shown).toEqual(['B']);
    newest.stop();
  });
});
