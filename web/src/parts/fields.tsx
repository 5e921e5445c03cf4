// Ways to give a value.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';

export function Field(props: { label: string; hint?: string; shown?: string; children: (id: string) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {props.label}
        {props.shown !== undefined && <output for={id}>{props.shown}</output>}
      </label>
      {props.children(id)}
      {props.hint && <p class="hint">{props.hint}</p>}
    </div>
  );
}

export function TextField(props: { label: string; value: string; hint?: string; placeholder?: string; onChange: (value: string) => void }) {
  return (
    <Field label={props.label} {...(props.hint ? { hint: props.hint } : {})}>
      {(id) => <input id={id} type="text" value={props.value} placeholder={props.placeholder ?? ''} spellcheck={false} onChange={(event) => { props.onChange(event.currentTarget.value.trim()); }} />}
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

/** Where a slider stands, 0-1000, for a value on a logarithmic scale, and back. */
export function toPosition(value: number, least: number, most: number): number {
  return Math.round((1000 * Math.log(value / least)) / Math.log(most / least));
}
export function fromPosition(position: number, least: number, most: number): number {
  if (position <= 0) return least;
  if (position >= 1000) return most;
  const value = least * (most / least) ** (position / 1000);
  const digit = 10 ** Math.floor(Math.log10(value) - 1);
  return Math.min(most, Math.max(least, Number((Math.round(value / digit) * digit).toPrecision(6))));
}

/** A logarithmic slider. `onSlide` as it is dragged, `onSettle` when it is let go. */
export function Slider(props: { label: string; value: number; least: number; most: number; shown: string; hint?: string; whole?: boolean; onSlide: (value: number) => void; onSettle?: () => void }) {
  const round = (value: number) => (props.whole ? Math.max(1, Math.round(value)) : value);
  return (
    <Field label={props.label} shown={props.shown} {...(props.hint ? { hint: props.hint } : {})}>
      {(id) => (
        <input
          id={id}
          type="range"
          min={0}
          max={1000}
          step={1}
          value={toPosition(Math.min(props.most, Math.max(props.least, props.value)), props.least, props.most)}
          aria-valuetext={props.shown}
          onInput={(event) => { props.onSlide(round(fromPosition(Number(event.currentTarget.value), props.least, props.most))); }}
          onChange={() => props.onSettle?.()}
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

/** Choices that hold every word typed, the ones that begin with it first. */
export function matching(choices: Choice[], typed: string): Choice[] {
  const words = typed.toLowerCase().split(/[\s/]+/).filter(Boolean);
  const found = choices.filter((choice) => words.every((word) => choice.words.includes(word)));
  const first = words[0] ?? '';
  return found.sort((a, b) => Number(b.value.startsWith(first)) - Number(a.value.startsWith(first))).slice(0, 60);
}

/** Type to search, arrows to move, Enter to take. */
export function Combobox(props: { label: string; value: string; choices: Choice[]; hint?: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const list = useId();
  const active = useRef<HTMLLIElement>(null);
  const shown = useMemo(() => (typed === null ? [] : matching(props.choices, typed)), [props.choices, typed]);
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

/** Several of a few. */
export function Checks(props: { label: string; value: string; choices: readonly string[]; onChange: (value: string) => void }) {
  const chosen = props.value === '' ? [] : props.value.split(',');
  return (
    <div class="field">
      <span class="label">{props.label}</span>
      <div class="checks" role="group" aria-label={props.label}>
        {props.choices.map((choice) => {
          const on = chosen.includes(choice);
          return (
            <button type="button" key={choice} aria-pressed={on} onClick={() => { props.onChange((on ? chosen.filter((each) => each !== choice) : [...chosen, choice]).join(',')); }}>
              {choice}
            </button>
          );
        })}
      </div>
    </div>
  );
}
