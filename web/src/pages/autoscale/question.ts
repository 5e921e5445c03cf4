import type { AskFor, Schemas } from '../../api/client';
import { durationFlag } from '../../lib/format';

export const DEFAULTS = {
  model: 'llama-3.1-8b',
  gpu: 'l40s',
  rate: '6', // mean requests/s of the day
  peak: '1.8', // the busiest time against the mean; at most twice
  ttft: '2', // seconds
  tpot: '0.1',
  startup: '110', // seconds
  fixed: '5', // replicas
  target: '24', // HPA: requests in flight per replica
  threshold: '12', // KEDA: waiting or running requests per replica
};
export type State = typeof DEFAULTS;
export type Policy = NonNullable<Schemas['Autoscale']['policies']>[number];
export type MeanPolicy = NonNullable<Schemas['Autoscale']['on_mean_traffic']>[number];

/** The three policies that are compared. */
export function policiesOf(state: State): string[] {
  return [`fixed:replicas=${state.fixed}`, `hpa:target=${state.target},min=1,max=64`, `keda:threshold=${state.threshold},min=1,max=64`];
}

export function questionOf(state: State): AskFor<'autoscale'> {
  return {
    model: state.model,
    gpu: state.gpu,
    arrivals: `diurnal:${state.rate},${state.peak}`,
    duration: '24h',
    slo: `ttft=${durationFlag(Number(state.ttft))},tpot=${durationFlag(Number(state.tpot))}`,
    startup: `${state.startup}s`,
    policy: policiesOf(state),
  } as unknown as AskFor<'autoscale'>;
}

/** While a slider moves, the policies are compared on mean traffic. */
export const quickOf = (asked: AskFor<'autoscale'>): AskFor<'autoscale'> => ({ ...asked, 'plans-only': true });

export const NAMES: Record<string, string> = { fixed: 'Fixed', hpa: 'HPA', keda: 'KEDA' };
export const nameOf = (policy: { name: string }) => NAMES[policy.name] ?? policy.name;

export interface HourRow {
  policy: string;
  hour: number;
  requests: number;
  replicas: number;
  paid: number;
  ttft: number;
  over: number;
}

/** One row per policy and hour, for the charts. The last hour may only drain. */
export function hourRows(policies: Policy[]): HourRow[] {
  return policies.flatMap((policy) => policy.hours.filter((hour) => hour.requests > 0).map((hour) => ({
    policy: nameOf(policy), hour: hour.hour, requests: hour.requests, replicas: hour.mean_replicas, paid: hour.paid_replicas, ttft: hour.ttft_max_seconds, over: hour.over_slo,
  })));
}

export function meanHourRows(policies: MeanPolicy[]): HourRow[] {
  return policies.flatMap((policy) => policy.hours.map((hour) => ({ policy: nameOf(policy), hour: hour.hour, requests: hour.requests, replicas: hour.mean_replicas, paid: hour.paid_replicas, ttft: 0, over: 0 })));
}

/** The cheapest policy that meets the SLO; undefined if none does. */
export function cheapest(policies: Policy[]): Policy | undefined {
  return policies.filter((policy) => policy.meets_slo).sort((a, b) => a.gpu_hours - b.gpu_hours)[0];
}
