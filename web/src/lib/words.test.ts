import { describe, expect, it } from 'vitest';
import { aboutFlag, explained, hintsInPageWords, inPageWords, pageNamed } from './words';

describe('words', () => {
  it('name the field of the page instead of the flag', () => {
    expect(inPageWords('give yours with --price', { price: '“Your price”' })).toBe('give yours with “Your price”');
    expect(inPageWords('no --deadline: 8 GPUs', { deadline: 'Deadline' })).toBe('no deadline: 8 GPUs');
    expect(inPageWords("--regions: unknown region 'moon'", { region: 'Regions' })).toBe("Regions: unknown region 'moon'");
    expect(inPageWords('no --deadline, --cross-entropy chunked')).toBe('no deadline, cross entropy chunked');
    expect(inPageWords('misses the deadline: --deadline 0.1d leaves room', { deadline: 'Deadline' })).toBe('misses the deadline: a deadline of 2 h 24 min leaves room');
    expect(inPageWords('--ttft-slo 250ms', { 'ttft-slo': 'TTFT limit' })).toBe('a TTFT limit of 250 ms');
    expect(inPageWords('--deadline 17min --max-gpus 8', { 'max-gpus': 'Maximum GPUs' })).toBe('a deadline of 17 min Maximum GPUs 8');
  });
  it('name no address of the server and no document of a request', () => {
    expect(inPageWords('the request took too long; POST /api/jobs/COMMAND runs it in the background')).toBe('the request took too long');
    expect(inPageWords("'telemetry' is JSON from a monitoring API")).toBe('The file is JSON from a monitoring API');
  });
  it('write × between a number and a name', () => {
    expect(inPageWords('1 x b200-8x (8 x b200-sxm), 2x 1g.10gb, 4.6x as long, 1x_MI300X')).toBe('8 × b200-sxm, 2× 1g.10gb, 4.6× as long, 1x_MI300X');
  });
  it('name the page instead of its command', () => {
    expect(inPageWords("'rightsize service' sizes an engine, 'rightsize profile' a job")).toBe("the Service page sizes an engine, 'rightsize profile' a job");
  });
  it('give no hint that only helps on the command line', () => {
    expect(hintsInPageWords(["'rightsize gpus' lists all", 'for example --base 8, or --base 8,peak=20', 'examples/portfolio/ has a file to start from', 'write a whole number'], { base: 'Always in use' })).toEqual(['for example 8, or 8,peak=20', 'write a whole number']);
  });
  it('name machines by their GPUs', () => {
    expect(inPageWords('Next best GPU: 2 x 2x_A40_SECURE (2 x a40) from runpod, on-demand, 4.8 % more')).toBe('Next best GPU: 2 × a40 from runpod, on-demand, 4.8 % more');
    expect(inPageWords('1 x gpu_2x_a100 (2 x a100-40gb-pcie) from lambda, 9.9x slower')).toBe('2 × a100-40gb-pcie from lambda, 9.9× slower');
  });
  it('leave the commands of other programs as they are', () => {
    const command = 'nvidia-smi --query-gpu=timestamp,index --format=csv -l 1 > smi.csv';
    expect(inPageWords(`--price missing; record one with: ${command}`, { price: 'Your price' })).toBe(`Your price missing; record one with: ${command}`);
    for (const each of ['kubectl get pods -A -o wide --field-selector spec.nodeName=a', 'sacct --json', 'docker run --gpus all']) expect(inPageWords(`use ${each}`)).toBe(`use ${each}`);
  });
  it('lead to the page that they name', () => {
    expect(pageNamed("'rightsize profile' shows the bottleneck, 'rightsize service' sizes an engine")).toEqual({ name: 'Service', path: '/service' });
    expect(pageNamed("'rightsize batch' sizes it")?.path).toBe('/batching');
    expect(pageNamed('nothing')).toBeUndefined();
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
