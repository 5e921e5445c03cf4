// Comparisons of plans: keys and labels, the effect of a change, close calls.
import type { Plan, Schemas } from '../../api/client';
import { duration, money, number, percent, signedPercent } from '../../lib/format';
import { parseDuration } from '../../lib/parse';
import { amountOf, running } from '../../lib/period';
import { inPageWords, TERM_NAMES } from '../../lib/words';
import { FIELD_NAMES } from './question';

type Found = Schemas['Recommend'];

/** "4 × mi300x" */
export const gpusOf = (plan: Pick<Plan, 'gpus' | 'gpu'>) => `${number(plan.gpus)} × ${plan.gpu}`;

export const timeOf = (plan: Plan, serving: boolean) => (serving ? (plan.ttft_seconds ?? plan.mean_latency_seconds ?? 0) : plan.hours * 3600);

/** The cost of a job, or of a service in the period shown. */
export const costOf = (plan: Plan, serving: boolean) => (serving ? amountOf(plan.usd_total) : money(plan.usd_total));

const same = (a: Plan, b: Plan) => a.gpu === b.gpu && a.gpus === b.gpus && a.instance === b.instance && a.provider === b.provider && a.purchase === b.purchase && a.region === b.region;

/** Other regions or sizes of the same machines do not count as alternatives. */
const alike = (a: Plan, b: Plan) => a.gpu === b.gpu && a.gpus === b.gpus && a.provider === b.provider && a.purchase === b.purchase;

/** A plan that can be selected, with its name in the address: "3" is the third of the ranking, "p3" the third of the front. */
export interface Choice {
  key: string;
  plan: Plan;
}

/** The ranked plans, then those of the front that are not among them. */
export function choicesOf(found: Found | undefined): Choice[] {
  const plans = found?.plans ?? [];
  const front = (found?.pareto ?? []).map((plan, i) => ({ key: `p${String(i + 1)}`, plan })).filter(({ plan }) => !plans.some((each) => same(each, plan)));
  return [...plans.map((plan, i) => ({ key: String(i + 1), plan })), ...front];
}

/** The dot that a click selects: the nearest, or, if a dot at the same place is selected, the next one there. */
export function clickedDot<D extends { key: string; time: number; usd: number }>(dots: D[], nearest: D, picked: string | undefined): D {
  // A hundredth of the chart is a few pixels: such dots cover each other.
  const apart = (of: (dot: D) => number) => { const all = dots.map((dot) => Math.log(of(dot))); return Math.max(1e-9, Math.max(...all) - Math.min(...all)) / 100; };
  const [x, y] = [apart((dot) => dot.time), apart((dot) => dot.usd)];
  const here = dots.filter((dot) => Math.abs(Math.log(dot.time / nearest.time)) <= x && Math.abs(Math.log(dot.usd / nearest.usd)) <= 2 * y);
  const at = here.findIndex((dot) => dot.key === picked);
  return at < 0 ? nearest : here[(at + 1) % here.length] ?? nearest;
}

/** How much more than the first plan a close call may cost. */
const CLOSE = 0.05;

/** Not ranked lower because of a doubtful price, and with a benchmark for its speed. */
export const isSound = (plan: Plan) => !plan.held_back && plan.basis !== 'specification';

/**
 * If the first plan is not clearly the best, the plan to consider instead: the fastest within 5 % of the cost or, if the GPU is
 * best in less than half of the cases, the next GPU.
 */
export function closeRival(found: Found, serving: boolean): Plan | undefined {
  const first = found.plans?.[0];
  if (!first) return undefined;
  const time = (plan: Plan) => timeOf(plan, serving);
  const rivals = choicesOf(found).map(({ plan }) => plan).filter((plan) => !plan.held_back && !alike(plan, first) && plan.usd_total >= first.usd_total);
  const near = rivals.filter((plan) => plan.usd_total <= first.usd_total * (1 + CLOSE));
  const unsure = typeof found.confidence === 'number' && found.confidence < 0.5;
  return near.sort((a, b) => time(a) - time(b) || a.usd_total - b.usd_total)[0] ?? (unsure ? rivals.filter((plan) => plan.gpu !== first.gpu).sort((a, b) => a.usd_total - b.usd_total)[0] : undefined);
}

export function closeCall(found: Found, serving: boolean): string | undefined {
  const first = found.plans?.[0];
  const rival = closeRival(found, serving);
  if (!first || !rival) return undefined;
  const more = rival.usd_total - first.usd_total;
  const extra = serving ? running(more) : money(more);
  const gain = timeOf(first, serving) / timeOf(rival, serving);
  const name = rival.provider === first.provider ? gpusOf(rival) : `${gpusOf(rival)} at ${rival.provider}`;
  if (gain > 1.05) return `close call: ${name} for ${extra} more ${serving ? `has a TTFT of ${duration(timeOf(rival, serving))} instead of ${duration(timeOf(first, serving))}` : gain > 1.9 && gain < 2.1 ? 'is twice as fast' : `is ${number(gain, 2)} times as fast`}`;
  return more < 0.0005 * first.usd_total ? `close call: ${name} costs the same` : `close call: ${name} costs only ${extra} more`;
}

