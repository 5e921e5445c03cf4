import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import { money, shortMoney } from '../../lib/format';
import { once } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import type { Row } from './shapes';

export function SavingsByDecision(props: { rows: Row[] }) {
  const rows = useMemo(() => props.rows.flatMap((row) => (row.measured_usd === null ? [] : [{ name: `${row.id} ${row.workload}`, usd: row.measured_usd }])).sort((a, b) => b.usd - a.usd), [props.rows]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: Math.max(90, 32 * rows.length + 44),
      marginLeft: 120,
      marginRight: 90,
      x: { label: null, grid: true, ticks: width < 560 ? 2 : 5, tickFormat: once(shortMoney) },
      y: { label: null, domain: rows.map((row) => row.name), tickSize: 0 },
      marks: [
        Plot.barX(rows, { y: 'name', x: 'usd', fill: (row: (typeof rows)[number]) => (row.usd < 0 ? 'var(--bad)' : 'var(--good)'), fillOpacity: 0.75, insetTop: 6, insetBottom: 6, rx: 2 }),
        Plot.ruleX([0], { stroke: 'var(--line-strong)' }),
        Plot.text(rows, { y: 'name', x: (row: (typeof rows)[number]) => Math.max(0, row.usd), dx: 6, textAnchor: 'start', text: (row: (typeof rows)[number]) => money(row.usd), fill: 'var(--ink-2)' }),
      ],
    }),
    [rows],
  );
  return <Chart title="Saved so far" note="Measured since each decision" name="savings" rows={rows} draw={draw} />;
}
