import type { Schemas } from '../../api/client';
import { gib, money, number } from '../../lib/format';
import { amountOf, period } from '../../lib/period';
import { termShown } from '../../lib/words';

export const COLOURS: Record<string, string> = { 'on-demand': 'var(--c1)', spot: 'var(--c2)', '1y': 'var(--c3)', '3y': 'var(--c4)' };
export const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)' };
export const TERMS = ['on-demand', 'spot', '1y', '3y'] as const;
export type Price = NonNullable<Schemas['Prices']['prices']>[number];

/** "us-east-1 use1-az4", "europe-west2-b": zones of a region can have different prices. */
export function placeShown(price: Price): string {
  const zone = price.zone ?? '';
  return zone === '' ? price.region : zone.startsWith(price.region) ? zone : `${price.region} ${zone}`;
}

/** Unconfirmed and doubtful prices, launch floors and prices over a year old come last, as in the program. */
export const trusted = (price: Price) => doubtOf(price) === '';

export interface Offer {
  provider: string;
  purchase: string;
  instance: string;
  region: string;
  usd_per_gpu_hour: number;
  age_days: number;
  trusted: boolean;
}

/** The lowest trusted price of each provider and terms; an untrusted one if there is no other. */
export function bestOfEach(prices: Price[]): Offer[] {
  const best = new Map<string, Offer>();
  for (const price of prices) {
    const key = `${price.provider} ${price.purchase}`;
    const kept = best.get(key);
    if (kept && (kept.trusted !== trusted(price) ? kept.trusted : kept.usd_per_gpu_hour <= price.usd_per_gpu_hour)) continue;
    best.set(key, { provider: price.provider, purchase: price.purchase, instance: price.instance, region: price.region, usd_per_gpu_hour: price.usd_per_gpu_hour, age_days: price.age_days, trusted: trusted(price) });
  }
  return [...best.values()];
}

/** A price with the number of places that it stands for. */
export type Row = Price & { places: number };

/** Why a price is not trusted; empty if it is. */
export function doubtOf(price: Price): string {
  return price.outdated ? 'outdated' : price.launch_floor ? 'launch price' : price.unverified ? 'unconfirmed' : price.may_lead === false ? (price.age_days > 60 ? 'one source' : 'in doubt') : '';
}

/** On-demand prices, which the headline names, before other terms. */
export const byTerms = (rows: Row[]) => [...rows].sort((a, b) => Number(a.purchase !== 'on-demand') - Number(b.purchase !== 'on-demand'));

/** The first place of each machine and terms: in the order of the program, the cheapest one. */
export function cheapestPlaces(prices: Price[]): Row[] {
  const rows = new Map<string, Row>();
  for (const price of prices) {
    const key = [price.provider, price.instance, price.gpu, price.purchase].join(' ');
    const row = rows.get(key);
    if (row) row.places += 1;
    else rows.set(key, { ...price, places: 1 });
  }
  return [...rows.values()];
}

/** The price of an offer per GPU-hour, on the days it was read. */
export interface Series {
  provider: string;
  instance: string;
  purchase: string;
  place: string;
  /** As today's list has it; offers that it no longer has are not in doubt. */
  trusted: boolean;
  points: { day: string; usd: number }[];
}

/** The history per GPU-hour. Machines with an unknown number of GPUs are left out. */
export function seriesOf(answer: Schemas['PricesHistory'] | undefined, prices: Price[]): Series[] {
  // A store may spell the provider differently; machines with the same name have the same GPUs.
  const gpus = new Map(prices.map((price) => [price.instance, price.gpus]));
  const doubtful = new Set(prices.filter((price) => !trusted(price)).map(keyOf));
  return (answer?.offers ?? []).flatMap((offer) => {
    const each = gpus.get(offer.instance);
    if (!each) return [];
    const points = offer.prices.map((point) => ({ day: point.date.slice(0, 10), usd: point.usd_per_hour / each })).sort((x, y) => (x.day < y.day ? -1 : 1));
    return [{ provider: offer.provider, instance: offer.instance, purchase: offer.purchase, place: [offer.region, offer.zone].filter(Boolean).join(' '), trusted: !doubtful.has(keyOf(offer)), points }];
  });
}

export interface Day {
  provider: string;
  purchase: string;
  day: string;
  usd: number;
  trusted: boolean;
}

/**
 * The lowest trusted price of each provider and terms, day by day, as bestOfEach() has it: untrusted ones only if there is no
 * other. A price holds until the next reading of its offer.
 */
