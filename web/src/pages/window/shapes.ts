import type { Schemas } from '../../api/client';
import { duration, number, sentence } from '../../lib/format';

export type Option = NonNullable<Schemas['Window']['options']>[number];

/** "windows, spot for the runs" -> "Collect for 4 h, run on spot" */
export function wayOf(name: string, window: number): string {
  const runs: Record<string, string> = { 'GPUs kept': 'keep the GPUs', 'rented for the runs': 'rent GPUs for the runs', 'spot for the runs': 'run on spot' };
  const run = /^windows, (.+)$/.exec(name)?.[1];
  return run === undefined ? sentence(name).slice(0, -1) : `Collect for ${duration(window)}, ${runs[run] ?? run}`;
}

/** GPUs of the machine that has the price: "coreweave m (8 GPUs), US, spot". */
export const machineSize = (option: Pick<Option, 'price_source'>) => Number(/\((\d+) GPUs?\)/.exec(option.price_source ?? '')?.[1] ?? 1);

/** The part of its last machine that an option uses: "1 of 8 GPUs of a machine"; empty if it uses all of it. */
export function partShown(option: Pick<Option, 'gpus' | 'price_source'>): string {
  const size = machineSize(option);
  const rest = option.gpus % size;
  return rest === 0 ? '' : `${number(rest)} of ${number(size)} GPUs of ${option.gpus > size ? 'the last' : 'a'} machine`;
}

/** The monthly cost of whole machines; usd_per_month may be that of a part. */
export function wholeCost(option: Pick<Option, 'gpus' | 'usd_per_month' | 'price_source'>): number {
  const size = machineSize(option);
  return typeof option.usd_per_month === 'number' ? (option.usd_per_month * Math.ceil(option.gpus / size) * size) / option.gpus : Infinity;
}

/** The cheapest option with whole machines, and the one that is cheaper if other work fills the rest of its machine. */
export function bestOf(options: Option[]): { best: Option | undefined; shared: Option | undefined } {
  const least = (of: (option: Option) => number) => options.filter((each) => typeof each.usd_per_month === 'number').sort((a, b) => of(a) - of(b))[0];
  const [best, cheapest] = [least(wholeCost), least((option) => option.usd_per_month ?? Infinity)];
  return { best, shared: best && cheapest && (cheapest.usd_per_month ?? 0) < wholeCost(best) ? cheapest : undefined };
}
