import type { Plan, Schemas } from '../../api/client';
import { duration, money, moneyRange, number, percent, sentence, signedPercent } from '../../lib/format';
import { amountOf, inPeriod, period, running } from '../../lib/period';
import { boundShown, inPageWords, stackName, TERMS } from '../../lib/words';
import type { ComponentChildren } from 'preact';
import { Badge, Busy, Stats, type StatProps } from '../../parts/basics';
import { Line } from '../../parts/ask_page';
import { caveatsOf, changeShown, closeCall, gpusOf, longerDeadline, workOf, worthATest } from './compare';
import { FIELD_NAMES } from './question';

/** "4 × MI300X at runpod" */
export function machinesOf(plan: Plan): string {
  const where = plan.provider === 'own' ? 'your own' : `${plan.provider} ${plan.purchase}`;
  return `${number(plan.gpus)} × ${plan.gpu} · ${where}`;
}

export function headline(plan: Plan, serving: boolean): string {
  return serving ? `${machinesOf(plan)} — ${running(plan.usd_total)}` : `${machinesOf(plan)} — ${money(plan.usd_total)}, done in ${duration(plan.hours * 3600)}`;
}

/** What each stage of ZeRO divides. */
const ZERO: Record<number, string> = { 1: 'optimizer states', 2: 'optimizer states and gradients', 3: 'optimizer states, gradients and weights' };

const BASIS: Record<string, ['good' | 'accent' | 'warn', string]> = {
  measured: ['good', 'measured speed'],
  calibrated: ['good', 'calibrated speed'],
  transferred: ['accent', 'speed from related benchmarks'],
  specification: ['warn', 'speed from the data sheet'],
};

function range(plan: Plan, shown = (usd: number) => usd): string | undefined {
  if (typeof plan.low !== 'number' || typeof plan.high !== 'number') return undefined;
  return plan.high - plan.low < 0.005 * plan.usd_total ? 'the same over the 80 % range' : moneyRange(shown(plan.low), shown(plan.high));
}

function stats(plan: Plan, serving: boolean): StatProps[] {
  const shared: StatProps[] = [
    { name: 'Machines', value: number(plan.instances), note: plan.region === 'any' ? plan.instance : `${plan.instance}, ${plan.region}` },
    { name: 'Per hour', value: money(plan.usd_per_hour), note: `${money(plan.usd_per_hour / plan.gpus)}/GPU-h` },
    { name: 'Bound by', value: boundShown(plan.bound), note: plan.mfu ? `MFU ${percent(plan.mfu)}` : undefined, help: plan.mfu ? `${TERMS['Bound by'] ?? ''}. MFU is the ${TERMS['MFU'] ?? ''}` : undefined },
    ...(plan.energy_kwh ? [{ name: 'Energy', value: `${number(serving ? inPeriod(plan.energy_kwh) : plan.energy_kwh)} kWh`, note: serving ? `per ${period()}` : undefined }] : []),
    { name: 'GPU memory', value: plan.memory_bytes && plan.capacity_bytes ? percent(plan.memory_bytes / plan.capacity_bytes) : '–', note: 'of each GPU' },
    { name: 'Settings', value: plan.precision ?? '–', note: [stackName(plan.stack ?? ''), ...settingsOf(plan, serving)].filter(Boolean).join(', '), ...((plan.zero ?? 0) > 0 ? { help: `${TERMS['Settings'] ?? ''}. ZeRO ${String(plan.zero)} divides ${ZERO[plan.zero ?? 0] ?? 'the states'} among the GPUs` } : {}) },
  ];
  if (serving) {
    return [
      { name: `Per ${period()}`, value: amountOf(plan.usd_total), note: range(plan, inPeriod), help: TERMS[`$/${period()}`] },
      { name: workOf(plan).unit === 'tokens' ? '1M output tokens' : `1M ${workOf(plan).unit}`, value: money(workOf(plan).usdPerMillion) },
      { name: `p${String(plan.slo_percentile ?? 95)} TTFT`, value: duration(plan.ttft_seconds) },
      { name: `p${String(plan.slo_percentile ?? 95)} TPOT`, value: duration(plan.tpot_seconds) },
      { name: 'Replicas', value: number(plan.replicas ?? 1), note: plan.utilization === undefined ? undefined : `at ${percent(plan.utilization)} of their capacity` },
      ...shared,
    ];
  }
  return [
    { name: 'Total', value: money(plan.usd_total), note: range(plan) },
    { name: 'Time', value: duration(plan.hours * 3600), note: `${number(workOf(plan).perSecond)} ${workOf(plan).unit}/s` },
    ...shared,
  ];
}

export function settingsOf(plan: Plan, serving: boolean): string[] {
  const parts = serving ? (plan.max_sequences ? [`at most ${number(plan.max_sequences)} sequences`] : []) : [`batch ${String(plan.micro_batch ?? 1)}`];
  if ((plan.tp ?? 1) > 1) parts.push(`TP ${String(plan.tp)}`);
  if ((plan.pp ?? 1) > 1) parts.push(`PP ${String(plan.pp)}`);
  if ((plan.ep ?? 1) > 1) parts.push(`EP ${String(plan.ep)}`);
  if ((plan.zero ?? 0) > 0) parts.push(`ZeRO ${String(plan.zero)}`);
  if (plan.recompute && plan.recompute !== 'none') parts.push(`recompute ${plan.recompute}`);
  return parts;
}