export function lowestByDay(series: Series[]): Day[] {
  const groups = new Map<string, Series[]>();
  for (const each of series) groups.set(`${each.provider} ${each.purchase}`, [...(groups.get(`${each.provider} ${each.purchase}`) ?? []), each]);
  return [...groups.values()].flatMap((group) => {
    const sound = group.filter((offer) => offer.trusted);
    const offers = sound.length > 0 ? sound : group;
    const days = [...new Set(offers.flatMap((offer) => offer.points.map((point) => point.day)))].sort();
    const at = offers.map(() => -1);
    return days.map((day) => {
      offers.forEach((offer, i) => { while ((offer.points[(at[i] ?? 0) + 1]?.day ?? '~') <= day) at[i] = (at[i] ?? 0) + 1; });
      const usd = Math.min(...offers.flatMap((offer, i) => offer.points[at[i] ?? -1]?.usd ?? []));
      return { provider: offers[0]?.provider ?? '', purchase: offers[0]?.purchase ?? '', day, usd, trusted: sound.length > 0 };
    });
  });
}

/** A change of price: of one machine and its terms, in one or several places on the same day. */
export interface PriceEvent {
  day: string;
  provider: string;
  instance: string;
  purchase: string;
  places: string[];
  /** Of the place that changed most, per GPU-hour. */
  before: number;
  after: number;
}

/** Spot prices move every day; smaller changes are not listed. */
const LEAST: Record<string, number> = { spot: 0.15 };

export const changeOf = (event: PriceEvent) => event.after / event.before - 1;

/** Changes of price, newest first. */
export function eventsOf(series: Series[]): PriceEvent[] {
  const found = new Map<string, PriceEvent>();
  for (const each of series) {
    each.points.forEach((point, i) => {
      const before = each.points[i - 1]?.usd;
      if (!before || Math.abs(point.usd / before - 1) < (LEAST[each.purchase] ?? 0.01)) return;
      const event: PriceEvent = { day: point.day, provider: each.provider, instance: each.instance, purchase: each.purchase, places: [each.place], before, after: point.usd };
      const key = `${event.day} ${event.provider} ${event.instance} ${event.purchase}`;
      const known = found.get(key);
      if (!known) found.set(key, event);
      else {
        known.places.push(each.place);
        if (Math.abs(changeOf(event)) > Math.abs(changeOf(known))) Object.assign(known, { before, after: point.usd });
      }
    });
  }
  return [...found.values()].sort((x, y) => (x.day === y.day ? Math.abs(changeOf(y)) - Math.abs(changeOf(x)) : x.day < y.day ? 1 : -1));
}

export const keyOf = (price: Pick<Price, 'provider' | 'instance' | 'region' | 'zone' | 'purchase'>) => `${price.provider} ${price.instance} ${price.region} ${String(price.zone)} ${price.purchase}`;

export interface Facts {
  name: string;
  cells: string[];
  /** The column with the best value, if one is better than all others. */
  best: number | undefined;
}

/** Prices as lines of a comparison. */
export function factsOf(prices: Price[]): Facts[] {
  const line = (name: string, of: (price: Price) => number | null | undefined, show: (value: number) => string, least: boolean): Facts => {
    const values = prices.map((price) => of(price) ?? undefined);
    const known = values.filter((value): value is number => value !== undefined);
    const top = least ? Math.min(...known) : Math.max(...known);
    const best = known.filter((value) => value === top).length === 1 && known.length > 1 ? values.indexOf(top) : undefined;
    return { name, cells: values.map((value) => (value === undefined ? '–' : show(value))), best };
  };
  const text = (name: string, of: (price: Price) => string): Facts => ({ name, cells: prices.map(of), best: undefined });
  return [
    line('$/GPU-h', (price) => price.usd_per_gpu_hour, money, true),
    line('$/h', (price) => price.usd_per_hour, money, true),
    line(`$/${period()}`, (price) => price.usd_per_hour * 730, amountOf, true),
    line('$ per PFLOP-h', (price) => (price.usd_per_tflop_hour ? price.usd_per_tflop_hour * 1000 : undefined), money, true),
    line('$ per TB/s-h', (price) => (price.usd_per_gbs_hour ? price.usd_per_gbs_hour * 1000 : undefined), money, true),
    text('GPUs', (price) => `${number(price.gpus)} × ${price.gpu}`),
    line('vCPU', (price) => price.vcpus, number, false),
    line('RAM', (price) => price.memory_bytes, gib, false),
    text('Between GPUs', (price) => price.interconnect ?? '–'),
    line('Network', (price) => price.network_bytes_per_second, (bytes) => `${number((bytes * 8) / 1e9)} Gbit/s`, false),
    text('Terms', (price) => termShown(price.purchase)),
    text('Region', placeShown),
    line('Age', (price) => price.age_days, (days) => `${number(days)} d`, true),
  ];
}