/** The test of a plan without a benchmark that is first, or cheaper than the first. */
export function worthATest(found: Found): string | undefined {
  const test = found.experiment as { plan?: Plan; saving_share?: number; test_usd?: number; test_seconds?: number } | null | undefined;
  if (!test?.plan) return undefined;
  const cost = `A test of ${duration(test.test_seconds)} costs about ${money(test.test_usd)}.`;
  if (!test.saving_share) return `Test it first: ${test.plan.gpu} has no benchmark. ${cost}`;
  return `Worth a test: ${gpusOf(test.plan)} at ${test.plan.provider} could save ${number(100 * test.saving_share, 2)} % (${money(test.plan.usd_total)}) but has no benchmark. ${cost}`;
}

/** The energy of a job in kWh, or the power of a service in watts: the smaller, the better. */
export const energyOf = (plan: Plan) => (plan.energy_kwh ?? plan.power_watts ?? undefined);

/** Labels of special plans by key: recommended, cheapest, close call, fastest, lowest energy. */
export function labelsOf(found: Found | undefined, serving: boolean): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  const all = choicesOf(found);
  const add = (choice: Choice | undefined, label: string) => { if (choice) labels.set(choice.key, [...(labels.get(choice.key) ?? []), label]); };
  const least = (of: (plan: Plan) => number | undefined, among = all) => among.filter(({ plan }) => (of(plan) ?? 0) > 0).sort((a, b) => (of(a.plan) ?? 0) - (of(b.plan) ?? 0))[0];
  if (!found || all.length === 0) return labels;
  add(all[0], 'recommended');
  const sound = all.filter(({ plan }) => isSound(plan));
  const untested = least((plan) => plan.usd_total);
  const cheapest = least((plan) => plan.usd_total, sound) ?? untested;
  if (untested && cheapest && untested !== cheapest && untested.plan.usd_total < 0.99 * cheapest.plan.usd_total) add(untested, untested.plan.held_back ? 'cheapest, price in doubt' : 'cheapest by data sheet');
  // A speed that is transferred has benchmarks of the GPU or of a similar one, with another model or framework.
  const evidence = cheapest?.plan.basis === 'transferred' ? 'cheapest with related benchmarks' : 'cheapest with a benchmark';
  add(cheapest, untested && cheapest && untested.plan.usd_total < cheapest.plan.usd_total ? evidence : 'cheapest');
  const rival = closeRival(found, serving);
  add(all.find(({ plan }) => plan === rival), 'close call');
  add(least((plan) => timeOf(plan, serving)), 'fastest');
  add(least(energyOf), 'lowest energy');
  return labels;
}

/** Caveats of this plan; those of the answer are about the first plan. */
export function caveatsOf(found: Found, plan: Plan | undefined): string[] {
  const first = found.plans?.[0];
  if (!plan || !first || same(plan, first)) return (found.caveats ?? []).map(String);
  const own = (plan.caveats ?? []).map(String);
  return own.length > 0 ? own : plan.basis === 'specification' ? [`no ${plan.gpu} benchmark: the speed comes from the data sheet`] : [];
}

/** The effect of another deadline: "7 d → 3 d 12 h: same plan; changes below 14 h 11 min (4 × mi300x, +1 %)". */
export function deadlineChange(from: number, to: number, before: Plan | undefined, after: Plan | undefined, breakpoints: { when: string; then: string }[] | undefined): string {
  const head = `${duration(from)} → ${duration(to)}: `;
  if (!after) return `${head}no plan finishes in time`;
  const isSame = before && same(before, after);
  if (isSame && to > from) return `A longer deadline saves nothing: the cheapest plan needs ${duration(timeOf(after, false))}.`;
  const now = isSame ? 'same plan' : `now ${gpusOf(after)}${before ? `, ${signedPercent(after.usd_total / before.usd_total - 1)}` : ''}`;
  const next = (breakpoints ?? []).flatMap((each) => {
    const limit = /^the deadline is under (.+)$/.exec(each.when)?.[1];
    const then = /\((\d+) x ([^)]+)\).* for \$([\d,.]+)/.exec(each.then);
    if (limit === undefined) return [];
    const cost = Number((then?.[3] ?? '').replace(/,/g, ''));
    return [`; changes below ${limit}${then ? ` (${then[1] ?? ''} × ${then[2] ?? ''}${cost > 0 ? `, ${signedPercent(cost / after.usd_total - 1)}` : ''})` : ''}`];
  })[0];
  return head + now + (next ?? '');
}

