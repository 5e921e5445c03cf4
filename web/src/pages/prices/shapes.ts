import type { Schemas } from '../../api/client';

export const TERMS = ['on-demand', 'spot', '1y', '3y'] as const;
export type Price = NonNullable<Schemas['Prices']['prices']>[number];

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

/** Days of prices, an offer a line. */
export function historyOf(answer: Schemas['Prices'] | undefined): Day[] {
  const rows = (answer as { history?: { provider?: string; instance?: string; region?: string; zone?: string; purchase?: string; gpus?: number; date?: string; usd_per_hour?: number; usd_per_gpu_hour?: number }[] } | undefined)?.history ?? [];
  return rows.flatMap((row) => {
    const usd = row.usd_per_gpu_hour ?? (row.usd_per_hour === undefined ? undefined : row.usd_per_hour / (row.gpus ?? 1));
    if (usd === undefined || row.date === undefined) return [];
    return [{ name: [row.provider, row.instance, row.region, row.zone, row.purchase].filter(Boolean).join(' '), purchase: row.purchase ?? '', day: new Date(row.date), usd }];
  });
}
