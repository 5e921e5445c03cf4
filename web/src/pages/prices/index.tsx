// Prices per GPU-hour by provider, region and terms, with their age and history.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { useAnswer } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { gib, money, number, percent, plural } from '../../lib/format';
import { save } from '../../lib/save';
import { TERM_NAMES, termShown } from '../../lib/words';
import { once } from '../../parts/axes';
import { AskPage, GpuField, Hero, TableCard } from '../../parts/ask_page';
import { Badge, Card, Stats } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { Checks } from '../../parts/fields';
import { useQuestion } from '../../parts/question';
import { History } from './history';
import { bestOfEach, byTerms, cheapestPlaces, COLOURS, doubtOf, factsOf, keyOf, placeShown, TERMS, TIP, trusted, type Offer, type Price, type Row } from './shapes';

/** `gpu`: empty for every GPU. `find`: the searched text. `pick`: prices to compare. `range`: days of the history. `places`: every region and zone. */
const DEFAULTS = { gpu: 'h100-sxm', terms: '', provider: '', community: '', find: '', pick: '', range: '', places: '' };
const EVERY = 'every GPU';
const NONE: Price[] = [];
const SHORT_TERMS: Record<string, string> = { '1y': '1 year', '3y': '3 years' };

function ByProvider(props: { offers: Offer[]; onPick: (provider: string) => void }) {
  const draw = useCallback(
    (): Plot.PlotOptions => {
      const order = [...new Set([...props.offers].sort((a, b) => a.usd_per_gpu_hour - b.usd_per_gpu_hour).map((offer) => offer.provider))];
      return {
        height: Math.max(140, 24 * order.length + 50),
        marginBottom: 38,
        marginLeft: 92,
        marginRight: 20,
        x: { label: '$/GPU-h →', grid: true, zero: true, nice: true, tickFormat: once((v: number) => `$${number(v)}`) },
        y: { label: null, domain: order, tickSize: 0 },
        marks: [
          Plot.ruleY(order, { y: (name: string) => name, stroke: 'var(--line)' }),
          Plot.dot(props.offers, { x: 'usd_per_gpu_hour', y: 'provider', r: 5, fill: (offer: Offer) => COLOURS[offer.purchase] ?? 'var(--c8)', fillOpacity: (offer: Offer) => (offer.age_days > 180 || !offer.trusted ? 0.35 : 0.9), stroke: 'var(--panel)' }),
          Plot.tip(props.offers, Plot.pointer({ x: 'usd_per_gpu_hour', y: 'provider', title: (offer: Offer) => `${offer.provider} ${offer.instance}\n${money(offer.usd_per_gpu_hour)}/GPU-h, ${offer.purchase}\n${offer.region}, ${number(offer.age_days)} days old`, ...TIP })),
        ],
      };
    },
    [props.offers],
  );
  return <Chart title="By provider" note="The lowest price of each provider and terms. Pale dots are older than 180 days or unconfirmed." name="prices-by-provider" rows={props.offers.map((offer) => ({ ...offer }))} draw={draw} legend={TERMS.map((term) => [termShown(term), COLOURS[term] ?? 'gray'])} onPick={(value) => { props.onPick((value as Offer).provider); }} />;
}

