// Sortable tables whose rows can be selected by mouse or keyboard.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Named } from './basics';

export interface Column<R> {
  title: string;
  cell: (row: R) => ComponentChildren;
  sort?: (row: R) => number | string;
  number?: boolean;
  wide?: boolean;
  /** Truncated if it is long; the full text shows on hover. */
  clip?: (row: R) => string;
  /** Hidden on phones. */
  roomy?: boolean;
  /** Only on wide screens. */
  spacious?: boolean;
}

export function Table<R>(props: { label: string; columns: Column<R>[]; rows: R[]; keyOf: (row: R) => string; picked?: string | undefined; onPick?: (row: R) => void; most?: number }) {
  const [order, setOrder] = useState<{ by: number; down: boolean } | null>(null);
  const [all, setAll] = useState(false);
  const sorted = useMemo(() => {
    const sort = order && props.columns[order.by]?.sort;
    if (!sort) return props.rows;
    const compare = (a: R, b: R) => {
      const [x, y] = [sort(a), sort(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
    };
    return [...props.rows].sort(compare);
  }, [props.rows, props.columns, order]);
  const most = props.most ?? 200;
  const shown = all ? sorted : sorted.slice(0, most);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {props.columns.map((column, i) => (
              <th key={column.title} scope="col" class={`${column.number ? 'number' : ''} ${column.roomy ? 'roomy-only' : column.spacious ? 'spacious-only' : ''}`} aria-sort={order?.by === i ? (order.down ? 'descending' : 'ascending') : undefined}>
                {column.sort ? (
                  <button type="button" onClick={() => { setOrder({ by: i, down: order?.by === i ? !order.down : Boolean(column.number) }); }}>
                    <Named name={column.title} />
                    {order?.by === i ? (order.down ? ' ↓' : ' ↑') : ''}
                  </button>
                ) : (
                  <Named name={column.title} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = props.keyOf(row);
            const pick = props.onPick ? () => props.onPick?.(row) : undefined;
            return (
              <tr key={key} class={pick ? 'pick' : ''} aria-selected={props.picked === undefined ? undefined : props.picked === key} onClick={pick}>
                {props.columns.map((column, i) => (
                  <td key={column.title} class={`${column.number ? 'number' : ''} ${column.wide ? 'wide' : ''} ${column.clip ? 'clip' : ''} ${column.roomy ? 'roomy-only' : column.spacious ? 'spacious-only' : ''}`} title={column.clip?.(row)}>
                    {i === 0 && pick ? (
                      <button type="button" class="row-link" onClick={(event) => { event.stopPropagation(); pick(); }}>
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {sorted.length > shown.length && (
        <button type="button" class="button small" style={{ margin: '8px 10px' }} onClick={() => { setAll(true); }}>
          Show all {sorted.length}
        </button>
      )}
    </div>
  );
}