/**
 * What a longer deadline saves: "Longer deadline: 2 h saves 25 % (8 × b200-sxm, $98.06)." `unlimited`: the best plan without a
 * deadline, because a plan that the next longer deadline does not allow may still be cheaper.
 */
export function longerDeadline(found: Found, unlimited?: Plan): string | undefined {
  const first = found.plans?.[0];
  const change = (found.changes ?? []).find((each) => each.flags.startsWith('--deadline '));
  const longer = parseDuration(change?.flags.split(' ')[1] ?? '');
  if (!first) return undefined;
  const savedBy = (plan: Plan) => 1 - plan.usd_total / first.usd_total;
  const saves = (plan: Plan) => `saves ${percent(savedBy(plan), savedBy(plan) < 0.095 ? 1 : 0)} (${gpusOf(plan)}, ${money(plan.usd_total)})`;
  // Without such a change, the next longer deadlines save nothing.
  if (!change || longer === undefined) {
    if (!unlimited) return undefined;
    const more = !unlimited.held_back && savedBy(unlimited) >= 0.005 ? `${duration(timeOf(unlimited, false))} ${saves(unlimited)}` : 'none saves money';
    return `Longer deadline: ${more}; this plan takes ${duration(timeOf(first, false))}.`;
  }
  const next = savedBy(change.plan) >= 0.005 ? `${duration(longer)} ${saves(change.plan)}` : undefined;
  const last = unlimited && !unlimited.held_back && savedBy(unlimited) >= Math.max(0.005, savedBy(change.plan) + 0.005) ? `${duration(timeOf(unlimited, false))} ${saves(unlimited)}` : undefined;
  if (next || last) return `Longer deadline: ${[next ?? `${duration(longer)} saves nothing`, last].filter(Boolean).join('; ')}.`;
  return `Longer deadline: ${duration(longer)} saves nothing, ${unlimited && !unlimited.held_back ? 'and neither does any longer one' : `this plan takes ${duration(timeOf(first, false))}`}.`;
}

/** A change by the values that lead to its plan: "a deadline of 17 min" rather than "the soonest plan" or "two changes". */
export function changeShown(change: { what: string; flags: string }): string {
  if (change.what === 'the soonest plan') return inPageWords(change.flags);
  if (!/^two changes$|latency limits?$/.test(change.what)) return inPageWords(change.what);
  return change.flags.split(/ (?=--|no --)/).map((each) => inPageWords(each.replace(/^--budget (\d.*)$/, (_, usd: string) => `a budget of ${money(Number(usd.replaceAll(',', '')))}`).replace(/^--(purchase|precision) (\S+)$/, (_, name: string, value: string) => (name === 'purchase' ? `${TERM_NAMES[value] ?? value} terms` : value)), FIELD_NAMES)).join(' and ');
}

type Rejection = NonNullable<Schemas['Recommend']['rejected']>[number];

/** What a rejected GPU lacks, also if it lacks less than the digits show: "more than 24 GiB on each of 8 GPUs". */
export const needShown = ({ stage, need, have }: Pick<Rejection, 'stage' | 'need' | 'have'>) => (stage === 'memory' && need.startsWith(have) ? `more than ${need}` : need);

/** Why GPUs were rejected; those that only lack a price have the same reason, so they are only named. */
export function reasonsOf(rejected: Rejection[]): { reasons: Rejection[]; unpriced: string[] } {
  return { reasons: rejected.filter((each) => each.stage !== 'price'), unpriced: rejected.filter((each) => each.stage === 'price').map((each) => each.what) };
}

/** The unit of a plan's work: tokens, samples for models without tokens, or requests. */
export function workOf(plan: Plan): { unit: string; perSecond: number; usdPerMillion: number | undefined } {
  const p = plan as Plan & Partial<Record<'samples_per_second' | 'requests_per_second' | 'usd_per_million_samples' | 'usd_per_million_requests', number>>;
  if (p.usd_per_million_samples !== undefined) return { unit: 'samples', perSecond: p.samples_per_second ?? 0, usdPerMillion: p.usd_per_million_samples };
  if (p.usd_per_million_requests !== undefined) return { unit: 'requests', perSecond: p.requests_per_second ?? 0, usdPerMillion: p.usd_per_million_requests };
  return { unit: 'tokens', perSecond: plan.tokens_per_second ?? 0, usdPerMillion: plan.usd_per_million_tokens };
}

/** Million units of work per dollar, including start-up and interruptions, to match the order of the table. */
export function workPerDollar(plan: Plan, serving: boolean): number {
  const work = workOf(plan);
  if (serving) return work.usdPerMillion ? 1 / work.usdPerMillion : 0;
  return plan.usd_total > 0 ? (work.perSecond * (plan.work_seconds ?? 0)) / 1e6 / plan.usd_total : 0;
}
