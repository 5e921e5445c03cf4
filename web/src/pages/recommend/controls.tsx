import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, type Plan } from '../../api/client';
import type { Change } from '../../lib/address';
import { duration, magnitude, money, number } from '../../lib/format';
import { Segmented } from '../../parts/basics';
import { Checks, Combobox, Field, SelectField, Slider, TextField, type Choice } from '../../parts/fields';
import type { State } from './question';

const PROVIDERS = ['aws', 'gcp', 'azure', 'lambda', 'runpod', 'coreweave', 'oci', 'nebius'];
const PURCHASES = ['on-demand', 'spot', '1y', '3y'];
const PRECISIONS = [['', 'usual for the job'], ['bf16', 'bf16'], ['fp8', 'fp8'], ['int8', 'int8'], ['int4', 'int4']] as const;

function useModels(): Choice[] {
  const [models, setModels] = useState<Choice[]>([]);
  useEffect(() => {
    ask('models', {}).then(
      (answer) => {
        setModels((answer.models ?? []).map((each) => ({ value: each.name ?? '', note: `${magnitude(each.parameters ?? 0)} · ${each.family ?? ''}`, words: `${each.name ?? ''} ${each.family ?? ''}`.toLowerCase() })));
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
}

function Training({ state, change }: Props) {
  return (
    <>
      <div class="pair">
        <TextField label="Tokens" value={state.tokens} onChange={(tokens) => { change({ tokens }, true); }} />
        <SelectField label="Method" value={state.method} choices={[['full', 'full fine-tune'], ['lora', 'LoRA'], ['qlora', 'QLoRA']]} onChange={(method) => { change({ method }, true); }} />
      </div>
      <Slider label="Deadline" value={Number(state.deadline)} least={3600} most={60 * 86400} shown={duration(Number(state.deadline))} onSlide={(value) => { change({ deadline: String(Math.round(value)) }); }} />
      <div class="actions">
        <button type="button" class="button small" onClick={() => { change({ deadline: String(Math.round(Number(state.deadline) / 2)) }, true); }}>
          Halve it
        </button>
        <button type="button" class="button small" onClick={() => { change({ deadline: String(Math.round(Number(state.deadline) * 2)) }, true); }}>
          Double it
        </button>
      </div>
      <Slider label="Context (tokens per sequence)" value={Number(state.seq)} least={256} most={131072} whole shown={number(Number(state.seq))} onSlide={(value) => { change({ seq: String(value) }); }} />
      <Slider label="Batch per GPU" value={state.batch === '' ? 1 : Number(state.batch)} least={1} most={128} whole shown={state.batch === '' ? 'best that fits' : state.batch} onSlide={(value) => { change({ batch: String(value) }); }} />
      {state.batch !== '' && (
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ batch: '' }, true); }}>
          Let rightsize choose the batch
        </button>
      )}
    </>
  );
}

function Serving({ state, change }: Props) {
  return (
    <>
      <Slider label="Requests" value={Number(state.rate)} least={0.1} most={1000} shown={`${number(Number(state.rate))}/s`} onSlide={(value) => { change({ rate: String(value) }); }} />
      <Slider label="Context (tokens in)" value={Number(state.isl)} least={64} most={131072} whole shown={number(Number(state.isl))} onSlide={(value) => { change({ isl: String(value) }); }} />
      <Slider label="Tokens out" value={Number(state.osl)} least={1} most={8192} whole shown={number(Number(state.osl))} onSlide={(value) => { change({ osl: String(value) }); }} />
      <Slider label="TTFT limit" value={Number(state.ttft)} least={0.05} most={20} shown={duration(Number(state.ttft))} onSlide={(value) => { change({ ttft: String(value) }); }} />
      <Slider label="TPOT limit" value={Number(state.tpot)} least={0.005} most={0.5} shown={duration(Number(state.tpot))} onSlide={(value) => { change({ tpot: String(value) }); }} />
      <SelectField label="Limits hold for" value={state.percentile} choices={[['50', '50 % of requests'], ['95', '95 % of requests'], ['99', '99 % of requests']]} onChange={(percentile) => { change({ percentile }, true); }} />
    </>
  );
}

