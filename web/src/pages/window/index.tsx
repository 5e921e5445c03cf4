// Work that can wait: collected in windows, against real time.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { duration, durationFlag, number, percent, plural } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { useQuestion } from '../../parts/question';
import { Stats } from '../../parts/basics';
import { AskPage, GpuField, Hero, TableCard } from '../../parts/ask_page';
import { Chart } from '../../parts/chart';
import { WINDOW } from '../numbers';
import { bestOf, machineSize, partShown, wayOf, wholeCost, type Option } from './shapes';

const DEFAULTS = { gpu: 'a100-80gb-sxm', volume: '1000000', item: '0.082', window: '14400', startup: '120' };
type State = typeof DEFAULTS;
type Window = Schemas['Window'];
type Run = NonNullable<Window['schedule']>[number];
const NAMES = { volume: 'Items per day', 'item-time': 'GPU time per item', window: 'Collected for', startup: 'Start of a GPU', gpu: 'GPU' };

export function questionOf(state: State): AskFor<'window'> {
  return { gpu: state.gpu, volume: `${state.volume}/d`, 'item-time': durationFlag(Number(state.item)), window: durationFlag(Number(state.window)), startup: durationFlag(Number(state.startup)) } as AskFor<'window'>;
}

/** Hours of the day at which a run begins and ends; a run after midnight is drawn in two parts. */
export function partsOf(run: Pick<Run, 'starts' | 'ends'>): [number, number][] {
  const hour = (clock: string) => { const [h, m] = clock.split(':').map(Number); return (h ?? 0) + (m ?? 0) / 60; };
  const [from, to] = [hour(run.starts), hour(run.ends)];
  return to > from ? [[from, to]] : to === from ? [] : [[from, 24], ...(to > 0 ? [[0, to] as [number, number]] : [])];
}

function Schedule({ value }: { value: Window }) {
  const rows = useMemo(() => (value.schedule ?? []).flatMap((run) => partsOf(run).map(([from, to]) => ({ from, to, gpus: run.gpus, closes: run.closes, starts: run.starts, ends: run.ends, items: run.items }))), [value]);
  const draw = useCallback((): Plot.PlotOptions => ({
    height: 170, marginLeft: 40, marginBottom: 34,
    x: { label: 'hour of the day →', domain: [0, 24], ticks: [0, 6, 12, 18, 24], grid: true },
    y: { label: '↑ GPUs', zero: true, ticks: Math.min(3, Math.max(1, ...rows.map((row) => row.gpus))), tickFormat: 'd', grid: true },
    marks: [
      Plot.rectY(rows, { x1: 'from', x2: 'to', y: 'gpus', fill: 'var(--c1)', fillOpacity: 0.7, inset: 1, rx: 2 }),
      Plot.tip(rows, Plot.pointerX({ x: (row: (typeof rows)[number]) => (row.from + row.to) / 2, y: 'gpus', title: (row: (typeof rows)[number]) => `window until ${row.closes}\n${row.starts} to ${row.ends}: ${number(row.items)} items on ${plural(row.gpus, 'GPU')}`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
    ],
  }), [rows]);
  return <Chart title="A day" note="When the GPUs run" name="window-schedule" rows={rows} draw={draw} />;
}

export function WindowPage() {
  const question = useQuestion('window', DEFAULTS, questionOf, { numbers: () => WINDOW });
  const { state, used, choose, slider } = question;
  return (
    <AskPage title="Batch window" what="Work that can wait: collect it, process it in runs, and compare with real time" question={question} names={NAMES}
      fields={
        <>
          <GpuField value={state.gpu} onChange={choose('gpu')} />
          {slider('volume')}
          {slider('item')}
          {slider('window')}
          {slider('startup')}
        </>
      }
    >
      {(value: Window) => {
        const options = value.options ?? [];
        const real = options.find((each) => each.name === 'real time');
        const { best, shared } = bestOf(options);
        const way = (option: Option) => wayOf(option.name, Number(used.window));
        const saving = real && best && real.usd_per_month && best !== real ? 1 - wholeCost(best) / wholeCost(real) : 0;
        return (
          <>
            <Hero line={best ? `${way(best)}: ${plural(best.gpus, 'GPU')} for ${running(wholeCost(best))}${saving > 0 ? `, ${percent(saving)} less than real time` : ''}` : `${plural(value.gpus ?? 0, 'GPU')} in each run`} sub={`${number(value.items_per_day)} items a day, each with ${duration(value.item_seconds)} of GPU time on ${value.gpu ?? 'your GPU'}.${shared ? ` ${way(shared)}: ${running(shared.usd_per_month)}, if other work fills the rest of a machine with ${number(machineSize(shared))} GPUs.` : ''}`}>
              <Stats items={[{ name: 'GPUs in a run', value: value.gpus === null ? '–' : number(value.gpus) }, { name: 'A run takes', value: duration(value.busy_seconds) }, { name: 'Items in a window', value: number(value.items_per_window ?? 0) }, { name: 'Longest wait', value: duration(best?.latency_seconds), note: 'from arrival to result', help: 'An item that arrives when a window opens waits for the end of the window and for its run' }]} />
            </Hero>
            <Schedule value={value} />
            <TableCard
              title="Options"
              rows={options}
              keyOf={(row) => row.name}
              columns={[
                { title: 'Option', cell: (row) => row.name },
                { title: `$/${period()}`, number: true, cell: (row) => <><strong>{amountOf(row.usd_per_month)}</strong>{partShown(row) && <small>{partShown(row)}</small>}</>, sort: (row) => row.usd_per_month ?? 0 },
                { title: 'GPUs', number: true, cell: (row) => number(row.gpus) },
                { title: 'GPU-hours', number: true, roomy: true, cell: (row) => number(row.gpu_hours_per_month) },
                { title: 'Latency', number: true, cell: (row) => duration(row.latency_seconds), sort: (row) => row.latency_seconds ?? 0 },
                { title: 'Busy', number: true, roomy: true, cell: (row) => percent(row.busy_share) },
                { title: 'Price', roomy: true, wide: true, cell: (row) => <span class="quiet">{row.price_source}</span> },
              ]}
            />
          </>
        );
      }}
    </AskPage>
  );
}
