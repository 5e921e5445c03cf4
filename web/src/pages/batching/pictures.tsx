import * as Plot from '@observablehq/plot';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { BatchPlan } from '../../api/client';
import { duration, number, shortMoney } from '../../lib/format';
import { inPeriod, period, running } from '../../lib/period';
import { staircase } from '../../lib/staircase';
import { axisY, moneyTicks, once, TIME_TICKS, within } from '../../parts/axes';
import { Segmented } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { dragLine } from '../../parts/drag';
import { rateWithin, type Load, type State } from './question';

const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)' };
const COLOURS: Record<string, string> = { p50: 'var(--c7)', p95: 'var(--c1)', p99: 'var(--c6)' };

export function LatencyAgainstLoad(props: { loads: Load[]; done: boolean; mixed: boolean; atOnce: boolean; state: State; onSlo: (change: Partial<State>) => void }) {
  const [wanted, setWanted] = useState<Load['metric']>('ttft');
  const metric: Load['metric'] = props.atOnce ? 'latency' : wanted;
  const field = metric === 'ttft' ? 'ttft' : metric === 'tpot' ? 'tpot' : 'slo';
  const percentile = props.atOnce ? 'p99' : 'p95';
  const limit = Number(props.state[field]);
  const rows = useMemo(() => props.loads.filter((load) => load.metric === metric).sort((a, b) => a.rate - b.rate), [props.loads, metric]);
  // One load says nothing about the highest.
  const most = props.mixed ? 0 : rateWithin(rows, metric, percentile, limit);
  const draw = useCallback((): Plot.PlotOptions => {
    const values = rows.map((row) => row.seconds);
    const y: [number, number] = [Math.min(limit, ...values) / 1.5, Math.max(limit, ...values) * 1.6];
    return {
      height: 314,
      marginTop: 30,
      marginBottom: 38,
      marginLeft: 54,
      x: { label: 'requests/s →', grid: false, domain: [0, Math.max(Number(props.state.rate), ...rows.map((row) => row.rate)) * 1.04] },
      y: { type: 'log', domain: y },
      marks: [
        ...axisY({ ticks: within(TIME_TICKS, y, 8), format: duration, label: `↑ ${metric === 'latency' ? 'latency' : metric.toUpperCase()}, log scale` }),
        Plot.ruleX([Number(props.state.rate)], { stroke: 'var(--line-strong)' }),
        Plot.text([Number(props.state.rate)], { x: (v: number) => v, frameAnchor: 'bottom', dy: -6, dx: -4, textAnchor: 'end', text: () => 'your load', fill: 'var(--ink-3)', stroke: 'var(--panel)', strokeWidth: 4 }),
        ...(most > 0 && props.done ? [Plot.ruleX([most], { stroke: 'var(--good)', strokeDasharray: '2 3' }), Plot.text([most], { x: (v: number) => v, frameAnchor: 'top', dy: 6, dx: -5, textAnchor: 'end', text: () => `up to ${number(most)}/s`, fill: 'var(--good)', stroke: 'var(--panel)', strokeWidth: 4 })] : []),
        Plot.line(rows, { x: 'rate', y: 'seconds', z: 'percentile', stroke: (row: Load) => COLOURS[row.percentile] ?? 'gray', strokeWidth: 1.8 }),
        Plot.dot(rows, { x: 'rate', y: 'seconds', fill: (row: Load) => COLOURS[row.percentile] ?? 'gray', r: 2.6 }),
        Plot.ruleY([limit], { stroke: 'var(--bad)', strokeDasharray: '5 3', strokeWidth: 1.6 }),
        Plot.text([limit], { y: (v: number) => v, frameAnchor: 'left', dx: 5, dy: -7, textAnchor: 'start', text: () => `⇕ SLO ${duration(limit)} (drag to change)`, fill: 'var(--bad)', stroke: 'var(--panel)', strokeWidth: 4 }),
        Plot.tip(rows, Plot.pointer({ x: 'rate', y: 'seconds', title: (row: Load) => `${row.percentile} ${duration(row.seconds)}\nat ${number(row.rate)} requests/s`, ...TIP })),
      ],
    };
  }, [rows, limit, most, props.done, metric, props.state.rate]);
  return (
    <Chart
      title="Latency against load"
      note={most > 0 && props.done ? `These GPUs meet the SLO up to ${number(most)} requests/s.` : props.mixed ? 'At your load only: replicas of two sizes are not simulated at other loads.' : !props.done ? 'Simulating nine loads…' : 'Simulated at nine loads.'}
      name="latency-against-load"
      rows={rows.map((row) => ({ ...row }))}
      draw={draw}
      legend={['p50', 'p95', 'p99'].map((each) => [each, COLOURS[each] ?? 'gray'])}
      after={(plot) => { dragLine(plot, 'y', limit, 'slo-line', (value) => { props.onSlo({ [field]: String(Number(value.toPrecision(3))) }); }); }}
    >
      {!props.atOnce && (
        <div style={{ maxWidth: '180px', marginTop: '8px' }}>
          <Segmented label="Metric" value={wanted} choices={[['ttft', 'TTFT'], ['tpot', 'TPOT']]} onChange={setWanted} />
        </div>
      )}
    </Chart>
  );
}

