// A day of traffic under three scaling policies: what each costs, and how long requests wait.
import { useMemo } from 'preact/hooks';
import type { Schemas } from '../../api/client';
import { duration, money, number, percent } from '../../lib/format';
import { useQuestion } from '../../parts/question';
import { AskPage, GpuField, Hero, ModelField, TableCard } from '../../parts/ask_page';
import { Badge, Card, Named } from '../../parts/basics';
import { AUTOSCALE } from '../numbers';
import { Demand, Replicas, Waiting } from './pictures';
import { cheapest, DEFAULTS, hourRows, meanHourRows, nameOf, questionOf, quickOf, type MeanPolicy, type Policy } from './question';

const dollars = (usd: number | null | undefined) => (usd === undefined || usd === null ? '–' : money(usd));

/** While a slider moves: GPU-hours and replicas on mean traffic. */
function Preview({ policies }: { policies: MeanPolicy[] }) {
  const rows = useMemo(() => meanHourRows(policies), [policies]);
  const best = policies.filter((policy) => !policy.overloaded).sort((a, b) => a.gpu_hours - b.gpu_hours)[0];
  return (
    <>
      <Hero
        line={best ? `${nameOf(best)} needs about ${number(best.gpu_hours)} GPU-hours a day${best.usd === undefined || best.usd === null ? '' : ` (${money(best.usd)})`}` : 'All of these policies are overloaded at times'}
        sub="Preliminary, from mean traffic; a simulation of every request follows."
      />
      <Demand rows={rows} />
      <div class="columns">
        <Replicas rows={rows} />
        <Card title="Time to first token" note="The longest wait of each hour"><div class="empty" style={{ minHeight: '226px' }}>From the simulation that follows</div></Card>
      </div>
      <TableCard
        title="Policies"
        rows={policies}
        keyOf={(each: MeanPolicy) => each.name}
        columns={[
            { title: 'Policy', cell: (each: MeanPolicy) => <Named name={nameOf(each)} /> },
            { title: 'GPU-hours', number: true, cell: (each: MeanPolicy) => (each.overloaded ? 'overloaded' : `about ${number(each.gpu_hours)}`) },
            { title: '$/day', number: true, cell: (each: MeanPolicy) => (each.overloaded ? '–' : dollars(each.usd)) },
            { title: 'Most', number: true, roomy: true, cell: (each: MeanPolicy) => number(each.max_replicas) },
        ]}
      />
    </>
  );
}

function Answer({ answer, limit }: { answer: Schemas['Autoscale']; limit: number }) {
  const policies = answer.policies ?? [];
  const rows = useMemo(() => hourRows(policies), [answer]);
  const best = cheapest(policies);
  const fixed = policies.find((policy) => policy.name === 'fixed');
  const saved = best && fixed && best !== fixed ? 1 - best.gpu_hours / fixed.gpu_hours : 0;
  return (
    <>
      <Hero
        line={best ? `${nameOf(best)} meets the SLO with ${number(best.gpu_hours)} GPU-hours a day${best.usd === undefined || best.usd === null ? '' : ` (${money(best.usd)})`}` : 'None of these policies meets the SLO'}
        sub={`${best ? (saved > 0.005 ? `It saves ${percent(saved)} against ${number(fixed?.max_replicas ?? 0)} fixed replicas.` : saved < -0.005 ? 'Fixed capacity is cheaper here.' : '') : 'Lower a target, add replicas or shorten the start-up.'} ${answer.bound ? `A scaler that knows the future needs ${number(answer.bound.gpu_hours)} GPU-hours.` : ''}`}
      />
      <Demand rows={rows} />
      <div class="columns">
        <Replicas rows={rows} />
        <Waiting rows={rows} limit={limit} />
      </div>
      <TableCard
        title="Policies"
        rows={policies}
        keyOf={(each: Policy) => each.name}
        columns={[
            { title: 'Policy', cell: (each: Policy) => <Named name={nameOf(each)} /> },
            { title: 'GPU-hours', number: true, cell: (each: Policy) => number(each.gpu_hours), sort: (each: Policy) => each.gpu_hours },
            { title: '$/day', number: true, cell: (each: Policy) => dollars(each.usd), sort: (each: Policy) => each.usd ?? 0 },
            { title: 'Over the SLO', number: true, cell: (each: Policy) => <Badge tone={each.meets_slo ? 'good' : 'bad'}>{percent(each.over_slo)}</Badge>, sort: (each: Policy) => each.over_slo },
            { title: 'p99 TTFT', number: true, roomy: true, cell: (each: Policy) => duration(each.ttft_p99_seconds), sort: (each: Policy) => each.ttft_p99_seconds },
            { title: 'Replicas, mean', number: true, roomy: true, cell: (each: Policy) => number(each.mean_replicas), sort: (each: Policy) => each.mean_replicas },
            { title: 'Most', number: true, roomy: true, cell: (each: Policy) => number(each.max_replicas), sort: (each: Policy) => each.max_replicas },
        ]}
      />
    </>
  );
}

export function AutoscalePage() {
  const question = useQuestion('autoscale', DEFAULTS, questionOf, { numbers: () => AUTOSCALE, search: true, quick: quickOf, hasPlan: (answer) => (answer.on_mean_traffic ?? []).length > 0 });
  const { state, used, choose, slider } = question;
  return (
    <AskPage title="Autoscale" what="A day of traffic under three policies: cost, replicas and waiting time" question={question} waiting="Simulating a day…"
      fields={
        <>
          <ModelField value={state.model} onChange={choose('model')} />
          <GpuField vendors={['NVIDIA', 'AMD']} value={state.gpu} onChange={choose('gpu')} />
          {slider('rate')}
          {slider('peak')}
          {slider('ttft')}
          {slider('tpot')}
          {slider('startup')}
        </>
      }
      moreFields={['The policies', (
        <>
          {slider('fixed')}
          {slider('target')}
          {slider('threshold')}
        </>
      )]}
    >
      {(value) => (value.on_mean_traffic ? <Preview policies={value.on_mean_traffic} /> : <Answer answer={value as Schemas['Autoscale']} limit={Number(used.ttft)} />)}
    </AskPage>
  );
}
