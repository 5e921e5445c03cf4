// Power and energy of a job on one GPU, and what a power cap changes.
import * as Plot from '@observablehq/plot';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type AskFor, type Schemas } from '../../api/client';
import { useAnswer } from '../../lib/answer';
import { duration, number, percent } from '../../lib/format';
import { useQuestion } from '../../parts/question';
import { Stats } from '../../parts/basics';
import { AskPage, GpuField, Hero, ModelField } from '../../parts/ask_page';
import { Chart } from '../../parts/chart';
import { capOf, ENERGY } from '../numbers';

const DEFAULTS = { model: 'llama-3.1-8b', gpu: 'h100-sxm', concurrency: '64', isl: '1024', osl: '256', cap: '' };
type State = typeof DEFAULTS;
type Estimate = Schemas['Estimate'];
const NAMES = { model: 'Model', gpu: 'GPU', concurrency: 'Requests at once', isl: 'Tokens in', osl: 'Tokens out', 'power-cap': 'Power cap' };

export function questionOf(state: State, cap = state.cap): AskFor<'estimate'> {
  return { job: 'serve', model: state.model, gpu: state.gpu, concurrency: state.concurrency, isl: state.isl, osl: state.osl, ...(cap === '' ? {} : { 'power-cap': `${cap}W` }) } as AskFor<'estimate'>;
}

/** Above every GPU's limit, until that of the GPU is known. */
const ANY_LIMIT = 1e5;

export interface Cap {
  watts: number;
  joules: number;
  rate: number; // tokens per second per GPU
}

/** Caps from half of the limit to all of it. */
export const capsOf = (limit: number) => Array.from({ length: 11 }, (_, i) => Math.round((limit * (10 + i)) / 20));

function useCaps(state: State, limit: number | undefined): Cap[] {
  const [caps, setCaps] = useState<Cap[]>([]);
  useEffect(() => {
    if (limit === undefined) return undefined;
    const control = new AbortController();
    void Promise.all(capsOf(limit).map((watts) => ask('estimate', questionOf(state, String(watts)), control.signal, 'low').then((each) => [{ watts, joules: each.joules_per_unit ?? 0, rate: each.output_tokens_per_second_per_gpu ?? 0 }], () => []))).then((all) => {
      if (!control.signal.aborted) setCaps(all.flat().filter((each) => each.joules > 0 && each.rate > 0));
    });
    return () => { control.abort(); };
  }, [state.model, state.gpu, state.concurrency, state.isl, state.osl, limit]);
  return caps;
}

function Curve({ caps, now }: { caps: Cap[]; now: number | undefined }) {
  const rows = useMemo(() => {
    const full = caps[caps.length - 1];
    return full ? caps.flatMap((each) => [{ watts: each.watts, what: 'energy per token', share: each.joules / full.joules }, { watts: each.watts, what: 'speed', share: each.rate / full.rate }]) : [];
  }, [caps]);
  const draw = useCallback((): Plot.PlotOptions => ({
    height: 280, marginTop: 30, marginLeft: 46, marginBottom: 36,
    x: { label: 'power cap, W →', grid: true },
    y: { label: '↑ against no cap, %', percent: true, grid: true, nice: true },
    marks: [
      ...(now === undefined ? [] : [Plot.ruleX([now], { stroke: 'var(--ink-3)', strokeDasharray: '4 3' })]),
      Plot.line(rows, { x: 'watts', y: 'share', z: 'what', stroke: (row: (typeof rows)[number]) => (row.what === 'speed' ? 'var(--c1)' : 'var(--c3)'), strokeWidth: 2 }),
      Plot.tip(rows, Plot.pointer({ x: 'watts', y: 'share', title: (row: (typeof rows)[number]) => `${number(row.watts)} W\n${row.what}: ${percent(row.share)}`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
    ],
  }), [rows, now]);
  return <Chart title="What a power cap changes" note="Energy per token and speed, relative to the GPU without a cap" name="power-cap" rows={rows} draw={draw} legend={[['energy per token', 'var(--c3)'], ['speed', 'var(--c1)']]} />;
}

export function EnergyPage() {
  const catalogue = useAnswer('gpus', useMemo(() => ({}), []));
  const limitOf = (fields: State) => catalogue.value?.gpus.find((each) => each.name === fields.gpu)?.tdp_watts ?? undefined;
  const question = useQuestion('estimate', DEFAULTS, (fields) => questionOf(fields), { numbers: (fields) => ({ ...ENERGY, cap: capOf(limitOf(fields) ?? ANY_LIMIT) }) });
  const { state, used, change, choose, slider } = question;
  const limit = limitOf(state);
  const caps = useCaps(used, limit);
  const best = [...caps].sort((a, b) => a.joules - b.joules)[0];
  const full = caps[caps.length - 1];
  return (
    <AskPage title="Energy" what="Power and energy of a served model on one GPU, and what a power cap changes" question={question} names={NAMES}
      fields={
        <>
          <ModelField value={state.model} onChange={choose('model')} />
          <GpuField value={state.gpu} onChange={(gpu) => { change({ gpu, cap: '' }, true); }} />
          {slider('concurrency')}
          {slider('isl')}
          {slider('osl')}
          {limit && slider('cap', { otherwise: limit })}
        </>
      }
    >
      {(value: Estimate) => (
        <>
          <Hero
            line={`${number(value.joules_per_unit ?? 0)} J per ${value.unit ?? 'token'} at ${number(value.power_watts ?? 0)} W on ${value.gpu ?? state.gpu}`}
            sub={best && full && best.joules < 0.995 * full.joules ? `A cap of ${number(best.watts)} W is most efficient: ${percent(1 - best.joules / full.joules)} less energy per token, ${percent(1 - best.rate / full.rate)} slower.` : caps.length > 0 ? 'A cap would not save energy here.' : ''}
          >
            <Stats
              items={[
                { name: 'Power', value: `${number(value.power_watts ?? 0)} W`, note: value.power_interval ? `80 % between ${number(value.power_interval.low)} and ${number(value.power_interval.high)} W` : undefined },
                { name: '1M tokens', value: `${number(((value.joules_per_unit ?? 0) * 1e6) / 3.6e6)} kWh`, note: 'of the GPUs, without hosts and cooling' },
                { name: 'Tokens', value: `${number(value.output_tokens_per_second_per_gpu ?? 0)}/s`, note: 'per GPU' },
                { name: 'TPOT', value: duration(value.tpot_seconds) },
                { name: 'Clock', value: percent(value.clock_share), note: 'of the highest', help: 'The clock that the power limit allows' },
              ]}
            />
          </Hero>
          <Curve caps={caps} now={used.cap === '' ? undefined : Number(used.cap)} />
        </>
      )}
    </AskPage>
  );
}
