// How much of the prompts a KV cache finds, by its size. The line can be dragged.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { askForFile, type AskFor, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSettled } from '../../lib/answer';
import { magnitude, number, percent } from '../../lib/format';
import { save } from '../../lib/save';
import { Card, CopyLink, Export, PageHead, Problem, Stats } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { Combobox, COUNT, Slider, twoDigits, type Choice, type Scale } from '../../parts/fields';
import { conversations, DEFAULTS, hitRate, type Point, type State } from './question';

const GB = 1e9;
const SIZE: Scale = {
  step: twoDigits,
  show: (value) => (value >= 1000 ? `${number(value / 1000)} TB` : `${number(value)} GB`),
  read: (text) => {
    const parts = /^\s*([\d.]+)\s*(g|gb|t|tb)?\s*$/i.exec(text);
    const value = Number(parts?.[1]) * (parts?.[2]?.toLowerCase().startsWith('t') ? 1000 : 1);
    return value > 0 ? value : undefined;
  },
  like: 'a size, like 40 GB or 2 TB',
};

/** Makes the line of the cache size draggable. */
function dragSize(plot: SVGSVGElement & Plot.Plot, size: number, onDrag: (value: number) => void): void {
  const scale = plot.scale('x');
  if (!scale?.invert) return;
  const invert = scale.invert.bind(scale) as (pixel: number) => number;
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const attributes: Record<string, string> = { x: String((scale.apply(size) as number) - 8), width: '16', y: '20', height: String(Math.max(10, plot.clientHeight - 50)), fill: 'transparent', 'data-testid': 'size-line' };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
  line.style.cursor = 'ew-resize';
  line.style.touchAction = 'none';
  line.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    const left = plot.getBoundingClientRect().left;
    const move = (moved: PointerEvent) => {
      const value = invert(moved.clientX - left);
      if (value > 0 && Number.isFinite(value)) onDrag(value);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', () => { removeEventListener('pointermove', move); }, { once: true });
  });
  plot.append(line);
}

function Curve(props: { answer: Schemas['Cache']; size: number; onSize: (gb: number) => void }) {
  const { answer, size } = props;
  const rows = useMemo(() => (answer.curve ?? []).map((point: Point) => ({ gigabytes: point.bytes / GB, hit_rate: point.hit_rate })), [answer]);
  const knee = answer.knee.bytes / GB;
  const draw = useCallback((): Plot.PlotOptions => {
    const most = Math.max(size * 1.2, (answer.unlimited_bytes / GB) * 1.5, knee * 2);
    return {
      height: 340, marginTop: 30, marginBottom: 38, marginLeft: 48,
      x: { type: 'log', domain: [Math.min(size / 2, knee / 50, most / 1000), most], label: 'cache, log scale →', tickFormat: (v: number) => SIZE.show(v), ticks: 5 },
      y: { domain: [0, 1], percent: true, grid: true, label: '↑ prompt found, %' },
      marks: [
        Plot.ruleY([answer.unlimited_hit_rate], { stroke: 'var(--line-strong)', strokeDasharray: '2 3' }),
        Plot.areaY(rows.filter((row) => row.gigabytes > 0), { x: 'gigabytes', y: 'hit_rate', fill: 'var(--c1)', fillOpacity: 0.15, curve: 'step-after', clip: true }),
        Plot.lineY(rows.filter((row) => row.gigabytes > 0), { x: 'gigabytes', y: 'hit_rate', stroke: 'var(--c1)', strokeWidth: 2, curve: 'step-after', clip: true }),
        Plot.dot([{ knee, hit: answer.knee.hit_rate }], { x: 'knee', y: 'hit', r: 6, fill: 'var(--good)', stroke: 'var(--panel)' }),
        Plot.text([{ knee, hit: answer.knee.hit_rate }], { x: 'knee', y: 'hit', dy: -12, text: () => `knee: ${SIZE.show(knee)}`, fill: 'var(--good)', stroke: 'var(--panel)', strokeWidth: 4 }),
        Plot.ruleX([size], { stroke: 'var(--bad)', strokeDasharray: '5 3', strokeWidth: 1.6 }),
        Plot.text([size], { x: (v: number) => v, frameAnchor: 'top', dx: -6, dy: 10, textAnchor: 'end', text: () => `⇔ ${SIZE.show(size)} (drag to change)`, fill: 'var(--bad)', stroke: 'var(--panel)', strokeWidth: 4 }),
      ],
    };
  }, [rows, size, knee]);
  return <Chart title="Hit rate by cache size" note="The share of the prompt's blocks that is found, for every size at once" name="cache-curve" rows={rows} draw={draw} after={(plot) => { dragSize(plot, size, props.onSize); }} />;
}

