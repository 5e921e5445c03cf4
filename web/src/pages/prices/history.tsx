// Prices over time, with the changes marked and listed.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { useAnswer } from '../../lib/answer';
import { money, plural, signedPercent } from '../../lib/format';
import { termShown } from '../../lib/words';
import { TableCard } from '../../parts/ask_page';
import { Badge, Busy, Card, Segmented } from '../../parts/basics';
import { placeLabels } from '../../parts/axes';
import { Chart } from '../../parts/chart';
import { changeOf, COLOURS, eventsOf, lowestByDay, seriesOf, TIP, type Day, type Price, type PriceEvent } from './shapes';

export const RANGES = [['30', '30 days'], ['90', '90 days'], ['365', 'a year'], ['', 'all']] as const;
const DAY = 86_400_000;

export function History(props: { gpu: string; prices: Price[]; terms: readonly string[]; range: string; onRange: (range: string) => void }) {
  const answer = useAnswer('prices', useMemo(() => ({ what: 'history', gpu: props.gpu }) as AskFor<'prices'>, [props.gpu]));
  const key = props.terms.join(',');
  const series = useMemo(() => seriesOf(answer.value as Schemas['PricesHistory'] | undefined, props.prices).filter((each) => props.terms.includes(each.purchase)), [answer.value, props.prices, key]);
  const all = useMemo(() => lowestByDay(series), [series]);
  const last = all.reduce((latest, day) => (day.day > latest ? day.day : latest), '');
  const since = props.range === '' || last === '' ? '' : new Date(new Date(last).getTime() - Number(props.range) * DAY).toISOString().slice(0, 10);
  const rows = useMemo(() => all.filter((day) => day.day >= since), [all, since]);
  const events = useMemo(() => eventsOf(series).filter((event) => event.day >= since), [series, since]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const name = (day: Day) => `${day.provider} ${day.purchase}`;
      const ends = [...new Map(rows.map((day) => [name(day), day])).values()];
      const colour = (each: { purchase: string }) => COLOURS[each.purchase] ?? 'var(--c8)';
      const pale = (day: Day) => (day.trusted ? 1 : 0.35);
      const [height, left, end, top, bottom] = [300, 46, width < 560 ? 20 : 96, 20, 30];
      const [days, most] = [[...rows, ...events].map((each) => Date.parse(each.day)), Math.max(...rows.map((day) => day.usd), ...events.map((event) => event.after))];
      const [first, span] = [Math.min(...days), Math.max(...days) - Math.min(...days) || 1];
      const pixel = (day: Day) => ({ x: left + ((width - left - end) * (Date.parse(day.day) - first)) / span, y: top + (height - top - bottom) * (1 - day.usd / most), text: day.provider });
      // Only the labels that have room beside their dots; the pointer names the others.
      const places = placeLabels(ends.map(pixel), ends.map(pixel), { width, height: height - bottom, least: left, skip: true });
      return {
        height,
        marginLeft: left,
        marginRight: end,
        marginTop: top,
        marginBottom: bottom,
        x: { type: 'utc', label: null, domain: [new Date(first), new Date(first + span)] },
        y: { label: '↑ $/GPU-h', grid: true, domain: [0, most] },
        marks: [
          Plot.line(rows, { x: (day: Day) => new Date(day.day), y: 'usd', z: name, stroke: colour, strokeOpacity: pale, strokeWidth: 1.6, curve: 'step-after' }),
          Plot.dot(ends, { x: (day: Day) => new Date(day.day), y: 'usd', r: 2.5, fill: colour, fillOpacity: pale }),
          ...places.map((place, i) => Plot.text(place.crowded ? [] : ends.slice(i, i + 1), { x: (day: Day) => new Date(day.day), y: 'usd', text: 'provider', textAnchor: place.anchor, dx: place.dx, dy: place.dy, fill: colour, stroke: 'var(--panel)', strokeWidth: 3 })),
          Plot.text(events, { x: (event: PriceEvent) => new Date(event.day), y: 'after', text: (event: PriceEvent) => (event.after < event.before ? '▼' : '▲'), fontSize: 11, fill: (event: PriceEvent) => (event.after < event.before ? 'var(--good)' : 'var(--bad)'), stroke: 'var(--panel)', strokeWidth: 2 }),
          Plot.tip([...rows.map((day) => ({ day: day.day, usd: day.usd, text: `${day.provider}, ${termShown(day.purchase)}\n${day.day}: from ${money(day.usd)}/GPU-h${day.trusted ? '' : ', in doubt'}` })), ...events.map((event) => ({ day: event.day, usd: event.after, text: `${event.provider} ${event.instance}, ${termShown(event.purchase)}\n${event.day}: ${money(event.before)} to ${money(event.after)} (${signedPercent(changeOf(event))})` }))], Plot.pointer({ x: (each: { day: string }) => new Date(each.day), y: 'usd', title: 'text', ...TIP })),
        ],
      };
    },
    [rows, events],
  );
  if (rows.length === 0) {
    return (
      <Card title="History">
        {answer.busy ? <Busy /> : <p class="quiet">No price history of this GPU yet. <code>rightsize prices update</code> fetches today’s public prices, and each day it runs adds a point here.</p>}
      </Card>
    );
  }
  return (
    <>
      <Chart title="History" name="price-history" note="The lowest price of each provider and terms, from the catalogue and your price store; pale if only prices in doubt are known. ▼ marks cuts, ▲ increases." rows={rows.map((row) => ({ ...row }))} draw={draw} legend={[...new Set(rows.map((row) => row.purchase))].map((term) => [termShown(term), COLOURS[term] ?? 'var(--c8)'])}>
        <div style={{ maxWidth: '330px', marginTop: '8px' }}>
          <Segmented label="Time range" value={props.range} choices={RANGES} onChange={props.onRange} />
        </div>
      </Chart>
      {events.length > 0 && (
        <TableCard
          title="Price changes"
          note={`${plural(events.length, 'change')} of 1 % or more; of spot prices, 15 % or more`}
          rows={events}
          most={8}
          keyOf={(event) => `${event.day} ${event.provider} ${event.instance} ${event.purchase}`}
          columns={[
            { title: 'Day', cell: (event) => event.day, sort: (event) => event.day },
            { title: 'Change', number: true, help: 'Of the place where the price changed most', cell: (event) => <Badge tone={event.after < event.before ? 'good' : 'bad'}>{signedPercent(changeOf(event))}</Badge>, sort: changeOf },
            { title: '$/GPU-h', number: true, cell: (event) => money(event.after), sort: (event) => event.after },
            { title: 'Before', number: true, roomy: true, help: 'The price per GPU-hour before the change', cell: (event) => money(event.before), sort: (event) => event.before },
            { title: 'Machine', cell: (event) => `${event.provider} ${event.instance}`, sort: (event) => `${event.provider} ${event.instance}` },
            { title: 'Terms', roomy: true, cell: (event) => termShown(event.purchase), sort: (event) => event.purchase },
            { title: 'Where', roomy: true, cell: (event) => (event.places.length === 1 ? event.places[0] : plural(event.places.length, 'place')) },
          ]}
        />
      )}
    </>
  );
}
