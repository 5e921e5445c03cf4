// Every field of every page that holds a number: its slider, and what may be typed.
import { AMOUNT, COUNT, HOURLY, RATE, SHARE, SIZE, TIME, TIMES, TIMES_MEAN, WATTS, type NumberField, type Numbers } from '../lib/number_field';
import { TERMS } from '../lib/words';

const YEARS = 10 * 365 * 86400;
const TOKENS: [number, number] = [1, 1e8];
const LIMIT: [number, number] = [1e-6, 86400]; // of an SLO, in seconds
const RATES: [number, number] = [1e-5, 1e7];

const tokensIn = (least: number, most: number, label = 'Tokens in', help?: string): NumberField => ({ label, least, most, scale: COUNT, within: TOKENS, help });
const tokensOut = (most: number, label = 'Tokens out', help?: string): NumberField => ({ label, least: 1, most, scale: COUNT, within: TOKENS, help });
const limit = (label: string, least: number, most: number, help?: string): NumberField => ({ label, least, most, scale: TIME, within: LIMIT, help });

export const TRAIN = {
  deadline: { label: 'Deadline', least: 3600, most: 60 * 86400, scale: TIME, within: [1, YEARS], help: 'The job must be done within this time, including start-up' },
  seq: tokensIn(256, 131072, 'Context, tokens', 'The length of the texts that the model is trained on'),
  batch: { label: 'Batch per GPU', least: 1, most: 128, scale: COUNT, within: [1, 1e7], empty: 'best that fits', help: 'Sequences that a GPU trains on at the same time; a larger batch needs more memory' },
} satisfies Numbers;

export const SERVE = {
  rate: { label: 'Requests', least: 0.1, most: 1000, scale: RATE, within: RATES, help: 'The mean rate of requests, all the time' },
  isl: tokensIn(64, 131072, 'Context, tokens in', 'The length of a request’s prompt'),
  osl: tokensOut(8192, 'Tokens out', 'The length of a request’s answer'),
  ttft: limit('TTFT limit', 0.05, 20, TERMS['TTFT']),
  tpot: limit('TPOT limit', 0.005, 0.5, TERMS['TPOT']),
} satisfies Numbers;

export const priceOf = (gpu: string): NumberField => ({ label: `What if ${gpu} cost`, least: 0.1, most: 20, scale: HOURLY, within: [1e-6, 10000] });

const BATCHING = { rate: { label: 'Requests', least: 0.1, most: 2000, scale: RATE, within: RATES } } satisfies Numbers;
export const BATCHING_AT_ONCE = { ...BATCHING, slo: limit('p99 latency limit', 0.005, 5) } satisfies Numbers;
export const BATCHING_TOKENS = { ...BATCHING, isl: tokensIn(64, 65536), osl: tokensOut(4096), ttft: limit('p95 TTFT limit', 0.05, 20), tpot: limit('p95 TPOT limit', 0.005, 0.5) } satisfies Numbers;

export const AUTOSCALE = {
  rate: { label: 'Mean requests', least: 0.5, most: 50, scale: RATE, within: [1e-5, 1e5] },
  peak: { label: 'Busiest time', least: 1.1, most: 2, scale: TIMES_MEAN, within: [1.01, 2] },
  ttft: limit('TTFT limit', 0.1, 60),
  tpot: limit('TPOT limit', 0.01, 0.5),
  startup: { label: 'Start of a replica', least: 1, most: 1800, scale: TIME, within: [1e-3, 86400] },
  fixed: { label: 'Fixed: replicas', least: 1, most: 64, scale: COUNT, within: [1, 10000] },
  target: { label: 'HPA: requests per replica', least: 1, most: 256, scale: COUNT, within: [1, 1e6], help: TERMS['HPA'] },
  threshold: { label: 'KEDA: threshold', least: 1, most: 256, scale: COUNT, within: [1, 1e6], help: TERMS['KEDA'] },
} satisfies Numbers;

/** Beyond these, the trace would exceed what a request may contain (8 MiB). */
export const CACHE = {
  size: { label: 'Cache', least: 0.1, most: 20000, scale: SIZE, within: [1e-3, 1e9] },
  users: { label: 'Users', least: 1, most: 1000, scale: COUNT },
  turns: { label: 'Turns', least: 1, most: 12, scale: COUNT },
  system: { label: 'System prompt, tokens', least: 1, most: 16384, scale: COUNT },
  turn: { label: 'Each turn adds, tokens', least: 64, most: 2048, scale: COUNT, within: [1, 2048] },
} satisfies Numbers;

export const RL = {
  prompts: { label: 'Prompts per step', least: 8, most: 4096, scale: COUNT, within: [1, 1e7] },
  samples: { label: 'Answers per prompt', least: 1, most: 128, scale: COUNT, within: [1, 1e6] },
  isl: tokensIn(16, 32768),
  osl: { ...tokensOut(32768, 'Tokens out, mean'), least: 64 },
  longest: { ...tokensOut(131072, 'Tokens out, at most'), least: 128 },
  steps: { label: 'Steps', least: 1, most: 10000, scale: COUNT, within: [1, 1e8] },
  maxgpus: { label: 'Maximum GPUs', least: 1, most: 512, scale: COUNT, within: [1, 65536] },
} satisfies Numbers;

export const WINDOW = {
  volume: { label: 'Items per day', least: 1000, most: 1e9, scale: COUNT, within: [1, 1e12] },
  item: { label: 'GPU time per item', least: 0.001, most: 60, scale: TIME, within: [1e-6, 30 * 86400] },
  window: { label: 'Collected for', least: 600, most: 86400, scale: TIME, within: [60, 86400] },
  startup: { label: 'Start of a GPU', least: 5, most: 1800, scale: TIME, within: [1e-3, 7 * 86400] },
} satisfies Numbers;

export const ENERGY = { concurrency: { label: 'Requests at once', least: 1, most: 1024, scale: COUNT, within: [1, 1e6] }, isl: tokensIn(16, 65536), osl: tokensOut(8192) } satisfies Numbers;
export const capOf = (watts: number): NumberField => ({ label: 'Power cap', least: Math.round(watts / 2), most: watts, scale: WATTS, within: [1, watts], empty: 'none' });

export const SERVICE = { ttft: limit('p95 TTFT limit', 0.05, 20), tpot: limit('p95 TPOT limit', 0.005, 0.5), traffic: { label: 'Traffic', least: 0.1, most: 100, scale: TIMES, within: [1e-3, 100] } } satisfies Numbers;

export const COMMIT = {
  base: { label: 'Always in use', least: 1, most: 4096, scale: COUNT, within: [1, 1e6] },
  peak: { label: 'At the peak', least: 1, most: 8192, scale: COUNT, within: [1, 1e6] },
  share: { label: 'Share of time at the peak', least: 0.01, most: 1, scale: SHARE, within: [1e-6, 1] },
} satisfies Numbers;

/** The columns of the workloads on the page MIG. */
export const MIG = {
  memory: { label: 'memory', least: 1, most: 192, scale: AMOUNT, within: [1e-3, 1e4] },
  load: { label: 'load', least: 1, most: 100, scale: AMOUNT, within: [0, 1e4] },
  replicas: { label: 'replicas', least: 1, most: 64, scale: COUNT, within: [1, 1e5] },
} satisfies Numbers;
