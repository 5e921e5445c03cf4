import type { AskFor, BatchPlan, Schemas } from '../../api/client';
import { durationFlag, number } from '../../lib/format';

export const DEFAULTS = {
  model: 'llama-3.1-8b',
  gpu: 'h100-sxm',
  rate: '8',
  isl: '1024',
  osl: '256',
  ttft: '0.5', // seconds
  tpot: '0.04',
  slo: '0.1', // for models that answer in one pass
  at: '0', // index of the trade-off that is shown
};
export type State = typeof DEFAULTS;

/** Models that answer in one pass have one latency; the others have TTFT and TPOT. */
export function answersAtOnce(family: string | undefined): boolean {
  return /^(bert|roberta|vit|resnet|convnext|clip|swin|efficientnet|distilbert|xlm|deberta|mpnet)/.test(family ?? '');
}

export function searchFor(state: State, atOnce: boolean): AskFor<'batch'> {
  const shared = { model: state.model, gpu: state.gpu, arrivals: `poisson:${state.rate}` };
  if (atOnce) return { ...shared, slo: `p99=${durationFlag(Number(state.slo))}` };
  return { ...shared, isl: state.isl, osl: state.osl, slo: `ttft=${durationFlag(Number(state.ttft))},tpot=${durationFlag(Number(state.tpot))}` };
}

/** Numbers of replicas that a quick search tries, as multiples of those that the last plan's capacity suggests. */
const AROUND = [0.25, 0.5, 0.75, 1, 1.3, 2];
/** The load that most plans have. */
const USUAL_LOAD = 0.8;

/**
 * While a slider moves, only replicas like the last plan's are searched, in about as many as the new rate needs, and with enough
 * requests to be steady. The full search may find other replicas, or a mix, that cost less.
 */
export function quickOf(asked: AskFor<'batch'>, last: Schemas['Batch'] | undefined): AskFor<'batch'> | null {
  const plan = last?.plan as BatchPlan | null | undefined;
  const rate = Number(String((asked as { arrivals?: string }).arrivals).replace('poisson:', ''));
  if (!plan || !(rate > 0)) return null;
  const each = (last?.capacity_per_second ?? 0) * (plan.tp / plan.gpus);
  const needed = each > 0 ? rate / each / USUAL_LOAD : plan.replicas;
  const replicas = [...new Set(AROUND.map((part) => Math.max(1, Math.ceil(part * needed))))];
  const requests = Math.round(Math.min(50000, Math.max(8000, 50 * rate)));
  return { ...asked, replicas: replicas.join(','), requests: String(requests), ...('isl' in asked ? { tp: plan.tp } : {}) } as AskFor<'batch'>;
}

/** How many replicas there are, and their sizes: "3" and "2 × 8 + 1 × 4 GPUs" of a mixed plan, otherwise "3" and "of 8 GPUs each". */
export function replicasShown(plan: Pick<BatchPlan, 'gpu' | 'replicas' | 'tp' | 'beside'>): { value: string; note?: string } {
  const { beside } = plan;
  if (!beside) return plan.tp > 1 ? { value: number(plan.replicas), note: `of ${number(plan.tp)} GPUs each` } : { value: number(plan.replicas) };
  const part = (replicas: number, tp: number, gpu: string) => `${number(replicas)} × ${number(tp)}${beside.gpu === plan.gpu ? '' : ` ${gpu}`}`;
  return { value: number(plan.replicas + beside.replicas), note: `${part(plan.replicas, plan.tp, plan.gpu)} + ${part(beside.replicas, beside.tp, beside.gpu)} GPUs` };
}

/** A mixed plan at its own load: the program simulates other loads for replicas of one kind only. */
export function ownLoad(plan: BatchPlan, rate: number): Load[] {
  return loadsOf(rate, plan as unknown as Schemas['Batch']);
}

/** The limits a plan does not meet. */
export const missed = (plan: BatchPlan) => plan.slos.filter((slo) => slo.value_ms > slo.limit_ms);

/** The trade-offs that meet every limit; none if the search found no plan. */
export function tradeOffs(answer: Schemas['Batch']): BatchPlan[] {
  return answer.plan ? (answer.frontier ?? []).filter((plan) => missed(plan).length === 0) : [];
}

/** The trade-off at this index, otherwise the recommended one. */
export function chosenPlan(answer: Schemas['Batch'], at: number): BatchPlan | undefined {
  return tradeOffs(answer)[at] ?? (answer.plan as BatchPlan | null | undefined) ?? undefined;
}

/** Without a plan: the setting that misses its limits by the smallest amount. */
export function nearestPlan(answer: Schemas['Batch']): BatchPlan | undefined {
  const excess = (plan: BatchPlan) => Math.max(...missed(plan).map((slo) => slo.value_ms / slo.limit_ms));
  return (answer.frontier ?? []).filter((plan) => missed(plan).length > 0).sort((a, b) => excess(a) - excess(b))[0];
}

/** The settings of the plan at another rate. */
export function atRate(state: State, plan: BatchPlan, atOnce: boolean, rate: number): AskFor<'batch'> {
  return {
    model: state.model,
    gpu: plan.gpu,
    arrivals: `poisson:${String(Number(rate.toPrecision(4)))}`,
    'max-batch': String(plan.max_batch),
    replicas: String(plan.replicas),
    requests: '4000',
    ...(atOnce ? { 'max-delay': `${String(plan.max_delay_ms)}ms`, instances: String(plan.instances) } : { isl: state.isl, osl: state.osl, tp: String(plan.tp), ...(plan.token_budget ? { 'token-budget': String(plan.token_budget) } : {}) }),
  } as AskFor<'batch'>;
}

export interface Load {
  rate: number;
  percentile: string;
  seconds: number;
  metric: 'ttft' | 'tpot' | 'latency';
}

type Percentiles = Record<string, number>;

/** p50, p95 and p99 of one simulated rate. */
export function loadsOf(rate: number, answer: Schemas['Batch']): Load[] {
  const take = (metric: Load['metric'], values: Percentiles | undefined): Load[] => ['p50', 'p95', 'p99'].flatMap((percentile) => {
    const value = values?.[percentile];
    return value === undefined ? [] : [{ rate, percentile, seconds: value / 1000, metric }];
  });
  return [...take('ttft', answer.ttft_ms as Percentiles | undefined), ...take('tpot', answer.tpot_ms as Percentiles | undefined), ...take('latency', answer.latency_ms as Percentiles | undefined)];
}

/** The highest rate with a percentile within the limit, interpolated linearly; 0 if there is none. */
export function rateWithin(loads: Load[], metric: Load['metric'], percentile: string, limit: number): number {
  const line = loads.filter((load) => load.metric === metric && load.percentile === percentile).sort((a, b) => a.rate - b.rate);
  let best = 0;
  line.forEach((load, i) => {
    if (load.seconds <= limit) best = load.rate;
    const next = line[i + 1];
    if (load.seconds <= limit && next && next.seconds > limit) best = load.rate + ((next.rate - load.rate) * (limit - load.seconds)) / (next.seconds - load.seconds);
  });
  return best;
}
