// Latency against load, the cheapest settings that meet the SLOs, and the cost of a tighter SLO.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, askForFile, type BatchPlan, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSearch, useSettled } from '../../lib/answer';
import { duration, magnitude, money, number, percent } from '../../lib/format';
import { save } from '../../lib/save';
import { Badge, Card, CopyLink, CopyText, Export, PageHead, Problem, Stats } from '../../parts/basics';
import { Combobox, COUNT, RATE, Slider, TIME, type Choice } from '../../parts/fields';
import { Table } from '../../parts/table';
import { Frontier, LatencyAgainstLoad } from './pictures';
import { answersAtOnce, atRate, chosenPlan, DEFAULTS, missed, nearestPlan, loadsOf, searchFor, tradeOffs, type Load, type State } from './question';

type Batch = Schemas['Batch'];

const SHARES = [0.15, 0.35, 0.55, 0.7, 0.8, 0.88, 0.94, 1, 1.06];

/** The plan simulated at lower and higher loads. */
function useLoads(state: State, plan: BatchPlan | undefined, atOnce: boolean): Load[] {
  const [loads, setLoads] = useState<Load[]>([]);
  const key = plan ? JSON.stringify([state.model, state.rate, state.isl, state.osl, plan.gpu, plan.max_batch, plan.replicas, plan.tp, plan.token_budget, plan.max_delay_ms, plan.load]) : '';
  useEffect(() => {
    if (!plan || plan.load <= 0) return undefined;
    const control = new AbortController();
    const capacity = Number(state.rate) / plan.load;
    const collected: Load[] = [];
    void (async () => {
      // The ends are simulated first, so that the shape is visible early.
      for (const share of [SHARES[3], SHARES[0], SHARES[6], SHARES[1], SHARES[4], SHARES[2], SHARES[5], SHARES[7], SHARES[8]]) {
        if (share === undefined || control.signal.aborted) return;
        const rate = capacity * share;
        const answer = await ask('batch', atRate(state, plan, atOnce, rate), control.signal).catch(() => undefined);
        if (answer) collected.push(...loadsOf(rate, answer));
        if (!control.signal.aborted) setLoads([...collected]);
      }
    })();
    return () => { control.abort(); };
  }, [key]);
  return loads;
}

function Answer(props: { plan: BatchPlan; answer: Batch }) {
  const { plan, answer } = props;
  const alone = answer.unbatched;
  return (
    <section class="card hero" aria-label="The answer">
      <p class="hero-line" data-testid="answer">
        {number(plan.gpus)} × {plan.gpu}, up to {number(plan.max_batch)} at once — {money(plan.usd_per_month)}/month
      </p>
      <p class="hero-sub">
        {alone ? `Without batching it would take ${number(alone.gpus)} × ${alone.gpu}: ${money(alone.usd_per_month)}/month.` : ''} {number(answer.considered ?? 0)} settings considered, {number(answer.simulated ?? 0)} simulated.
      </p>
      <div style={{ marginTop: '12px' }}>
        <Stats
          items={[
            ...plan.slos.map((slo) => ({ name: `${slo.slo_percentile} ${slo.metric === slo.slo_percentile ? 'latency' : slo.metric.toUpperCase()}`, value: duration(slo.value_ms / 1000), note: `± ${duration(slo.half_width_ms / 1000, 2)}; limit ${duration(slo.limit_ms / 1000)}` })),
            { name: 'Load', value: percent(plan.load), note: 'of capacity' },
            { name: 'Mean batch', value: plan.mean_batch === undefined ? '–' : number(plan.mean_batch) },
            { name: 'Replicas', value: number(plan.replicas), note: plan.tp > 1 ? `of ${number(plan.tp)} GPUs each` : undefined },
            { name: 'Tokens per step', value: plan.token_budget ? number(plan.token_budget) : '–' },
          ]}
        />
      </div>
    </section>
  );
}

