// Sortable tables with rows that can be selected by mouse or keyboard.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Named } from './basics';
import { useWidth } from './width';

/** Rows that one press of "Show more" adds. */
const MORE = 200;

export interface Column<R> {
  title: string;
  cell: (row: R) => ComponentChildren;
  sort?: (row: R) => number | string;
  number?: boolean;
  wide?: boolean;
  /** Truncated if it is long; the full text shows on hover. */
  clip?: (row: R) => string;
  /** The meaning of its numbers; common titles have a default. */
  help?: string;
  /** Hidden on phones, and among the first if the columns do not fit. */
  roomy?: boolean;
  /** Only on wide screens. */
  spacious?: boolean;
  /** Never hidden: it has a button. */
  keep?: boolean;
  /** In one line: dates, names. */
  tight?: boolean;
}

export interface TableProps<R> {
  label: string;
  columns: Column<R>[];
  rows: R[];
  keyOf: (row: R) => string;
  picked?: string | undefined;
  onPick?: (row: R) => void;
  most?: number;
  /** The text of a row for the search field; without it there is none. */
  find?: (row: R) => string;
  /** The searched text, if the page keeps it. */
  wanted?: string;
  onWanted?: (text: string) => void;
}

/** The columns from the first to be hidden; the first two always stay, and those with buttons. */
export function leastImportant(columns: Pick<Column<never>, 'roomy' | 'spacious' | 'keep'>[]): number[] {
  const rank = (column: (typeof columns)[number]) => (column.spacious ? 0 : column.roomy ? 1 : 2);
  return columns.map((column, i) => ({ i, rank: rank(column), keep: column.keep })).filter(({ i, keep }) => i > 1 && !keep).sort((a, b) => a.rank - b.rank || b.i - a.i).map(({ i }) => i);
}

export function Table<R>(props: TableProps<R>) {
  const [order, setOrder] = useState<{ by: number; down: boolean } | null>(null);
  const [more, setMore] = useState(0);
  const [own, setOwn] = useState('');
  const wanted = props.wanted ?? own;
  const setWanted = props.onWanted ?? setOwn;
  const found = useMemo(() => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    return props.find && words.length > 0 ? props.rows.filter((row) => { const text = props.find?.(row).toLowerCase() ?? ''; return words.every((word) => text.includes(word)); }) : props.rows;
  }, [props.rows, wanted]);
  const sorted = useMemo(() => {
    const sort = order && props.columns[order.by]?.sort;
    if (!sort) return found;
    const compare = (a: R, b: R) => {
      const [x, y] = [sort(a), sort(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
    };
    return [...found].sort(compare);
  }, [found, props.columns, order]);
  // Columns are hidden until the others fit; at another width, all are tried again.
  const [box, width] = useWidth();
  const [fit, setFit] = useState({ width: 0, hidden: 0 });
  const hidden = fit.width === width ? fit.hidden : 0;
  const least = leastImportant(props.columns);
  const left = new Set(least.slice(0, hidden));
  const columns = props.columns.map((column, i) => ({ column, i, look: `${column.number ? 'number' : ''} ${column.roomy ? 'roomy-only' : column.spacious ? 'spacious-only' : ''}` })).filter(({ i }) => !left.has(i));
  useLayoutEffect(() => {
    if (box.current && box.current.scrollWidth > box.current.clientWidth + 1 && hidden < least.length) setFit({ width, hidden: hidden + 1 });
  });
  const shown = sorted.slice(0, (props.most ?? MORE) + more);
  const table = (
    <div class="scroll" tabIndex={0} role="group" aria-label={props.label} ref={box}>
      <table>
        <thead>
          <tr>
            {columns.map(({ column, i, look }) => (
              <th key={column.title} scope="col" class={look} aria-sort={order?.by === i ? (order.down ? 'descending' : 'ascending') : undefined}>
                {column.sort ? (
                  <button type="button" onClick={() => { setOrder({ by: i, down: order?.by === i ? !order.down : Boolean(column.number) }); }}>
                    <Named name={column.title} help={column.help} />
                    {order?.by === i ? (order.down ? ' ↓' : ' ↑') : ''}
                  </button>
                ) : (
                  <Named name={column.title} help={column.help} />
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
                {columns.map(({ column, i, look }) => (
                  <td key={column.title} class={`${look} ${column.wide ? 'wide' : ''} ${column.clip ? 'clip' : ''} ${column.tight ? 'one-line' : ''}`} title={column.clip?.(row)}>
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
        <button type="button" class="button small" style={{ margin: '8px 10px' }} onClick={() => { setMore(more + MORE); }}>
          {sorted.length - shown.length > MORE ? `Show ${String(MORE)} more of ${sorted.length.toLocaleString('en-US')}` : `Show all ${String(sorted.length)}`}
        </button>
      )}
    </div>
  );
  if (!props.find) return table;
  return (
    <>
      <div class="table-search">
        <input type="search" aria-label={`Search: ${props.label}`} placeholder="Search" value={wanted} onInput={(event) => { setWanted(event.currentTarget.value); setMore(0); }} />
        <span class="quiet" role="status">{wanted === '' ? '' : `${found.length.toLocaleString('en-US')} of ${props.rows.length.toLocaleString('en-US')}`}</span>
      </div>
      {table}
    </>
  );
}
