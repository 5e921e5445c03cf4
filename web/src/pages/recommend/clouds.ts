// The best plan of each big cloud and of each GPU people ask about, also of those the ranking ends before.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type Plan } from '../../api/client';
import { PROVIDERS, quickQuestion, type State } from './question';

/** The ones people ask "why not" about. */
const GPUS = ['h100-sxm', 'h200-sxm', 'b200-sxm', 'a100-80gb-sxm', 'l40s', 'rtx-pro-6000', 'l4', 'mi300x'];

/** Of the clouds that may be asked, those without a plan among these. */
export function cloudsWithout(plans: Plan[], state: State): string[] {
  const wanted = state.providers === '' ? PROVIDERS : state.providers.split(',');
  return wanted.filter((provider) => !plans.some((plan) => plan.provider === provider));
}

/** A question beside the one asked, and its best plan; undefined where nothing keeps to every limit. */
interface Beside {
  name: string;
  best: Plan | undefined;
}

/** Asked for one after the other once the plans are there; nothing until all are known. */
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

/** The best plan on each GPU people ask about, from the ranking where it is there; the cheapest first, what has none last. */
export function useOtherGpus(state: State, plans: Plan[]): Beside[] | undefined {
  const ranked = GPUS.map((gpu) => ({ name: gpu, best: plans.find((plan) => plan.gpu === gpu && !plan.held_back) }));
  const asked = useBeside(plans, state, true, () => ranked.filter((each) => !each.best).map(({ name }) => [name, { gpu: name }]));
  if (!asked) return undefined;
  const cost = (each: Beside) => each.best?.usd_total ?? Infinity;
  return [...ranked.filter((each) => each.best), ...asked].sort((a, b) => cost(a) - cost(b));
}
