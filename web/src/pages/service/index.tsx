// Running LLM services from their own metrics: traffic, latency, cost, and what would cost less.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { upload, type AskFor, type Schemas } from '../../api/client';
import { duration, durationFlag, money, number, percent, plural, sentence } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { wrongPrices } from '../../lib/parse';
import { useQuestion } from '../../parts/question';
import { inPageWords, stackName } from '../../lib/words';
import { offsetHours, onLocalClock, ZONE, type HourOfDay } from '../../lib/zone';
import { Badge, Card, Problem, Stats } from '../../parts/basics';
import { AskPage, GpuField, Hero, TableCard } from '../../parts/ask_page';
import { Chart } from '../../parts/chart';
import { SelectField, TextField } from '../../parts/fields';
import { SERVICE } from '../numbers';

const DEFAULTS = { name: '', gpu: 'h200-sxm', price: '', ttft: '1', tpot: '0.05', traffic: '1', file: '', upload: '' };
type State = typeof DEFAULTS;
type Service = Schemas['Service']['services'][number];
const NAMES = { gpu: 'GPU', price: 'Your price', slo: 'limits', traffic: 'Traffic', 'gpus-per-replica': 'GPUs per replica' };

const EXAMPLE = 'A running LLM service from its own metrics: what it costs, and what would cost less';

const CHANGES: Record<string, string> = { move: 'other GPUs', replicas: 'same GPUs', schedule: 'replicas by hour', layout: 'fewer GPUs per replica' };

export function questionOf(state: State): AskFor<'service'> {
  return {
    gpu: state.gpu,
    slo: `ttft=${durationFlag(Number(state.ttft))},tpot=${durationFlag(Number(state.tpot))}`,
    ...(Number(state.traffic) === 1 ? {} : { traffic: `${state.traffic}x` }),
    ...(state.price === '' ? {} : { price: [state.price] }),
    ...(state.upload === '' ? {} : { metrics: state.upload }),
  } as AskFor<'service'>;
}