export function Frontier(props: { plans: BatchPlan[]; picked: BatchPlan; onPick: (index: number) => void }) {
  // All settings are compared by the first SLO; `value_ms` belongs to the SLO closest to its limit.
  const value = (plan: BatchPlan) => plan.slos[0]?.value_ms ?? plan.value_ms;
  const slo = props.picked.slos[0];
  const name = slo === undefined || slo.metric === slo.slo_percentile ? 'latency' : slo.metric.toUpperCase();
  const rows = useMemo(() => props.plans.map((plan) => ({ gpus: plan.gpus, gpu: plan.gpu, max_batch: plan.max_batch, milliseconds: value(plan), usd_per_month: plan.usd_per_month })), [props.plans]);
  const costs = props.plans.flatMap((plan) => (plan.usd_per_month === null ? [] : [inPeriod(plan.usd_per_month)]));
  const cost = (plan: BatchPlan) => (plan.usd_per_month === null ? null : inPeriod(plan.usd_per_month));
  const bill: [number, number] = [Math.min(...costs) / 1.3, Math.max(...costs) * 1.3];
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: 314,
      marginTop: 30,
      marginBottom: 38,
      marginLeft: 52,
      x: { label: `${slo?.slo_percentile ?? ''} ${name} →`, tickFormat: once((v: number) => duration(v / 1000)), ticks: width < 420 ? 3 : 5, nice: true, zero: true },
      y: { type: 'log', domain: bill },
      marks: [
        ...axisY({ ticks: moneyTicks(bill, 7), format: shortMoney, label: `↑ $/${period()}, log scale` }),
        Plot.line(staircase(props.plans, value, (plan) => plan.usd_per_month ?? Infinity), { x: value, y: cost, stroke: 'var(--line-strong)', curve: 'step-after' }),
        Plot.dot(props.plans, { x: value, y: cost, r: 5, fill: 'var(--c1)', stroke: 'var(--panel)' }),
        Plot.dot([props.picked], { x: value, y: cost, r: 8, stroke: 'var(--c2)', strokeWidth: 2 }),
        Plot.tip(props.plans, Plot.pointer({ x: value, y: cost, title: (plan: BatchPlan) => `${number(plan.gpus)} × ${plan.gpu}, batch ${number(plan.max_batch)}\n${name} ${duration(value(plan) / 1000)}\n${running(plan.usd_per_month)}`, ...TIP })),
      ],
    }),
    [props.plans, props.picked],
  );
  return (
    <Chart
      title="What less latency costs"
      note="Each dot is a setting that meets the SLOs. The line connects the cheapest for each latency; dots above it are better in another limit."
      name="frontier"
      rows={rows}
      draw={draw}
      onPick={(value) => {
        props.onPick(props.plans.indexOf(value as BatchPlan));
      }}
    />
  );
}