export function BatchingPage() {
  const [state, change] = useAddress(DEFAULTS);
  const models = useAnswer('models', useMemo(() => ({}), []));
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  const modelChoices = useMemo<Choice[]>(() => (models.value?.models ?? []).map((each) => ({ value: each.name ?? '', note: magnitude(each.parameters ?? 0), words: `${each.name ?? ''} ${each.family ?? ''}` })), [models.value]);
  const gpuChoices = useMemo<Choice[]>(() => (gpus.value?.gpus ?? []).filter((each) => each.vendor === 'NVIDIA' || each.vendor === 'AMD').map((each) => ({ value: each.name, note: each.vendor, words: `${each.name} ${each.vendor.toLowerCase()}` })), [gpus.value]);
  const atOnce = answersAtOnce((models.value?.models ?? []).find((each) => each.name === state.model)?.family);
  const settled = useSettled(JSON.stringify({ ...state, at: '0' }), 350);
  const key = useMemo(() => (models.value ? JSON.stringify(searchFor(JSON.parse(settled) as State, atOnce)) : null), [settled, atOnce, models.value]);
  const found = useSearch('batch', key);
  const frontier = found.value ? tradeOffs(found.value) : [];
  const plan = found.value ? chosenPlan(found.value, Number(state.at)) : undefined;
  const nearest = found.value ? nearestPlan(found.value) : undefined;
  const loads = useLoads(state, plan, atOnce);
  const triton = found.value?.triton_config;
  return (
    <>
      <PageHead title="Batching" what="How latency grows with load, and the cheapest settings that meet the SLOs">
        <CopyLink />
        <Export items={[['Report (HTML)', () => { void askForFile('batch', searchFor(state, atOnce), 'html').then((blob) => { save('rightsize-batch.html', blob, blob.type); }); }], ['Answer (JSON)', () => { save('rightsize-batch.json', JSON.stringify(found.value, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class="with-controls">
        <div class="controls">
          <section class="card fields" aria-label="The question">
            <Combobox label="Model" value={state.model} choices={modelChoices} onChange={(model) => { change({ model, at: '0' }, true); }} />
            <Combobox label="GPU" value={state.gpu} choices={gpuChoices} onChange={(gpu) => { change({ gpu, at: '0' }, true); }} />
            <Slider label="Requests" value={Number(state.rate)} least={0.1} most={2000} scale={RATE} onSlide={(rate) => { change({ rate: String(rate) }); }} />
            {atOnce ? (
              <Slider label="p99 latency limit" value={Number(state.slo)} least={0.005} most={5} scale={TIME} onSlide={(slo) => { change({ slo: String(slo) }); }} />
            ) : (
              <>
                <Slider label="Tokens in" value={Number(state.isl)} least={64} most={65536} scale={COUNT} onSlide={(isl) => { change({ isl: String(isl) }); }} />
                <Slider label="Tokens out" value={Number(state.osl)} least={1} most={4096} scale={COUNT} onSlide={(osl) => { change({ osl: String(osl) }); }} />
                <Slider label="p95 TTFT limit" value={Number(state.ttft)} least={0.05} most={20} scale={TIME} onSlide={(ttft) => { change({ ttft: String(ttft) }); }} />
                <Slider label="p95 TPOT limit" value={Number(state.tpot)} least={0.005} most={0.5} scale={TIME} onSlide={(tpot) => { change({ tpot: String(tpot) }); }} />
              </>
            )}
            {found.seconds !== null && (
              <div class="actions">
                <span role="status">
                  <i class="busy" /> <span class="quiet">Searching, {found.seconds.toFixed(1)} s{found.far ? `: ${found.far}` : ''}</span>
                </span>
                <button type="button" class="button small" onClick={found.cancel}>
                  Cancel
                </button>
              </div>
            )}
          </section>
        </div>
        <div class="stack">
          {found.failed !== undefined && (
            <Card label="Error">
              <Problem failed={found.failed} />
            </Card>
          )}
          {!found.value && found.failed === undefined && <Card label="Working"><p class="empty">{found.seconds === null ? 'Nothing searched yet.' : 'Simulating…'}</p></Card>}
          {found.value && plan && (
            <div class={`stack ${found.seconds === null ? '' : 'stale'}`}>
              <Answer plan={plan} answer={found.value} />
              <div class="columns">
                <LatencyAgainstLoad loads={loads} atOnce={atOnce} state={state} onSlo={(part) => { change(part); }} />
                <Frontier plans={frontier} picked={plan} onPick={(at) => { change({ at: String(at) }, true); }} />
              </div>
              <Card title="Best trade-offs" note="Less latency for more money. Click a row for details." bare>
                <Table
                  label="Best trade-offs"
                  rows={frontier}
                  keyOf={(each) => String(frontier.indexOf(each))}
                  picked={String(frontier.indexOf(plan))}
                  onPick={(each) => { change({ at: String(frontier.indexOf(each)) }, true); }}
                  columns={[
                    { title: 'GPUs', cell: (each) => `${number(each.gpus)} × ${each.gpu}` },
                    { title: '$/month', number: true, cell: (each) => <strong>{money(each.usd_per_month)}</strong>, sort: (each) => each.usd_per_month ?? 0 },
                    { title: 'Replicas', number: true, roomy: true, cell: (each) => number(each.replicas), sort: (each) => each.replicas },
                    { title: 'Batch', number: true, roomy: true, cell: (each) => number(each.max_batch), sort: (each) => each.max_batch },
                    { title: 'Delay', number: true, roomy: true, cell: (each) => duration(each.max_delay_ms / 1000) },
                    ...plan.slos.map((slo, i) => ({ title: slo.metric === slo.slo_percentile ? slo.metric : `${slo.slo_percentile} ${slo.metric.toUpperCase()}`, number: true, roomy: i > 0, cell: (each: BatchPlan) => duration((each.slos[i]?.value_ms ?? 0) / 1000), sort: (each: BatchPlan) => each.slos[i]?.value_ms ?? 0 })),
                    { title: 'Load', number: true, roomy: true, cell: (each) => percent(each.load), sort: (each) => each.load },
                  ]}
                />
              </Card>
              {typeof triton === 'string' && (
                <Card title="Triton configuration" tools={<CopyText text={triton} />}>
                  <pre class="file" tabIndex={0}>{triton}</pre>
                </Card>
              )}
            </div>
          )}
          {found.value && !plan && (
            <Card label="No answer">
              <p class="hero-line" data-testid="answer">No setting meets these limits</p>
              <p class="hero-sub">Relax a limit or choose a faster GPU.</p>
              {nearest && (
                <p class="note">
                  <Badge tone="accent">Closest</Badge> {number(nearest.gpus)} × {nearest.gpu} for {money(nearest.usd_per_month)}/month:{' '}
                  {missed(nearest).map((slo) => `${slo.slo_percentile} ${slo.metric === slo.slo_percentile ? 'latency' : slo.metric.toUpperCase()} ${duration(slo.value_ms / 1000)} instead of ${duration(slo.limit_ms / 1000)}`).join(', ')}
                </p>
              )}
            </Card>
          )}
        </div>
      </div>
    </>
  );
}
