// Latency against load, the cheapest settings that meet the SLOs, and the cost of a tighter SLO.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type BatchPlan, type Schemas } from '../../api/client';
import { useAnswer } from '../../lib/answer';
import { apart, duration, number, percent } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { AskPage, GpuField, Hero, ModelField, TableCard } from '../../parts/ask_page';
import { Badge, Card, CopyText, Stats } from '../../parts/basics';
import { BATCHING_AT_ONCE, BATCHING_TOKENS } from '../numbers';
import { useQuestion } from '../../parts/question';
import { Frontier, LatencyAgainstLoad } from './pictures';
import { answersAtOnce, atRate, chosenPlan, DEFAULTS, missed, nearestPlan, ownLoad, quickOf, loadsOf, replicasShown, searchFor, tradeOffs, type Load, type State } from './question';

type Batch = Schemas['Batch'];

const SHARES = [0.15, 0.35, 0.55, 0.7, 0.8, 0.88, 0.94, 1, 1.06];

/** The plan simulated at lower and higher loads. */
function useLoads(state: State, plan: BatchPlan | undefined, atOnce: boolean): { loads: Load[]; done: boolean } {
  const [found, setFound] = useState<{ loads: Load[]; done: boolean }>({ loads: [], done: false });
  const key = plan ? JSON.stringify([state.model, state.rate, state.isl, state.osl, plan.gpu, plan.max_batch, plan.replicas, plan.tp, plan.beside, plan.token_budget, plan.max_delay_ms, plan.load]) : '';
  useEffect(() => {
    if (!plan || plan.load <= 0) return undefined;
    if (plan.beside) {
      setFound({ loads: ownLoad(plan, Number(state.rate)), done: true });
      return undefined;
    }
    const control = new AbortController();
    const capacity = Number(state.rate) / plan.load;
    const collected: Load[] = [];
    void (async () => {
      // The ends are simulated first, because they show the shape early.
      for (const share of [SHARES[3], SHARES[0], SHARES[6], SHARES[1], SHARES[4], SHARES[2], SHARES[5], SHARES[7], SHARES[8]]) {
        if (share === undefined || control.signal.aborted) return;
        const rate = capacity * share;
        const answer = await ask('batch', atRate(state, plan, atOnce, rate), control.signal).catch(() => undefined);
        if (answer) collected.push(...loadsOf(rate, answer));
        if (!control.signal.aborted) setFound({ loads: [...collected], done: false });
      }
      if (!control.signal.aborted) setFound({ loads: collected, done: true });
    })();
    return () => { control.abort(); };
  }, [key]);
  return found;
}

const sloName = (slo: BatchPlan['slos'][number]) => `${slo.slo_percentile} ${slo.metric === slo.slo_percentile ? 'latency' : slo.metric.toUpperCase()}`;

function Answer({ plan, answer }: { plan: BatchPlan; answer: Batch }) {
  const alone = answer.unbatched;
  return (
    <Hero
      line={`${number(plan.gpus)} × ${plan.gpu}, up to ${number(plan.max_batch)} at once — ${running(plan.usd_per_month)}`}
      sub={`${alone ? `Without batching it would take ${number(alone.gpus)} × ${alone.gpu}: ${running(alone.usd_per_month)}.` : ''} ${number(answer.considered ?? 0)} settings considered, ${number(answer.simulated ?? 0)} simulated.`}
    >
      <Stats
        items={[
          ...plan.slos.map((slo) => ({ name: sloName(slo), value: duration(slo.value_ms / 1000), note: `${slo.half_width_ms > 0.02 * slo.value_ms ? `± ${duration(slo.half_width_ms / 1000, 2)}; ` : ''}limit ${duration(slo.limit_ms / 1000)}` })),
          { name: 'Load', value: percent(plan.load), note: 'of capacity' },
          { name: 'Mean batch', value: plan.mean_batch === undefined ? '–' : number(plan.mean_batch) },
          { name: 'Replicas', ...replicasShown(plan) },
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
          <Badge tone="accent">Closest</Badge> {number(nearest.gpus)} × {nearest.gpu} for {running(nearest.usd_per_month)}: {missed(nearest).map((slo) => `${sloName(slo)} ${apart(slo.value_ms / 1000, slo.limit_ms / 1000)} instead of ${duration(slo.limit_ms / 1000)}`).join(', ')}
        </p>
      )}
    </Hero>
  );
}

export function BatchingPage() {
  const models = useAnswer('models', useMemo(() => ({}), []));
  const known = models.value?.models;
  const isAtOnce = (fields: State) => answersAtOnce(known?.find((each) => each.name === fields.model)?.family);
  const question = useQuestion('batch', DEFAULTS, (fields) => (known || fields.model === DEFAULTS.model ? searchFor(fields, isAtOnce(fields)) : null), { numbers: (fields) => (isAtOnce(fields) ? BATCHING_AT_ONCE : BATCHING_TOKENS), view: ['at'], reset: { at: '0' }, search: true, also: known, quick: quickOf, hasPlan: (answer) => Boolean(answer.plan) });
  const { state, used, change, choose, slider } = question;
  const atOnce = isAtOnce(used);
  const found = question.answer.value;
  const plan = found ? chosenPlan(found, Number(state.at)) : undefined;
  const loads = useLoads(used, question.answer.busy ? undefined : plan, atOnce); // after the answer, not while a slider moves
  return (
    <AskPage title="Batching" what="How latency grows with load, and the cheapest settings that meet the SLOs" question={question} waiting="Simulating…"
      fields={
        <>
          <ModelField value={state.model} onChange={choose('model')} />
          <GpuField vendors={['NVIDIA', 'AMD']} value={state.gpu} onChange={choose('gpu')} />
          {slider('rate')}
          {isAtOnce(state) ? (
            slider('slo')
          ) : (
            <>
              {slider('isl')}
              {slider('osl')}
              {slider('ttft')}
              {slider('tpot')}
            </>
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
              <LatencyAgainstLoad {...loads} mixed={Boolean(plan.beside)} atOnce={atOnce} state={used} onSlo={(part) => { change(part); }} />
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
                { title: `$/${period()}`, number: true, cell: (each) => <strong>{amountOf(each.usd_per_month)}</strong>, sort: (each) => each.usd_per_month ?? 0 },
                { title: 'Replicas', number: true, roomy: true, cell: (each) => { const { value, note } = replicasShown(each); return <>{value}{each.beside && <small>{note}</small>}</>; }, sort: (each) => each.replicas },
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
