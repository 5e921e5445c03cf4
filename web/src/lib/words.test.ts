import { describe, expect, it } from 'vitest';
import { aboutFlag, explained, hintsInPageWords, inPageWords } from './words';

describe('words', () => {
  it('name the field of the page instead of the flag', () => {
    expect(inPageWords('give yours with --price', { price: '“Your price”' })).toBe('give yours with “Your price”');
    expect(inPageWords('no --deadline: 8 GPUs', { deadline: 'Deadline' })).toBe('no deadline: 8 GPUs');
    expect(inPageWords("--regions: unknown region 'moon'", { region: 'Regions' })).toBe("Regions: unknown region 'moon'");
    expect(inPageWords('no --deadline, --cross-entropy chunked')).toBe('no deadline, cross entropy chunked');
  });
  it('name the page instead of its command', () => {
    expect(inPageWords("'rightsize service' sizes an engine, 'rightsize profile' a job")).toBe("the Service page sizes an engine, 'rightsize profile' a job");
  });
  it('give no hint that only helps on the command line', () => {
    expect(hintsInPageWords(["'rightsize gpus' lists all", 'for example --base 8, or --base 8,peak=20', 'write a whole number'], { base: 'Always in use' })).toEqual(['for example 8, or 8,peak=20', 'write a whole number']);
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
