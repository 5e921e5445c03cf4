// The layout of pages with one question and one answer: fields on the left, the answer on the right.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { askForFile, type AskFor, type Command } from '../api/client';
import { useAnswer } from '../lib/answer';
import { magnitude } from '../lib/format';
import { save } from '../lib/save';
import { Busy, Card, CopyLink, Export, PageHead, Problem } from './basics';
import type { Choice } from './fields';

interface Props<C extends Command, T> {
  title: string;
  what: string;
  command: C;
  asked: AskFor<C> | null;
  answer: { value: T | undefined; failed: unknown; busy: boolean };
  /** The page's names of the program's flags. */
  fields?: Record<string, string>;
  controls: ComponentChildren;
  tools?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function AskPage<C extends Command, T>(props: Props<C, T>) {
  const { answer, asked, command } = props;
  const file = (format: 'html' | 'md') => { if (asked) void askForFile(command, asked, format).then((blob) => { save(`rightsize-${command}.${format}`, blob, blob.type); }); };
  return (
    <>
      <PageHead title={props.title} what={props.what}>
        {props.tools}
        <CopyLink />
        <Export items={[['Report (HTML)', () => { file('html'); }], ['Report (Markdown)', () => { file('md'); }], ['Answer (JSON)', () => { save(`rightsize-${command}.json`, JSON.stringify(answer.value, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class="with-controls">
        <div class="controls">{props.controls}</div>
        <div class="stack">
          {answer.failed !== undefined && <Card label="Error"><Problem failed={answer.failed} fields={props.fields ?? {}} /></Card>}
          {!answer.value && answer.failed === undefined && asked !== null && <Card label="Working"><div class="empty"><Busy /></div></Card>}
          {answer.value && <div class={`stack ${answer.busy || answer.failed !== undefined ? 'stale' : ''}`} aria-busy={answer.busy}>{props.children(answer.value)}</div>}
        </div>
      </div>
    </>
  );
}

/** The answer in a sentence, what it rests on, and its numbers. */
export function Hero(props: { line: string; sub?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <section class="card hero" aria-label="The answer">
      <p class="hero-line" data-testid="answer">{props.line}</p>
      {props.sub && <p class="hero-sub">{props.sub}</p>}
      {props.children && <div style={{ marginTop: '12px' }}>{props.children}</div>}
    </section>
  );
}

/** Built-in models for a Combobox; other names may be typed. */
export function useModelChoices(): Choice[] {
  const models = useAnswer('models', useMemo(() => ({}), []));
  return useMemo(() => (models.value?.models ?? []).map((each) => ({ value: each.name ?? '', note: magnitude(each.parameters ?? 0), words: `${each.name ?? ''} ${each.family ?? ''} ${each.source ?? ''}`.toLowerCase() })), [models.value]);
}

export function useGpuChoices(): Choice[] {
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  return useMemo(() => (gpus.value?.gpus ?? []).map((each) => ({ value: each.name, note: each.vendor, words: `${each.name} ${each.vendor} ${(each.aliases ?? []).join(' ')}`.toLowerCase() })), [gpus.value]);
}
