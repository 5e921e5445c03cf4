// The whole state of a page stands in its address, so that a link shows what its sender saw.
import { useCallback, useEffect, useState } from 'preact/hooks';

export type Fields = Record<string, string>;

/** What the address says, over the defaults. Names that the page does not know are dropped. */
export function readAddress<T extends Fields>(search: string, defaults: T): T {
  const given = new URLSearchParams(search);
  const state: Fields = { ...defaults };
  for (const name of Object.keys(defaults)) {
    const value = given.get(name);
    if (value !== null) state[name] = value;
  }
  return state as T;
}

/** The shortest query that reads back as this state. */
export function writeAddress<T extends Fields>(state: T, defaults: T): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== defaults[name]) query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export type Change<T> = (change: Partial<T>, remember?: boolean) => void;

/** State kept in the address. `remember` makes a step the Back button returns to; a drag makes none. */
export function useAddress<T extends Fields>(defaults: T): [T, Change<T>] {
  const [state, setState] = useState(() => readAddress(location.search, defaults));
  useEffect(() => {
    const follow = () => {
      setState(readAddress(location.search, defaults));
    };
    addEventListener('popstate', follow);
    return () => {
      removeEventListener('popstate', follow);
    };
  }, [defaults]);
  const change = useCallback<Change<T>>(
    (part, remember = false) => {
      setState((old) => {
        const next = { ...old, ...part };
        const address = location.pathname + writeAddress(next, defaults);
        if (remember) history.pushState(null, '', address);
        else history.replaceState(null, '', address);
        return next;
      });
    },
    [defaults],
  );
  return [state, change];
}
