import { describe, expect, it } from 'vitest';
import { alsoOf, changeFromFlags, commandLine, DEFAULTS, problemsOf, question, quickQuestion, refusedFields, shellQuoted } from './question';

describe('the question', () => {
  it('has only the given settings', () => {
    const asked = question({ ...DEFAULTS, budget: '' });
    expect(asked).toMatchObject({ model: 'llama-3.1-8b', tokens: '1B', deadline: '168h', job: 'train' });
    expect(asked).not.toHaveProperty('budget');
    expect(asked).not.toHaveProperty('rate');
  });
  it('of a service has rates and limits', () => {
    expect(question({ ...DEFAULTS, job: 'serve', rate: '20' })).toMatchObject({ rate: '20/s', 'ttft-slo': '1s', 'tpot-slo': '50ms' });
  });
  it('omits the explanation while dragging', () => {
    expect(quickQuestion(DEFAULTS)['plans-only']).toBe(true);
  });
  it('uses a pasted configuration instead of the name', () => {
    const asked = question({ ...DEFAULTS, config: '{}' });
    expect(asked).toMatchObject({ model_config: '{}' });
    expect(asked).not.toHaveProperty('model');
  });
  it('becomes a command line', () => {
    expect(commandLine(question({ ...DEFAULTS, price: 'h100-sxm=2' }))).toBe('rightsize recommend --job train --model llama-3.1-8b --purchase on-demand --max-gpus 64 --tokens 1B --deadline 168h --seq 2048 --method full --price h100-sxm=2');
  });
});

describe('an invalid field', () => {
  it('is reported before a request is sent', () => {
    expect(problemsOf(DEFAULTS)).toEqual({});
    expect(problemsOf({ ...DEFAULTS, tokens: '2 bil' }).tokens).toMatch(/2 bil/);
    expect(problemsOf({ ...DEFAULTS, tokens: '2 bil', job: 'serve' })).toEqual({});
    expect(Object.keys(problemsOf({ ...DEFAULTS, budget: 'low', maxgpus: '2.5' }))).toEqual(['budget', 'maxgpus']);
  });
  it("is identified from the server's message", () => {
    expect(refusedFields(["--gpu: unknown GPU 'xyz'", 'something else'])).toEqual({ gpu: "unknown GPU 'xyz'" });
  });
  it('is sent in a form that the program reads', () => {
    expect(question({ ...DEFAULTS, tokens: '2 bn', budget: '$1.5k' })).toMatchObject({ tokens: '2000000000', budget: '1500' });
  });
});

describe('flags of a change', () => {
  it("become a change of the page's state, or stay flags", () => {
    const from = (flags: string) => changeFromFlags(flags, DEFAULTS);
    expect(from('--precision fp8')).toEqual({ precision: 'fp8' });
    expect(from('--purchase spot --max-gpus 128')).toEqual({ purchase: 'spot', maxgpus: '128' });
    expect(from('--deadline 36h')).toEqual({ deadline: '129600' });
    expect(from('--ttft-slo 2000ms')).toEqual({ ttft: '2' });
    // A limit that is left out: every field that may be empty, in the singular and the plural.
    for (const [flag, field] of [['budget', 'budget'], ['precision', 'precision'], ['provider', 'providers'], ['providers', 'providers'], ['gpus', 'gpu'], ['region', 'regions'], ['regions', 'regions']]) expect(from(`no --${flag ?? ''}`)).toEqual({ [field ?? '']: '' });
    expect(from('no --model')).toBeNull();
    expect(from('--rate 5/s')).toBeNull();
    expect(from('')).toBeNull();
  });
  it('are kept if the page has no field for them, and sent', () => {
    const once = { ...DEFAULTS, ...changeFromFlags('--optimizer adamw-8bit --offload optimizer', DEFAULTS) };
    expect(question(once)).toMatchObject({ optimizer: 'adamw-8bit', offload: 'optimizer' });
    const twice = { ...once, ...changeFromFlags('--optimizer lion', once) };
    expect(alsoOf(twice)).toEqual([['offload', 'optimizer'], ['optimizer', 'lion']]);
    expect(question({ ...DEFAULTS, also: 'format=csv,emit=slurm' })).toEqual(question(DEFAULTS)); // a link sets nothing else
  });
  it('are quoted for a shell, whatever a link contains', () => {
    expect(shellQuoted('llama-3.1-8b')).toBe('llama-3.1-8b');
    expect(shellQuoted("a'b c")).toBe("'a'\\''b c'");
    for (const evil of ['x\ntouch y', 'x; touch y', '$(touch y)', '`touch y`', 'x\r\n# y', '"x" y', 'x > y']) {
      const line = commandLine(question({ ...DEFAULTS, model: evil }));
      expect(line).not.toMatch(/[\r\n]/);
      // Outside of single quotes only harmless characters remain.
      expect(line.replace(/'[^']*'/g, '')).toMatch(/^[\w@%+=:,./ -]*$/);
    }
  });
});
