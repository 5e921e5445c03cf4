// Asking while things change: the newest question wins, older answers are dropped.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, type AnswerOf, type AskFor, type Command } from '../api/client';

export interface Answer<T> {
  value: T | undefined;
  failed: unknown;
  busy: boolean;
  /** From asking to having the answer. */
  milliseconds: number;
}

/** The answer to `what`, asked again whenever it changes. Null: nothing is asked. What was there stays while waiting. */
export function useAnswer<C extends Command>(command: C, what: AskFor<C> | null, delay = 0): Answer<AnswerOf<C>> {
  const [answer, setAnswer] = useState<Answer<AnswerOf<C>>>({ value: undefined, failed: undefined, busy: false, milliseconds: 0 });
  const key = what === null ? null : JSON.stringify(what);
  const latest = useRef(key);
  latest.current = key;
  useEffect(() => {
    if (key === null) {
      setAnswer({ value: undefined, failed: undefined, busy: false, milliseconds: 0 });
      return undefined;
    }
    const control = new AbortController();
    const timer = setTimeout(() => {
      const begun = performance.now();
      setAnswer((old) => ({ ...old, busy: true }));
      ask(command, JSON.parse(key) as AskFor<C>, control.signal).then(
        (value) => {
          if (latest.current === key) setAnswer({ value, failed: undefined, busy: false, milliseconds: performance.now() - begun });
        },
        (failed: unknown) => {
          if (latest.current === key && !control.signal.aborted) setAnswer((old) => ({ ...old, failed, busy: false }));
        },
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [command, key, delay]);
  return answer;
}

/** `value`, but only once it has not changed for so long. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => { setSettled(value); }, milliseconds);
    return () => { clearTimeout(timer); };
  }, [value, milliseconds]);
  return settled;
}
