// The details of the selected plan, in tabs.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AskFor, Plan, Schemas } from '../../api/client';
import type { Change } from '../../lib/address';
import { useAnswer, useSettled } from '../../lib/answer';
import { duration, gib, magnitude, middleCut, money, number, signedPercent } from '../../lib/format';
import { period } from '../../lib/period';
import { inPageWords, stackName } from '../../lib/words';
import { Badge, Busy, CopyText, Problem, Segmented, Tabs } from '../../parts/basics';
import { axisX, axisY } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import { Table } from '../../parts/table';
import { machinesOf } from './answer';
import { useOtherGpus } from './clouds';
import { changeShown, costOf, needShown, reasonsOf, timeOf } from './compare';
import { alsoOf, changeFromFlags, FIELD_NAMES, isServing, type State } from './question';

interface Props {
  state: State;
  change: Change<State>;
  found: Schemas['Recommend'] | undefined;
  plan: Plan | undefined;
  ask: AskFor<'recommend'>;
}

const NONE: Plan[] = [];

const TABS = [['memory', 'Memory'], ['roofline', 'Roofline'], ['why', 'Why this one'], ['changes', 'What would change it'], ['rejected', 'Why not others'], ['run', 'Run it']] as const;
type Tab = (typeof TABS)[number][0];

/** Details are requested when the slider rests; while it moves, plans come first. */
const REST = 200;

/** Settings without a field that change the memory of a job. */
const MEMORY_SETTINGS = new Set(['optimizer', 'offload', 'cross-entropy']);

/** The settings of the plan as flags of memory and estimate. */
function jobOf(state: State, plan: Plan): AskFor<'memory'> {
  const model = state.config === '' ? { model: state.model } : { model_config: state.config };
  const shared = { ...model, job: state.job as 'train' | 'serve', precision: plan.precision, stack: plan.stack, tp: plan.tp, ...Object.fromEntries([['pp', plan.pp], ['ep', plan.ep], ['attention-dp', plan.attention_dp]].filter(([, size]) => Number(size ?? 1) > 1)), ...Object.fromEntries(alsoOf(state).filter(([name]) => MEMORY_SETTINGS.has(name))) };
  if (isServing(state)) {
    return { ...shared, gpus: Math.max(1, Math.round(plan.gpus / (plan.replicas ?? 1))), isl: state.isl, osl: state.osl, concurrency: Math.max(1, Math.ceil(plan.requests_at_once ?? 1)) } as AskFor<'memory'>;
  }
  return { ...shared, gpus: plan.gpus, batch: plan.micro_batch, seq: state.seq, method: state.method, zero: plan.zero, recompute: plan.recompute, accumulate: plan.accumulation } as AskFor<'memory'>;
}

const PART_COLOURS = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)', 'var(--c6)', 'var(--c7)', 'var(--c8)'];

