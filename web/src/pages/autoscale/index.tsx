// A day of traffic under three scaling policies: what each costs, and how long requests wait.
import { useMemo } from 'preact/hooks';
import { askForFile, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSettled } from '../../lib/answer';
import { duration, magnitude, money, number, percent } from '../../lib/format';
import { save } from '../../lib/save';
import { Badge, Card, CopyLink, Export, PageHead, Problem } from '../../parts/basics';
import { Combobox, COUNT, RATE, Slider, TIME, type Choice, type Scale } from '../../parts/fields';
import { Table } from '../../parts/table';
import { Demand, Replicas, Waiting } from './pictures';
import { cheapest, DEFAULTS, hourRows, nameOf, questionOf, type Policy, type State } from './question';

const TIMES: Scale = { step: () => 0.1, show: (value) => `${number(value)} × mean`, read: (text) => { const value = Number.parseFloat(text); return value > 0 ? value : undefined; }, like: 'a number, like 1.8' };

function Answer(props: { answer: Schemas['Autoscale'] }) {
  const { answer } = props;
  const policies = answer.policies ?? [];
  const best = cheapest(policies);
  const fixed = policies.find((policy) => policy.name === 'fixed');
  const saved = best && fixed && best !== fixed ? 1 - best.gpu_hours / fixed.gpu_hours : 0;
  return (
    <section class="card hero" aria-label="The answer">
      <p class="hero-line" data-testid="answer">
        {best ? `${nameOf(best)} meets the SLO with ${number(best.gpu_hours)} GPU-hours a day${best.usd === undefined || best.usd === null ? '' : ` (${money(best.usd)})`}` : 'None of these policies meets the SLO'}
      </p>
      <p class="hero-sub">
        {best ? (saved > 0.005 ? `It saves ${percent(saved)} against ${number(fixed?.max_replicas ?? 0)} fixed replicas.` : saved < -0.005 ? 'Fixed capacity is cheaper here.' : '') : 'Lower a target, add replicas or shorten the start-up.'}{' '}
        {answer.bound ? `A scaler that knows the future needs ${number(answer.bound.gpu_hours)} GPU-hours.` : ''}
      </p>
    </section>
  );
}

export function AutoscalePage() {
  const [state, change] = useAddress(DEFAULTS);
  const models = useAnswer('models', useMemo(() => ({}), []));
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  const modelChoices = useMemo<Choice[]>(() => (models.value?.models ?? []).map((each) => ({ value: each.name ?? '', note: magnitude(each.parameters ?? 0), words: `${each.name ?? ''} ${each.family ?? ''}` })), [models.value]);
  const gpuChoices = useMemo<Choice[]>(() => (gpus.value?.gpus ?? []).filter((each) => each.vendor === 'NVIDIA' || each.vendor === 'AMD').map((each) => ({ value: each.name, note: each.vendor, words: `${each.name} ${each.vendor.toLowerCase()}` })), [gpus.value]);
  const settled = useSettled(JSON.stringify(state), 250);
  const asked = useMemo(() => questionOf(JSON.parse(settled) as State), [settled]);
  const answer = useAnswer('autoscale', asked);
  const value = answer.value as Schemas['Autoscale'] | undefined;
  const policies = value?.policies ?? [];
  const rows = useMemo(() => hourRows(policies), [value]);
  const stale = answer.busy || settled !== JSON.stringify(state);
  const slide = (name: keyof State) => (to: number) => { change({ [name]: String(to) }); };
  return (
    <>
      <PageHead title="Autoscale" what="A day of traffic under three policies: cost, replicas and waiting time">
        <CopyLink />
        <Export items={[['Report (HTML)', () => { void askForFile('autoscale', asked, 'html').then((blob) => { save('rightsize-autoscale.html', blob, blob.type); }); }], ['Answer (JSON)', () => { save('rightsize-autoscale.json', JSON.stringify(value, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class="with-controls">
        <div class="controls">
          <section class="card fields" aria-label="The question">
            <Combobox label="Model" value={state.model} choices={modelChoices} onChange={(model) => { change({ model }, true); }} />
            <Combobox label="GPU" value={state.gpu} choices={gpuChoices} onChange={(gpu) => { change({ gpu }, true); }} />
            <Slider label="Mean requests" value={Number(state.rate)} least={0.5} most={50} scale={RATE} onSlide={slide('rate')} />
            <Slider label="Busiest time" value={Number(state.peak)} least={1.1} most={2} scale={TIMES} onSlide={slide('peak')} />
            <Slider label="TTFT limit" value={Number(state.ttft)} least={0.1} most={60} scale={TIME} onSlide={slide('ttft')} />
            <Slider label="TPOT limit" value={Number(state.tpot)} least={0.01} most={0.5} scale={TIME} onSlide={slide('tpot')} />
            <Slider label="Start of a replica" value={Number(state.startup)} least={1} most={1800} scale={TIME} onSlide={slide('startup')} />
          </section>
          <section class="card fields" aria-label="The policies">
            <Slider label="Fixed: replicas" value={Number(state.fixed)} least={1} most={64} scale={COUNT} onSlide={slide('fixed')} />
            <Slider label="HPA: requests per replica" value={Number(state.target)} least={1} most={256} scale={COUNT} onSlide={slide('target')} />
            <Slider label="KEDA: threshold" value={Number(state.threshold)} least={1} most={256} scale={COUNT} onSlide={slide('threshold')} />
          </section>
        </div>
        <div class="stack">
          {answer.failed !== undefined && <Card label="Error"><Problem failed={answer.failed} /></Card>}
          {!value && answer.failed === undefined && <Card label="Working"><p class="empty">Simulating a day…</p></Card>}
          {value && (
            <div class={`stack ${stale ? 'stale' : ''}`} aria-busy={stale}>
              <Answer answer={value} />
              <Demand rows={rows} />
              <div class="columns">
                <Replicas rows={rows} />
                <Waiting rows={rows} limit={Number(state.ttft)} />
              </div>
              <Card title="Policies" bare>
                <Table
                  label="Policies"
                  rows={policies}
                  keyOf={(each: Policy) => each.name}
                  columns={[
                    { title: 'Policy', cell: (each: Policy) => nameOf(each) },
                    { title: 'GPU-hours', number: true, cell: (each: Policy) => number(each.gpu_hours), sort: (each: Policy) => each.gpu_hours },
                    { title: '$/day', number: true, cell: (each: Policy) => (each.usd === undefined || each.usd === null ? '–' : money(each.usd)), sort: (each: Policy) => each.usd ?? 0 },
                    { title: 'Over the SLO', number: true, cell: (each: Policy) => <Badge tone={each.meets_slo ? 'good' : 'bad'}>{percent(each.over_slo)}</Badge>, sort: (each: Policy) => each.over_slo },
                    { title: 'p99 TTFT', number: true, roomy: true, cell: (each: Policy) => duration(each.ttft_p99_seconds), sort: (each: Policy) => each.ttft_p99_seconds },
                    { title: 'Replicas, mean', number: true, roomy: true, cell: (each: Policy) => number(each.mean_replicas), sort: (each: Policy) => each.mean_replicas },
                    { title: 'Most', number: true, roomy: true, cell: (each: Policy) => number(each.max_replicas), sort: (each: Policy) => each.max_replicas },
                  ]}
                />
              </Card>
            </div>
          )}
        </div>
      </div>
    </>
  );
}
