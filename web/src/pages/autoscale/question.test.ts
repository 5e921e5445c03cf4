import { describe, expect, it } from 'vitest';
import { cheapest, DEFAULTS, hourRows, policiesOf, questionOf, type Policy } from './question';

const policy = (name: string, gpuHours: number, meets: boolean): Policy => ({ name, gpu_hours: gpuHours, meets_slo: meets, hours: [
  { hour: 0, requests: 100, over_slo: 0, ttft_max_seconds: 1, mean_replicas: 2, paid_replicas: 3 },
  { hour: 1, requests: 0, over_slo: 0, ttft_max_seconds: 0, mean_replicas: 1, paid_replicas: 1 },
] }) as unknown as Policy;

describe('autoscale', () => {
  it('asks for three policies with the targets of the sliders', () => {
    const state = { ...DEFAULTS, target: '7', threshold: '9', fixed: '3' };
    expect(policiesOf(state).map((each) => each.split(',')[0])).toEqual(['fixed:replicas=3', 'hpa:target=7', 'keda:threshold=9']);
    expect(questionOf(state)).toMatchObject({ arrivals: 'diurnal:6,1.8', slo: 'ttft=2s,tpot=100ms', startup: '110s' });
  });
  it('names the cheapest policy only among those that meet the SLO', () => {
    expect(cheapest([policy('hpa', 5, false), policy('keda', 9, true), policy('fixed', 12, true)])?.name).toBe('keda');
    expect(cheapest([policy('hpa', 5, false)])).toBeUndefined();
  });
  it('leaves out hours without requests', () => {
    expect(hourRows([policy('hpa', 5, true)])).toEqual([{ policy: 'HPA', hour: 0, requests: 100, replicas: 2, paid: 3, ttft: 1, over: 0 }]);
  });
});
