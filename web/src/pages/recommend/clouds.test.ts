import { describe, expect, it } from 'vitest';
import type { Plan } from '../../api/client';
import { cloudsWithout } from './clouds';
import { DEFAULTS, PROVIDERS } from './question';

const of = (provider: string) => ({ provider }) as Plan;

describe('clouds without a plan', () => {
  it('are all clouds except those in the ranking', () => {
    expect(cloudsWithout([of('aws'), of('seeweb')], DEFAULTS)).toEqual(PROVIDERS.filter((each) => each !== 'aws'));
  });
  it('are only allowed clouds', () => {
    expect(cloudsWithout([of('aws')], { ...DEFAULTS, providers: 'aws,oci' })).toEqual(['oci']);
  });
});
