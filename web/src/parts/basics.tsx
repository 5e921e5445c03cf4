// Small components that every page uses.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Refused } from '../api/client';
import { tied } from '../lib/format';
import { explained, hintsInPageWords, inPageWords } from '../lib/words';

export function Card(props: { title?: string; note?: string; tools?: ComponentChildren; children: ComponentChildren; bare?: boolean; label?: string }) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={props.title ? id : undefined} aria-label={props.title ? undefined : props.label}>
      {props.title && (
        <div class="card-head">
          <div>
            <h2 id={id}>{props.title}</h2>
            {props.note && <p>{props.note}</p>}
          </div>
          {props.tools}
        </div>
      )}
      {props.bare ? props.children : <div class="card-body">{props.children}</div>}
    </section>
  );
}

export interface StatProps {
  name: string;
  value: string;
  note?: string | undefined;
  /** The meaning of the number, shown on hover and touch; common names have a default. */
  help?: string | undefined;
}

/** A name with its explanation on hover and touch (help.tsx), if there is one. `stop`: the Tab key reaches it. */
export function Named(props: { name: string; help?: string | undefined; stop?: boolean }) {
  const help = props.help ?? explained(props.name);
  return help ? <abbr data-help={help} aria-description={help} tabIndex={props.stop ? 0 : undefined}>{props.name}</abbr> : <>{props.name}</>;
}

/** In rows of at most seven, of equal length. */
export function Stats(props: { items: StatProps[] }) {
  const columns = Math.ceil(props.items.length / Math.ceil(props.items.length / 7));
  return (
    <dl class="stats" style={{ '--columns': columns }}>
      {props.items.map((item) => (
        <div class="stat" key={item.name} data-help={item.help ?? explained(item.name)}>
          <dt>
            <Named name={item.name} help={item.help} stop />
          </dt>
          <dd>
            {tied(item.value)}
            {item.note && <small>{tied(item.note)}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'plain';

export function Badge(props: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${props.tone ?? ''}`} data-help={props.title}>
      {props.children}
    </span>
  );
}

export function PageHead(props: { title: string; what: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${props.title} · rightsize`;
  }, [props.title]);
  return (
    <header class="page-head">
      <div>
        <h1>{props.title}</h1>
        <p>{props.what}</p>
      </div>
      <div class="actions">{props.children}</div>
    </header>
  );
}

/** `fields`: the page's names of the program's flags. */
export function Problem(props: { failed: unknown; fields?: Record<string, string> }) {
  const { failed } = props;
  const messages = failed instanceof Refused ? failed.messages : [failed instanceof Error ? failed.message : String(failed)];
  const hints = failed instanceof Refused ? hintsInPageWords(failed.hints, props.fields) : [];
  return (
    <div class="note bad" role="alert">
      {messages.map((message) => (
        <p key={message}>{inPageWords(message, props.fields)}</p>
      ))}
      {hints.map((hint) => (
        <p class="quiet" key={hint}>
          {hint}
        </p>
      ))}
    </div>
  );
}

export function Busy(props: { what?: string }) {
  return (
    <span role="status">
      <i class="busy" /> <span class="quiet">{props.what ?? 'Working…'}</span>
    </span>
  );
}

export function Segmented<T extends string>(props: { label: string; value: T; choices: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.choices.map(([value, name]) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => { props.onChange(value); }}>
          {name}
        </button>
      ))}
    </div>
  );
}

export function Tabs<T extends string>(props: { label: string; value: T; choices: readonly (readonly [T, string])[]; onChange: (value: T) => void; children: ComponentChildren }) {
  const id = useId();
  const strip = useRef<HTMLDivElement>(null);
  // On phones, the tabs are one row that scrolls sideways.
  useEffect(() => {
    const tab = document.getElementById(`${id}-${props.value}`);
    if (strip.current && tab) strip.current.scrollLeft = tab.offsetLeft - (strip.current.clientWidth - tab.offsetWidth) / 2;
  }, [props.value]);
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = props.choices.findIndex(([value]) => value === props.value);
    const next = props.choices[(at + step + props.choices.length) % props.choices.length];
    if (!next) return;
    props.onChange(next[0]);
    document.getElementById(`${id}-${next[0]}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" ref={strip} aria-label={props.label} onKeyDown={move}>
        {props.choices.map(([value, name]) => (
          <button type="button" role="tab" key={value} id={`${id}-${value}`} aria-controls={`${id}-panel`} aria-selected={value === props.value} tabIndex={value === props.value ? 0 : -1} onClick={() => { props.onChange(value); }}>
            {name}
          </button>
        ))}
      </div>
      <div class="card-body" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${props.value}`}>
        {props.children}
      </div>
    </>
  );
}

export function Menu(props: { label: string; items: [string, () => void][] }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event: Event) => {
      if ((event instanceof KeyboardEvent && event.key !== 'Escape') || (event instanceof MouseEvent && box.current?.contains(event.target as Node))) return;
      setOpen(false);
      if (event instanceof KeyboardEvent) box.current?.querySelector('button')?.focus();
    };
    addEventListener('mousedown', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('mousedown', close);
      removeEventListener('keydown', close);
    };
  }, [open]);
  return (
    <div class="menu" ref={box}>
      <button type="button" class="button" aria-expanded={open} aria-haspopup="true" onClick={() => { setOpen(!open); }}>
        {props.label} <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div>
          {props.items.map(([name, run]) => (
            <button type="button" key={name} onClick={() => { setOpen(false); run(); }}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** The files a page can be saved as; every page can be printed. */
export function Export(props: { items: [string, () => void][] }) {
  return <Menu label="Export" items={[...props.items, ['Whole page (print or PDF)', () => { print(); }]]} />;
}

/** Whether it worked. Browsers have no clipboard API over plain HTTP to another machine; selecting and copying works there. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.body.appendChild(document.createElement('textarea'));
    area.value = text;
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function CopyText(props: { text: string | (() => string); what?: string; small?: boolean }) {
  const [shown, setShown] = useState('');
  const copy = async () => {
    setShown((await copied(typeof props.text === 'string' ? props.text : props.text())) ? 'Copied' : 'Cannot copy');
    setTimeout(() => { setShown(''); }, 1500);
  };
  return (
    <button type="button" class={`button ${props.small === false ? '' : 'small'}`} onClick={() => void copy()}>
      <span aria-live="polite">{shown || (props.what ?? 'Copy')}</span>
    </button>
  );
}

/** The address contains the whole state of the page. */
export const CopyLink = () => <CopyText text={() => location.href} what="Copy link" small={false} />;
