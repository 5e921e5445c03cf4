// Requests while the input changes: the newest one wins.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ask, Away, Refused, search, type AnswerOf, type AskFor, type Command } from '../api/client';
import { Ahead } from './ahead';
import { number } from './format';
import { Newest } from './newest';

export interface Answer<T> {
  value: T | undefined;
  failed: unknown;
  busy: boolean;
}

const NOTHING = { value: undefined, failed: undefined, busy: false };

/** How soon a question is repeated if the server is unreachable or busy. */
const RETRY = 2500;
const isTemporary = (failed: unknown) => failed instanceof Away || (failed instanceof Refused && failed.status === 503);

/**
 * The answer to `what`, requested again whenever it changes; null requests nothing. The previous answer stays while waiting.
 * `moving`: the question follows a slider, and intermediate answers are shown too. `outdated`: the fields have changed since;
 * a request in progress is aborted, because it would delay the answers that the visitor waits for.
 */
export function useAnswer<C extends Command>(command: C, what: AskFor<C> | null, moving = false, outdated = false): Answer<AnswerOf<C>> {
  const [answer, setAnswer] = useState<Answer<AnswerOf<C>>>(NOTHING);
  const key = what === null ? null : JSON.stringify(what);
  const newest = useRef<Newest<AnswerOf<C>>>();
  const timer = useRef<number>();
  newest.current ??= new Newest(
    (question, signal) => ask(command, JSON.parse(question) as AskFor<C>, signal),
    {
      asked: () => { setAnswer((old) => (old.busy ? old : { ...old, busy: true })); },
      answered: (value, _, last) => { setAnswer({ value, failed: undefined, busy: !last }); },
      failed: (failed, question) => {
        setAnswer((old) => ({ ...old, failed, busy: false }));
        if (isTemporary(failed)) timer.current = setTimeout(() => { newest.current?.next(question); }, RETRY) as unknown as number;
      },
    },
    moving,
  );
  // Before the next paint, because a frame is a fifth of the time that feels instant.
  useLayoutEffect(() => {
    clearTimeout(timer.current);
    if (key !== null && !outdated) newest.current?.next(key);
    else newest.current?.stop();
    if (key === null) setAnswer(NOTHING);
  }, [key, outdated]);
  useEffect(() => () => { clearTimeout(timer.current); newest.current?.stop(); }, []);
  return answer;
}

/** Requests likely next questions in advance, to fill the server's cache. */
export function useAhead<C extends Command>(command: C, what: AskFor<C> | null): (likely: AskFor<C>[]) => void {
  const ahead = useRef<Ahead>();
  ahead.current ??= new Ahead((question, signal) => ask(command, JSON.parse(question) as AskFor<C>, signal, 'low'));
  const key = what === null ? null : JSON.stringify(what);
  useLayoutEffect(() => { ahead.current?.now(key); }, [key]);
  useEffect(() => () => { ahead.current?.now(null); }, []);
  return (likely) => { ahead.current?.likely(likely.map((each) => JSON.stringify(each))); };
}

/** `value`, once it has not changed for this time; 0: at once. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (milliseconds === 0) return undefined;
    const timer = setTimeout(() => { setSettled(value); }, milliseconds);
    return () => { clearTimeout(timer); };
  }, [value, milliseconds]);
  return milliseconds === 0 ? value : settled;
}

export interface Searching<T> {
  value: T | undefined;
  failed: unknown;
  seconds: number | null; // since the search started; null: no search is running
  far?: string; // "120 of 672 settings"
}

/**
 * A long search with progress that can be cancelled. `key`: the question as JSON; null asks nothing. A short search may finish
 * although a newer question waits, so that answers follow a slider; a long one is cancelled.
 */
export function useSearch<C extends Command>(command: C, key: string | null): Searching<AnswerOf<C>> & { cancel: () => void } {
  const [state, setState] = useState<Searching<AnswerOf<C>>>({ value: undefined, failed: undefined, seconds: key === null ? null : 0 });
  const newest = useRef<Newest<AnswerOf<C>>>();
  newest.current ??= new Newest(
    (question, signal) => search(command, JSON.parse(question) as AskFor<C>, signal, (job) => { if (!signal.aborted) setState((old) => ({ ...old, seconds: job.seconds ?? 0, far: job.total ? `${number(job.done ?? 0)} of ${number(job.total)} ${job.what ?? ''}` : '' })); }),
    {
      asked: () => { setState((old) => ({ ...old, seconds: 0 })); },
      answered: (value, _, last) => { setState({ value, failed: undefined, seconds: last ? null : 0 }); },
      failed: (failed) => { setState((old) => ({ ...old, failed, seconds: null })); },
    },
    true,
  );
  const cancel = () => { newest.current?.stop(); setState((old) => ({ ...old, seconds: null })); };
  useLayoutEffect(() => { if (key === null) cancel(); else newest.current?.next(key); }, [key]);
  useEffect(() => () => { newest.current?.stop(); }, []);
  return { ...state, cancel };
}
