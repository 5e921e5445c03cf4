import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type Plan, type Schemas } from '../../api/client';
import type { Change } from '../../lib/address';
import { durationFlag, magnitude } from '../../lib/format';
import { valueIn } from '../../lib/number_field';
import { Segmented } from '../../parts/basics';
import { inPageWords, TERM_NAMES } from '../../lib/words';
import { Checks, Combobox, Field, SelectField, Slider, TextField, type Choice, type SliderProps } from '../../parts/fields';
import { priceOf, SERVE, TRAIN } from '../numbers';
import { deadlineChange } from './compare';
import { alsoOf, PROVIDERS, withoutAlso, type State } from './question';

const PURCHASES = ['on-demand', 'spot', '1y', '3y'];
const PRECISIONS = [['', 'usual'], ['bf16', 'bf16'], ['fp8', 'fp8'], ['int8', 'int8'], ['int4', 'int4']] as const;

function useModels(): Choice[] {
  const [models, setModels] = useState<Choice[]>([]);
  useEffect(() => {
    ask('models', {}).then(
      (answer) => {
        setModels((answer.models ?? []).map((each) => ({ value: each.name ?? '', note: `${magnitude(each.parameters ?? 0)} · ${each.family ?? ''}`, words: `${each.name ?? ''} ${each.family ?? ''} ${each.source ?? ''}`.toLowerCase() })));
      },
      () => undefined,
    );
  }, []);
  return models;
}

interface Props {
  state: State;
  change: Change<State>;
  first: Plan | undefined;
  /** The answer, complete once nothing moves; undefined before the first one. */
  found: Schemas['Recommend'] | undefined;
  /** Error messages by field. */
  wrong: Partial<Record<keyof State, string>>;
  /** Some text has not been committed yet. */
  onPending: (is: boolean) => void;
  /** Likely next questions. */
  onLikely: (changes: Partial<State>[]) => void;
}

/** A slider that changes a part of the question. */
function Knob({ part, of: { change, onLikely }, ...slider }: Omit<SliderProps, 'onSlide' | 'onNear'> & { part: (value: string) => Partial<State>; of: Props }) {
  return <Slider {...slider} onSlide={(value, remember) => { change(part(value), remember); }} onNear={(values) => { onLikely(values.map(part)); }} />;
}

/** Half or twice the deadline, and its effect on the plan. */
function HalfOrTwice({ state, change, first, found }: Props) {
  const [asked, setAsked] = useState<{ from: number; to: number; before: Plan | undefined } | null>(null);
  const now = valueIn(TRAIN.deadline, state.deadline) ?? 0;
  const times = (factor: number) => () => {
    const to = Math.round(now * factor);
    setAsked({ from: now, to, before: first });
    change({ deadline: String(to) }, true);
  };
  const answered = asked?.to === now && found?.request?.['deadline'] === durationFlag(now);
  return (
    <>
      <div class="actions">
        <button type="button" class="button small" disabled={now === 0} onClick={times(0.5)}>
          Halve it
        </button>
        <button type="button" class="button small" disabled={now === 0} onClick={times(2)}>
          Double it
        </button>
      </div>
      <p class="hint empty-ok" role="status" data-testid="deadline-change">
        {asked && answered ? deadlineChange(asked.from, asked.to, asked.before, first, found.breakpoints) : ''}
      </p>
    </>
  );
}

function Training(props: Props) {
  const { state, change } = props;
  const slider = (field: keyof typeof TRAIN) => <Knob of={props} field={TRAIN[field]} value={state[field]} otherwise={1} part={(value) => ({ [field]: value })} />;
  return (
    <>
      <div class="pair">
        <TextField label="Tokens" value={state.tokens} wrong={props.wrong.tokens} live onPending={props.onPending} onChange={(tokens, remember) => { change({ tokens }, remember); }} />
        <SelectField label="Method" value={state.method} choices={[['full', 'full fine-tune'], ['lora', 'LoRA'], ['qlora', 'QLoRA']]} onChange={(method) => { change({ method }, true); }} />
      </div>
      {slider('deadline')}
      <HalfOrTwice {...props} />
      {slider('seq')}
      {slider('batch')}
      {state.batch !== '' && (
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ batch: '' }, true); }}>
          Let rightsize choose the batch
        </button>
      )}
    </>
  );
}

function Serving(props: Props) {
  const { state, change } = props;
  const slider = (field: keyof typeof SERVE) => <Knob of={props} field={SERVE[field]} value={state[field]} part={(value) => ({ [field]: value })} />;
  return (
    <>
      {slider('rate')}
      {slider('isl')}
      {slider('osl')}
      {slider('ttft')}
      {slider('tpot')}
      <SelectField label="Limits apply to" value={state.percentile} choices={[['50', '50 % of requests'], ['95', '95 % of requests'], ['99', '99 % of requests']]} onChange={(percentile) => { change({ percentile }, true); }} />
    </>
  );
}

