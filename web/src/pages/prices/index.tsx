// Prices per GPU-hour by provider, region and terms, with their age and history.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import { askForFile, type AskFor, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { gib, money, number, percent } from '../../lib/format';
import { save } from '../../lib/save';
import { TERM_NAMES, termShown } from '../../lib/words';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem, Stats } from '../../parts/basics';
import { Chart } from '../../parts/chart';
import { Checks, Combobox, type Choice } from '../../parts/fields';
import { Table } from '../../parts/table';
import { bestOfEach, factsOf, historyOf, keyOf, placeShown, TERMS, trusted, type Offer, type Price } from './shapes';

/** `gpu`: empty for every GPU. `pick`: prices to compare. */
const DEFAULTS = { gpu: 'h100-sxm', terms: '', provider: '', community: '', pick: '' };
const EVERY = 'every GPU';
const COLOURS: Record<string, string> = { 'on-demand': 'var(--c1)', spot: 'var(--c2)', '1y': 'var(--c3)', '3y': 'var(--c4)' };
const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)' };

function ByProvider(props: { offers: Offer[]; onPick: (provider: string) => void }) {
  const draw = useCallback(
    (): Plot.PlotOptions => {
      const order = [...new Set([...props.offers].sort((a, b) => a.usd_per_gpu_hour - b.usd_per_gpu_hour).map((offer) => offer.provider))];
      return {
        height: Math.max(140, 24 * order.length + 50),
        marginBottom: 38,
        marginLeft: 92,
        marginRight: 20,
        x: { label: '$/GPU-h →', grid: true, zero: true, nice: true, tickFormat: (v: number) => `$${number(v)}` },
        y: { label: null, domain: order, tickSize: 0 },
        marks: [
          Plot.ruleY(order, { y: (name: string) => name, stroke: 'var(--line)' }),
          Plot.dot(props.offers, { x: 'usd_per_gpu_hour', y: 'provider', r: 5, fill: (offer: Offer) => COLOURS[offer.purchase] ?? 'var(--c8)', fillOpacity: (offer: Offer) => (offer.age_days > 180 ? 0.35 : 0.9), stroke: 'var(--panel)' }),
          Plot.tip(props.offers, Plot.pointer({ x: 'usd_per_gpu_hour', y: 'provider', title: (offer: Offer) => `${offer.provider} ${offer.instance}\n${money(offer.usd_per_gpu_hour)}/GPU-h, ${offer.purchase}\n${offer.region}, ${number(offer.age_days)} days old`, ...TIP })),
        ],
      };
    },
    [props.offers],
  );
  return <Chart title="By provider" note="The lowest price of each provider and terms. Pale dots are older than 180 days." name="prices-by-provider" rows={props.offers.map((offer) => ({ ...offer }))} draw={draw} legend={TERMS.map((term) => [termShown(term), COLOURS[term] ?? 'gray'])} onPick={(value) => { props.onPick((value as Offer).provider); }} />;
}

