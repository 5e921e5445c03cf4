import { describe, expect, it } from 'vitest';
import { bestOfEach, factsOf, historyOf, keyOf, placeShown, trusted, type Price } from './shapes';

const price = (provider: string, purchase: string, usd: number) => ({ provider, purchase, usd_per_gpu_hour: usd, instance: 'i', region: 'r', age_days: 1 }) as unknown as Price;

describe('prices', () => {
  it('are reduced to the lowest of each provider and terms', () => {
    const best = bestOfEach([price('a', 'spot', 2), price('a', 'spot', 1), price('a', 'on-demand', 3), price('b', 'spot', 5)]);
    expect(best.map((offer) => [offer.provider, offer.purchase, offer.usd_per_gpu_hour])).toEqual([['a', 'spot', 1], ['a', 'on-demand', 3], ['b', 'spot', 5]]);
  });
  it('name the zone if a region has several', () => {
    const at = (region: string, zone: string | null) => placeShown({ region, zone } as unknown as Price);
    expect([at('us-east-1', 'use1-az4'), at('europe-west2', 'europe-west2-b'), at('any', null)]).toEqual(['us-east-1 use1-az4', 'europe-west2-b', 'any']);
  });
  it('that are old, floors or unconfirmed come last', () => {
    const good = { ...price('a', 'spot', 1), outdated: false, launch_floor: false, unverified: false };
    expect([good, { ...good, outdated: true }, { ...good, launch_floor: true }, { ...good, unverified: true }].map(trusted)).toEqual([true, false, false, false]);
  });
  it('are compared line by line, and only a single winner is marked', () => {
    const facts = factsOf([price('a', 'spot', 2), price('b', 'spot', 1), price('c', 'spot', 3)]);
    expect(facts.find((line) => line.name === '$/GPU-h')).toEqual({ name: '$/GPU-h', cells: ['$2.00', '$1.00', '$3.00'], best: 1 });
    expect(facts.find((line) => line.name === 'Age')?.best).toBeUndefined();
    expect(facts.find((line) => line.name === 'vCPU')?.cells).toEqual(['–', '–', '–']);
    expect(new Set([price('a', 'spot', 2), price('a', '1y', 2)].map(keyOf)).size).toBe(2);
  });
  it('have a history if a store has one', () => {
    expect(historyOf(undefined)).toEqual([]);
    const offers = [{ provider: 'a', instance: 'i', region: 'r', zone: null, purchase: 'spot', prices: [{ date: '2026-11-01', usd_per_hour: 3 }, { date: '2026-11-02', usd_per_hour: 4 }] }];
    expect(historyOf({ schema: 'rightsize/prices-history/1', offers }).map((day) => [day.name, day.usd])).toEqual([['a i r spot', 3], ['a i r spot', 4]]);
  });
});
