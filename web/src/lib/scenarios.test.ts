import { describe, expect, it } from 'vitest';
import { keepScenarios, readScenarios, withScenario } from './scenarios';

const memory = (text?: string) => {
  let kept = text ?? null;
  return { getItem: () => kept, setItem: (_: string, value: string) => { kept = value; } };
};
const scenario = (name: string, answer = '') => ({ name, address: `?model=${name}`, answer, saved: '2026-11-17' });

describe('scenarios', () => {
  it('read back as they were kept, the newest first, one of each name', () => {
    const store = memory();
    keepScenarios(store, withScenario(withScenario(withScenario([], scenario('a')), scenario('b')), scenario('a', 'again')));
    expect(readScenarios(store)).toEqual([scenario('a', 'again'), scenario('b')]);
  });
  it('ignore what is not theirs', () => {
    for (const text of ['{', '5', 'null', '{"a":1}', '[null,7,{"name":1}]']) expect(readScenarios(memory(text))).toEqual([]);
  });
  it('say if the browser keeps nothing', () => {
    expect(keepScenarios({ getItem: () => null, setItem: () => { throw new Error('full'); } }, [])).toBe(false);
  });
});
