// Logarithmic axes with round ticks. The default formatter of the scale omits most labels.
import * as Plot from '@observablehq/plot';
import { middleCut } from '../lib/format';

export const TIME_TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 2 * 86400, 4 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 60 * 86400];

/** The ticks inside the range, at most `count`. */
export function within(ticks: number[], [least, most]: [number, number], count: number): number[] {
  const inside = ticks.filter((tick) => tick >= least && tick <= most);
  const step = Math.ceil(inside.length / count);
  return inside.filter((_, i) => i % step === 0);
}

/** Round amounts of money inside the range, at most `count`: finer ones if the range is narrow. */
export function moneyTicks(range: [number, number], count: number): number[] {
  const powers = Array.from({ length: Math.floor(Math.log10(range[1])) - Math.floor(Math.log10(range[0])) + 1 }, (_, i) => Math.floor(Math.log10(range[0])) + i);
  const halves = Array.from({ length: 18 }, (_, i) => 1 + i / 2);
  const choices = [[1, 2, 5], [1, 2, 3, 5, 7], halves].map((digits) => within(powers.flatMap((power) => digits.map((digit) => Number(`${String(digit)}e${String(power)}`))), range, count));
  return choices.find((ticks) => ticks.length >= 3) ?? choices.at(-1) ?? [];
}

/** A tick with the label of the tick before it has none: a narrow range, such as the first seconds of a recording. */
export function once<V>(format: (value: V) => string): (value: V, i: number) => string {
  let last: string | undefined;
  return (value, i) => {
    const label = format(value);
    const repeated = i > 0 && label === last;
    last = label;
    return repeated ? '' : label;
  };
}

/** Names of at most this many letters that stay different: shortened at one place, or numbered. */
export function cutApart(names: string[], most: number): (name: string) => string {
  const all = [...new Set(names)];
  const cuts = [Math.floor((most - 1) / 2), ...Array.from({ length: most }, (_, end) => end)].map((end) => all.map((name) => middleCut(name, most, end)));
  const labels = cuts.find((cut) => new Set(cut).size === all.length) ?? all.map((name, i) => `${middleCut(name, most - 1 - String(i + 1).length)} ${String(i + 1)}`);
  return (name) => labels[all.indexOf(name)] ?? middleCut(name, most);
}

interface AxisProps {
  ticks: number[];
  format: (value: number) => string;
  label: string;
}

export function axisX({ ticks, format, label }: AxisProps): Plot.Markish {
  return Plot.axisX(ticks, { text: once(format) as (value: unknown) => string, label, labelAnchor: 'right', labelArrow: 'none' });
}

export function axisY({ ticks, format, label }: AxisProps): Plot.Markish[] {
  return [Plot.gridY(ticks, { stroke: 'var(--line)', strokeOpacity: 1 }), Plot.axisY(ticks, { text: once(format) as (value: unknown) => string, label, labelAnchor: 'top', labelArrow: 'none', tickSize: 0 })];
}

/** The approximate width of a letter in a label. */
export const LETTER = 6.4;

/** As many of these names as fit into a label of `most` letters, at least one: "recommended, cheapest +2 more", or "recommended". */
export function firstOf(names: string[], most: number): string {
  const text = (count: number) => names.slice(0, count).join(', ') + (count < names.length ? ` +${String(names.length - count)} more` : '');
  const fits = names.map((_, i) => names.length - i).find((count) => text(count).length <= most);
  return names.length === 0 ? '' : (fits === undefined ? (names[0] ?? '') : text(fits));
}

/** The margin to the right of the longest bar that keeps every label, which follows its bar, inside a chart of this width. */
export function roomForLabels(bars: { value: number; label: string }[], width: number): number {
  const longest = Math.max(...bars.map((bar) => bar.value));
  const lengths = bars.map((bar) => (width - 12 - LETTER * bar.label.length) / (bar.value / longest));
  return width - Math.max(20, Math.min(width - 12, ...lengths));
}

export interface Point {
  x: number;
  y: number;
}
type Label = Point & { text: string };

export interface Placed {
  dx: number;
  dy: number;
  /** No free place was found: it leaves the chart, covers another label or stands at another dot. */
  crowded?: boolean;
  /** It stands away from its dot, or nearer to another one: a line must lead to it. */
  far?: boolean;
  anchor: 'start' | 'middle' | 'end';
}

type Box = [number, number, number, number];

const offsets = (heights: number[]): Placed[] => heights.flatMap((dy) => [{ dx: 11, dy, anchor: 'start' as const }, { dx: -11, dy, anchor: 'end' as const }, ...(dy === 0 ? [] : [{ dx: 0, dy, anchor: 'middle' as const }])]);
const NEAR = offsets([0, -15, 15]);
const ALL = offsets([0, -15, 15, -30, 30, -45, 45]);

/** The width of a letter in a name with wide letters, such as "lambda". */
const WIDE_LETTER = 7.2;

/** Left, top, right and bottom of a placed label. */
export function boxOf(label: Label, at: Placed): Box {
  const wide = WIDE_LETTER * label.text.length;
  const left = label.x + at.dx - (at.anchor === 'start' ? 0 : at.anchor === 'end' ? wide : wide / 2);
  return [left, label.y + at.dy - 7, left + wide, label.y + at.dy + 7];
}

const distance = ([x1, y1, x2, y2]: Box, { x, y }: Point) => Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));

/** Whether a reader would take the label for that of another dot. */
export function standsAtAnother(label: Label, at: Placed, dots: Point[]): boolean {
  const box = boxOf(label, at);
  const own = distance(box, label);
  return dots.some((dot) => Math.hypot(dot.x - label.x, dot.y - label.y) > 1 && distance(box, dot) < own + 1);
}

interface Room {
  width: number;
  height: number;
  /** Labels stay right of it. */
  least?: number;
  /** Points of lines that labels do not cross. */
  lines?: Point[];
  /** The caller leaves out crowded labels, so others may take their place; the others are beside their dots. */
  skip?: boolean;
}

/** Positions of labels next to dots (pixels): labels cover neither each other nor other dots, and stay inside. */
export function placeLabels(labels: Label[], dots: Point[], { width, height, least = 0, lines = [], skip = false }: Room): Placed[] {
  const boxes: Box[] = [];
  return labels.map((label) => {
    const cost = (at: Placed) => {
      const [x1, y1, x2, y2] = boxOf(label, at);
      const outside = (x1 < 0 || x2 > width || y1 < 0 || y2 > height ? 100 : 0) + (x1 < least ? 50 : 0);
      const covered = boxes.filter(([a1, b1, a2, b2]) => x1 < a2 && x2 > a1 && y1 < b2 && y2 > b1).length;
      const hidden = [...dots, ...lines].filter((dot) => dot.x > x1 - 5 && dot.x < x2 + 5 && dot.y > y1 - 3 && dot.y < y2 + 3).length;
      return outside + 30 * covered + 3 * hidden + (standsAtAnother(label, at, dots) ? (skip ? 30 : 4) : 0) + Math.abs(at.dy) / 30;
    };
    const best = (skip ? NEAR : ALL).reduce((a, b) => (cost(b) < cost(a) ? b : a));
    const crowded = cost(best) >= 30;
    if (!crowded || !skip) boxes.push(boxOf(label, best));
    return { ...best, crowded, far: Math.abs(best.dy) > 15 || standsAtAnother(label, best, dots) };
  });
}
