import { describe, expect, it } from 'vitest';
import { changeFromFlags, commandLine, DEFAULTS, question, quickQuestion } from './question';

describe('the question', () => {
  it('has only what was said', () => {
    const asked = question({ ...DEFAULTS, budget: '' });
    expect(asked).toMatchObject({ model: 'llama-3.1-8b', tokens: '1B', deadline: '168h', job: 'train' });
    expect(asked).not.toHaveProperty('budget');
    expect(asked).not.toHaveProperty('rate');
  });
  it('of a service speaks of rates and limits', () => {
    expect(question({ ...DEFAULTS, job: 'serve', rate: '20' })).toMatchObject({ rate: '20/s', 'ttft-slo': '1s', 'tpot-slo': '50ms' });
  });
  it('while dragging leaves the explanation out', () => {
    expect(quickQuestion(DEFAULTS)['plans-only']).toBe(true);
  });
  it('takes a pasted configuration instead of the name', () => {
    const asked = question({ ...DEFAULTS, config: '{}' });
    expect(asked).toMatchObject({ model_config: '{}' });
    expect(asked).not.toHaveProperty('model');
  });
  it('is a command somebody can type', () => {
    expect(commandLine(question({ ...DEFAULTS, price: 'h100-sxm=2' }))).toBe('rightsize recommend --job train --model llama-3.1-8b --purchase on-demand --max-gpus 64 --tokens 1B --deadline 168h --seq 2048 --method full --price h100-sxm=2');
  });
});

describe('flags of a change', () => {
  it('become a change of the page, or stay flags', () => {
    expect(changeFromFlags('--precision fp8')).toEqual({ precision: 'fp8' });
    expect(changeFromFlags('--purchase spot --max-gpus 128')).toEqual({ purchase: 'spot', maxgpus: '128' });
    expect(changeFromFlags('--optimizer adamw-8bit')).toBeNull();
    expect(changeFromFlags('')).toBeNull();
  });
});
