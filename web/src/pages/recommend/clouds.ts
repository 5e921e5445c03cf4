// The best plan of each large cloud and of each popular GPU, even if it is not in the ranking.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type Plan } from '../../api/client';
import { PROVIDERS, quickQuestion, type State } from './question';

/** Popular GPUs. */
const GPUS = ['h100-sxm', 'h200-sxm', 'b200-sxm', 'a100-80gb-sxm', 'l40s', 'rtx-pro-6000', 'l4', 'mi300x'];

/** The allowed clouds without a plan in this list. */
export function cloudsWithout(plans: Plan[], state: State): string[] {
  const wanted = state.providers === '' ? PROVIDERS : state.providers.split(',');
  return wanted.filter((provider) => !plans.some((plan) => plan.provider === provider));
}

/** A variant of the question and its best plan; undefined if nothing meets the limits. */
interface Beside {
  name: string;
  best: Plan | undefined;
}

/** Requested one after the other once the plans have arrived; empty until all are known. */
function useBeside(of: Plan[], state: State | undefined, ready: boolean, questions: (state: State) => [string, Partial<State>][]): Beside[] | undefined {
  const [found, setFound] = useState<{ of: Plan[]; beside: Beside[] }>();
  useEffect(() => {
    if (!ready || !state) return;
    const control = new AbortController();
    const askAll = async () => {
      const beside: Beside[] = [];
      for (const [name, change] of questions(state)) {
        const answer = await ask('recommend', { ...quickQuestion({ ...state, ...change }), top: 1 }, control.signal, 'low').catch(() => undefined);
        if (control.signal.aborted) return;
        beside.push({ name, best: answer?.plans?.[0] });
      }
      setFound({ of, beside });
    };
    void askAll();
    return () => { control.abort(); };
  }, [of, ready]);
  return found && found.of === of ? found.beside : undefined;
}

export function useOtherClouds(state: State | undefined, plans: Plan[], ready: boolean): Plan[] {
  const beside = useBeside(plans, state, ready, (asked) => cloudsWithout(plans, asked).map((provider) => [provider, { providers: provider }]));
  return useMemo(() => (beside ?? []).flatMap((each) => each.best ?? []), [beside]);
}

/** The best plan on each popular GPU, from the ranking if possible; cheapest first, GPUs without a plan last. */
export function useOtherGpus(state: State, plans: Plan[]): Beside[] | undefined {
  const ranked = GPUS.map((gpu) => ({ name: gpu, best: plans.find((plan) => plan.gpu === gpu && !plan.held_back) }));
  const asked = useBeside(plans, state, true, () => ranked.filter((each) => !each.best).map(({ name }) => [name, { gpu: name }]));
  if (!asked) return undefined;
  const cost = (each: Beside) => each.best?.usd_total ?? Infinity;
  return [...ranked.filter((each) => each.best), ...asked].sort((a, b) => cost(a) - cost(b));
}
