// How much capacity to commit to, for how long, and at what risk.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { money, number, percent, plural, shortMoney, tied } from '../../lib/format';
import { useQuestion } from '../../parts/question';
import { once } from '../../parts/axes';
import { Stats } from '../../parts/basics';
import { AskPage, GpuField, Hero, TableCard } from '../../parts/ask_page';
import { Chart } from '../../parts/chart';
import { TextField } from '../../parts/fields';
import { COMMIT } from '../numbers';

const DEFAULTS = { gpu: 'h100-sxm', provider: 'gcp', base: '8', peak: '20', share: '0.3', growth: '0', spot: '0' };
type State = typeof DEFAULTS;
type Commit = Schemas['Commit'];
type Future = NonNullable<Commit['futures']>[number];
const NAMES = { provider: 'Provider', gpu: 'GPU', base: 'Always in use', growth: 'Growth', 'spot-share': 'Interruptible share' };

export function questionOf(state: State): AskFor<'commit'> {
  const [base, peak] = [Number(state.base), Number(state.peak)];
  return { gpu: state.gpu, provider: state.provider, base: peak > base ? `${state.base},peak=${state.peak},share=${state.share}` : state.base, growth: state.growth, 'spot-share': state.spot } as AskFor<'commit'>;
}

/** "8 GPUs for three years, 2 for one year" */
export function committed(answer: Pick<Commit, 'one_year_gpus' | 'three_year_gpus'>): string {
  const parts = [[answer.three_year_gpus, 'three years'], [answer.one_year_gpus, 'one year']].flatMap(([gpus, term]) => (Number(gpus) > 0 ? [`${plural(Number(gpus), 'GPU')} for ${String(term)}`] : []));
  return parts.length === 0 ? 'Commit to nothing' : `Commit to ${parts.join(' and ')}`;
}

function Futures({ futures }: { futures: Future[] }) {
  const bars = useMemo(() => futures.flatMap((each) => [{ name: each.name, usd: each.usd, how: 'committed' }, { name: each.name, usd: each.uncommitted_usd, how: 'on demand' }]), [futures]);
  const draw = useCallback((width: number): Plot.PlotOptions => ({
    height: (width < 560 ? 58 : 40) * futures.length + 50,
    marginLeft: width < 560 ? 130 : 250,
    marginRight: 64,
    x: { label: null, grid: true, zero: true, ticks: 4, tickFormat: once(shortMoney) },
    y: { axis: null, domain: ['committed', 'on demand'], padding: 0.15 },
    fy: { label: null, domain: futures.map((each) => each.name), axis: null, padding: 0.25 },
    marks: [
      Plot.axisFy({ anchor: 'left', label: null, tickSize: 0, lineWidth: width < 560 ? 11 : 20, lineHeight: 1.15, tickFormat: tied }),
      Plot.barX(bars, { fy: 'name', y: 'how', x: 'usd', fill: (bar: (typeof bars)[number]) => (bar.how === 'committed' ? 'var(--c1)' : 'var(--line-strong)'), rx: 2 }),
      Plot.text(bars, { fy: 'name', y: 'how', x: 'usd', text: (bar: (typeof bars)[number]) => shortMoney(bar.usd), textAnchor: 'start', dx: 5, fill: 'var(--ink-2)' }),
    ],
  }), [futures, bars]);
  return <Chart title="In other scenarios" note="Cost over the whole term, with this commitment and without any" name="commit-futures" rows={bars} draw={draw} legend={[['with the commitment', 'var(--c1)'], ['all on demand', 'var(--line-strong)']]} />;
}

export function CommitPage() {
  const question = useQuestion('commit', DEFAULTS, questionOf, { numbers: () => COMMIT });
  const { state, choose, slider, change } = question;
  return (
    <AskPage title="Commitments" what="How much capacity to reserve, for how long, and at what risk" question={question} names={NAMES}
      fields={
        <>
          <GpuField value={state.gpu} onChange={choose('gpu')} />
          <TextField label="Provider" value={state.provider} placeholder="aws, gcp" onChange={choose('provider')} />
          {slider('base')}
          {slider('peak', Number(state.peak) > Number(state.base) ? {} : { hint: 'Not above the GPUs that are always in use, so there is no peak.' })}
          {slider('share')}
          <TextField label="Growth per year" value={state.growth} placeholder="20 %" hint="Of the demand, like 20 %." live onChange={(growth) => { change({ growth }); }} />
          <TextField label="Interruptible share" value={state.spot} placeholder="30 %" hint="The share of demand that can use spot machines, like 30 %." live onChange={(spot) => { change({ spot }); }} />
        </>
      }
    >
      {(value: Commit) => (
        <>
          <Hero line={value.saving_usd && value.uncommitted_usd && value.saving_usd > 0 ? `${committed(value)}: saves ${money(value.saving_usd)}, ${percent(value.saving_usd / value.uncommitted_usd)}` : committed(value)} sub={`${value.provider} ${value.instance}, ${value.region}. Demand: ${value.usage}. Expected over the scenarios below: ${money(value.total_usd)} instead of ${money(value.uncommitted_usd)} on demand.`}>
            <Stats
              items={[
                { name: 'First year', value: money(value.first_year_usd), note: 'expected' },
                { name: 'Covered', value: percent(value.coverage), note: 'of all GPU-hours', help: 'The share of demand that runs on committed GPUs' },
                { name: 'Used', value: percent(value.utilization), note: 'of the commitment', help: 'The share of committed GPU-hours that demand uses' },
                { name: 'On demand', value: money(value.on_demand_usd_per_gpu_hour), note: 'per GPU-hour' },
              ]}
            />
          </Hero>
          <Futures futures={value.futures ?? []} />
          <TableCard
            title="Terms"
            rows={value.terms ?? []}
            keyOf={(row) => row.term}
            columns={[
              { title: 'Term', cell: (row) => (row.term === '1y' ? 'One year' : row.term === '3y' ? 'Three years' : row.term) },
              { title: 'GPUs', number: true, cell: (row) => number(row.gpus) },
              { title: '$/GPU-h', number: true, cell: (row) => money(row.usd_per_gpu_hour) },
              { title: 'Worth it above', number: true, cell: (row) => percent(row.break_even_utilization) },
              { title: 'Per year', number: true, roomy: true, cell: (row) => money(row.usd_per_year) },
              { title: 'Whole term', number: true, roomy: true, cell: (row) => money(row.total_usd) },
            ]}
          />
          <TableCard
            title="Risks"
            note="Regret: the extra cost of the commitment over the best one for that scenario."
            rows={value.futures ?? []}
            keyOf={(row) => row.name}
            columns={[
              { title: 'Scenario', help: 'A future that the commitment is compared in. p5 are the H100 machines of AWS, whose list price fell by 44 % in June 2025', cell: (row) => tied(row.name) },
              { title: 'Weight', number: true, roomy: true, cell: (row) => percent(row.weight) },
              { title: 'Cost', number: true, cell: (row) => money(row.usd), sort: (row) => row.usd },
              { title: 'Regret', number: true, cell: (row) => money(row.regret_usd), sort: (row) => row.regret_usd },
            ]}
          />
        </>
      )}
    </AskPage>
  );
}