/** Prices side by side; the best of each line is bold. */
function Comparison(props: { prices: Price[]; onRemove: (price: Price) => void }) {
  return (
    <Card title="Comparison" note="Up to four; click rows of the table below to add them." bare>
      <div class="scroll" tabIndex={0} role="group" aria-label="Comparison">
        <table class="beside">
          <thead>
            <tr>
              <td />
              {props.prices.map((price) => (
                <th scope="col" key={keyOf(price)}>
                  {price.provider} {price.instance} <button type="button" class="ghost" aria-label={`Remove ${price.instance} at ${price.provider}`} onClick={() => { props.onRemove(price); }}>✕</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {factsOf(props.prices).map((line) => (
              <tr key={line.name}>
                <th scope="row">{line.name}</th>
                {line.cells.map((cell, i) => <td key={i}>{line.best === i ? <strong>{cell}</strong> : cell}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function age(days: number) {
  return <Badge tone={days > 180 ? 'bad' : days > 60 ? 'warn' : 'good'}>{number(days)} d</Badge>;
}

function headline(gpu: string, all: Price[], first: Price | undefined): string {
  if (gpu !== '') return first ? `${gpu}: ${money(first.usd_per_gpu_hour)}/GPU-h at ${first.provider}, on-demand${first.age_days > 60 ? `, ${number(first.age_days)} days old` : ''}` : `No on-demand price of ${gpu}`;
  const distinct = (of: (price: Price) => string) => number(new Set(all.map(of)).size);
  return `${number(all.length)} prices of ${distinct((price) => price.gpu)} GPUs at ${distinct((price) => price.provider)} providers`;
}

const csvOf = (prices: Price[]) => toCsv(prices.map((price) => ({ provider: price.provider, instance: price.instance, gpu: price.gpu, gpus: price.gpus, region: price.region, purchase: price.purchase, usd_per_hour: price.usd_per_hour, usd_per_gpu_hour: price.usd_per_gpu_hour, date: price.date, source: price.source })));

export function PricesPage() {
  const question = useQuestion('prices', DEFAULTS, (fields) => ({ ...(fields.gpu === '' ? {} : { gpu: fields.gpu }), ...(fields.community === '' ? {} : { community: true }) }) as AskFor<'prices'>, { view: ['terms', 'provider', 'pick', 'find', 'range', 'places'] });
  const { state, change, choose } = question;
  const all = (question.answer.value as Schemas['Prices'] | undefined)?.prices ?? NONE;
  const terms: readonly string[] = state.terms === '' ? TERMS : state.terms.split(',');
  const shown = useMemo(() => all.filter((price) => terms.includes(price.purchase) && (state.provider === '' || price.provider === state.provider)), [all, state.terms, state.provider]);
  // A search looks through all places.
  const rows = useMemo<Row[]>(() => byTerms(state.places === '' && state.find === '' ? cheapestPlaces(shown) : shown.map((price) => ({ ...price, places: 1 }))), [shown, state.places, state.find]);
  const best = useMemo(() => bestOfEach(all.filter((price) => terms.includes(price.purchase))), [all, state.terms]);
  // The program lists the cheapest first, and untrusted prices last.
  const onDemand = all.filter((price) => price.purchase === 'on-demand');
  const spot = all.find((price) => price.purchase === 'spot');
  const first = onDemand[0];
  const last = onDemand.filter(trusted).pop();
  const picked = state.pick.split(';').flatMap((key) => all.find((price) => keyOf(price) === key) ?? []).slice(0, 4);
  const toggle = (price: Price) => { const keys = picked.map(keyOf); change({ pick: (keys.includes(keyOf(price)) ? keys.filter((key) => key !== keyOf(price)) : [...keys, keyOf(price)].slice(-4)).join(';') }); };
  const ages = all.map((price) => price.age_days).sort((a, b) => a - b);
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  // Other names are those of machines, regions or providers: all prices are searched for them.
  const pickGpu = (name: string) => {
    const known = name === EVERY || (gpus.value?.gpus ?? []).some((gpu) => gpu.name === name || (gpu.aliases ?? []).includes(name.toLowerCase()));
    change({ gpu: name === EVERY || !known ? '' : name, find: known ? '' : name, provider: '', pick: '' }, true);
  };
  return (
    <AskPage title="Prices" what="Prices per GPU-hour by provider, region and terms, with their age" question={{ ...question, example: false }} files={[['Prices (CSV)', () => { save('rightsize-prices.csv', csvOf(shown), 'text/csv'); }]]}
      fields={
        <>
          <GpuField label="GPU or machine" free="search all prices" first={{ value: EVERY, note: 'search all prices', words: `${EVERY} all` }} value={state.gpu === '' ? EVERY : state.gpu} onChange={pickGpu} />
          <Checks label="Terms (all unless chosen)" value={state.terms} choices={TERMS} names={TERM_NAMES} onChange={choose('terms')} />
          <Checks label="Also list" value={[state.community, state.places].filter(Boolean).join(',')} choices={['places', 'community']} names={{ places: 'every region', community: 'community hosts' }} onChange={(also) => { change({ places: also.includes('places') ? 'places' : '', community: also.includes('community') ? 'community' : '' }, true); }} />
          {state.provider !== '' && (
            <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ provider: '' }, true); }}>
              Show every provider
            </button>
          )}
        </>
      }
    >
      {() => (
        <>
          <Hero line={headline(state.gpu, all, first)} sub={state.gpu === '' ? 'Search the table below for a machine, region or provider, like p5.48xlarge or europe-west4.' : `${plural(all.length, 'price')}.${first && last && last !== first ? last.usd_per_gpu_hour < 1.05 * first.usd_per_gpu_hour ? ' All cost about the same.' : ` The most expensive costs ${number(last.usd_per_gpu_hour / first.usd_per_gpu_hour, 2)} times as much.` : ''}`}>
            {state.gpu !== '' && (
              <Stats
                items={[
                  { name: 'On-demand from', value: first ? money(first.usd_per_gpu_hour) : '–', note: first?.provider },
                  { name: 'Spot from', value: spot ? money(spot.usd_per_gpu_hour) : '–', note: spot && first ? `${spot.provider}, −${percent(1 - spot.usd_per_gpu_hour / first.usd_per_gpu_hour)}` : undefined },
                  { name: 'Providers', value: number(new Set(all.map((price) => price.provider)).size) },
                  { name: 'Median age', value: `${number(ages[Math.floor(ages.length / 2)] ?? 0)} d`, note: 'of the prices' },
                ]}
              />
            )}
          </Hero>
          {picked.length > 0 && <Comparison prices={picked} onRemove={toggle} />}
          {state.gpu !== '' && <ByProvider offers={best} onPick={(provider) => { change({ provider: state.provider === provider ? '' : provider }, true); }} />}
          <TableCard
            title={state.provider === '' ? 'Prices' : `Prices of ${state.provider}`}
            note={`${rows.length < shown.length ? 'The cheapest region of each machine. ' : ''}Click a column to sort, a row to compare it with others.`}
            rows={rows}
            most={25}
            keyOf={keyOf}
            find={(price) => `${price.provider} ${price.instance} ${price.gpu} ${placeShown(price)} ${price.purchase} ${termShown(price.purchase)} ${price.source}`}
            wanted={state.find}
            onWanted={(find) => { change({ find }); }}
            onPick={toggle}
            columns={[
              { title: '$/GPU-h', number: true, cell: (price) => money(price.usd_per_gpu_hour), sort: (price) => price.usd_per_gpu_hour },
              { title: 'Provider', cell: (price) => <>{price.provider}{!trusted(price) && <small class="held-back">{doubtOf(price)}</small>}</>, sort: (price) => price.provider },
              { title: 'Machine', clip: (price) => price.instance, cell: (price) => <>{price.instance}<small>{number(price.gpus)} × {price.gpu}</small></>, sort: (price) => price.instance },
              { title: 'Region', roomy: true, cell: (price) => <>{price.region}{price.places > 1 ? <small>and {plural(price.places - 1, 'other place')}</small> : price.zone && <small>{price.zone}</small>}</>, sort: placeShown },
              { title: 'Terms', cell: (price) => <Badge tone={price.purchase === 'on-demand' ? 'plain' : 'accent'}>{SHORT_TERMS[price.purchase] ?? price.purchase}</Badge>, sort: (price) => price.purchase },
              { title: '$/h', number: true, roomy: true, cell: (price) => money(price.usd_per_hour), sort: (price) => price.usd_per_hour },
              { title: 'vCPU', number: true, spacious: true, cell: (price) => (price.vcpus ? number(price.vcpus) : '–'), sort: (price) => price.vcpus ?? 0 },
              { title: 'RAM', number: true, spacious: true, cell: (price) => gib(price.memory_bytes), sort: (price) => price.memory_bytes ?? 0 },
              { title: 'Age', number: true, roomy: true, cell: (price) => age(price.age_days), sort: (price) => price.age_days },
              { title: 'Source', spacious: true, cell: (price) => <span class="quiet one-line">{price.source}</span> },
            ]}
          />
          {state.gpu !== '' && <History gpu={state.gpu} prices={all} terms={terms} range={state.range} onRange={choose('range')} />}
        </>
      )}
    </AskPage>
  );
}