export function CachePage() {
  const [state, change] = useAddress(DEFAULTS);
  const [file, setFile] = useState<{ name: string; text: string }>();
  const chooser = useRef<HTMLInputElement>(null);
  const models = useAnswer('models', useMemo(() => ({}), []));
  const modelChoices = useMemo<Choice[]>(() => (models.value?.models ?? []).map((each) => ({ value: each.name ?? '', note: magnitude(each.parameters ?? 0), words: `${each.name ?? ''} ${each.family ?? ''}` })), [models.value]);
  const settled = useSettled(JSON.stringify({ ...state, size: '' }), 250);
  const asked = useMemo(() => {
    const question = JSON.parse(settled) as State;
    return { model: question.model, trace: file?.text ?? conversations(question) } as unknown as AskFor<'cache'>;
  }, [settled, file]);
  const answer = useAnswer('cache', asked);
  const value = answer.value as Schemas['Cache'] | undefined;
  const size = Number(state.size);
  const found = value ? hitRate(value.curve ?? [], size * GB) : 0;
  const slide = (name: keyof State) => (to: number) => { change({ [name]: String(to) }); };
  return (
    <>
      <PageHead title="KV cache" what="How much of your prompts a cache finds, and how large it should be">
        <CopyLink />
        <Export items={[['Report (HTML)', () => { void askForFile('cache', asked, 'html').then((blob) => { save('rightsize-cache.html', blob, blob.type); }); }], ['Answer (JSON)', () => { save('rightsize-cache.json', JSON.stringify(value, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class="with-controls">
        <div class="controls">
          <section class="card fields" aria-label="The question">
            <Combobox label="Model" value={state.model} choices={modelChoices} onChange={(model) => { change({ model }, true); }} />
            <Slider label="Cache" value={size} least={0.1} most={20000} scale={SIZE} onSlide={slide('size')} />
          </section>
          <section class="card fields" aria-label="The traffic">
            {file ? (
              <p>
                {file.name}{' '}
                <button type="button" class="button small" onClick={() => { setFile(undefined); }}>
                  Use conversations instead
                </button>
              </p>
            ) : (
              <>
                <Slider label="Users" value={Number(state.users)} least={1} most={2000} scale={COUNT} onSlide={slide('users')} />
                <Slider label="Turns" value={Number(state.turns)} least={1} most={20} scale={COUNT} onSlide={slide('turns')} />
                <Slider label="System prompt, tokens" value={Number(state.system)} least={1} most={16384} scale={COUNT} onSlide={slide('system')} />
                <Slider label="Each turn adds, tokens" value={Number(state.turn)} least={64} most={8192} scale={COUNT} onSlide={slide('turn')} />
              </>
            )}
            <input ref={chooser} type="file" accept=".jsonl,.json" class="hidden-visually" aria-label="Trace file" onChange={(event) => { const chosen = event.currentTarget.files?.[0]; if (chosen) void chosen.text().then((text) => { setFile({ name: chosen.name, text }); }); }} />
            <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { chooser.current?.click(); }}>
              Open a trace with hash_ids…
            </button>
          </section>
        </div>
        <div class="stack">
          {answer.failed !== undefined && <Card label="Error"><Problem failed={answer.failed} /></Card>}
          {!value && answer.failed === undefined && <Card label="Working"><p class="empty">Counting…</p></Card>}
          {value && (
            <div class={`stack ${answer.busy ? 'stale' : ''}`} aria-busy={answer.busy}>
              <section class="card hero" aria-label="The answer">
                <p class="hero-line" data-testid="answer">
                  {SIZE.show(size)} find {percent(found)} of the prompts; {SIZE.show(value.knee.bytes / GB)} are enough for {percent(value.knee.hit_rate)}
                </p>
                <p class="hero-sub">Unlimited memory would find {percent(value.unlimited_hit_rate)} and take {SIZE.show(value.unlimited_bytes / GB)}.</p>
                <div style={{ marginTop: '12px' }}>
                  <Stats items={[{ name: 'Requests', value: number(value.requests) }, { name: 'Blocks', value: number(value.blocks), note: `${number(value.distinct_blocks)} different` }, { name: 'Per token', value: `${number(value.bytes_per_token / 1024)} KiB`, note: 'keys and values of all layers' }]} />
                </div>
              </section>
              <Curve answer={value} size={size} onSize={(gb) => { change({ size: String(Number(gb.toPrecision(3))) }); }} />
            </div>
          )}
        </div>
      </div>
    </>
  );
}