function Memory({ state, plan }: { state: State; plan: Plan }) {
  const answer = useAnswer('memory', useSettled(useMemo(() => jobOf(state, plan), [state, plan]), REST));
  const parts = useMemo(() => (answer.value?.parts ?? []).map((part) => ({ part: part.name === 'kv_cache' ? 'KV cache' : part.name, gib: part.bytes / 2 ** 30 })), [answer.value]);
  const sizes = useMemo(() => {
    // Many GPUs have the same memory: one line per size, named after popular ones.
    const bySize = new Map<number, { gib: number; names: string[]; verdict: string }>();
    for (const fit of answer.value?.fits ?? []) {
      const size = Math.round(fit.capacity_bytes / 2 ** 30);
      const entry = bySize.get(size) ?? { gib: fit.capacity_bytes / 2 ** 30, names: [], verdict: fit.verdict };
      entry.names.push(fit.gpu);
      bySize.set(size, entry);
    }
    return [...bySize.values()].sort((a, b) => a.gib - b.gib);
  }, [answer.value]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const need = parts.reduce((sum, part) => sum + part.gib, 0);
      type Size = (typeof sizes)[number];
      const rowOf = (size: Size) => `${number(size.gib)} GiB`;
      const marginRight = Math.min(280, Math.max(120, width * 0.36));
      // As many names as fit next to the bars.
      const label = (size: Size | undefined) => {
        if (!size) return '';
        const mark = size.verdict === 'no' ? '✗' : size.verdict === 'tight' ? '≈' : '✓';
        const text = (most: number) => `${mark} ${size.names.slice(0, most).join(', ')}${size.names.length > most ? ` +${String(size.names.length - most)}` : ''}`;
        const fits = (most: number) => text(most).length * 6.7 <= marginRight - 20;
        return fits(1) ? text(fits(3) ? 3 : fits(2) ? 2 : 1) : middleCut(text(1), Math.floor((marginRight - 20) / 6.7));
      };
      const colour: Record<string, string> = { fits: 'var(--good)', tight: 'var(--warn)', no: 'var(--line-strong)' };
      return {
        height: 22 * (sizes.length + 1) + 46,
        marginTop: 36,
        marginLeft: 58,
        marginRight,
        x: { label: 'GiB of one GPU →', labelOffset: 30, grid: true, nice: false, domain: [0, Math.max(need, ...sizes.map((size) => size.gib)) * 1.02], ticks: width < 560 ? 3 : 6, axis: 'top' },
        y: { label: null, domain: ['this job', ...sizes.map(rowOf)], tickSize: 0 },
        color: { domain: parts.map((part) => part.part), range: PART_COLOURS },
        marks: [
          Plot.barX(sizes, { y: rowOf, x: 'gib', fill: (size: Size) => colour[size.verdict] ?? 'var(--line-strong)', fillOpacity: (size: Size) => (size.verdict === 'no' ? 0.5 : 0.7), insetTop: 6, insetBottom: 6, rx: 2 }),
          Plot.ruleX([need], { stroke: 'var(--ink)', strokeDasharray: '3 3' }),
          Plot.barX(parts, Plot.stackX({ y: () => 'this job', x: 'gib', fill: 'part', insetTop: 2, insetBottom: 2, order: null })),
          Plot.text(['this job', ...sizes.map(rowOf)], { y: (row: string) => row, frameAnchor: 'right', textAnchor: 'start', dx: 10, text: (row: string) => (row === 'this job' ? `${number(need)} GiB` : label(sizes.find((size) => rowOf(size) === row))), fill: 'var(--ink)' }),
          Plot.tip(parts, Plot.pointerX(Plot.stackX({ y: () => 'this job', x: 'gib', title: (part: (typeof parts)[number]) => `${part.part}: ${number(part.gib)} GiB`, fill: 'var(--panel)', stroke: 'var(--line-strong)', order: null }))),
        ],
      };
    },
    [parts, sizes],
  );
  if (answer.failed !== undefined) return <Problem failed={answer.failed} fields={FIELD_NAMES} />;
  if (!answer.value) return <Busy />;
  const amd = plan.gpu.startsWith('mi');
  return (
    <Chart
      title="Memory against each GPU’s capacity"
      note={`${gib(plan.memory_bytes)} on each GPU as ${amd ? 'amd-smi' : 'nvidia-smi'} shows it (80 % between ${gib(plan.memory_low_bytes)} and ${gib(plan.memory_high_bytes)}), ${isServing(state) ? 'as the engine reserves it' : amd ? 'counted, not measured on AMD' : 'by a model validated on an H200'}. ✓ fits, ≈ tight, ✗ not at this plan’s settings; smaller GPUs may fit with others.`}
      name="memory"
      inner
      rows={parts}
      draw={draw}
      legend={parts.map((part, i) => [`${part.part} ${number(part.gib)} GiB`, PART_COLOURS[i % PART_COLOURS.length] ?? 'gray'])}
    />
  );
}

interface Op {
  name: string;
  intensity: number;
  rate: number;
  seconds: number;
  bound: string;
}

