import type { Schemas } from '../../api/client';
import { gib, money, number } from '../../lib/format';
import { termShown } from '../../lib/words';

export const TERMS = ['on-demand', 'spot', '1y', '3y'] as const;
export type Price = NonNullable<Schemas['Prices']['prices']>[number];

/** "us-east-1 use1-az4", "europe-west2-b": zones of a region can have different prices. */
export function placeShown(price: Price): string {
  const zone = price.zone ?? '';
  return zone === '' ? price.region : zone.startsWith(price.region) ? zone : `${price.region} ${zone}`;
}

/** Unconfirmed prices, launch floors and prices over a year old come last, as in the program. */
export function trusted(price: Price): boolean {
  return !price.outdated && !price.launch_floor && !price.unverified;
}

export interface Offer {
  provider: string;
  purchase: string;
  instance: string;
  region: string;
  usd_per_gpu_hour: number;
  age_days: number;
}

/** The lowest price of each provider and terms. */
export function bestOfEach(prices: Price[]): Offer[] {
  const best = new Map<string, Offer>();
  for (const price of prices) {
    const key = `${price.provider} ${price.purchase}`;
    const kept = best.get(key);
    if (kept && kept.usd_per_gpu_hour <= price.usd_per_gpu_hour) continue;
    best.set(key, { provider: price.provider, purchase: price.purchase, instance: price.instance, region: price.region, usd_per_gpu_hour: price.usd_per_gpu_hour, age_days: price.age_days });
  }
  return [...best.values()];
}

export interface Day {
  name: string;
  purchase: string;
  day: Date;
  usd: number;
}

/** Prices of whole machines by day, one line per offer. */
export function historyOf(answer: Schemas['PricesHistory'] | undefined): Day[] {
  return (answer?.offers ?? []).flatMap((offer) => {
    const name = [offer.provider, offer.instance, offer.region, offer.zone, offer.purchase].filter(Boolean).join(' ');
    return offer.prices.map((point) => ({ name, purchase: offer.purchase, day: new Date(point.date), usd: point.usd_per_hour }));
  });
}

export const keyOf = (price: Price) => `${price.provider} ${price.instance} ${price.region} ${String(price.zone)} ${price.purchase}`;

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
    line('$/month', (price) => price.usd_per_hour * 730, money, true),
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
