// Input fields.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { boxText, readField, twoDigits, valueIn, wrongIn, type NumberField } from '../lib/number_field';

/** `help`: the meaning of its value, shown on hover and touch. */
export function Field(props: { label: string; help?: string | undefined; hint?: string; wrong?: string | undefined; beside?: ComponentChildren; children: (id: string) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <div class="label">
        <label for={id} data-help={props.help}>{props.help ? <abbr data-help={props.help}>{props.label}</abbr> : props.label}</label>
        {props.beside}
      </div>
      {props.children(id)}
      {props.wrong && (
        <p class="hint wrong" role="alert">
          {props.wrong}
        </p>
      )}
      {props.hint && <p class="hint">{props.hint}</p>}
    </div>
  );
}

/** How long after the last key press the text is committed. */
const TYPING = 300;

/**
 * The text of a box while the user types: `commit` runs after a pause, or at once on Enter and on leaving. `first`: the first
 * change since the box was entered. `pending`: the text has not been committed yet.
 */
function useTyping(commit: (text: string, first: boolean) => void, pending?: (is: boolean) => void) {
  const [typed, setTyped] = useState<string | null>(null);
  const timer = useRef<number>();
  const changes = useRef(0);
  const latest = useRef({ commit, pending });
  latest.current = { commit, pending };
  useEffect(() => () => { clearTimeout(timer.current); latest.current.pending?.(false); }, []);
  const take = (text: string) => {
    clearTimeout(timer.current);
    latest.current.pending?.(false);
    latest.current.commit(text, changes.current++ === 0);
  };
  return {
    typed,
    enter: () => { changes.current = 0; },
    type: (text: string, wait: boolean) => {
      setTyped(text);
      clearTimeout(timer.current);
      latest.current.pending?.(true);
      if (wait) timer.current = setTimeout(() => { take(text); }, TYPING) as unknown as number;
    },
    finish: (text: string) => {
      if (typed !== null) take(text);
      setTyped(null);
    },
  };
}

/** A text field. `live`: committed while typing; otherwise on Enter and on leaving, and pending meanwhile. */
export function TextField(props: { label: string; value: string; help?: string; hint?: string; wrong?: string | undefined; placeholder?: string; live?: boolean; onChange: (value: string, remember: boolean) => void; onPending?: (is: boolean) => void }) {
  const typing = useTyping((text, first) => { if (text !== props.value) props.onChange(text, first); }, props.onPending);
  const waiting = typing.typed !== null && typing.typed.trim() !== props.value && !props.live;
  const hint = waiting ? 'Press Enter to use it.' : props.hint;
  return (
    <Field label={props.label} help={props.help} wrong={waiting ? undefined : props.wrong} {...(hint ? { hint } : {})}>
      {(id) => (
        <input
          id={id}
          type="text"
          value={typing.typed ?? props.value}
          placeholder={props.placeholder ?? ''}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={props.wrong !== undefined && !waiting}
          onFocus={typing.enter}
          onInput={(event) => { typing.type(event.currentTarget.value, props.live ?? false); }}
          onChange={(event) => { typing.finish(event.currentTarget.value.trim()); }}
        />
      )}
    </Field>
  );
}

