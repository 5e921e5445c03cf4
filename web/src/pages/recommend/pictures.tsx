import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { Plan, Schemas } from '../../api/client';
import { duration, money, number, shortMoney } from '../../lib/format';
import { staircase } from '../../lib/staircase';
import { axisX, axisY, MONEY_TICKS, roomForLabels, TIME_TICKS, within } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import { machinesOf } from './answer';
import { timeOf, workPerDollar } from './compare';
import { planRows } from './plans';
import type { State } from './question';

interface Props {
  found: Schemas['Recommend'];
  serving: boolean;
  state: State;
  picked: Plan | undefined;
  onPick: (rank: number) => void;
}

export function CostAgainstTime({ found, serving, state, picked, onPick }: Props) {
  const rows = useMemo(() => planRows(found.plans ?? []), [found]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const at = (plan: Plan) => timeOf(plan, serving);
      const plans = (found.plans ?? []).filter((plan) => at(plan) > 0);
      const tradeOffs = (found.pareto ?? []).filter((plan) => at(plan) > 0);
      const all = [...plans, ...tradeOffs];
      // Computed from the plans drawn here: the program's front includes plans that this chart does not show.
      const front = staircase([...plans.filter((plan) => !plan.held_back), ...tradeOffs], at, (plan) => plan.usd_total);
      const limit = serving ? Number(state.ttft) : Number(state.deadline);
      const times = [...all.map(at), ...(limit < 40 * Math.max(...all.map(at)) ? [limit] : [])];
      const costs = all.map((plan) => plan.usd_total);
      const x: [number, number] = [Math.min(...times) / 1.25, Math.max(...times) * 1.25];
      const y: [number, number] = [Math.min(...costs) / 1.3, Math.max(...costs) * 1.3];
      const title = (plan: Plan) => `${machinesOf(plan)}\n${plan.instance}, ${plan.region}\n${serving ? `${money(plan.usd_total)}/month, TTFT ${duration(plan.ttft_seconds)}` : `${money(plan.usd_total)}, ${duration(at(plan))}`}${plan.held_back ? `\nranked last: ${plan.held_back}` : ''}`;
      return {
        height: 300,
        marginLeft: 50,
        marginBottom: 36,
        x: { type: 'log', domain: x },
        y: { type: 'log', domain: y },
        marks: [
          axisX({ ticks: within(TIME_TICKS, x, width > 520 ? 7 : 4), format: duration, label: serving ? 'TTFT, log scale →' : 'time to finish, log scale →' }),
          ...axisY({ ticks: within(MONEY_TICKS, y, 7), format: shortMoney, label: serving ? '↑ $/month, log scale' : '↑ total cost, log scale' }),
          ...(limit >= x[0] && limit <= x[1] ? [Plot.ruleX([limit], { stroke: 'var(--bad)', strokeDasharray: '4 3' }), Plot.text([limit], { x: (v: number) => v, frameAnchor: 'top', dy: 8, dx: -4, textAnchor: 'end', text: () => (serving ? 'limit' : 'deadline'), fill: 'var(--bad)', stroke: 'var(--panel)', strokeWidth: 4 })] : []),
          Plot.line(front, { x: at, y: 'usd_total', stroke: 'var(--line-strong)', curve: 'step-after' }),
          Plot.dot(front, { x: at, y: 'usd_total', r: 3, fill: 'var(--line-strong)' }),
          Plot.dot(plans, { x: at, y: 'usd_total', r: 5, fill: 'var(--c1)', fillOpacity: (plan: Plan) => (plan.held_back ? 0.2 : 0.8), stroke: 'var(--panel)' }),
          Plot.text(plans.slice(0, 1), { x: at, y: 'usd_total', text: (plan: Plan) => plan.gpu, dy: 18, fill: 'var(--ink-2)', stroke: 'var(--panel)', strokeWidth: 3 }),
          ...(picked ? [Plot.dot([picked], { x: at, y: 'usd_total', r: 8, stroke: 'var(--c2)', strokeWidth: 2 })] : []),
          Plot.tip(plans, Plot.pointer({ x: at, y: 'usd_total', title, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
        ],
      };
    },
    [found, serving, state.ttft, state.deadline, picked],
  );
  return (
    <Chart
      title={serving ? 'Cost against TTFT' : 'Cost against time'}
      note="Each dot is a plan, the grey line shows the best trade-offs. Click a dot for details."
      name="cost-against-time"
      rows={rows}
      draw={draw}
      onPick={(value) => {
        onPick((value as Plan).rank);
      }}
    />
  );
}

/** Work per dollar: the best plan of each provider. */
export function WorkPerDollar(props: { plans: Plan[]; others: Plan[]; serving: boolean; picked: Plan | undefined; onPick: (rank: number) => void }) {
  const value = (plan: Plan) => workPerDollar(plan, props.serving);
  const best = useMemo(() => {
    const kept = new Map<string, Plan>();
    for (const plan of [...props.plans, ...props.others]) {
      if (value(plan) > 0 && !kept.has(plan.provider)) kept.set(plan.provider, plan);
    }
    const held = (plan: Plan) => (plan.held_back ? 1 : 0);
    return [...kept.values()].sort((a, b) => held(a) - held(b) || value(b) - value(a)).slice(0, 12);
  }, [props.plans, props.others, props.serving]);
  const rows = useMemo(() => best.map((plan) => ({ provider: plan.provider, gpu: plan.gpu, million_tokens_per_usd: value(plan) })), [best]);
  const label = (plan: Plan) => `${number(value(plan), 2)} M${plan.held_back ? ', price in doubt' : ` · ${plan.gpu}`}`;
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      return {
        height: Math.max(120, 31 * best.length + 40),
        marginLeft: 82,
        marginRight: roomForLabels(best.map((plan) => ({ value: value(plan), label: label(plan) })), width - 82),
        x: { label: null, ticks: width < 380 ? 2 : 4, grid: true, tickFormat: (v: number) => number(v) },
        y: { label: null, domain: best.map((plan) => plan.provider) },
        marks: [
          Plot.barX(best, { y: 'provider', x: value, fill: (plan: Plan) => (plan.provider === props.picked?.provider ? 'var(--c1)' : 'var(--line-strong)'), fillOpacity: (plan: Plan) => (plan.held_back ? 0.35 : 1), insetTop: 4, insetBottom: 4, rx: 2 }),
          Plot.text(best, { y: 'provider', x: value, text: label, textAnchor: 'start', dx: 5, fill: 'var(--ink-2)' }),
          Plot.tip(best, Plot.pointerY({ y: 'provider', x: value, title: (plan: Plan) => `${machinesOf(plan)}\n${money(1 / value(plan))} per 1M tokens`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
        ],
      };
    },
    [best, props.picked],
  );
  return (
    <Chart
      title="Work per dollar by cloud"
      note={props.serving ? 'Million output tokens per dollar, best plan of each provider' : 'Million tokens trained per dollar, start-up included, best plan of each provider'}
      name="work-per-dollar"
      rows={rows}
      draw={draw}
      onPick={(value) => {
        if (props.plans.includes(value as Plan)) props.onPick((value as Plan).rank);
      }}
    />
  );
}
