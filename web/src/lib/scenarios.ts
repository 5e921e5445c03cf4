// Questions that the user named and kept in this browser.
export interface Scenario {
  name: string;
  address: string; // "?model=…" of the page
  answer: string; // the headline when it was saved
  usd?: number | undefined;
  saved: string; // day
}

const KEPT = 'rightsize-scenarios';
const MOST = 50;

type Store = Pick<Storage, 'getItem' | 'setItem'>;

export function readScenarios(store: Store): Scenario[] {
  try {
    const kept = JSON.parse(store.getItem(KEPT) ?? '[]') as unknown;
    return Array.isArray(kept) ? kept.filter((each): each is Scenario => typeof (each as Scenario | null)?.name === 'string' && typeof (each as Scenario).address === 'string') : [];
  } catch {
    return []; // another version of the page wrote it, or the browser blocks storage
  }
}

/** Adds a scenario; one of the same name is replaced. */
export function withScenario(all: Scenario[], added: Scenario): Scenario[] {
  return [added, ...all.filter((each) => each.name !== added.name)].slice(0, MOST);
}

export function keepScenarios(store: Store, all: Scenario[]): boolean {
  try {
    store.setItem(KEPT, JSON.stringify(all));
    return true;
  } catch {
    return false; // private windows may not store anything
  }
}
