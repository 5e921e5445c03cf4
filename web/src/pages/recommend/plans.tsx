import { useMemo } from 'preact/hooks';
import type { Plan } from '../../api/client';
import type { Row } from '../../lib/csv';
import { duration, money, number, signedPercent } from '../../lib/format';
import { period } from '../../lib/period';
import { boundShown } from '../../lib/words';
import { Badge, Card } from '../../parts/basics';
import { Table, type Column } from '../../parts/table';
import { costOf } from './compare';

export function planRows(plans: Plan[]): Row[] {
  return plans.map((plan) => ({
    rank: plan.rank,
    gpus: plan.gpus,
    gpu: plan.gpu,
    provider: plan.provider,
    instances: plan.instances,
    instance: plan.instance,
    region: plan.region,
    purchase: plan.purchase,
    hours: plan.hours,
    usd_per_hour: plan.usd_per_hour,
    usd_total: plan.usd_total,
    low_usd: plan.low,
    high_usd: plan.high,
    energy_kwh: plan.energy_kwh,
    ttft_seconds: plan.ttft_seconds,
    tpot_seconds: plan.tpot_seconds,
    precision: plan.precision,
    bound: plan.bound,
    basis: plan.basis,
    price_date: plan.price_date,
  }));
}

export function PlansTable(props: { plans: Plan[]; labels: Map<string, string[]>; serving: boolean; picked: string | undefined; onPick: (key: string) => void }) {
  const columns = useMemo(() => columnsFor(props.serving, props.plans, props.labels), [props.serving, props.plans, props.labels]);
  return (
    <Card title="Ranked plans" note="The best of each provider, GPU and terms." bare>
      <Table label="Ranked plans" columns={columns} rows={props.plans} keyOf={(plan) => String(props.plans.indexOf(plan) + 1)} picked={props.picked ?? '1'} onPick={(plan) => { props.onPick(String(props.plans.indexOf(plan) + 1)); }} />
    </Card>
  );
}

function columnsFor(serving: boolean, plans: Plan[], labels: Map<string, string[]>): Column<Plan>[] {
  const first = plans[0];
  const terms: Column<Plan> = { title: 'Terms', roomy: true, cell: (plan) => <Badge tone={plan.purchase === 'on-demand' ? 'plain' : 'accent'}>{plan.purchase}</Badge>, sort: (plan) => plan.purchase };
  const timing: Column<Plan>[] = serving
    ? [
        { title: 'TTFT', number: true, roomy: true, cell: (plan) => duration(plan.ttft_seconds), sort: (plan) => plan.ttft_seconds ?? 0 },
        { title: 'TPOT', number: true, roomy: true, cell: (plan) => duration(plan.tpot_seconds), sort: (plan) => plan.tpot_seconds ?? 0 },
      ]
    : [{ title: 'Time', number: true, roomy: true, cell: (plan) => duration(plan.hours * 3600), sort: (plan) => plan.hours }];
  return [
    { title: 'GPUs', cell: (plan) => <>{number(plan.gpus)} × {plan.gpu}<small class="labels">{(labels.get(String(plans.indexOf(plan) + 1)) ?? []).filter((label) => label !== 'recommended').join(', ')}</small></>, sort: (plan) => plan.gpu },
    { title: 'Provider', cell: (plan) => <>{plan.provider}<small class="roomy-only machine" title={plan.instance}>{`${number(plan.instances)} × ${plan.instance}`}</small>{plan.held_back && <small class="held-back">{`last: ${plan.held_back}`}</small>}</>, sort: (plan) => plan.provider },
    ...(plans.some((plan) => plan.purchase !== first?.purchase) ? [terms] : []),
    ...timing,
    { title: '$/h', number: true, roomy: true, cell: (plan) => money(plan.usd_per_hour), sort: (plan) => plan.usd_per_hour },
    { title: serving ? `$/${period()}` : 'Total', number: true, cell: (plan) => <strong>{costOf(plan, serving)}</strong>, sort: (plan) => plan.usd_total },
    { title: 'vs first', number: true, roomy: true, cell: (plan) => (first && plan.rank !== 1 ? signedPercent(plan.usd_total / first.usd_total - 1) : '') },
    { title: 'Bound by', spacious: true, cell: (plan) => <span class="quiet">{boundShown(plan.bound)}</span> },
  ];
}