/** If nothing meets the limits: the cheapest plan that one change makes possible. */
function Nearest({ full }: { full: Schemas['Recommend'] }) {
  const nearest = [...(full.changes ?? [])].sort((a, b) => a.plan.usd_total - b.plan.usd_total)[0];
  const serving = full.request?.['job'] === 'serve';
  if (!nearest) return <p class="hero-sub">None of the usual changes helps; “Why not others” lists the reasons.</p>;
  return (
    <p class="note" data-testid="nearest">
      <Badge tone="accent">Nearest</Badge> {headline(nearest.plan, serving)}, with {changeShown(nearest)}.
    </p>
  );
}

interface Props {
  found: Schemas['Recommend'];
  plan: Plan | undefined;
  labels: string[];
  serving: boolean;
  full: Schemas['Recommend'] | undefined;
  /** The best plan without a deadline, once it is known. */
  unlimited: Plan | undefined;
  example: boolean;
  busy: boolean;
  tools: ComponentChildren;
}

export function AnswerCard(props: Props) {
  const { found, plan, serving, full } = props;
  const basis = BASIS[plan?.basis ?? ''];
  // The confidence applies to the first plan.
  const isFirst = plan === found.plans?.[0];
  const chance = isFirst ? full?.confidence : undefined;
  const close = isFirst && full ? closeCall(full, serving) : undefined;
  const first = found.plans?.[0];
  const beside = isFirst && full ? [close ? sentence(close) : '', worthATest(full) ?? '', longerDeadline(full, props.unlimited) ?? ''].filter(Boolean) : [];
  const terms = isFirst ? (full?.terms ?? []).map((each) => inPageWords(each, FIELD_NAMES)) : [];
  const caveats = caveatsOf(found, plan);
  return (
    <section class="card hero" aria-label="The recommendation">
      {props.busy && <div class="replanning"><Busy what="Re-planning…" /></div>}
      <Line line={plan ? headline(plan, serving) : 'Nothing meets your limits'} />
      <p class="hero-sub">
        {props.example && <><Badge tone="accent" title="Nothing was entered yet: change a field to get your own answer">Example</Badge>{' '}</>}{found.what}. {plan ? `${number(found.feasible ?? 0)} feasible options of ${number(found.considered ?? 0)} considered.` : ''}
      </p>
      {!plan && (full ? <Nearest full={full} /> : <Busy what="Looking for the nearest plan…" />)}
      <p style={{ marginTop: '8px', display: 'flex', gap: '6px', flexWrap: 'wrap', alignItems: 'center' }}>
        {props.labels.filter((label) => isFirst ? label !== 'recommended' : true).map((label) => <Badge key={label} tone={label.startsWith('cheapest') && isFirst ? 'good' : 'plain'}>{label}</Badge>)}
        {basis && <Badge tone={basis[0]} {...(plan?.basis === 'transferred' ? { title: 'Benchmarks of this GPU or a similar one, with another model or framework' } : {})}>{basis[1]}</Badge>}
        {typeof chance === 'number' && <Badge tone={chance > 0.7 ? 'good' : 'warn'} title="Confidence: speeds and prices are drawn 2,000 times within their intervals; this is the share of draws in which this GPU stays the cheapest. If it is low, a short test of the first two GPUs decides">confidence {chance > 0.99 ? 'over 99 %' : percent(chance)} that {plan?.gpu} is cheapest</Badge>}
        {plan?.price_age_days !== undefined && !plan.held_back && <Badge tone={plan.price_age_days > 120 ? 'warn' : 'plain'}>price {number(plan.price_age_days)} days old</Badge>}
        {!isFirst && plan && first && <Badge tone={plan.held_back ? 'warn' : 'accent'}>{plan.held_back ? `plan ${String(plan.rank)}, not first: ${plan.held_back}` : `not the recommendation (${gpusOf(first)}): ${signedPercent(plan.usd_total / first.usd_total - 1)}`}</Badge>}
      </p>
      {beside.length + terms.length > 0 && (
        <div class="note" style={{ marginTop: '8px' }}>
          {beside.map((each) => (
            <p key={each}><strong>{each.slice(0, each.indexOf(':') + 1)}</strong>{each.slice(each.indexOf(':') + 1)}</p>
          ))}
          {terms.length > 0 && (
            <details>
              <summary>Other terms and availability</summary>
              {terms.map((each) => (
                <p key={each}>{each}</p>
              ))}
            </details>
          )}
        </div>
      )}
      {caveats.length > 0 && (
        <ul class="caveats" aria-label="Caveats">
          {caveats.map((each) => (
            <li key={each}>{inPageWords(each, FIELD_NAMES)}</li>
          ))}
        </ul>
      )}
      {plan && (
        <div style={{ marginTop: '12px' }}>
          <Stats items={stats(plan, serving)} />
        </div>
      )}
      {plan && <div class="actions screen-only" style={{ marginTop: '10px' }}>{props.tools}</div>}
    </section>
  );
}