/** What if the GPU of the first plan cost something else. */
function PriceSlider({ state, change, first }: Props) {
  const [gpu, given] = state.price === '' ? [first?.gpu, undefined] : (state.price.split('=') as [string, string]);
  if (!gpu) return null;
  const hourly = first && first.gpu === gpu ? first.usd_per_hour / first.gpus : 2;
  const now = given === undefined ? hourly : Number(given);
  return (
    <>
      <Slider label={`What if ${gpu} cost`} value={now} least={0.1} most={20} shown={`${money(now)}/h`} hint={given === undefined ? 'Today’s price of the best plan; drag to see when it changes.' : 'Your price, wherever it is sold.'} onSlide={(value) => { change({ price: `${gpu}=${String(value)}` }); }} />
      {given !== undefined && (
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { change({ price: '' }, true); }}>
          Back to market prices
        </button>
      )}
    </>
  );
}

export function Controls(props: Props) {
  const { state, change } = props;
  const models = useModels();
  const own = state.config !== '';
  const [pasting, setPasting] = useState(own);
  const hint = useMemo(() => models.find((each) => each.value === state.model)?.note, [models, state.model]);
  return (
    <section class="card fields" aria-label="The question">
      <Segmented label="Kind of work" value={state.job} choices={[['train', 'Train'], ['serve', 'Serve']]} onChange={(job) => { change({ job, plan: '1', tab: 'memory' }, true); }} />
      {!pasting && <Combobox label="Model" value={state.model} choices={models} {...(hint ? { hint } : {})} onChange={(model) => { change({ model, config: '' }, true); }} />}
      {pasting && (
        <Field label="config.json" hint="Paste a Hugging Face configuration. It stays on this machine.">
          {(id) => <textarea id={id} value={state.config} spellcheck={false} placeholder={'{"model_type": "llama", …'} onChange={(event) => { change({ config: event.currentTarget.value }, true); }} />}
        </Field>
      )}
      <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { if (pasting) change({ config: '' }, true); setPasting(!pasting); }}>
        {pasting ? 'Choose a built-in model' : 'Paste a config.json'}
      </button>
      {state.job === 'serve' ? <Serving {...props} /> : <Training {...props} />}
      <PriceSlider {...props} />
      <Checks label="Terms" value={state.purchase} choices={PURCHASES} onChange={(purchase) => { change({ purchase: purchase === '' ? 'on-demand' : purchase }, true); }} />
      <details class="more" open={state.providers !== '' || state.gpu !== '' || state.budget !== '' || state.precision !== ''}>
        <summary>Providers, GPUs, limits</summary>
        <div class="stack">
          <Checks label="Only these providers" value={state.providers} choices={PROVIDERS} onChange={(providers) => { change({ providers }, true); }} />
          <TextField label="Only these GPUs" value={state.gpu} placeholder="h100-sxm, l40s" onChange={(gpu) => { change({ gpu }, true); }} />
          <div class="pair">
            <TextField label="Regions" value={state.regions} placeholder="us, europe" onChange={(regions) => { change({ regions }, true); }} />
            <TextField label="Budget" value={state.budget} placeholder="500" onChange={(budget) => { change({ budget }, true); }} />
          </div>
          <div class="pair">
            <SelectField label="Precision" value={state.precision} choices={PRECISIONS} onChange={(precision) => { change({ precision }, true); }} />
            <TextField label="At most so many GPUs" value={state.maxgpus} onChange={(maxgpus) => { change({ maxgpus }, true); }} />
          </div>
          <Checks label="Marketplaces" value={state.community} choices={['community']} onChange={(community) => { change({ community }, true); }} />
        </div>
      </details>
    </section>
  );
}
