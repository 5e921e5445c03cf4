// A chart with its tools: hover, the data as a table, and files to save.
import * as Plot from '@observablehq/plot';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toCsv, type Row } from '../lib/csv';
import { number, sentence } from '../lib/format';
import { save, savePng, saveSvg } from '../lib/save';
import { useTheme } from './theme';
import { useWidth } from './width';

export interface ChartProps {
  title: string;
  note?: string;
  /** How to use it on the page; not part of saved pictures. */
  hint?: string;
  /** Without a frame, inside another card. */
  inner?: boolean;
  name: string;
  rows: Row[];
  draw: (width: number) => Plot.PlotOptions;
  /** Called with the mark nearest to the pointer when the chart is clicked. */
  onPick?: (value: unknown) => void;
  legend?: [string, string][];
  /** What the arrow keys select in the chart: the marks in order, and the selected one. */
  keys?: { label: string; texts: string[]; at: number; onStep: (at: number) => void };
  after?: (plot: SVGSVGElement & Plot.Plot) => void;
  children?: ComponentChildren;
}

function DataTable(props: { rows: Row[]; title: string }) {
  const names = Object.keys(props.rows[0] ?? {});
  return (
    <div class="data-table" tabIndex={0} role="region" aria-label={`Data of ${props.title}`}>
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name.replace(/_/g, ' ')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.slice(0, 500).map((row, i) => (
            <tr key={i}>
              {names.map((name) => {
                const value = row[name];
                return (
                  <td key={name} class={typeof value === 'number' ? 'number' : ''}>
                    {typeof value === 'number' ? number(value, 4) : String(value ?? '–')}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How far labels leave the picture, in pixels. */
function overhang(plot: SVGSVGElement | HTMLElement) {
  const edge = plot.getBoundingClientRect();
  const labels = [...plot.querySelectorAll('text')].map((label) => label.getBoundingClientRect());
  return { left: Math.ceil(Math.max(0, ...labels.map((label) => edge.left - label.left))), right: Math.ceil(Math.max(0, ...labels.map((label) => label.right - edge.right))) };
}

/** Removes labels of the x axis that would touch the label before. */
function thinOut(plot: SVGSVGElement | HTMLElement) {
  for (const axis of plot.querySelectorAll('g[aria-label="x-axis tick label"]')) {
    let end = -Infinity;
    for (const { label, box } of [...axis.querySelectorAll('text')].map((each) => ({ label: each, box: each.getBoundingClientRect() }))) {
      if (box.left < end + 4) label.remove();
      else end = box.right;
    }
  }
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** A chart as a slider through its marks: one stop of the Tab key, as its dots are parts of one picture. */
function stepping(keys: ChartProps['keys']): JSX.HTMLAttributes<HTMLDivElement> {
  if (!keys || keys.texts.length === 0) return {};
  const at = Math.max(0, keys.at);
  return {
    role: 'slider',
    tabIndex: 0,
    'aria-label': keys.label,
    'aria-valuemin': 1,
    'aria-valuemax': keys.texts.length,
    'aria-valuenow': at + 1,
    'aria-valuetext': keys.texts[at] ?? '',
    onKeyDown: (event) => {
      const next = event.key === 'Home' ? 0 : event.key === 'End' ? keys.texts.length - 1 : at + (STEPS[event.key] ?? NaN);
      if (!Number.isInteger(next)) return;
      event.preventDefault();
      if (next >= 0 && next < keys.texts.length) keys.onStep(next);
    },
  };
}

export function Chart(props: ChartProps) {
  const [box, width] = useWidth();
  const [table, setTable] = useState(false);
  const theme = useTheme();
  const latest = useRef(props);
  latest.current = props;
  const svg = () => box.current?.querySelector('svg') ?? null;
  const background = () => getComputedStyle(document.documentElement).getPropertyValue('--panel').trim();

  useEffect(() => {
    if (!box.current || width < 60) return;
    const { onPick, after } = latest.current;
    let options: Plot.PlotOptions = { width, style: { background: 'transparent', color: 'var(--ink-2)', fontSize: '11.5px' }, ariaLabel: latest.current.title, ...latest.current.draw(width) };
    let plot = Plot.plot(options) as SVGSVGElement & Plot.Plot;
    box.current.replaceChildren(plot);
    // Labels depend on the data: margins grow until every label is inside. Bars get shorter with them, so twice is enough.
    for (let round = 0; round < 2; ++round) {
      const { left, right } = overhang(plot);
      if (left <= 0 && right <= 0) break;
      const { margin, marginLeft = margin ?? 40, marginRight = margin ?? 20 } = options;
      options = { ...options, marginLeft: marginLeft + left, marginRight: marginRight + right };
      plot = Plot.plot(options) as SVGSVGElement & Plot.Plot;
      box.current.replaceChildren(plot);
    }
    thinOut(plot);
    const picture = plot.tagName === 'svg' ? plot : plot.querySelector('svg');
    picture?.setAttribute('role', 'img');
    // A chart is one object to a screen reader; its parts have no names.
    for (const part of picture?.querySelectorAll('g[aria-label]') ?? []) part.removeAttribute('aria-label');
    if (onPick) {
      plot.style.cursor = 'pointer';
      plot.addEventListener('click', () => {
        if (plot.value !== null && plot.value !== undefined) onPick(plot.value);
      });
    }
    after?.(plot);
  }, [width, theme, props.rows, props.draw]);

  return (
    <section class={props.inner ? 'inner' : 'card'} aria-label={props.title}>
      <div class="card-head">
        <div>
          <h2>{props.title}</h2>
          {(props.note ?? props.hint) && <p>{props.note && props.hint ? sentence(props.note) : props.note} {props.hint && <span class="screen-only">{props.hint}</span>}</p>}
        </div>
        <div class="chart-tools">
          <button type="button" class="ghost" aria-pressed={table} title="The numbers as a table" onClick={() => { setTable(!table); }}>
            Data
          </button>
          <button type="button" class="ghost" title="Save as CSV" onClick={() => { save(`${props.name}.csv`, toCsv(props.rows), 'text/csv'); }}>
            CSV
          </button>
          <button type="button" class="ghost" title="Save as SVG" onClick={() => { const picture = svg(); if (picture) saveSvg(props.name, picture, background(), props); }}>
            SVG
          </button>
          <button type="button" class="ghost" title="Save as PNG" onClick={() => { const picture = svg(); if (picture) void savePng(props.name, picture, background(), props); }}>
            PNG
          </button>
        </div>
      </div>
      <div class="card-body">
        {props.legend && (
          <div class="legend">
            {props.legend.map(([name, colour]) => (
              <span key={name}>
                <i style={{ background: colour }} />
                {name}
              </span>
            ))}
          </div>
        )}
        <div class="chart" ref={box} {...stepping(props.keys)} />
        {props.children}
        {table && <DataTable rows={props.rows} title={props.title} />}
      </div>
    </section>
  );
}
