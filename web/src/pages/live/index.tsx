// The GPUs of this machine, live: the bottleneck, cost and waste of each.
import * as Plot from '@observablehq/plot';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { showServer, watch, type Schemas } from '../../api/client';
import { toCsv } from '../../lib/csv';
import { save } from '../../lib/save';
import { gib, money, number, percent, sentence } from '../../lib/format';
import { once } from '../../parts/axes';
import { Badge, Busy, Card, CopyLink, Export, Named, PageHead, type Tone } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { verdictShown } from '../fleet/shapes';

type Gpu = Schemas['Top']['gpus'][number];

interface Moment {
  time: Date;
  gpu: number;
  engine: number | null;
  memory: number | null;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const KEPT = 300; // readings per GPU
const RETRY = 2000;
const TONE: Record<string, Tone> = { idle: 'bad', 'idle-held': 'bad', underused: 'warn', bursty: 'warn', 'compute-bound': 'good', 'memory-bound': 'good' };

interface Live {
  gpus: Gpu[];
  moments: Moment[];
  why: string;
  connected: boolean;
  /** A recording that has been replayed to its end. */
  ended: boolean;
}

function activity(gpu: Gpu): number | null {
  const now = gpu.now as Record<string, number | null> | undefined;
  return now?.['sm_active'] ?? now?.['graphics_active'] ?? now?.['gpu_util'] ?? null;
}

function useLive(paused: boolean): Live {
  const [live, setLive] = useState<Live>({ gpus: [], moments: [], why: '', connected: false, ended: false });
  useEffect(() => {
    if (paused) return undefined;
    const control = new AbortController();
    const take = ({ gpus, ended = false }: Schemas['Top']) => {
      const time = new Date();
      const fresh = gpus.map((gpu) => ({ time, gpu: gpu.index ?? 0, engine: activity(gpu), memory: (gpu.now as Record<string, number | null> | undefined)?.['dram_active'] ?? null }));
      setLive((old) => ({ gpus, moments: ended && old.ended ? old.moments : [...old.moments, ...fresh].slice(-KEPT * Math.max(1, gpus.length)), why: '', connected: true, ended }));
    };
    void (async () => {
      while (!control.signal.aborted) {
        await watch('/api/live', control.signal, ({ event, data }) => {
          if (event === 'gpus') take(JSON.parse(data) as Schemas['Top']);
          else setLive((old) => ({ ...old, why: (JSON.parse(data) as { error: string }).error, connected: true }));
        }).catch(() => undefined);
        if (control.signal.aborted) return;
        setLive((old) => ({ ...old, connected: false }));
        await new Promise((done) => setTimeout(done, RETRY));
      }
    })();
    return () => { control.abort(); };
  }, [paused]);
  return live;
}

function Meter(props: { label: string; help: string; share: number | null; shown: string }) {
  const width = `${String(100 * Math.min(1, props.share ?? 0))}%`;
  return (
    <div data-help={props.help} style={{ display: 'grid', gridTemplateColumns: '84px 1fr 92px', gap: '8px', alignItems: 'center', fontSize: '13px' }}>
      <span class="quiet"><Named name={props.label} help={props.help} stop /></span>
      <div style={{ background: 'var(--sunken)', borderRadius: '3px', height: '8px', overflow: 'hidden' }}>
        <div style={{ width, height: '100%', background: 'var(--c1)', transition: 'width 400ms' }} />
      </div>
      <span class="number">{props.shown}</span>
    </div>
  );
}

function GpuCard(props: { gpu: Gpu; moments: Moment[]; ended: boolean }) {
  const { gpu } = props;
  const now = (gpu.now ?? {}) as Record<string, number | null>;
  const share = (a: number | null | undefined, b: number | null | undefined) => (a !== null && a !== undefined && b ? a / b : null);
  const rows = useMemo(() => props.moments.filter((moment) => moment.gpu === (gpu.index ?? 0)), [props.moments, gpu.index]);
  const draw = useCallback(
    (): Plot.PlotOptions => ({
      height: 160,
      marginLeft: 46,
      marginRight: 26,
      marginBottom: 24,
      x: { type: 'time', label: null, ticks: 4, tickFormat: once((time: Date) => CLOCK.format(time)) },
      y: { label: null, domain: [0, 1], ticks: 3, tickFormat: (share: number) => percent(share), grid: true },
      marks: [
        Plot.areaY(rows, { x: 'time', y: 'engine', fill: 'var(--c1)', fillOpacity: 0.2 }),
        Plot.line(rows, { x: 'time', y: 'engine', stroke: 'var(--c1)', strokeWidth: 1.5 }),
        Plot.line(rows, { x: 'time', y: 'memory', stroke: 'var(--c2)', strokeWidth: 1.2 }),
        Plot.tip(rows, Plot.pointerX({ x: 'time', y: 'engine', title: (row: Moment) => `${CLOCK.format(row.time)}\nengine ${percent(row.engine)}, DRAM ${percent(row.memory)}`, fill: 'var(--panel)', stroke: 'var(--line-strong)' })),
      ],
    }),
    [rows],
  );
  return (
    <div class="columns wide-left">
      <Card title={`GPU ${String(gpu.index)} · ${gpu.name ?? ''}`} tools={<Badge tone={TONE[gpu.verdict ?? ''] ?? 'plain'}>{gpu.verdict ? `${verdictShown(gpu.verdict)}${props.ended ? '' : ' so far'}` : 'unknown'}</Badge>}>
        <div class="stack" style={{ gap: '6px' }}>
          <Meter label="Engine" help="The share of the time in which kernels ran" share={activity(gpu)} shown={percent(activity(gpu))} />
          <Meter label="Tensor cores" help="The share of the time in which the units for matrix products worked; no value without profiling counters" share={now['tensor_active'] ?? null} shown={percent(now['tensor_active'])} />
          <Meter label="DRAM" help="The share of the time in which data moved between the GPU and its memory" share={now['dram_active'] ?? null} shown={percent(now['dram_active'])} />
          <Meter label="Memory" help="Memory in use, by all processes" share={share(now['memory_used_bytes'], now['memory_total_bytes'])} shown={gib(now['memory_used_bytes'])} />
          <Meter label="Power" help="Electrical power; the bar is its share of the limit" share={share(now['power_watts'], now['power_limit_watts'])} shown={now['power_watts'] === null || now['power_watts'] === undefined ? '–' : `${number(now['power_watts'])} W`} />
          <p class="quiet" data-help="The price of this GPU, and the share of its time in which it did less than it could">
            {typeof gpu.usd_per_hour === 'number' ? `${money(gpu.usd_per_hour)}/h` : 'no price'}
            {typeof gpu.wasted === 'number' ? `, ${percent(gpu.wasted)} of it wasted${props.ended ? '' : ' so far'}` : ''}
          </p>
        </div>
      </Card>
      <Chart title="Last minutes" name={`gpu-${String(gpu.index)}`} rows={rows.map((row) => ({ time: row.time.toISOString(), engine: row.engine, memory: row.memory }))} draw={draw} legend={[['engine', 'var(--c1)'], ['DRAM', 'var(--c2)']]} />
    </div>
  );
}

export function LivePage() {
  const [paused, setPaused] = useState(false);
  const live = useLive(paused);
  const [replay, setReplay] = useState(false);
  useEffect(() => { showServer().then((server) => { setReplay(server.replay); }, () => undefined); }, []);
  return (
    <>
      <PageHead title="Live" what={replay ? 'A recording, played as if its GPUs were here' : 'The GPUs of this machine, read ten times and shown once per second'}>
        <Badge tone={paused || live.why !== '' ? 'plain' : live.connected && !replay ? 'good' : 'warn'}>{paused ? 'paused' : live.why !== '' ? 'no GPU' : !live.connected ? 'connecting' : live.ended ? 'recording ended' : replay ? 'recording' : 'live'}</Badge>
        <CopyLink />
        <Export items={[['Readings (CSV)', () => { save('rightsize-live.csv', toCsv(live.moments.map((moment) => ({ time: moment.time.toISOString(), gpu: moment.gpu, engine: moment.engine, dram: moment.memory }))), 'text/csv'); }]]} />
        <button type="button" class="button" disabled={live.why !== ''} aria-pressed={paused} onClick={() => { setPaused(!paused); }}>
          {paused ? 'Resume' : 'Pause'}
        </button>
      </PageHead>
      {live.why !== '' && (
        <Card label="No GPU">
          <p class="empty">
            {sentence(live.why)} <br />
            To see the page at work, start <code>rightsize serve --replay examples/profile/train.csv</code>.
          </p>
        </Card>
      )}
      {live.gpus.length === 0 && live.why === '' && <Busy what="Waiting for the first reading…" />}
      <div class="stack">
        {live.gpus.map((gpu) => (
          <GpuCard key={gpu.index} gpu={gpu} moments={live.moments} ended={live.ended} />
        ))}
      </div>
    </>
  );
}
