// The request of the page, from the state in its address.
import type { AskFor } from '../../api/client';
import { durationFlag, magnitude } from '../../lib/format';
import { wrongFields, wrongIn } from '../../lib/number_field';
import { parseCount, parseDuration, parseMoney } from '../../lib/parse';
import { aboutFlag } from '../../lib/words';
import { priceOf, SERVE, TRAIN } from '../numbers';

export const DEFAULTS = {
  job: 'train',
  model: 'llama-3.1-8b',
  config: '',
  // training
  tokens: '1B',
  deadline: '604800', // seconds
  seq: '2048',
  batch: '',
  method: 'full',
  // serving
  rate: '5',
  isl: '1024',
  osl: '256',
  ttft: '1',
  tpot: '0.05',
  percentile: '95',
  // market and limits
  providers: '',
  purchase: 'on-demand',
  gpu: '',
  regions: '',
  budget: '',
  maxgpus: '64',
  precision: '',
  price: '', // "h100-sxm=2.1": the value of the slider
  community: '',
  also: '', // settings without a field, which an answer proposed: "optimizer=adamw-8bit,offload=optimizer"
  // view
  plan: '1', // key of a choice (compare.ts)
  vs: '', // the plan to compare it with
  tab: 'memory',
  tool: 'skypilot',
};
export type State = typeof DEFAULTS;

type Ask = AskFor<'recommend'>;

const NO_DEADLINE = String(365 * 86400);

function given(entries: Partial<Record<keyof Ask, string | undefined>>): Ask {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== '')) as Ask;
}

export function isServing(state: State): boolean {
  return state.job === 'serve';
}

type Fields<T> = Partial<Record<keyof State, T>>;

/** The most that the program takes. */
const MOST = { tokens: 1e18, budget: 1e12, gpus: 65536 };

/** What is wrong with a typed amount: no number, or not in range; undefined if nothing is. */
function wrongAmount(text: string, value: number | undefined, most: number, what: string, like: string): string | undefined {
  if (value !== undefined && value <= most) return undefined;
  if (value !== undefined) return `Type ${what} up to ${magnitude(most)}.`;
  const pointed = text.replace(/(\d),(?=\d)/, '$1.');
  return `${text === '' ? `Type ${what}` : `“${text}” is not ${what}`}, like ${like}.${pointed === text ? '' : ` Write ${pointed} for decimals: a comma separates thousands.`}`;
}

/** Invalid input by field, with its label; empty if all is valid. */
export function problemsOf(state: State): Fields<string> {
  const [gpu = '', price] = state.price.split('=');
  const gpus = parseCount(state.maxgpus);
  const found: Fields<string | undefined> = {
    ...wrongFields(isServing(state) ? SERVE : TRAIN, state),
    price: price === undefined ? undefined : wrongIn(priceOf(gpu), price),
    tokens: isServing(state) ? undefined : wrongAmount(state.tokens, parseCount(state.tokens), MOST.tokens, 'a number of tokens', '1B or 500 million'),
    budget: state.budget === '' ? undefined : wrongAmount(state.budget, parseMoney(state.budget), MOST.budget, 'an amount', '$500 or 10k'),
    maxgpus: state.maxgpus === '' ? undefined : wrongAmount(state.maxgpus, Number.isInteger(gpus) ? gpus : undefined, MOST.gpus, 'a number of GPUs', '64'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, why]) => why !== undefined)) as Fields<string>;
}

/** The label of a field. */
export const labelOf = (field: string) => Object.values(FLAGS).find(([name]) => name === field)?.[1] ?? field;

/** The field of the page for each flag of the program, and its label. */
const FLAGS: Record<string, [keyof State, string]> = {
  model: ['model', 'Model'],
  tokens: ['tokens', 'Tokens'],
  method: ['method', 'Method'],
  deadline: ['deadline', 'Deadline'],
  seq: ['seq', 'Context'],
  batch: ['batch', 'Batch per GPU'],
  rate: ['rate', 'Requests'],
  isl: ['isl', 'Context'],
  osl: ['osl', 'Tokens out'],
  'ttft-slo': ['ttft', 'TTFT limit'],
  'tpot-slo': ['tpot', 'TPOT limit'],
  'slo-percentile': ['percentile', 'Limits apply to'],
  purchase: ['purchase', 'Terms'],
  provider: ['providers', 'Only these providers'],
  gpu: ['gpu', 'Only these GPUs'],
  region: ['regions', 'Regions'],
  budget: ['budget', 'Budget'],
  precision: ['precision', 'Precision'],
  'max-gpus': ['maxgpus', 'Maximum GPUs'],
  price: ['price', 'What if the GPU cost'],
  community: ['community', 'Marketplaces'],
};
/** Settings that answers propose and the page has no field for. */
const ALSO = ['optimizer', 'offload', 'cross-entropy', 'global-batch', 'latency-slo'] as const;
export const alsoOf = (state: State) => state.also.split(',').flatMap((each) => { const [name = '', value] = each.split('='); return value && ALSO.some((known) => known === name) ? [[name, value] as const] : []; });
export const withoutAlso = (state: State, name: string): Partial<State> => ({ also: alsoOf(state).filter(([each]) => each !== name).map((each) => each.join('=')).join(',') });

