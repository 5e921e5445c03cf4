// The share of prompt tokens that a KV cache finds, by its size. The line can be dragged.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { number, percent } from '../../lib/format';
import { useQuestion } from '../../parts/question';
import { axisX, moneyTicks } from '../../parts/axes';
import { AskPage, Hero, ModelField } from '../../parts/ask_page';
import { Stats } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { dragLine } from '../../parts/drag';
import { SIZE } from '../../lib/number_field';
import { CACHE } from '../numbers';
import { conversations, DEFAULTS, hitRate, pointsOf } from './question';

const GB = 1e9;
const STEPS = 160; // of the curve

function Curve(props: { answer: Schemas['Cache']; size: number; onSize: (gb: number) => void }) {
  const { answer, size } = props;
  const knee = (answer.knee.bytes ?? 0) / GB;
  const least = Math.min(size / 2, knee / 50);
  const most = Math.max(size * 1.2, ((answer.unlimited_bytes ?? 0) / GB) * 1.5, knee * 2);
  const rows = useMemo(() => { const points = pointsOf(answer); return Array.from({ length: STEPS + 1 }, (_, i) => least * (most / least) ** (i / STEPS)).map((gigabytes) => ({ gigabytes, hit_rate: hitRate(points, gigabytes * GB) })); }, [answer, least, most]);
  const draw = useCallback((width: number): Plot.PlotOptions => {
    return {
      height: 340, marginTop: 30, marginBottom: 38, marginLeft: 48, marginRight: 50,
      x: { type: 'log', domain: [least, most] },
      y: { domain: [0, 100], percent: true, grid: true, ticks: 5, label: '↑ prompt found, %' },
      marks: [
        axisX({ ticks: moneyTicks([least, most], width < 560 ? 4 : 7), format: SIZE.show, label: 'cache, log scale →' }),
        Plot.ruleY([answer.unlimited_hit_rate], { stroke: 'var(--line-strong)', strokeDasharray: '2 3' }),
        Plot.areaY(rows, { x: 'gigabytes', y: 'hit_rate', fill: 'var(--c1)', fillOpacity: 0.15 }),
        Plot.lineY(rows, { x: 'gigabytes', y: 'hit_rate', stroke: 'var(--c1)', strokeWidth: 2 }),
        Plot.dot([{ knee, hit: answer.knee.hit_rate }], { x: 'knee', y: 'hit', r: 6, fill: 'var(--good)', stroke: 'var(--panel)' }),
        Plot.text([{ knee, hit: answer.knee.hit_rate }], { x: 'knee', y: 'hit', dx: 10, dy: 14, textAnchor: 'start', text: () => `knee: ${SIZE.show(knee)}`, fill: 'var(--good)', stroke: 'var(--panel)', strokeWidth: 4 }),
        Plot.ruleX([size], { stroke: 'var(--bad)', strokeDasharray: '5 3', strokeWidth: 1.6 }),
        Plot.text([size], { x: (v: number) => v, frameAnchor: 'top', dx: -6, dy: 10, textAnchor: 'end', text: () => `⇔ ${SIZE.show(size)} (drag to change)`, fill: 'var(--bad)', stroke: 'var(--panel)', strokeWidth: 4 }),
      ],
    };
  }, [rows, size, knee]);
  return <Chart title="Hit rate by cache size" note="The share of the prompt's blocks that is found, for every size at once" name="cache-curve" rows={rows} draw={draw} after={(plot) => { dragLine(plot, 'x', size, 'size-line', props.onSize); }} />;
}

export function CachePage() {
  const [file, setFile] = useState<{ name: string; text: string }>();
  const chooser = useRef<HTMLInputElement>(null);
  const question = useQuestion('cache', DEFAULTS, (fields) => ({ model: fields.model, trace: file?.text ?? conversations(fields) }) as unknown as AskFor<'cache'>, { numbers: () => (file ? { size: CACHE.size } : CACHE), view: ['size'], also: file, own: file !== undefined });
  const { state, used, change, choose, slider } = question;
  const size = Number(used.size);
  return (
    <AskPage title="KV cache" what="How much of your prompts a cache finds, and how large it should be" question={question} waiting="Counting…"
      fields={
        <>
          <ModelField value={state.model} onChange={choose('model')} />
          {slider('size')}
        </>
      }
      moreFields={['The traffic', (
        <>
          {file ? (
            <p>
              {file.name}{' '}
              <button type="button" class="button small" onClick={() => { setFile(undefined); }}>
                Use conversations instead
              </button>
            </p>
          ) : (
            <>
              {slider('users')}
              {slider('turns')}
              {slider('system')}
              {slider('turn')}
            </>
          )}
          <input ref={chooser} type="file" accept=".jsonl,.json" class="hidden-visually" aria-label="Trace file" onChange={(event) => { const chosen = event.currentTarget.files?.[0]; if (chosen) void chosen.text().then((text) => { setFile({ name: chosen.name, text }); }); }} />
          <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { chooser.current?.click(); }}>
            Open a trace with hash_ids…
          </button>
        </>
      )]}
    >
      {(value: Schemas['Cache']) => (
        <>
          <Hero
            line={`A cache of ${SIZE.show(size)} finds ${percent(hitRate(pointsOf(value), size * GB))} of the prompts; ${SIZE.show((value.knee.bytes ?? 0) / GB)} are enough for ${percent(value.knee.hit_rate)}`}
            sub={`Unlimited memory would find ${percent(value.unlimited_hit_rate)} and take ${SIZE.show((value.unlimited_bytes ?? 0) / GB)}.`}
          >
            <Stats items={[{ name: 'Requests', value: number(value.requests) }, { name: 'Blocks', value: number(value.blocks), note: `${number(value.distinct_blocks)} different` }, { name: 'Per token', value: `${number((value.bytes_per_token ?? 0) / 1024)} KiB`, note: 'keys and values of all layers' }]} />
          </Hero>
          <Curve answer={value} size={size} onSize={(gb) => { change({ size: String(Number(gb.toPrecision(3))) }); }} />
        </>
      )}
    </AskPage>
  );
}