/** Another price for the GPU of the first plan. */
function PriceSlider(props: Props) {
  const { state, change, first } = props;
  const [gpu, given] = state.price === '' ? [first?.gpu, undefined] : (state.price.split('=') as [string, string]);
  if (!gpu) return null;
  const hourly = first && first.gpu === gpu ? first.usd_per_hour / first.gpus : 2;
  return (
    <>
      <Knob of={props} field={priceOf(gpu)} value={given ?? String(Number(hourly.toPrecision(6)))} hint={given === undefined ? 'Today’s price of the best plan; drag to see when it changes.' : 'Your price, at every provider.'} part={(value) => ({ price: `${gpu}=${value}` })} />
      {given !== undefined && (
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ price: '' }, true); }}>
          Back to market prices
        </button>
      )}
    </>
  );
}

/** Large providers, those of the plans shown, and those selected. */
function providersOf({ state, found }: Props): string[] {
  const also = [...(found?.plans ?? []).map((plan) => plan.provider), ...state.providers.split(',')];
  return [...new Set([...PROVIDERS, ...also])].filter((each) => each !== '' && each !== 'own');
}

export function Controls(props: Props) {
  const { state, change } = props;
  const models = useModels();
  const own = state.config !== '';
  // The text being typed, which an answer that arrives meanwhile must not overwrite.
  const [draft, setDraft] = useState<string | null>(null);
  const [pasting, setPasting] = useState(own);
  const hint = useMemo(() => models.find((each) => each.value === state.model)?.note, [models, state.model]);
  return (
    <section class="card fields" aria-label="The question">
      <Segmented label="Kind of work" value={state.job} choices={[['train', 'Train'], ['serve', 'Serve']]} onChange={(job) => { change({ job, plan: '1', vs: '', tab: 'memory' }, true); }} />
      {!pasting && <Combobox free="use this name" label="Model" value={state.model} choices={models} {...(hint ? { hint } : {})} onChange={(model) => { change({ model, config: '' }, true); }} />}
      {pasting && (
        <Field label="config.json" hint="Paste a Hugging Face configuration. It stays on this machine.">
          {(id) => <textarea id={id} value={draft ?? state.config} spellcheck={false} placeholder={'{"model_type": "llama", …'} onInput={(event) => { setDraft(event.currentTarget.value); }} onChange={(event) => { setDraft(null); change({ config: event.currentTarget.value }, true); }} />}
        </Field>
      )}
      <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { if (pasting) change({ config: '' }, true); setPasting(!pasting); }}>
        {pasting ? 'Choose a built-in model' : 'Paste a config.json'}
      </button>
      {state.job === 'serve' ? <Serving {...props} /> : <Training {...props} />}
      <PriceSlider {...props} />
      {alsoOf(state).length > 0 && (
        <div class="checks" role="group" aria-label="Other settings">
          {alsoOf(state).map(([name, value]) => <button type="button" key={name} aria-pressed="true" title="Click to remove it" onClick={() => { change(withoutAlso(state, name), true); }}>{`${inPageWords(`--${name}`)}: ${value} ✕`}</button>)}
        </div>
      )}
      <Checks label="Terms" value={state.purchase} choices={PURCHASES} names={TERM_NAMES} onChange={(purchase) => { change({ purchase: purchase === '' ? 'on-demand' : purchase }, true); }} />
      <details class="more" open={state.providers !== '' || state.gpu !== '' || state.budget !== '' || state.precision !== ''}>
        <summary>Providers, GPUs, limits</summary>
        <div class="stack">
          <Checks label="Only these providers" value={state.providers} choices={providersOf(props)} onChange={(providers) => { change({ providers }, true); }} />
          <TextField label="Only these GPUs" value={state.gpu} wrong={props.wrong.gpu} onPending={props.onPending} placeholder="h100-sxm, l40s" onChange={(gpu, remember) => { change({ gpu }, remember); }} />
          <div class="pair">
            <TextField label="Regions" value={state.regions} wrong={props.wrong.regions} onPending={props.onPending} placeholder="us, europe" onChange={(regions, remember) => { change({ regions }, remember); }} />
            <TextField label="Budget, $" value={state.budget} wrong={props.wrong.budget} live onPending={props.onPending} placeholder="500" onChange={(budget, remember) => { change({ budget }, remember); }} />
          </div>
          <div class="pair">
            <SelectField label="Precision" value={state.precision} choices={PRECISIONS} onChange={(precision) => { change({ precision }, true); }} />
            <TextField label="Maximum GPUs" value={state.maxgpus} wrong={props.wrong.maxgpus} live onPending={props.onPending} onChange={(maxgpus, remember) => { change({ maxgpus }, remember); }} />
          </div>
          <Checks label="Marketplaces" value={state.community} choices={['community']} onChange={(community) => { change({ community }, true); }} />
        </div>
      </details>
    </section>
  );
}
