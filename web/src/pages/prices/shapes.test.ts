import { describe, expect, it } from 'vitest';
import { bestOfEach, changeOf, cheapestPlaces, eventsOf, factsOf, keyOf, lowestByDay, placeShown, seriesOf, trusted, type Price, type Series } from './shapes';

const price = (provider: string, purchase: string, usd: number) => ({ provider, purchase, usd_per_gpu_hour: usd, instance: 'i', region: 'r', age_days: 1 }) as unknown as Price;

describe('prices', () => {
  it('are reduced to the lowest of each provider and terms', () => {
    const best = bestOfEach([price('a', 'spot', 2), price('a', 'spot', 1), price('a', 'on-demand', 3), price('b', 'spot', 5)]);
    expect(best.map((offer) => [offer.provider, offer.purchase, offer.usd_per_gpu_hour])).toEqual([['a', 'spot', 1], ['a', 'on-demand', 3], ['b', 'spot', 5]]);
  });
  it('that are trusted are shown before cheaper ones that are not', () => {
    const doubtful = { ...price('a', 'spot', 1), unverified: true } as Price;
    for (const prices of [[doubtful, price('a', 'spot', 2)], [price('a', 'spot', 2), doubtful]]) expect(bestOfEach(prices).map((offer) => offer.usd_per_gpu_hour)).toEqual([2]);
    expect(bestOfEach([doubtful]).map((offer) => offer.trusted)).toEqual([false]);
  });
  it('of the same machine in several places become one row', () => {
    const rows = cheapestPlaces([price('a', 'spot', 1), price('a', 'spot', 2), price('a', 'on-demand', 3), price('b', 'spot', 5)]);
    expect(rows.map((row) => [row.provider, row.usd_per_gpu_hour, row.places])).toEqual([['a', 1, 2], ['a', 3, 1], ['b', 5, 1]]);
  });
  it('name the zone if a region has several', () => {
    const at = (region: string, zone: string | null) => placeShown({ region, zone } as unknown as Price);
    expect([at('us-east-1', 'use1-az4'), at('europe-west2', 'europe-west2-b'), at('any', null)]).toEqual(['us-east-1 use1-az4', 'europe-west2-b', 'any']);
  });
  it('that are old, floors or unconfirmed come last', () => {
    const good = { ...price('a', 'spot', 1), outdated: false, launch_floor: false, unverified: false };
    expect([good, { ...good, outdated: true }, { ...good, launch_floor: true }, { ...good, unverified: true }, { ...good, may_lead: false }].map(trusted)).toEqual([true, false, false, false, false]);
  });
  it('are compared line by line, and only a single winner is marked', () => {
    const facts = factsOf([price('a', 'spot', 2), price('b', 'spot', 1), price('c', 'spot', 3)]);
    expect(facts.find((line) => line.name === '$/GPU-h')).toEqual({ name: '$/GPU-h', cells: ['$2.00', '$1.00', '$3.00'], best: 1 });
    expect(facts.find((line) => line.name === 'Age')?.best).toBeUndefined();
    expect(facts.find((line) => line.name === 'vCPU')?.cells).toEqual(['–', '–', '–']);
    expect(new Set([price('a', 'spot', 2), price('a', '1y', 2)].map(keyOf)).size).toBe(2);
  });
  it('over time hold until the next reading, and the lowest is shown', () => {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 50; round += 1) {
      const series: Series[] = Array.from({ length: 1 + Math.floor(4 * random()) }, (_, i) => ({ provider: 'a', instance: 'i', purchase: 'spot', place: String(i), trusted: random() < 0.6, points: ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'].filter(() => random() < 0.6).map((day) => ({ day, usd: 1 + Math.floor(9 * random()) })) }));
      for (const day of lowestByDay(series)) {
        const sound = series.some((each) => each.trusted);
        const known = series.filter((each) => each.trusted === sound).flatMap((each) => each.points.filter((point) => point.day <= day.day).slice(-1).map((point) => point.usd));
        expect([day.usd, day.trusted]).toEqual([Math.min(...known), sound]);
      }
    }
  });
  it('change in events: one per machine, terms and day', () => {
    const at = (place: string, purchase: string, ...usd: number[]): Series => ({ provider: 'aws', instance: 'p5.48xlarge', purchase, place, trusted: true, points: usd.map((each, i) => ({ day: `2026-11-0${String(i + 1)}`, usd: each })) });
    const events = eventsOf([at('us', 'on-demand', 10, 10, 5.6), at('eu', 'on-demand', 12, 12, 7), at('us', 'spot', 3, 3.2, 3.1), at('eu', 'spot', 3, 3, 6)]);
    expect(events.map((event) => [event.day, event.purchase, event.places.length, Math.round(100 * changeOf(event))])).toEqual([['2026-11-03', 'spot', 1, 100], ['2026-11-03', 'on-demand', 2, -44]]);
  });
  it('of a history are per GPU, and machines of unknown size are left out', () => {
    const offer = (instance: string) => ({ provider: 'a', instance, region: 'r', zone: null, purchase: 'spot', prices: [{ date: '2026-11-02', usd_per_hour: 8 }, { date: '2026-11-01', usd_per_hour: 16 }] });
    const series = seriesOf({ schema: 'rightsize/prices-history/1', offers: [offer('i'), offer('unknown')] }, [{ ...price('a', 'spot', 1), gpus: 8 }]);
    expect(series.map((each) => each.points)).toEqual([[{ day: '2026-11-01', usd: 2 }, { day: '2026-11-02', usd: 1 }]]);
    // History and list agree on what is in doubt.
    const listed = [{ ...price('a', 'spot', 1), gpus: 8, zone: null, may_lead: false } as unknown as Price];
    expect(seriesOf({ schema: 'rightsize/prices-history/1', offers: [offer('i')] }, listed).map((each) => each.trusted)).toEqual([false]);
  });
});
