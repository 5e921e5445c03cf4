// A page's question: its fields in the address, the request they make, and the answer.
import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { AnswerOf, AskFor, Command } from '../api/client';
import { Slider } from './fields';
import { useAddress, type Change, type Fields } from '../lib/address';
import { wrongFields, type Numbers } from '../lib/number_field';
import { useAhead, useAnswer, useSearch, useSettled, type Answer } from '../lib/answer';

export interface Question<S extends Fields, C extends Command> {
  command: C;
  state: S;
  change: Change<S>;
  /** Sets a field that was chosen or typed; the Back button returns to the value before. */
  choose: (name: keyof S & string) => (value: string) => void;
  slide: (name: keyof S & string) => (value: string) => void;
  /** The slider of a number. `otherwise`: where it stands while the field is empty. */
  slider: (name: keyof S & string, more?: { hint?: string; otherwise?: number }) => JSX.Element;
  /** Whether a field holds something that cannot be used; the answer is that of the question before. */
  wrong: boolean;
  /** The fields without a wrong one, as the answer shown has them. */
  used: S;
  /** Whether the fields are those of a first visit. */
  example: boolean;
  asked: AskFor<C> | null;
  /** `preliminary`: from the smaller question, for the fields as they are. */
  answer: Pick<Answer<AnswerOf<C>>, 'value' | 'failed' | 'busy'> & { preliminary: boolean };
  /** Progress of a running search. */
  progress?: Progress | undefined;
}

export interface Progress {
  seconds: number;
  far: string;
  cancel: () => void;
}

interface Options<S, C extends Command> {
  /** The fields that hold numbers. While one of them is wrong, nothing is asked. */
  numbers?: (state: S) => Numbers;
  /** Whether another field cannot be used, which then says so itself. */
  isWrong?: (state: S) => boolean;
  /** Fields that change the view, not the question. */
  view?: (keyof S)[];
  /** Set with every change of the question: a selection in the old answer. */
  reset?: Partial<S>;
  /** How long the fields must rest before the request is sent, in milliseconds; without it, answers follow the slider. */
  pause?: number;
  /** A long computation, with progress. */
  search?: boolean;
  /** A smaller question with a preliminary answer, given the last answer. It is sent while a slider moves, and first if the full one is a search; the full one follows. */
  quick?: (asked: AskFor<C>, last: AnswerOf<C> | undefined) => AskFor<C> | null;
  /** Whether a preliminary answer has a plan; one without says nothing about the full question. */
  hasPlan?: (answer: AnswerOf<C>) => boolean;
  /** Other inputs of the question, in addition to the fields. */
  also?: unknown;
  /** Whether these inputs are the visitor's own, such as an opened file. */
  own?: boolean;
}

/** How long a slider rests before the full question follows the quick one, in milliseconds. */
const QUICK_PAUSE = 200;

export function useQuestion<S extends Fields, C extends Command>(command: C, defaults: S, questionOf: (state: S) => AskFor<C> | null, options: Options<S, C> = {}): Question<S, C> {
  const [state, change] = useAddress(defaults);
  const { quick, pause = quick ? QUICK_PAUSE : 0, reset = {}, view = [] } = options;
  const keyOf = (fields: S) => JSON.stringify({ ...fields, ...Object.fromEntries(view.map((name) => [name, ''])) });
  const key = keyOf(state);
  // The same question stays the same object, also if it is made again from other inputs.
  const numbers = options.numbers?.(state) ?? {};
  const wrong = Object.keys(wrongFields(numbers, state)).length > 0 || (options.isWrong?.(state) ?? false);
  const usable = useRef<AskFor<C> | null>(null);
  const used = useRef(defaults);
  if (!wrong) used.current = state;
  const made = useMemo(() => (wrong ? usable.current : questionOf(state)), [key, wrong, options.also]);
  usable.current = made;
  const text = JSON.stringify(made);
  const asked = useMemo(() => made, [text]);
  // The first question does not wait.
  const settled = useSettled(asked, pause) ?? asked;
  const asking = useAnswer(command, options.search ? null : settled, pause === 0, settled !== asked);
  const found = useSearch(command, options.search && settled !== null && settled === asked ? JSON.stringify(settled) : null);
  const full = options.search ? { ...found, busy: found.seconds !== null } : asking;
  const seen = useRef<{ full?: AnswerOf<C> | undefined; quick?: AnswerOf<C> | undefined; quickIsNewer?: boolean }>({});
  const smaller = (question: AskFor<C> | null) => (quick && question && (seen.current.full || options.search) ? quick(question, seen.current.full) : null);
  const moving = useMemo(() => smaller(asked), [asked]);
  const preliminary = useAnswer(command, moving, true);
  if (full.value !== seen.current.full) seen.current = { full: full.value, quick: preliminary.value };
  else if (preliminary.value !== seen.current.quick) seen.current = { full: full.value, quick: preliminary.value, quickIsNewer: preliminary.value !== undefined && (options.hasPlan?.(preliminary.value) ?? true) };
  const isQuick = seen.current.quickIsNewer && (settled !== asked || full.busy);
  const askAhead = useAhead(command, quick ? moving : options.search ? null : settled);
  const near = (name: keyof S) => (values: string[]) => {
    if (wrong || (options.search && !quick)) return;
    const likely = values.map((value) => questionOf({ ...state, [name]: value }));
    askAhead((quick ? likely.map(smaller) : likely).flatMap((question) => question ?? []));
  };
  const answer = { ...full, value: isQuick ? preliminary.value : full.value };
  const set = (name: keyof S, value: string, remember: boolean) => { change({ [name]: value, ...reset } as Partial<S>, remember); };
  const slide = (name: keyof S) => (value: string, remember = false) => { set(name, value, remember); };
  return {
    command, state, change, asked,
    example: key === keyOf(defaults) && !options.own,
    choose: (name) => (value) => { set(name, value, true); },
    slide,
    slider: (name, more = {}) => { const field = numbers[name]; return field ? <Slider key={name} field={field} value={state[name] ?? ''} {...more} onSlide={slide(name)} onNear={near(name)} /> : <></>; },
    wrong,
    used: used.current,
    answer: { value: answer.value, failed: answer.failed, busy: answer.busy || settled !== asked, preliminary: Boolean(isQuick) && !preliminary.busy && !wrong },
    progress: found.seconds === null ? undefined : { seconds: found.seconds, far: found.far ?? '', cancel: found.cancel },
  };
}
