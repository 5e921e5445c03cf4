// The client of the JSON API; every type comes from the OpenAPI file (npm run client).
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Plan = NonNullable<Schemas['Recommend']['plans']>[number];
export type BatchPlan = NonNullable<Schemas['Batch']['frontier']>[number];

type Posts = { [P in keyof paths as P extends `/api/${infer C}` ? (paths[P] extends { post: { requestBody?: unknown } } ? (C extends `${string}/${string}` ? never : C) : never) : never]: paths[P] };
export type Command = keyof Posts & string;
type Post<C extends Command> = Posts[C] extends { post: infer Operation } ? Operation : never;
export type AskFor<C extends Command> = Post<C> extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body : never;
/** Reinforcement learning has a separate document, Schemas['RecommendRl']. */
export type AnswerOf<C extends Command> = C extends 'recommend' ? Schemas['Recommend'] : Post<C> extends { responses: { 200: { content: { 'application/json': infer Body } } } } ? Body : never;

/** An error of the server, with its hints. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly problem: Partial<Schemas['Problem']>,
  ) {
    super(problem.error ?? `the server answered ${String(status)}`);
  }
  get hints(): string[] {
    return (this.problem.errors ?? []).flatMap((each) => each.hints ?? []);
  }
  get messages(): string[] {
    const all = (this.problem.errors ?? []).map((each) => each.message);
    return all.length > 0 ? all : [this.message];
  }
  /** The refusal without messages that are shown elsewhere; undefined if none is left. */
  without(shown: (message: string) => boolean): Refused | undefined {
    const errors = this.problem.errors ?? [];
    const left = errors.filter((each) => !shown(each.message));
    return errors.length > 0 && left.length === 0 ? undefined : new Refused(this.status, { ...this.problem, errors: left });
  }
}

/** The server cannot be reached; it may be restarting. */
export class Away extends Error {
  constructor() {
    super('The server does not respond. The page tries again every few seconds.');
  }
}

const KEPT = 'rightsize-token';
export const setToken = (token: string) => {
  sessionStorage.setItem(KEPT, token);
};

function headers(more: Record<string, string> = {}): Record<string, string> {
  const token = sessionStorage.getItem(KEPT);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

async function request(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch((failed: unknown) => {
    // fetch() reports every network failure as a TypeError.
    throw failed instanceof TypeError ? new Away() : failed;
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Schemas['Problem']>;
  if (response.status === 401) dispatchEvent(new Event('token-needed'));
  throw new Refused(response.status, problem);
}

function post(path: string, body: unknown, signal?: AbortSignal, priority: RequestPriority = 'auto'): Promise<Response> {
  return request(path, {
    priority,
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json', ...(priority === 'low' && { Priority: 'u=6' }) }),
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

const PART = 4 * 2 ** 20;

/** Sends a file in compressed parts; returns the text that represents it in a request. */
export async function upload(file: Blob, signal: AbortSignal, progress: (share: number) => void): Promise<string> {
  let sent = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({ transform: (chunk, out) => { sent += chunk.length; out.enqueue(chunk); } });
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = start[0] === 0x1f && start[1] === 0x8b;
  const bytes = file.stream().pipeThrough(counted);
  const reader = (packed ? bytes : bytes.pipeThrough(new CompressionStream('gzip') as unknown as TransformStream<Uint8Array, Uint8Array>)).getReader();
  let id = '';
  let at = 0;
  let waiting: Uint8Array[] = [];
  let size = 0;
  const send = async () => {
    const response = await request(`/api/uploads?id=${id}&at=${String(at)}`, { method: 'POST', headers: headers({ 'Content-Type': 'application/octet-stream' }), body: new Blob(waiting), signal });
    ({ id, bytes: at } = (await response.json()) as { id: string; bytes: number });
    waiting = [];
    size = 0;
  };
  let percent = -1;
  for (;;) {
    const { value, done } = await reader.read();
    const share = file.size > 0 ? sent / file.size : 1;
    if (Math.floor(100 * share) > percent) progress(share);
    percent = Math.floor(100 * share);
    if (value) {
      waiting.push(value);
      size += value.length;
    }
    if (size >= PART || (done && (size > 0 || id === ''))) await send();
    if (done) return `upload:${id}`;
  }
}

/** Runs a command; the answer is its --format json document. */
export async function ask<C extends Command>(command: C, what: AskFor<C>, signal?: AbortSignal, priority?: RequestPriority): Promise<AnswerOf<C>> {
  return (await (await post(`/api/${command}`, what, signal, priority)).json()) as AnswerOf<C>;
}

/** The same report as a file: HTML, CSV, Markdown or text. */
export async function askForFile<C extends Command>(command: C, what: AskFor<C>, format: 'html' | 'csv' | 'md' | 'text'): Promise<Blob> {
  return (await post(`/api/${command}`, { ...(what as object), format })).blob();
}

export async function showServer(): Promise<Schemas['Server']> {
  return (await (await request('/api/server', { headers: headers() })).json()) as Schemas['Server'];
}

export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * Collects the pieces of a stream and returns the events that they complete. It reads each piece once: the answer for a fleet
 * of 10,000 GPUs arrives in 1,000 pieces.
 */
export function eventReader(): (piece: string) => ServerEvent[] {
  let pieces: string[] = [];
  let end = '';
  return (piece) => {
    pieces.push(piece);
    const complete = (end + piece).includes('\n\n');
    end = piece === '' ? end : piece.slice(-1);
    if (!complete) return [];
    const parts = pieces.join('').split('\n\n');
    pieces = [parts.pop() ?? ''];
    return parts.flatMap((part) => {
      const event = /^event: (.*)/.exec(part)?.[1];
      const data = part.indexOf('\ndata: ');
      return event === undefined ? [] : [{ event, data: data < 0 ? '' : part.slice(data + 7).replaceAll('\ndata: ', '\n') }];
    });
  };
}

/** Server-sent events over fetch, which, unlike EventSource, can send the token. Ends when the server ends it or `signal` aborts. */
export async function watch(path: string, signal: AbortSignal, take: (event: ServerEvent) => void): Promise<void> {
  const response = await request(path, { headers: headers(), signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  const events = eventReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    events(value).forEach(take);
  }
}

/** A long search with progress; aborting `signal` also cancels it on the server. */
export async function search<C extends Command>(command: C, what: AskFor<C>, signal: AbortSignal, progress: (job: Schemas['Job']) => void): Promise<AnswerOf<C>> {
  const job = (await (await post(`/api/jobs/${command}`, what, signal)).json()) as Schemas['Job'];
  const id = job.id ?? '';
  signal.addEventListener('abort', () => {
    void fetch(`/api/job/${id}`, { method: 'DELETE', headers: headers() }).catch(() => undefined);
  });
  let answer: AnswerOf<C> | undefined;
  let failed: Refused | undefined;
  await watch(`/api/job-events/${id}`, signal, ({ event, data }) => {
    const document = JSON.parse(data) as unknown;
    if (event === 'progress') progress(document as Schemas['Job']);
    else if (event === 'done') answer = document as AnswerOf<C>;
    else failed = new Refused(400, document as Schemas['Problem']);
  });
  if (failed) throw failed;
  if (answer === undefined) throw new Refused(502, { error: 'the connection to the server was lost' });
  return answer;
}
