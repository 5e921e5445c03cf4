import { describe, expect, it } from 'vitest';
import { bestOf, partShown, wayOf } from './shapes';

describe('an option', () => {
  it('is named as an instruction', () => {
    expect(wayOf('windows, spot for the runs', 14400)).toBe('Collect for 4 h, run on spot');
    expect(wayOf('real time', 14400)).toBe('Real time');
  });
  it('says which part of its last machine it uses', () => {
    const part = (gpus: number, size: string) => partShown({ gpus, price_source: `cloud m (${size}), US, spot` });
    expect([part(1, '8 GPUs'), part(958, '8 GPUs'), part(960, '8 GPUs'), part(3, '1 GPU')]).toEqual(['1 of 8 GPUs of a machine', '6 of 8 GPUs of the last machine', '', '']);
  });
  it('is the best by the cost of whole machines; a part of a machine is an alternative', () => {
    const option = (name: string, gpus: number, usd_per_month: number | null, size: string) => ({ name, gpus, usd_per_month, price_source: `cloud m (${size}), US, spot` }) as Parameters<typeof bestOf>[0][number];
    const [real, rented, spot] = [option('real time', 2, 2613, '1 GPU'), option('windows, rented for the runs', 1, 1251, '1 GPU'), option('windows, spot for the runs', 1, 846, '8 GPUs')];
    expect(bestOf([real, rented, spot])).toEqual({ best: rented, shared: spot });
    expect(bestOf([real, rented])).toEqual({ best: rented, shared: undefined });
    const full = option('windows, spot for the runs', 8, 846, '8 GPUs');
    expect(bestOf([rented, full, option('unpriced', 1, null, '1 GPU')])).toEqual({ best: full, shared: undefined });
    expect(bestOf([])).toEqual({ best: undefined, shared: undefined });
  });
});
