import type { Schemas } from '../../api/client';

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