export const FIELD_NAMES: Record<string, string> = Object.fromEntries(Object.entries(FLAGS).map(([flag, [, name]]) => [flag, name]));

/** The field of a flag, also in its plural: --providers. */
const fieldOf = (flag: string): keyof State | undefined => (FLAGS[flag] ?? FLAGS[flag.replace(/s$/, '')])?.[0];

/** Error messages of the server by field. */
export function refusedFields(messages: string[]): Fields<string> {
  const found: Fields<string> = {};
  for (const message of messages) {
    const about = aboutFlag(message);
    const flag = about?.flag ?? '';
    const field = fieldOf(flag);
    if (field && about) found[field] ??= about.what;
  }
  return found;
}

/** In a form that the program reads: users also write "2 bn". */
const tokensFlag = (text: string) => (/^[\d.]+[kMBT]?$/.test(text) ? text : String(parseCount(text) ?? text));

/** The most widely available providers. */
export const PROVIDERS = ['aws', 'gcp', 'azure', 'lambda', 'runpod', 'coreweave', 'oci', 'nebius'];

/** How many plans to rank: fewer for services, which are simulated one by one. */
const TOP = { train: 16, serve: 8 };

export function question(state: State): Ask {
  const serving = isServing(state);
  const shared = given({
    job: state.job,
    model: state.config === '' ? state.model : undefined,
    model_config: state.config,
    provider: state.providers,
    purchase: state.purchase,
    gpu: state.gpu,
    region: state.regions,
    budget: state.budget === '' ? '' : String(parseMoney(state.budget) ?? state.budget),
    precision: state.precision,
    'max-gpus': state.maxgpus,
  });
  const own = serving
    ? given({ rate: `${state.rate}/s`, isl: state.isl, osl: state.osl, 'ttft-slo': durationFlag(Number(state.ttft)), 'tpot-slo': durationFlag(Number(state.tpot)), 'slo-percentile': state.percentile })
    : given({ tokens: tokensFlag(state.tokens), deadline: durationFlag(Number(state.deadline)), seq: state.seq, batch: state.batch, method: state.method });
  return {
    ...shared,
    ...own,
    ...Object.fromEntries(alsoOf(state)),
    top: TOP[serving ? 'serve' : 'train'],
    ...(state.price === '' ? {} : { price: [state.price] }),
    ...(state.community === '' ? {} : { community: true }),
  };
}

/** The same question without a deadline. */
export const withoutDeadline = (state: State): State => ({ ...state, deadline: NO_DEADLINE });

/** While a slider moves: only the best plan, without explanations and confidence. */
export function quickQuestion(state: State): Ask {
  return { ...question(state), 'plans-only': true, top: 1 };
}

/** Quoted for a POSIX shell, because links can contain anything and users paste what they copy. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/[\r\n\0]+/g, ' ').replace(/'/g, `'\\''`)}'`;
}

/** The same question on the command line. */
export function commandLine(ask: Ask): string {
  const words = Object.entries(ask).flatMap(([name, value]) => {
    if (name === 'plans-only' || name === 'top') return [];
    if (name === 'model_config') return ['--model config.json'];
    if (value === true) return [`--${name}`];
    const values = Array.isArray(value) ? value : [value];
    return values.map((each) => `--${name} ${shellQuoted(String(each))}`);
  });
  return ['rightsize recommend', ...words].join(' ');
}

/** Fields with a state that differs from the form of the flag. */
const NOT_AS_TYPED = new Set<keyof State>(['rate', 'price', 'community', 'model']);
const TIMES = new Set<keyof State>(['deadline', 'ttft', 'tpot']);

/** "--precision fp8 --max-gpus 128" as a change of the state; null if the page cannot ask for it. */
export function changeFromFlags(flags: string, state: State): Partial<State> | null {
  // A limit that is left out: the field is emptied, if it may be empty.
  const left = /^no --([a-z-]+)$/.exec(flags)?.[1];
  const emptied = fieldOf(left ?? '');
  if (emptied === 'deadline') return { deadline: NO_DEADLINE };
  if (emptied) return DEFAULTS[emptied] === '' ? { [emptied]: '' } : null;
  const change: Partial<State> = {};
  const pairs = [...flags.matchAll(/--([a-z-]+)[ =](\S+)/g)];
  if (pairs.length === 0) return null;
  for (const [, name, value] of pairs) {
    if (name !== undefined && value !== undefined && ALSO.some((known) => known === name)) {
      const kept = withoutAlso({ ...state, ...change }, name).also ?? '';
      change.also = [kept, `${name}=${value}`].filter(Boolean).join(',');
      continue;
    }
    const field = fieldOf(name ?? '');
    if (!field || value === undefined || NOT_AS_TYPED.has(field)) return null;
    const seconds = TIMES.has(field) ? parseDuration(value) : undefined;
    if (TIMES.has(field) && seconds === undefined) return null;
    change[field] = seconds === undefined ? value : String(seconds);
  }
  return change;
}