function History(props: { gpu: string }) {
  const answer = useAnswer('prices', useMemo(() => ({ what: 'history', gpu: props.gpu }) as AskFor<'prices'>, [props.gpu]));
  const rows = useMemo(() => historyOf(answer.value as Schemas['PricesHistory'] | undefined), [answer.value]);
  const draw = useCallback(
    (): Plot.PlotOptions => ({
      height: 240,
      marginLeft: 46,
      x: { type: 'utc', label: null },
      y: { label: '↑ $/h of a machine', grid: true, zero: true },
      marks: [Plot.line(rows, { x: 'day', y: 'usd', z: 'name', stroke: (row: (typeof rows)[number]) => COLOURS[row.purchase] ?? 'var(--c8)', curve: 'step-after' }), Plot.tip(rows, Plot.pointer({ x: 'day', y: 'usd', title: (row: (typeof rows)[number]) => `${row.name}\n${money(row.usd)}`, ...TIP }))],
    }),
    [rows],
  );
  if (rows.length > 0) return <Chart title="History" name="price-history" note="From your price store" rows={rows.map((row) => ({ name: row.name, day: row.day.toISOString().slice(0, 10), usd: row.usd }))} draw={draw} />;
  return (
    <Card title="History">
      {answer.busy ? <Busy /> : (
        <p class="empty">
          No price history of this GPU yet. <code>rightsize prices update</code> fetches today’s public prices, and each day it runs adds a point here.
        </p>
      )}
    </Card>
  );
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

export function PricesPage() {
  const [state, change] = useAddress(DEFAULTS);
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  const choices = useMemo<Choice[]>(() => [{ value: EVERY, note: 'search all prices', words: `${EVERY.toLowerCase()} all` }, ...(gpus.value?.gpus ?? []).map((gpu) => ({ value: gpu.name, note: `${number((gpu.memory_bytes ?? 0) / 2 ** 30)} GiB`, words: `${gpu.name} ${gpu.vendor} ${(gpu.aliases ?? []).join(' ')}`.toLowerCase() }))], [gpus.value]);
  const asked = useMemo(() => ({ ...(state.gpu === '' ? {} : { gpu: state.gpu }), ...(state.community === '' ? {} : { community: true }) }) as AskFor<'prices'>, [state.gpu, state.community]);
  const answer = useAnswer('prices', asked);
  const all = (answer.value as Schemas['Prices'] | undefined)?.prices ?? [];
  const terms = state.terms === '' ? [...TERMS] : state.terms.split(',');
  const shown = useMemo(() => all.filter((price) => terms.includes(price.purchase as (typeof TERMS)[number]) && (state.provider === '' || price.provider === state.provider)), [all, state.terms, state.provider]);
  const best = useMemo(() => bestOfEach(all.filter((price) => terms.includes(price.purchase as (typeof TERMS)[number]))), [all, state.terms]);
  // The program lists the cheapest first, and untrusted prices last.
  const onDemand = all.filter((price) => price.purchase === 'on-demand');
  const spot = all.find((price) => price.purchase === 'spot');
  const first = onDemand[0];
  const last = onDemand.filter(trusted).pop();
  const picked = state.pick.split(';').flatMap((key) => all.find((price) => keyOf(price) === key) ?? []).slice(0, 4);
  const toggle = (price: Price) => { const keys = picked.map(keyOf); change({ pick: (keys.includes(keyOf(price)) ? keys.filter((key) => key !== keyOf(price)) : [...keys, keyOf(price)].slice(-4)).join(';') }); };
  const ages = all.map((price) => price.age_days).sort((a, b) => a - b);
  return (
    <>
      <PageHead title="Prices" what="Prices per GPU-hour by provider, region and terms, with their age">
        <CopyLink />
        <Export items={[['Report (HTML)', () => { void askForFile('prices', { ...asked, what: 'compare' } as AskFor<'prices'>, 'html').then((blob) => { save('rightsize-prices.html', blob, blob.type); }); }], ['Prices (CSV)', () => { save('rightsize-prices.csv', toCsv(shown.map((price) => ({ provider: price.provider, instance: price.instance, gpu: price.gpu, gpus: price.gpus, region: price.region, purchase: price.purchase, usd_per_hour: price.usd_per_hour, usd_per_gpu_hour: price.usd_per_gpu_hour, date: price.date, source: price.source }))), 'text/csv'); }]]} />
      </PageHead>
      <div class="with-controls">
        <div class="controls">
          <section class="card fields" aria-label="The question">
            <Combobox label="GPU" value={state.gpu === '' ? EVERY : state.gpu} choices={choices} onChange={(gpu) => { change({ gpu: gpu === EVERY ? '' : gpu, provider: '', pick: '' }, true); }} />
            <Checks label="Terms (all unless chosen)" value={state.terms} choices={TERMS} names={TERM_NAMES} onChange={(next) => { change({ terms: next }, true); }} />
            <Checks label="Also list" value={state.community} choices={['community']} names={{ community: 'community hosts' }} onChange={(community) => { change({ community }, true); }} />
            {state.provider !== '' && (
              <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ provider: '' }, true); }}>
                Show every provider
              </button>
            )}
          </section>
        </div>
        <div class="stack">
          {answer.failed !== undefined && <Card label="Error"><Problem failed={answer.failed} /></Card>}
          {!answer.value && answer.failed === undefined && <Busy />}
          {answer.value && (
            <div class={`stack ${answer.busy ? 'stale' : ''}`}>
              <section class="card hero" aria-label="The answer">
                <p class="hero-line" data-testid="answer">
                  {state.gpu === '' ? `${number(all.length)} prices of ${number(new Set(all.map((price) => price.gpu)).size)} GPUs at ${number(new Set(all.map((price) => price.provider)).size)} providers` : first ? `${state.gpu}: ${money(first.usd_per_gpu_hour)}/GPU-h at ${first.provider}, on-demand${first.age_days > 60 ? `, ${number(first.age_days)} days old` : ''}` : `No on-demand price of ${state.gpu}`}
                </p>
                <p class="hero-sub">{state.gpu === '' ? 'Search the table below for a machine, region or provider, like p5.48xlarge or europe-west4.' : `${number(all.length)} prices.`} {state.gpu !== '' && first && last && last !== first ? `The most expensive costs ${number(last.usd_per_gpu_hour / first.usd_per_gpu_hour, 2)} times as much.` : ''}</p>
                {state.gpu !== '' && <div style={{ marginTop: '12px' }}>
                  <Stats
                    items={[
                      { name: 'On-demand from', value: first ? money(first.usd_per_gpu_hour) : '–', note: first?.provider },
                      { name: 'Spot from', value: spot ? money(spot.usd_per_gpu_hour) : '–', note: spot && first ? `${spot.provider}, −${percent(1 - spot.usd_per_gpu_hour / first.usd_per_gpu_hour)}` : undefined },
                      { name: 'Providers', value: number(new Set(all.map((price) => price.provider)).size) },
                      { name: 'Median age', value: `${number(ages[Math.floor(ages.length / 2)] ?? 0)} d`, note: 'of the prices' },
                    ]}
                  />
                </div>}
              </section>
              {picked.length > 0 && <Comparison prices={picked} onRemove={toggle} />}
              {state.gpu !== '' && <div class="columns">
                <ByProvider offers={best} onPick={(provider) => { change({ provider: state.provider === provider ? '' : provider }, true); }} />
                <History gpu={state.gpu} />
              </div>}
              <Card title={state.provider === '' ? 'Every price' : `Prices of ${state.provider}`} note="Click a column to sort, a row to compare it with others." bare>
                <Table
                  label="Prices"
                  rows={shown}
                  most={25}
                  keyOf={keyOf}
                  find={(price) => `${price.provider} ${price.instance} ${price.gpu} ${placeShown(price)} ${price.purchase} ${termShown(price.purchase)} ${price.source}`}
                  onPick={toggle}
                  columns={[
                    { title: '$/GPU-h', number: true, cell: (price) => money(price.usd_per_gpu_hour), sort: (price) => price.usd_per_gpu_hour },
                    { title: 'Provider', cell: (price) => price.provider, sort: (price) => price.provider },
                    { title: 'Machine', cell: (price) => <>{price.instance}{state.gpu === '' && <small>{number(price.gpus)} × {price.gpu}</small>}</>, sort: (price) => price.instance },
                    { title: 'GPUs', number: true, roomy: true, cell: (price) => number(price.gpus), sort: (price) => price.gpus },
                    { title: 'Region', roomy: true, cell: (price) => placeShown(price), sort: placeShown },
                    { title: 'Terms', cell: (price) => <Badge tone={price.purchase === 'on-demand' ? 'plain' : 'accent'}>{termShown(price.purchase)}</Badge>, sort: (price) => price.purchase },
                    { title: '$/h', number: true, roomy: true, cell: (price) => money(price.usd_per_hour), sort: (price) => price.usd_per_hour },
                    { title: 'vCPU', number: true, spacious: true, cell: (price) => (price.vcpus ? number(price.vcpus) : '–'), sort: (price) => price.vcpus ?? 0 },
                    { title: 'RAM', number: true, spacious: true, cell: (price) => gib(price.memory_bytes), sort: (price) => price.memory_bytes ?? 0 },
                    { title: 'Age', number: true, roomy: true, cell: (price) => age(price.age_days), sort: (price) => price.age_days },
                    { title: 'Source', spacious: true, cell: (price) => <span class="quiet">{price.source}</span> },
                  ]}
                />
              </Card>
            </div>
          )}
        </div>
      </div>
    </>
  );
}
