import type * as Plot from '@observablehq/plot';

/** Makes the line at `value` on an axis of a chart draggable. The chart is redrawn meanwhile, so the window listens. */
export function dragLine(plot: SVGSVGElement & Plot.Plot, axis: 'x' | 'y', value: number, name: string, onDrag: (value: number) => void): void {
  const scale = plot.scale(axis);
  if (!scale?.invert) return;
  const invert = scale.invert.bind(scale) as (pixel: number) => number;
  const at = String((scale.apply(value) as number) - 8);
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const box = axis === 'x' ? { x: at, width: '16', y: '20', height: String(Math.max(10, plot.clientHeight - 50)) } : { x: '40', width: String(Math.max(10, plot.clientWidth - 50)), y: at, height: '16' };
  for (const [attribute, text] of Object.entries({ ...box, fill: 'transparent', 'data-testid': name })) line.setAttribute(attribute, text);
  line.style.cursor = axis === 'x' ? 'ew-resize' : 'ns-resize';
  line.style.touchAction = 'none';
  line.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    const { left, top } = plot.getBoundingClientRect();
    const move = (moved: PointerEvent) => {
      const next = invert(axis === 'x' ? moved.clientX - left : moved.clientY - top);
      if (next > 0 && Number.isFinite(next)) onDrag(next);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', () => { removeEventListener('pointermove', move); }, { once: true });
  });
  plot.append(line);
}