function Roofline({ state, plan }: { state: State; plan: Plan }) {
  const asked = useMemo(() => ({ ...jobOf(state, plan), gpu: plan.gpu, roofline: true }) as AskFor<'estimate'>, [state, plan]);
  const answer = useAnswer('estimate', useSettled(asked, REST));
  const roof = answer.value?.roofline;
  const ops = useMemo<Op[]>(() => (roof?.ops ?? []).filter((op) => op.flops > 0 && op.bytes > 0 && op.seconds > 0).map((op) => ({ name: op.name, intensity: op.flops / op.bytes, rate: op.flops / op.seconds, seconds: op.seconds, bound: op.bound })), [roof]);
  const draw = useCallback((): Plot.PlotOptions => {
    if (!roof) return { marks: [] };
    const ridge = roof.peak_flops_per_second / roof.bandwidth_bytes_per_second;
    const low = Math.min(0.1, ...ops.map((op) => op.intensity)) / 2;
    const high = Math.max(ridge * 8, ...ops.map((op) => op.intensity)) * 2;
    const line = [low, ridge, high].map((x) => ({ x, y: Math.min(roof.peak_flops_per_second, x * roof.bandwidth_bytes_per_second) }));
    const bottom = Math.min(low * roof.bandwidth_bytes_per_second, ...ops.map((op) => op.rate)) / 1.5;
    const powers = (from: number, to: number) => Array.from({ length: 30 }, (_, i) => 10 ** (i - 6)).filter((each) => each >= from && each <= to);
    const largest = Math.max(...ops.map((op) => op.seconds));
    return {
      height: 336,
      marginBottom: 38,
      marginLeft: 62,
      x: { type: 'log', domain: [low, high] },
      y: { type: 'log', domain: [bottom, roof.peak_flops_per_second * 2] },
      r: { range: [2.5, 16], domain: [0, largest] },
      marks: [
        axisX({ ticks: powers(low, high), format: magnitude, label: 'FLOP per byte, log scale →' }),
        ...axisY({ ticks: powers(bottom, roof.peak_flops_per_second * 2), format: (value) => `${magnitude(value)}`, label: '↑ FLOP/s, log scale' }),
        Plot.line(line, { x: 'x', y: 'y', stroke: 'var(--ink-2)', strokeWidth: 1.6 }),
        Plot.ruleX([ridge], { stroke: 'var(--line-strong)', strokeDasharray: '3 3' }),
        Plot.dot(ops, { x: 'intensity', y: 'rate', r: 'seconds', fill: (op: Op) => (op.bound === 'compute' ? 'var(--c1)' : 'var(--c2)'), fillOpacity: 0.65, stroke: 'var(--panel)' }),
        Plot.tip(ops, Plot.pointer({ x: 'intensity', y: 'rate', title: (op: Op) => `${op.name}\n${duration(op.seconds)}, bound by ${op.bound}\n${number(op.intensity)} FLOP/byte, ${magnitude(op.rate)}FLOP/s`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
      ],
    };
  }, [ops, roof]);
  if (answer.failed !== undefined) return <Problem failed={answer.failed} fields={FIELD_NAMES} />;
  if (!answer.value) return <Busy />;
  if (ops.length === 0) return <p class="empty">No roofline for this job.</p>;
  return <Chart inner title={`Operations under the roofline of ${plan.gpu}`} note="The area of a dot is its time. Left of the dashed line memory is the limit, right of it compute." name="roofline" rows={ops.map((op) => ({ ...op }))} draw={draw} legend={[['compute-bound', 'var(--c1)'], ['memory-bound', 'var(--c2)']]} />;
}

function Why({ plan }: { plan: Plan }) {
  return (
    <ul class="stack">
      {plan.why.map((reason) => (
        <li class="note" key={reason}>
          {inPageWords(reason, FIELD_NAMES)}
        </li>
      ))}
      {!plan.why.some((reason) => reason.includes(plan.price_source ?? '–')) && (
        <li class="note">
          Price: {plan.price_source}, {plan.price_date}
        </li>
      )}
    </ul>
  );
}

function Changes({ found, change, plan, state }: Props) {
  if (!found) return <Busy what="Checking what would change it…" />;
  const first = found.plans?.[0] ?? plan;
  const breakpoints = found.breakpoints ?? [];
  // Cents are within the error of every figure: a change that saves less than half a percent is none.
  const changes = (found.changes ?? []).filter((each) => !first || each.plan.usd_total >= first.usd_total || each.plan.usd_total < 0.995 * first.usd_total);
  return (
    <div class="stack">
      {breakpoints.length > 0 && (
        <ul class="stack">
          {breakpoints.map((each) => (
            <li class="note" key={each.when}>
              If {each.when}: {inPageWords(each.then, FIELD_NAMES)}
            </li>
          ))}
        </ul>
      )}
      <Table
        label="What else could change"
        rows={changes}
        keyOf={(row) => row.flags}
        columns={[
          { title: 'Change', cell: (row) => <>{changeShown(row)}<small class="narrow-only">{machinesOf(row.plan)}; {row.effect}</small></> },
          { title: 'Then', roomy: true, cell: (row) => machinesOf(row.plan) },
          { title: isServing(state) ? `$/${period()}` : 'Cost', number: true, cell: (row) => costOf(row.plan, isServing(state)), sort: (row) => row.plan.usd_total },
          { title: 'vs now', number: true, cell: (row) => (first ? <Badge tone={row.plan.usd_total < first.usd_total ? 'good' : 'plain'}>{signedPercent(row.plan.usd_total / first.usd_total - 1)}</Badge> : '–') },
          { title: 'Effect', wide: true, roomy: true, cell: (row) => <span class="quiet">{row.effect}</span> },
          {
            title: 'Try',
            keep: true,
            cell: (row) => {
              const next = changeFromFlags(row.flags, state);
              return next ? (
                <button type="button" class="button small" onClick={() => { change({ ...next, plan: '1', vs: '' }, true); }}>
                  Apply
                </button>
              ) : (
                <span class="quiet">{inPageWords(row.flags, FIELD_NAMES)}</span>
              );
            },
          },
        ]}
      />
      {changes.length === 0 && <p class="empty">None of the usual changes helps.</p>}
    </div>
  );
}

/** The cost on popular GPUs. */
function OtherGpus({ state, first }: { state: State; first: Plan[] }) {
  const others = useOtherGpus(state, first);
  const best = first[0];
  if (!others) return <Busy what="Checking the other GPUs…" />;
  return (
    <Table
      label="The best plan on other GPUs"
      rows={others}
      keyOf={(row) => row.name}
      columns={[
        { title: 'GPU', cell: (row) => row.name, sort: (row) => row.name },
        { title: 'Best plan', wide: true, cell: (row) => (row.best ? <>{machinesOf(row.best)}<small class="narrow-only">{[best && row.best.gpu !== best.gpu ? `${signedPercent(row.best.usd_total / best.usd_total - 1)} vs first` : '', isServing(state) ? `TTFT ${duration(timeOf(row.best, true))}` : `${duration(timeOf(row.best, false))}, ${number(row.best.gpus * row.best.hours)} GPU-hours`].filter(Boolean).join(', ')}</small></> : <span class="quiet">none meets the limits</span>) },
        { title: isServing(state) ? `$/${period()}` : 'Total', number: true, cell: (row) => (row.best ? costOf(row.best, isServing(state)) : ''), sort: (row) => row.best?.usd_total ?? Infinity },
        { title: 'vs first', number: true, roomy: true, cell: (row) => (row.best && best && row.best.gpu !== best.gpu ? signedPercent(row.best.usd_total / best.usd_total - 1) : '') },
        // A GPU that costs less per hour may need more hours.
        ...(isServing(state) ? [] : [{ title: 'GPU-hours', number: true, roomy: true, cell: (row: (typeof others)[number]) => (row.best ? number(row.best.gpus * row.best.hours) : '') }]),
        { title: '$/GPU-h', number: true, roomy: true, cell: (row) => (row.best ? money(row.best.usd_per_hour / row.best.gpus) : '') },
        { title: isServing(state) ? 'TTFT' : 'Time', number: true, roomy: true, cell: (row) => (row.best ? duration(timeOf(row.best, isServing(state))) : '') },
      ]}
    />
  );
}

function Rejected({ found, state }: Props) {
  if (!found) return <Busy what="Checking why the others were rejected…" />;
  const plans = found.plans ?? NONE;
  const { reasons, unpriced } = reasonsOf(found.rejected ?? []);
  return (
    <div class="stack">
    {typeof found.next_best === 'string' && <p class="note">{inPageWords(found.next_best, FIELD_NAMES)}</p>}
    {plans.length > 0 && <OtherGpus state={state} first={plans} />}
    <Table
      label="Why not these"
      rows={reasons}
      most={20}
      keyOf={(row) => `${row.what} ${row.stage}`}
      columns={[
        { title: 'GPU', cell: (row) => <>{row.what}{row.nearest_fix && <small class="narrow-only">{inPageWords(row.nearest_fix, FIELD_NAMES)}</small>}</>, sort: (row) => row.what },
        { title: 'Rejected by', cell: (row) => <Badge tone="warn">{row.stage === 'slo' ? 'SLO' : row.stage}</Badge>, sort: (row) => row.stage },
        { title: 'Needs', cell: (row) => (row.stage === 'software' ? `${stackName(row.need)} on this chip` : needShown(row)) },
        { title: 'Has', cell: (row) => row.have },
        { title: 'Nearest fix', wide: true, roomy: true, cell: (row) => <span class="quiet">{inPageWords(row.nearest_fix ?? '–', FIELD_NAMES)}</span> },
        { title: 'Options', number: true, roomy: true, cell: (row) => number(row.count), sort: (row) => row.count },
      ]}
    />
    {unpriced.length > 0 && <p class="quiet">No price on file at these providers and terms: {unpriced.join(', ')}.</p>}
    </div>
  );
}

const TOOLS = [['skypilot', 'SkyPilot'], ['kubernetes', 'Kubernetes'], ['karpenter', 'Karpenter'], ['slurm', 'Slurm'], ['terraform', 'Terraform']] as const;

function RunIt({ plan, ask, state, change }: Props & { plan: Plan }) {
  const tool = TOOLS.find(([name]) => name === state.tool)?.[0] ?? 'skypilot';
  const asked = useMemo(() => ({ ...ask, emit: tool, plan: plan.rank }), [ask, tool, plan.rank]);
  const answer = useAnswer('recommend', useSettled(asked, REST));
  const text = (answer.value as { emit?: Record<string, string> } | undefined)?.emit?.[tool];
  return (
    <div class="stack">
      <Segmented label="Tool" value={tool} choices={TOOLS} onChange={(next) => { change({ tool: next }); }} />
      {answer.failed !== undefined ? <Problem failed={answer.failed} fields={FIELD_NAMES} /> : typeof text === 'string' ? (
        <>
          <div class="actions"><CopyText text={text} /></div>
          <pre class="file" tabIndex={0}>{text}</pre>
        </>
      ) : <Busy />}
    </div>
  );
}

export function Details(props: Props) {
  const { state, change, plan } = props;
  const tab = (TABS.find(([name]) => name === state.tab)?.[0] ?? 'memory') as Tab;
  return (
    <section class="card about" aria-label="About this plan">
      <Tabs label="About this plan" value={plan || tab === 'rejected' ? tab : 'changes'} choices={plan ? TABS : TABS.filter(([name]) => name === 'rejected' || name === 'changes')} onChange={(next) => { change({ tab: next }); }}>
        {plan && tab === 'memory' && <Memory state={state} plan={plan} />}
        {plan && tab === 'roofline' && <Roofline state={state} plan={plan} />}
        {plan && tab === 'why' && <Why plan={plan} />}
        {(tab === 'changes' || (!plan && tab !== 'rejected')) && <Changes {...props} />}
        {tab === 'rejected' && <Rejected {...props} />}
        {plan && tab === 'run' && <RunIt {...props} plan={plan} />}
      </Tabs>
    </section>
  );
}
