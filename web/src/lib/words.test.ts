import { describe, expect, it } from 'vitest';
import { aboutFlag, explained, inPageWords } from './words';

describe('words', () => {
  it('name the field of the page instead of the flag', () => {
    expect(inPageWords('give yours with --price', { price: '“Your price”' })).toBe('give yours with “Your price”');
    expect(inPageWords('no --deadline: 8 GPUs', { deadline: 'Deadline' })).toBe('no deadline: 8 GPUs');
    expect(inPageWords('--optimizer adamw-8bit')).toBe('--optimizer adamw-8bit');
  });
  it('identify the flag of a message', () => {
    expect(aboutFlag("--tokens: 'abc' is not a number")).toEqual({ flag: 'tokens', what: "'abc' is not a number" });
    expect(aboutFlag('mixed-bf16 is a training precision')).toBeUndefined();
  });
  it('explain terms', () => {
    expect(explained('p95 TTFT')).toMatch(/first token/);
    expect(explained('Per month at this rate')).toMatch(/fleet/);
    expect(explained('Provider name')).toBeUndefined();
  });
});
