// The address contains the state of a page: a link shows what its sender saw.
import { useCallback, useEffect, useState } from 'preact/hooks';

export type Fields = Record<string, string>;

/** Longer values go behind the '#', which is not sent: the server limits the length of addresses. */
const LONG = 300;

/** The state in the address ("?a=1#b=2"), completed by the defaults. Unknown names are dropped. */
export function readAddress<T extends Fields>(address: string, defaults: T): T {
  const [query = '', fragment = ''] = address.split('#');
  const state: Fields = { ...defaults };
  for (const given of [new URLSearchParams(query), new URLSearchParams(fragment)]) {
    for (const name of Object.keys(defaults)) {
      const value = given.get(name);
      if (value !== null) state[name] = value;
    }
  }
  return state as T;
}

/** The shortest query and fragment that read back as this state. */
export function writeAddress<T extends Fields>(state: T, defaults: T): string {
  const query = new URLSearchParams();
  const fragment = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== defaults[name]) (value.length > LONG ? fragment : query).set(name, value);
  }
  return [['?', query], ['#', fragment]].map(([mark, part]) => (String(part) === '' ? '' : String(mark) + String(part))).join('');
}

export type Change<T> = (change: Partial<T>, remember?: boolean) => void;

/** State in the address. `remember` adds a history entry for the Back button; a drag does not. */
export function useAddress<T extends Fields>(defaults: T): [T, Change<T>] {
  const [state, setState] = useState(() => readAddress(location.search + location.hash, defaults));
  useEffect(() => {
    const follow = () => {
      setState(readAddress(location.search + location.hash, defaults));
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