export function SelectField(props: { label: string; value: string; choices: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <Field label={props.label}>
      {(id) => (
        <select id={id} value={props.value} onChange={(event) => { props.onChange(event.currentTarget.value); }}>
          {props.choices.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const clean = (value: number) => Number(value.toPrecision(12));

/** The position of a slider, 0-1000, for a value on a logarithmic scale, and back. */
export function toPosition(value: number, least: number, most: number): number {
  return Math.round((1000 * Math.log(value / least)) / Math.log(most / least));
}
export function fromPosition(position: number, least: number, most: number, step = twoDigits): number {
  if (position <= 0) return least;
  if (position >= 1000) return most;
  const value = least * (most / least) ** (position / 1000);
  const each = step(value);
  return Math.min(most, Math.max(least, clean(Math.round(value / each) * each)));
}

/** The next value up or down that is displayed differently. */
export function stepFrom(value: number, up: boolean, least: number, most: number, step = twoDigits): number {
  // At the boundary between two step sizes, going down uses the smaller one.
  const each = step(up ? value : value * (1 - 1e-9));
  const at = value / each;
  const next = clean((up ? Math.floor(at + 1e-6) + 1 : Math.ceil(at - 1e-6) - 1) * each);
  return up ? Math.max(value, Math.min(most, next)) : Math.min(value, Math.max(least, next));
}

const KEYS: Record<string, [boolean, number]> = { ArrowUp: [true, 1], ArrowRight: [true, 1], PageUp: [true, 10], ArrowDown: [false, 1], ArrowLeft: [false, 1], PageDown: [false, 10] };

/** How long the arrow keys must rest before the next values are requested in advance. */
const REST = 120;

export interface SliderProps {
  field: NumberField;
  /** As in the address: a number, empty, or the text of a box that is none. */
  value: string;
  /** Where the slider stands while the field is empty. */
  otherwise?: number;
  hint?: string;
  /** Called while it moves, and with the text of the box; `remember` if the Back button should return here. */
  onSlide: (value: string, remember: boolean) => void;
  /** Called when the keyboard rests: the values one step away, in the direction of the last step first. */
  onNear?: (values: string[]) => void;
}

/** A logarithmic slider with a box to type in. Text that is not a number in range stays in the box, with the reason. */
export function Slider(props: SliderProps) {
  const { field } = props;
  const { scale, least, most } = field;
  const [focused, setFocused] = useState(false);
  const last = useRef(props.otherwise ?? Math.sqrt(least * most)); // the last number, while the box holds none
  const now = valueIn(field, props.value) ?? (props.value === '' ? props.otherwise : undefined) ?? last.current;
  const before = useRef(now);
  last.current = now;
  useEffect(() => {
    const down = now < before.current;
    before.current = now;
    if (!focused || !props.onNear) return;
    const near = [!down, down].map((up) => stepFrom(now, up, least, most, scale.step)).filter((value) => value !== now);
    const timer = setTimeout(() => { props.onNear?.(near.map(String)); }, REST);
    return () => { clearTimeout(timer); };
  }, [now, focused]);
  const [text, setText] = useState<string | null>(null); // the typed text while it equals the slider's value
  const typing = useTyping((typed, first) => {
    const { kept } = readField(field, typed, now);
    setText(typed);
    if (kept !== props.value) props.onSlide(kept, first);
  });
  const kept = text !== null && readField(field, text, now).kept === props.value ? text : null;
  const wrong = typing.typed === null ? wrongIn(field, props.value) : readField(field, typing.typed, now).wrong;
  const slide = (value: number) => { setText(null); props.onSlide(String(value), false); };
  const press = (event: KeyboardEvent) => {
    const key = KEYS[event.key];
    if (!key) return;
    event.preventDefault();
    let next = now;
    for (let i = 0; i < key[1]; ++i) next = stepFrom(next, key[0], least, most, scale.step);
    slide(next);
  };
  const boxed = typing.typed ?? kept ?? boxText(field, props.value);
  const box = (
    <input
      type="text"
      class="exact"
      style={boxed.length > 11 ? { width: `${String(Math.min(30, boxed.length + 2))}ch` } : undefined}
      aria-label={`${field.label}, exact`}
      autocomplete="off"
      spellcheck={false}
      value={boxed}
      aria-invalid={wrong !== undefined}
      onFocus={(event) => { typing.enter(); event.currentTarget.select(); }}
      onInput={(event) => { typing.type(event.currentTarget.value, true); }}
      onChange={(event) => { typing.finish(event.currentTarget.value.trim()); }}
      onBlur={() => { setText(null); }}
    />
  );
  return (
    <Field label={field.label} help={field.help} wrong={wrong} beside={box} {...(props.hint ? { hint: props.hint } : {})}>
      {(id) => (
        <input
          id={id}
          type="range"
          min={0}
          max={1000}
          step={1}
          value={toPosition(Math.min(most, Math.max(least, now)), least, most)}
          aria-valuetext={props.value === '' && field.empty !== undefined ? field.empty : scale.show(now)}
          aria-description={field.help}
          onFocus={() => { setFocused(true); }}
          onBlur={() => { setFocused(false); }}
          onKeyDown={press}
          onInput={(event) => { slide(fromPosition(Number(event.currentTarget.value), least, most, scale.step)); }}
        />
      )}
    </Field>
  );
}

export interface Choice {
  value: string;
  note: string;
  words: string;
}

/** The choices that contain every typed word; those that begin with it come first. */
export function matching(choices: Choice[], typed: string): Choice[] {
  const words = typed.toLowerCase().split(/[\s/]+/).filter(Boolean);
  const found = choices.filter((choice) => words.every((word) => choice.words.includes(word)));
  const first = words[0] ?? '';
  return found.sort((a, b) => Number(b.value.startsWith(first)) - Number(a.value.startsWith(first))).slice(0, 60);
}

/** Type to search, arrow keys to move, Enter to select. `free`: other names are allowed, too, with this note. */
export function Combobox(props: { label: string; value: string; choices: Choice[]; hint?: string; free?: string | undefined; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const list = useId();
  const active = useRef<HTMLLIElement>(null);
  const shown = useMemo(() => {
    if (typed === null) return [];
    const found = matching(props.choices, typed);
    const name = typed.trim();
    const known = name === '' || found.some((choice) => choice.value === name.toLowerCase());
    return props.free && !known ? [...found, { value: name, note: props.free, words: '' }] : found;
  }, [props.choices, typed]);
  useEffect(() => {
    active.current?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const take = (choice: Choice | undefined) => {
    if (choice) props.onChange(choice.value);
    setTyped(null);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' && typed === null) setTyped('');
    else if (event.key === 'ArrowDown') setAt(Math.min(at + 1, shown.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter' && typed !== null) take(shown[at]);
    else if (event.key === 'Escape') setTyped(null);
    else return;
    event.preventDefault();
  };
  return (
    <Field label={props.label} {...(props.hint ? { hint: props.hint } : {})}>
      {(id) => (
        <div class="choose">
          <input
            id={id}
            type="search"
            role="combobox"
            aria-expanded={typed !== null}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={typed !== null && shown[at] ? `${list}-${String(at)}` : undefined}
            autocomplete="off"
            spellcheck={false}
            value={typed ?? props.value}
            onFocus={(event) => { event.currentTarget.select(); }}
            onInput={(event) => { setTyped(event.currentTarget.value); setAt(0); }}
            onClick={() => { if (typed === null) { setTyped(''); setAt(0); } }}
            onBlur={() => { setTyped(null); }}
            onKeyDown={press}
          />
          {typed !== null && (
            <ul role="listbox" id={list} aria-label={props.label}>
              {shown.map((choice, i) => (
                <li key={choice.value} id={`${list}-${String(i)}`} role="option" ref={i === at ? active : null} aria-selected={i === at} onMouseDown={(event) => { event.preventDefault(); take(choice); }} onMouseEnter={() => { setAt(i); }}>
                  {choice.value}
                  <span>{choice.note}</span>
                </li>
              ))}
              {shown.length === 0 && <li aria-selected="false" role="option">nothing matches</li>}
            </ul>
          )}
        </div>
      )}
    </Field>
  );
}

/** A group of checkboxes. */
export function Checks(props: { label: string; value: string; choices: readonly string[]; names?: Record<string, string>; onChange: (value: string) => void }) {
  const chosen = props.value === '' ? [] : props.value.split(',');
  return (
    <div class="field">
      <span class="label">{props.label}</span>
      <div class="checks" role="group" aria-label={props.label}>
        {props.choices.map((choice) => {
          const on = chosen.includes(choice);
          return (
            <button type="button" key={choice} aria-pressed={on} onClick={() => { props.onChange((on ? chosen.filter((each) => each !== choice) : [...chosen, choice]).join(',')); }}>
              {props.names?.[choice] ?? choice}
            </button>
          );
        })}
      </div>
    </div>
  );
}
