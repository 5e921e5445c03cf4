import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { Plan, Schemas } from '../../api/client';
import { duration, money, number, sentence, shortMoney } from '../../lib/format';
import { inPeriod, period, running } from '../../lib/period';
import { staircase } from '../../lib/staircase';
import { axisX, axisY, firstOf, LETTER, moneyTicks, once, placeLabels, roomForLabels, TIME_TICKS, within } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import { machinesOf } from './answer';
import { choicesOf, clickedDot, labelsOf, timeOf, workPerDollar, type Choice } from './compare';
import { planRows } from './plans';
import type { State } from './question';

interface Props {
  found: Schemas['Recommend'];
  serving: boolean;
  state: State;
  picked: string | undefined; // key of a choice
  onPick: (key: string, remember?: boolean) => void;
}

interface Dot extends Choice {
  time: number;
  usd: number;
  labels: string[];
}

export function CostAgainstTime({ found, serving, state, picked, onPick }: Props) {
  const dots = useMemo<Dot[]>(() => {
    const labels = labelsOf(found, serving);
    return choicesOf(found).map((choice) => ({ ...choice, time: timeOf(choice.plan, serving), usd: serving ? inPeriod(choice.plan.usd_total) : choice.plan.usd_total, labels: labels.get(choice.key) ?? [] })).filter((dot) => dot.time > 0);
  }, [found, serving]);
  const inOrder = useMemo(() => [...dots].sort((a, b) => a.time - b.time || a.usd - b.usd), [dots]);
  const rows = useMemo(() => planRows(dots.map((dot) => dot.plan)), [dots]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      // Computed from the plans drawn here: the program's front includes plans that this chart does not show.
      const front = staircase(dots.filter((dot) => !dot.plan.held_back), (dot) => dot.time, (dot) => dot.usd);
      const limit = serving ? Number(state.ttft) : Number(state.deadline);
      const longest = Math.max(...dots.map((dot) => dot.time));
      const times = [...dots.map((dot) => dot.time), ...(limit < 40 * longest ? [limit] : [])];
      const costs = dots.map((dot) => dot.usd);
      const x: [number, number] = [Math.min(...times) / 1.35, Math.max(...times) * 1.35];
      const y: [number, number] = [Math.min(...costs) / 1.35, Math.max(...costs) * 1.3];
      const title = ({ plan, labels }: Dot) => `${labels.length > 0 ? `${sentence(labels.join(', '))}\n` : ''}${machinesOf(plan)}\n${plan.instance}, ${plan.region}\n${serving ? `${running(plan.usd_total)}, TTFT ${duration(plan.ttft_seconds)}` : `${money(plan.usd_total)}, ${duration(timeOf(plan, serving))}`}${plan.energy_kwh ? `, ${number(plan.energy_kwh)} kWh` : ''}${plan.held_back ? `\nranked last: ${plan.held_back}` : ''}`;
      const fill = (dot: Dot) => (dot.key.startsWith('p') ? 'var(--panel)' : 'var(--c1)');
      const height = 320;
      const [left, bottom, top, end] = [50, 36, 20, 20];
      const pixel = (dot: Pick<Dot, 'time' | 'usd'>) => ({ x: left + ((width - left - end) * Math.log(dot.time / x[0])) / Math.log(x[1] / x[0]), y: top + ((height - top - bottom) * Math.log(y[1] / dot.usd)) / Math.log(y[1] / y[0]) });
      const labelled = dots.filter((dot) => dot.labels.length > 0);
      // Labels do not cross the line of the limit, either.
      const line = Array.from({ length: 41 }, (_, i) => ({ time: limit, usd: y[0] * (y[1] / y[0]) ** (i / 40) }));
      // Next to other labels there is no room for the long one.
      const shown = ({ labels }: Dot) => firstOf(labels.filter((label) => !label.startsWith('cheapest with ') || labels.length === 1), Math.floor((width - left - end) / 2 / LETTER));
      const places = placeLabels(labelled.map((dot) => ({ ...pixel(dot), text: shown(dot) })), dots.map(pixel), { width, height: height - bottom, least: left, lines: line.map(pixel) });
      // A label that had to move away has a line to its dot.
      const leads = labelled.flatMap((dot, i) => { const at = places[i]; return at?.far ? [{ from: dot, to: { time: x[0] * (x[1] / x[0]) ** ((pixel(dot).x + at.dx - left) / (width - left - end)), usd: y[1] / (y[1] / y[0]) ** ((pixel(dot).y + at.dy - top) / (height - top - bottom)) } }] : []; });
      return {
        height,
        marginLeft: left,
        marginBottom: bottom,
        marginTop: top,
        marginRight: end,
        x: { type: 'log', domain: x },
        y: { type: 'log', domain: y },
        marks: [
          axisX({ ticks: within(TIME_TICKS, x, width > 520 ? 7 : 4), format: duration, label: serving ? 'TTFT, log scale →' : 'time to finish, log scale →' }),
          ...axisY({ ticks: moneyTicks(y, 7), format: shortMoney, label: serving ? `↑ $/${period()}, log scale` : '↑ total cost, log scale' }),
          ...(limit >= x[0] && limit <= x[1] ? [Plot.ruleX([limit], { stroke: 'var(--bad)', strokeDasharray: '4 3' }), Plot.text([limit], { x: (v: number) => v, frameAnchor: 'top', dy: 8, dx: -4, textAnchor: 'end', text: () => (serving ? 'limit' : 'deadline'), fill: 'var(--bad)', stroke: 'var(--panel)', strokeWidth: 4 })] : []),
          Plot.line(front, { x: 'time', y: 'usd', stroke: 'var(--line-strong)', curve: 'step-after' }),
          Plot.dot(dots, { x: 'time', y: 'usd', r: 4.5, fill, fillOpacity: (dot: Dot) => (dot.plan.held_back ? 0.25 : 1), stroke: 'var(--c1)', strokeOpacity: (dot: Dot) => (dot.plan.held_back ? 0.4 : 1), strokeWidth: 1.4 }),
          Plot.dot(dots.filter((dot) => dot.key === picked), { x: 'time', y: 'usd', r: 8.5, stroke: 'var(--c2)', strokeWidth: 2 }),
          Plot.link(leads, { x1: (lead: (typeof leads)[number]) => lead.from.time, y1: (lead: (typeof leads)[number]) => lead.from.usd, x2: (lead: (typeof leads)[number]) => lead.to.time, y2: (lead: (typeof leads)[number]) => lead.to.usd, stroke: 'var(--ink-3)', strokeWidth: 0.8 }),
          ...labelled.map((dot, i) => Plot.text([dot], { x: 'time', y: 'usd', text: () => shown(dot), textAnchor: places[i]?.anchor ?? 'start', dx: places[i]?.dx ?? 0, dy: places[i]?.dy ?? 0, fill: 'var(--ink)', stroke: 'var(--panel)', strokeWidth: 4 })),
          Plot.tip(dots, Plot.pointer({ x: 'time', y: 'usd', title, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
        ],
      };
    },
    [dots, serving, state.ttft, state.deadline, picked],
  );
  return (
    <Chart
      title={serving ? 'Cost against TTFT' : 'Cost against time'}
      note="Filled dots are ranked plans, hollow ones further trade-offs; the line connects the best."
      hint="Click a dot to select it, again for a dot below it; the arrow keys select one after the other."
      keys={{ label: 'Selected plan', at: inOrder.findIndex((dot) => dot.key === picked), texts: inOrder.map((dot) => [dot.labels.join(', '), machinesOf(dot.plan), serving ? running(dot.plan.usd_total) : money(dot.plan.usd_total), duration(dot.time)].filter(Boolean).join(', ')), onStep: (at) => { const dot = inOrder[at]; if (dot) onPick(dot.key, false); } }}
      name="cost-against-time"
      rows={rows}
      draw={draw}
      onPick={(value) => {
        onPick(clickedDot(dots, value as Dot, picked).key);
      }}
    />
  );
}

/** Work per dollar: the best plan of each provider. */
export function WorkPerDollar(props: { plans: Plan[]; others: Plan[]; serving: boolean; picked: Plan | undefined; onPick: (key: string) => void }) {
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
        x: { label: null, ticks: width < 380 ? 2 : 4, grid: true, tickFormat: once((v: number) => number(v)) },
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
        const at = props.plans.indexOf(value as Plan);
        if (at >= 0) props.onPick(String(at + 1));
      }}
    />
  );
}
