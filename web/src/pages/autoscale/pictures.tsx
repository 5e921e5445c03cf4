// Demand, replicas and TTFT over a day.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import { duration, number, percent } from '../../lib/format';
import { axisY, TIME_TICKS, within } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import type { HourRow } from './question';

const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)' };
export const COLOURS: Record<string, string> = { Fixed: 'var(--c7)', HPA: 'var(--c1)', KEDA: 'var(--c2)' };
const colour = (row: HourRow) => COLOURS[row.policy] ?? 'gray';
const LEGEND = Object.entries(COLOURS);
const CLOCK = { label: 'hour →', domain: [0, 24], ticks: [0, 6, 12, 18, 24] };

export function Demand(props: { rows: HourRow[] }) {
  const demand = useMemo(() => props.rows.filter((row) => row.policy === props.rows[0]?.policy), [props.rows]);
  const draw = useCallback((): Plot.PlotOptions => ({
    height: 156, marginTop: 24, marginBottom: 36, marginLeft: 46,
    x: CLOCK, y: { label: '↑ requests/s', grid: true, zero: true, ticks: 4 },
    marks: [
      Plot.areaY(demand, { x: (row: HourRow) => row.hour + 0.5, y: (row: HourRow) => row.requests / 3600, fill: 'var(--c4)', fillOpacity: 0.25, curve: 'monotone-x' }),
      Plot.lineY(demand, { x: (row: HourRow) => row.hour + 0.5, y: (row: HourRow) => row.requests / 3600, stroke: 'var(--c4)', curve: 'monotone-x' }),
    ],
  }), [demand]);
  return <Chart title="Demand" note="Requests per second, by hour" name="demand" rows={demand.map(({ hour, requests }) => ({ hour, requests }))} draw={draw} />;
}

export function Replicas(props: { rows: HourRow[] }) {
  const draw = useCallback((): Plot.PlotOptions => ({
    height: 226, marginTop: 24, marginBottom: 36, marginLeft: 46,
    x: CLOCK, y: { label: '↑ replicas', grid: true, zero: true },
    marks: [
      Plot.lineY(props.rows, { x: 'hour', y: 'replicas', z: 'policy', stroke: colour, strokeWidth: 1.8, curve: 'step-after' }),
      Plot.lineY(props.rows, { x: 'hour', y: 'paid', z: 'policy', stroke: colour, strokeDasharray: '2 3', curve: 'step-after' }),
      Plot.tip(props.rows, Plot.pointer({ x: 'hour', y: 'replicas', title: (row: HourRow) => `${row.policy}, hour ${String(row.hour)}\n${number(row.replicas)} ready, ${number(row.paid)} paid for`, ...TIP })),
    ],
  }), [props.rows]);
  return <Chart title="Replicas" note="Ready (solid) and paid for (dotted), mean of each hour" name="replicas" rows={props.rows.map(({ policy, hour, replicas, paid }) => ({ policy, hour, replicas, paid }))} draw={draw} legend={LEGEND} />;
}

export function Waiting(props: { rows: HourRow[]; limit: number }) {
  const draw = useCallback((): Plot.PlotOptions => {
    const values = props.rows.map((row) => row.ttft).filter((value) => value > 0);
    const y: [number, number] = [Math.min(props.limit, ...values) / 1.5, Math.max(props.limit, ...values) * 1.6];
    return {
      height: 226, marginTop: 24, marginBottom: 36, marginLeft: 54,
      x: CLOCK, y: { type: 'log', domain: y },
      marks: [
        ...axisY({ ticks: within(TIME_TICKS, y, 6), format: duration, label: '↑ longest TTFT, log scale' }),
        Plot.lineY(props.rows.filter((row) => row.ttft > 0), { x: (row: HourRow) => row.hour + 0.5, y: 'ttft', z: 'policy', stroke: colour, strokeWidth: 1.8 }),
        Plot.ruleY([props.limit], { stroke: 'var(--bad)', strokeDasharray: '5 3' }),
        Plot.text([props.limit], { y: (value: number) => value, frameAnchor: 'left', dx: 5, dy: -7, textAnchor: 'start', text: () => `SLO ${duration(props.limit)}`, fill: 'var(--bad)' }),
        Plot.tip(props.rows, Plot.pointer({ x: (row: HourRow) => row.hour + 0.5, y: 'ttft', title: (row: HourRow) => `${row.policy}, hour ${String(row.hour)}\nlongest TTFT ${duration(row.ttft)}\n${percent(row.over)} over the SLO`, ...TIP })),
      ],
    };
  }, [props.rows, props.limit]);
  return <Chart title="Time to first token" note="The longest wait of each hour" name="ttft" rows={props.rows.map(({ policy, hour, ttft, over }) => ({ policy, hour, ttft, over }))} draw={draw} legend={LEGEND} />;
}
