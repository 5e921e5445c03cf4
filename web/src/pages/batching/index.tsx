// Latency against load, the cheapest settings that meet the SLOs, and the cost of a tighter SLO.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type BatchPlan, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSearch, useSettled } from '../../lib/answer';
import { duration, money, number, percent } from '../../lib/format';
import { AskPage, GpuField, Hero, ModelField, TableCard } from '../../parts/ask_page';
import { Badge, Card, CopyText, Stats } from '../../parts/basics';
import { COUNT, RATE, Slider, TIME } from '../../parts/fields';
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

const sloName = (slo: BatchPlan['slos'][number]) => `${slo.slo_percentile} ${slo.metric === slo.slo_percentile ? 'latency' : slo.metric.toUpperCase()}`;

function Answer({ plan, answer }: { plan: BatchPlan; answer: Batch }) {
  const alone = answer.unbatched;
  return (
    <Hero
      line={`${number(plan.gpus)} × ${plan.gpu}, up to ${number(plan.max_batch)} at once — ${money(plan.usd_per_month)}/month`}
      sub={`${alone ? `Without batching it would take ${number(alone.gpus)} × ${alone.gpu}: ${money(alone.usd_per_month)}/month.` : ''} ${number(answer.considered ?? 0)} settings considered, ${number(answer.simulated ?? 0)} simulated.`}
    >
      <Stats
        items={[
          ...plan.slos.map((slo) => ({ name: sloName(slo), value: duration(slo.value_ms / 1000), note: `± ${duration(slo.half_width_ms / 1000, 2)}; limit ${duration(slo.limit_ms / 1000)}` })),
          { name: 'Load', value: percent(plan.load), note: 'of capacity' },
          { name: 'Mean batch', value: plan.mean_batch === undefined ? '–' : number(plan.mean_batch) },
          { name: 'Replicas', value: number(plan.replicas), note: plan.tp > 1 ? `of ${number(plan.tp)} GPUs each` : undefined },
          { name: 'Tokens per step', value: plan.token_budget ? number(plan.token_budget) : '–' },
        ]}
      />
    </Hero>
  );
}

function NoAnswer({ answer }: { answer: Batch }) {
  const nearest = nearestPlan(answer);
  return (
    <Hero line="No setting meets these limits" sub="Relax a limit or choose a faster GPU.">
      {nearest && (
        <p class="note">
          <Badge tone="accent">Closest</Badge> {number(nearest.gpus)} × {nearest.gpu} for {money(nearest.usd_per_month)}/month: {missed(nearest).map((slo) => `${sloName(slo)} ${duration(slo.value_ms / 1000)} instead of ${duration(slo.limit_ms / 1000)}`).join(', ')}
        </p>
      )}
    </Hero>
  );
}

export function BatchingPage() {
  const [state, change] = useAddress(DEFAULTS);
  const models = useAnswer('models', useMemo(() => ({}), []));
  const atOnce = answersAtOnce((models.value?.models ?? []).find((each) => each.name === state.model)?.family);
  const settled = useSettled(JSON.stringify({ ...state, at: '0' }), 350);
  const key = useMemo(() => (models.value ? JSON.stringify(searchFor(JSON.parse(settled) as State, atOnce)) : null), [settled, atOnce, models.value]);
  const found = useSearch('batch', key);
  const plan = found.value ? chosenPlan(found.value, Number(state.at)) : undefined;
  const loads = useLoads(state, plan, atOnce);
  const slide = (name: keyof State) => (value: number) => { change({ [name]: String(value), at: '0' }); };
  return (
    <AskPage title="Batching" what="How latency grows with load, and the cheapest settings that meet the SLOs" question={{ command: 'batch', asked: searchFor(state, atOnce), answer: { ...found, busy: found.seconds !== null } }} waiting={found.seconds === null ? 'Nothing searched yet.' : 'Simulating…'}
      fields={
        <>
          <ModelField value={state.model} onChange={(model) => { change({ model, at: '0' }, true); }} />
          <GpuField vendors={['NVIDIA', 'AMD']} value={state.gpu} onChange={(gpu) => { change({ gpu, at: '0' }, true); }} />
          <Slider label="Requests" value={Number(state.rate)} least={0.1} most={2000} scale={RATE} onSlide={slide('rate')} />
          {atOnce ? (
            <Slider label="p99 latency limit" value={Number(state.slo)} least={0.005} most={5} scale={TIME} onSlide={slide('slo')} />
          ) : (
            <>
              <Slider label="Tokens in" value={Number(state.isl)} least={64} most={65536} scale={COUNT} onSlide={slide('isl')} />
              <Slider label="Tokens out" value={Number(state.osl)} least={1} most={4096} scale={COUNT} onSlide={slide('osl')} />
              <Slider label="p95 TTFT limit" value={Number(state.ttft)} least={0.05} most={20} scale={TIME} onSlide={slide('ttft')} />
              <Slider label="p95 TPOT limit" value={Number(state.tpot)} least={0.005} most={0.5} scale={TIME} onSlide={slide('tpot')} />
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
        </>
      }
    >
      {(value) => {
        if (!plan) return <NoAnswer answer={value} />;
        const frontier = tradeOffs(value);
        const triton = value.triton_config;
        return (
          <>
            <Answer plan={plan} answer={value} />
            <div class="columns">
              <LatencyAgainstLoad loads={loads} atOnce={atOnce} state={state} onSlo={(part) => { change(part); }} />
              <Frontier plans={frontier} picked={plan} onPick={(at) => { change({ at: String(at) }, true); }} />
            </div>
            <TableCard
              title="Best trade-offs"
              note="Less latency for more money. Click a row for details."
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
                ...plan.slos.map((slo, i) => ({ title: sloName(slo), number: true, roomy: i > 0, cell: (each: BatchPlan) => duration((each.slos[i]?.value_ms ?? 0) / 1000), sort: (each: BatchPlan) => each.slos[i]?.value_ms ?? 0 })),
                { title: 'Load', number: true, roomy: true, cell: (each) => percent(each.load), sort: (each) => each.load },
              ]}
            />
            {typeof triton === 'string' && (
              <Card title="Triton configuration" tools={<CopyText text={triton} />}>
                <pre class="file" tabIndex={0}>{triton}</pre>
              </Card>
            )}
          </>
        );
      }}
    </AskPage>
  );
}
