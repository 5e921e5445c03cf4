// The layout of pages with one question and one answer: fields on the left, the answer on the right.
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { askForFile, type AskFor, type Command } from '../api/client';
import { useAnswer, useSettled } from '../lib/answer';
import { knit, magnitude, tied } from '../lib/format';
import { save } from '../lib/save';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem } from './basics';
import { Combobox, type Choice } from './fields';
import type { Progress } from './question';
import { Table, type TableProps } from './table';

interface Props<C extends Command, T> {
  title: string;
  what: string;
  question: { command: C; asked: AskFor<C> | null; wrong: boolean; answer: { value: T | undefined; failed: unknown; busy: boolean; preliminary?: boolean }; progress?: Progress | undefined; example?: boolean };
  /** The page's names of the program's flags. */
  names?: Record<string, string>;
  fields: ComponentChildren;
  /** A second group of fields, with its label. */
  moreFields?: [string, ComponentChildren];
  roomy?: boolean;
  tools?: ComponentChildren;
  /** Files in addition to the reports and the answer. */
  files?: [string, () => void][];
  waiting?: string;
  children: (value: T) => ComponentChildren;
}

/** Whether the answer is that of a first visit, whether a newer one takes long, and whether it is an estimate that the full answer follows. */
const State = createContext({ example: false, slow: false, preliminary: false });
/** After how many milliseconds an answer takes long. */
const SLOW = 300;

export function AskPage<C extends Command, T>(props: Props<C, T>) {
  const { answer, asked, command, progress, wrong } = props.question;
  const { preliminary = false } = answer;
  // A preliminary answer is one for these fields: only what it leaves out stays grey.
  const look = wrong ? 'stale kept' : asked === null || answer.failed !== undefined ? 'stale' : preliminary ? 'preliminary' : answer.busy ? 'stale' : '';
  const slow = useSettled(answer.busy, SLOW) && answer.busy;
  const file = (format: 'html' | 'md') => { if (asked) void askForFile(command, asked, format).then((blob) => { save(`rightsize-${command}.${format}`, blob, blob.type); }); };
  return (
    <>
      <PageHead title={props.title} what={props.what}>
        {props.tools}
        <CopyLink />
        <Export items={[...(props.files ?? []), ['Report (HTML)', () => { file('html'); }], ['Report (Markdown)', () => { file('md'); }], ['Answer (JSON)', () => { save(`rightsize-${command}.json`, JSON.stringify(answer.value, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class={`with-controls ${props.roomy ? 'roomy' : ''}`}>
        <div class="controls">
          <section class="card fields" aria-label="The question">
            {props.fields}
            {progress && progress.seconds > 0.5 && (
              <div class="actions">
                <Busy what={`${progress.seconds.toFixed(1)} s${progress.far === '' ? '' : `: ${progress.far}`}`} />
                <button type="button" class="button small" onClick={progress.cancel}>
                  Cancel
                </button>
              </div>
            )}
          </section>
          {props.moreFields && <section class="card fields" aria-label={props.moreFields[0]}>{props.moreFields[1]}</section>}
        </div>
        <div class="stack">
          {wrong && <Card label="Error"><p class="note warn">{answer.value ? 'A marked field cannot be used: this is still the answer to the previous question.' : 'Correct the marked field.'}</p></Card>}
          {answer.failed !== undefined && !wrong && <Card label="Error"><Problem failed={answer.failed} fields={props.names ?? {}} /></Card>}
          {!answer.value && answer.failed === undefined && asked !== null && <Card label="Working"><div class="empty">{answer.busy ? <Busy what={props.waiting ?? 'Working…'} /> : 'Cancelled. Change a field to search again.'}</div></Card>}
          {answer.value && <div class={`stack ${look}`} aria-busy={answer.busy}><State.Provider value={{ example: props.question.example ?? false, slow, preliminary }}>{props.children(answer.value)}</State.Provider></div>}
        </div>
      </div>
    </>
  );
}

/** The answer in a sentence. On phones, it is also at the lower edge while its place is out of view; a touch shows all of it. */
export function Line(props: { line: string; testid?: string }) {
  const place = useRef<HTMLParagraphElement>(null);
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new IntersectionObserver((entries) => { setSeen(entries.at(-1)?.isIntersecting ?? true); });
    observer.observe(place.current);
    return () => { observer.disconnect(); };
  }, []);
  const line = tied(props.line);
  return (
    <>
      {!seen && <p class="mini" aria-hidden="true" onClick={() => { place.current?.parentElement?.scrollIntoView({ behavior: 'smooth' }); }}>{line}</p>}
      <p class="hero-line" data-testid={props.testid ?? 'answer'} ref={place}>{line}</p>
    </>
  );
}

/** The answer in a sentence, its basis, and its numbers. `example`: on pages that are not an AskPage. */
export function Hero(props: { line: string; sub?: ComponentChildren; example?: boolean; children?: ComponentChildren }) {
  const state = useContext(State);
  const example = state.example || props.example;
  return (
    <section class="card hero" aria-label="The answer">
      {(state.slow || state.preliminary) && <div class="replanning"><Busy what={state.preliminary ? 'Preliminary, refining…' : 'Re-planning…'} /></div>}
      <Line line={props.line} />
      {(example || props.sub) && <p class="hero-sub">{example && <Badge tone="accent" title="Nothing was entered yet: change a field to get your own answer">Example</Badge>} {typeof props.sub === 'string' ? knit(props.sub) : props.sub}</p>}
      {props.children && <div style={{ marginTop: '12px' }}>{props.children}</div>}
    </section>
  );
}

/** A table in its own card. */
export function TableCard<R>(props: Omit<TableProps<R>, 'label'> & { title: string; note?: string }) {
  const { title, note, ...table } = props;
  return <Card title={title} {...(note ? { note } : {})} bare><Table label={title} {...table} /></Card>;
}

interface NameFieldProps {
  label?: string;
  value: string;
  onChange: (value: string) => void;
}

/** Built-in models; the server may know other names. */
export function ModelField(props: NameFieldProps) {
  const models = useAnswer('models', useMemo(() => ({}), []));
  const choices = useMemo<Choice[]>(() => (models.value?.models ?? []).map((each) => ({ value: each.name ?? '', note: magnitude(each.parameters ?? 0), words: `${each.name ?? ''} ${each.family ?? ''} ${each.source ?? ''}`.toLowerCase() })), [models.value]);
  return <Combobox free="use this name" label={props.label ?? 'Model'} value={props.value} choices={choices} onChange={props.onChange} />;
}

/** `first`: a choice before the GPUs. `vendors`: only theirs. `free`: other names may be typed, for this purpose. */
export function GpuField(props: NameFieldProps & { first?: Choice; vendors?: string[]; free?: string }) {
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  const choices = useMemo<Choice[]>(() => [...(props.first ? [props.first] : []), ...(gpus.value?.gpus ?? []).filter((each) => props.vendors?.includes(each.vendor) ?? true).map((each) => ({ value: each.name, note: each.vendor, words: `${each.name} ${each.vendor} ${(each.aliases ?? []).join(' ')}`.toLowerCase() }))], [gpus.value]);
  return <Combobox label={props.label ?? 'GPU'} value={props.value} choices={choices} free={props.free} onChange={props.onChange} />;
}