function Traffic({ service }: { service: Service }) {
  const rows = useMemo(() => onLocalClock(service.requests_per_second?.by_hour_utc ?? [], offsetHours()), [service]);
  const clock = (hour: number) => `${String(Math.floor(hour)).padStart(2, '0')}:${String(Math.round((hour % 1) * 60)).padStart(2, '0')}`;
  const draw = useCallback((): Plot.PlotOptions => ({
    height: 170, marginLeft: 44, marginBottom: 34,
    x: { label: `hour in ${ZONE} →`, domain: [0, 24], ticks: [0, 6, 12, 18, 24] },
    y: { label: '↑ requests/s', zero: true, grid: true, ticks: 4 },
    marks: [
      Plot.rectY(rows, { x1: 'from', x2: 'to', y: 'value', fill: 'var(--c1)', fillOpacity: 0.7, inset: 0.5 }),
      Plot.tip(rows, Plot.pointerX({ x: (row: HourOfDay) => (row.from + row.to) / 2, y: 'value', title: (row: HourOfDay) => `${clock(row.from)} to ${clock(row.to)}\n${number(row.value)} requests/s`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
    ],
  }), [rows]);
  return <Chart title="Traffic by hour" note="Mean requests per second of each hour in the readings; hours without readings are empty" name="service-traffic" rows={rows.map((row) => ({ ...row }))} draw={draw} />;
}

function Sized({ service }: { service: Service }) {
  const plans = service.plans ?? [];
  const best = plans[0];
  const now = service.usd_per_month;
  const saving = typeof now === 'number' && best && typeof best.usd_per_month === 'number' ? now - best.usd_per_month : undefined;
  const today = `${plural(service.replicas, 'replica')} on ${service.gpu ?? 'an unknown GPU'}`;
  // The plan as it is now is one figure, also if its cost was rounded on the way.
  const costOf = ({ usd_per_month: usd }: (typeof plans)[number]) => (typeof now === 'number' && typeof usd === 'number' && Math.abs(usd / now - 1) < 0.0005 ? now : usd);
  const line = !best ? `${service.name}: no plan meets the limits` : saving !== undefined && saving > 0.01 * (now ?? 0) ? `${service.name}: ${number(best.gpus)} × ${best.gpu} would save ${running(saving)}, ${percent(saving / (now ?? 1))}` : saving === undefined ? `${service.name}: ${number(best.gpus)} × ${best.gpu} would do for ${running(best.usd_per_month)}` : `${service.name}: keep ${today}`;
  return (
    <>
      <Hero line={line} sub={`${service.model ?? 'an unknown model'} with ${service.engine ? stackName(service.engine) : 'an unknown engine'}: ${today}${typeof now === 'number' ? `, ${running(now)}` : ''}.`}>
        <Stats
          items={[
            { name: 'Requests', value: `${number(service.requests_per_second?.mean ?? 0)}/s`, note: `${number(service.requests_per_second?.peak_hour ?? 0)}/s in the busiest hour` },
            { name: 'p95 TTFT', value: duration(service.ttft_seconds?.p95) },
            { name: 'p95 TPOT', value: duration(service.tpot_seconds?.p95) },
            { name: 'Tokens in, out', value: `${number(service.isl?.mean ?? 0)} in, ${number(service.osl?.mean ?? 0)} out`, note: 'mean' },
            { name: 'Prefix hits', value: percent(service.prefix_hit), help: 'The share of prompt tokens found in the KV cache' },
            ...(typeof service.usd_per_million_output_tokens === 'number' ? [{ name: '1M output tokens', value: money(service.usd_per_million_output_tokens) }] : []),
          ]}
        />
        {(service.slo ?? []).length > 0 && <p class="actions" style={{ marginTop: '10px' }}>{(service.slo ?? []).map((slo) => <Badge key={slo.quantity} tone={slo.kept ? 'good' : 'bad'}>{slo.at} {slo.quantity} {slo.kept ? 'meets' : 'misses'} {duration(slo.limit_seconds)}: {number(100 * (slo.over_share ?? 0), 2)} % of requests over it</Badge>)}</p>}
      </Hero>
      <Traffic service={service} />
      {plans.length > 0 && <TableCard
        title="What it could run on"
        rows={plans}
        keyOf={(row) => String(row.rank)}
        columns={[
          { title: 'GPUs', cell: (row) => <>{number(row.gpus)} × {row.gpu}<small>{row.provider ?? 'as now'}</small></>, sort: (row) => row.gpu },
          { title: `$/${period()}`, number: true, cell: (row) => <strong>{amountOf(costOf(row))}</strong>, sort: (row) => costOf(row) ?? 0 },
          { title: 'Change', roomy: true, cell: (row) => CHANGES[row.change] ?? row.change },
          { title: 'Replicas', number: true, roomy: true, cell: (row) => number(row.replicas) },
          { title: 'TTFT', number: true, cell: (row) => duration(row.ttft_seconds), sort: (row) => row.ttft_seconds ?? 0 },
          { title: 'TPOT', number: true, roomy: true, cell: (row) => duration(row.tpot_seconds), sort: (row) => row.tpot_seconds ?? 0 },
          { title: 'Load', number: true, roomy: true, cell: (row) => percent(row.utilization) },
        ]}
      />}
      {(service.notes ?? []).length > 0 && <Card title="Notes on these numbers"><ul class="stack">{(service.notes ?? []).map((note) => <li class="note" key={String(note)}>{sentence(inPageWords(String(note), NAMES))}</li>)}</ul></Card>}
    </>
  );
}

export function ServicePage() {
  const [failed, setFailed] = useState<unknown>();
  const question = useQuestion('service', DEFAULTS, questionOf, { numbers: () => SERVICE, isWrong: (fields) => wrongPrices(fields.price) !== undefined, view: ['name', 'file'], quick: (asked) => ({ ...asked, 'plans-only': true }) });
  const { state, change, choose, slider, answer } = question;
  const send = (file: File) => {
    setFailed(undefined);
    upload(file, new AbortController().signal, () => undefined).then((id) => { change({ file: file.name, upload: id, name: '' }, true); }, setFailed);
  };
  // If a file is refused, the answer before it stays, with the name of its source.
  const last = useRef<{ value: unknown; upload: string; name: string }>({ value: undefined, upload: '', name: EXAMPLE });
  if (answer.value && answer.value !== last.current.value) last.current = { value: answer.value, upload: state.upload, name: state.upload === '' ? EXAMPLE : `Metrics of ${state.file}` };
  const isExample = question.example || (state.upload !== '' && last.current.upload === '');
  const services = answer.value?.services ?? [];
  const service = services.find((each) => each.name === state.name) ?? services[0];
  return (
    <AskPage title="Service" what={answer.value ? last.current.name : EXAMPLE} question={{ ...question, example: isExample }} names={NAMES}
      tools={
        <>
          <label class="button">
            Open metrics…
            <input type="file" class="hidden-visually" onChange={(event) => { const file = event.currentTarget.files?.[0]; if (file) send(file); event.currentTarget.value = ''; }} />
          </label>
          {state.upload !== '' && <button type="button" class="button" onClick={() => { setFailed(undefined); change({ file: '', upload: '', name: '' }, true); }}>Close {state.file}</button>}
        </>
      }
      fields={
        <>
          {failed !== undefined && <Problem failed={failed} />}
          {state.upload !== '' && answer.failed !== undefined && answer.value && <p class="hint">The page still shows: {last.current.name}.</p>}
          {services.length > 1 && <SelectField label="Service" value={service?.name ?? ''} choices={services.map((each) => [each.name, each.name] as const)} onChange={choose('name')} />}
          <GpuField label="GPU of the service" value={state.gpu} onChange={choose('gpu')} />
          <TextField label="Your price" value={state.price} wrong={wrongPrices(state.price)} placeholder="h200-sxm=3.50" onChange={choose('price')} />
          {slider('ttft')}
          {slider('tpot')}
          {slider('traffic', { hint: 'Size for this many times the traffic.' })}
        </>
      }
    >
      {() => (service ? <Sized service={service} /> : <Hero line="No LLM service in these metrics" />)}
    </AskPage>
  );
}
