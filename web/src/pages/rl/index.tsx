// Reinforcement learning: which GPUs, and how to divide them between training and generation.
import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import type { AnswerOf, AskFor, Schemas } from '../../api/client';
import { duration, middleCut, money, moneyRange, number, percent, signedPercent } from '../../lib/format';
import { useQuestion } from '../../parts/question';
import { inPageWords } from '../../lib/words';
import { Badge, Stats } from '../../parts/basics';
import { AskPage, Hero, ModelField, TableCard } from '../../parts/ask_page';
import { Chart } from '../../parts/chart';
import { SelectField, TextField } from '../../parts/fields';
import { RL } from '../numbers';

const DEFAULTS = { model: 'qwen2.5-7b', algorithm: 'grpo', stack: 'verl', prompts: '128', samples: '8', isl: '512', osl: '1500', longest: '8192', steps: '200', gpu: '', maxgpus: '32', plan: '1' };
type State = typeof DEFAULTS;
type Rl = Schemas['RecommendRl'];
type Plan = NonNullable<Rl['plans']>[number];
const NAMES = { model: 'Model', osl: 'Tokens out', isl: 'Tokens in', prompts: 'Prompts per step', samples: 'Answers per prompt', steps: 'Steps', gpu: 'Only these GPUs', 'max-gpus': 'Maximum GPUs', async: 'asynchronous steps' };
const COLOURS: Record<string, string> = { generate: 'var(--c1)', log_prob: 'var(--c7)', reward: 'var(--c5)', update: 'var(--c2)', sync: 'var(--c4)' };
const PHASES: Record<string, string> = { generate: 'generate answers', log_prob: 'log-probabilities', reward: 'reward', update: 'update', sync: 'weight sync' };

export function questionOf(state: State): AskFor<'recommend'> {
  return { job: 'rl', model: state.model, algorithm: state.algorithm, stack: state.stack, prompts: state.prompts, samples: state.samples, isl: state.isl, osl: `${state.osl},max=${state.longest}`, steps: state.steps, 'max-gpus': state.maxgpus, top: 10, ...(state.gpu === '' ? {} : { gpu: state.gpu }) } as unknown as AskFor<'recommend'>;
}

/** While a slider moves, only the GPUs of the best plans are planned again, without alternatives. */
export function quickOf(asked: AskFor<'recommend'>, last: AnswerOf<'recommend'> | undefined): AskFor<'recommend'> | null {
  const best = [...new Set((last?.plans ?? []).map((plan) => plan.gpu))].slice(0, 2);
  return best.length === 0 ? null : { ...asked, gpu: best.join(','), 'plans-only': true };
}

/** "split=6:2" -> "6 GPUs train, 2 generate" */
export function layoutShown(layout: string): string {
  const split = /^split=(\d+):(\d+)$/.exec(layout);
  return split ? `${split[1] ?? ''} GPUs train, ${split[2] ?? ''} generate` : 'all GPUs train and generate';
}

function Step({ plans, picked, onPick }: { plans: Plan[]; picked: Plan | undefined; onPick: (at: number) => void }) {
  const layouts = new Set(plans.map((plan) => plan.layout)).size > 1; // otherwise its name is the same in every label
  const rows = useMemo(() => plans.slice(0, 8).flatMap((plan, at) => (plan.phases ?? []).map((phase) => ({ at, plan: `${String(at + 1)}: ${number(plan.gpus)} × ${plan.gpu}${layouts ? `, ${plan.layout.replace('split=', '')}` : ''}, ${plan.provider}`, phase: phase.name, seconds: phase.exposed_seconds }))), [plans]);
  const draw = useCallback((width: number): Plot.PlotOptions => ({
    height: 34 * Math.min(8, plans.length) + 56,
    marginBottom: 36,
    marginLeft: width < 560 ? 150 : width < 800 ? 220 : 310,
    marginRight: 20,
    x: { label: 'seconds of a step →', grid: true, ticks: width < 560 ? 3 : 6 },
    // On a phone, the provider is left to the table.
    y: { label: null, domain: [...new Set(rows.map((row) => row.plan))], tickSize: 0, tickFormat: (name: string) => middleCut(width < 560 ? name.slice(0, name.lastIndexOf(', ')) : name, width < 560 ? 21 : width < 800 ? 32 : 46) },
    marks: [
      Plot.barX(rows, Plot.stackX({ y: 'plan', x: 'seconds', fill: (row: (typeof rows)[number]) => COLOURS[row.phase] ?? 'var(--c8)', fillOpacity: (row: (typeof rows)[number]) => (plans[row.at] === picked ? 0.95 : 0.55), insetTop: 5, insetBottom: 5, order: null })),
      Plot.tip(rows, Plot.pointer(Plot.stackX({ y: 'plan', x: 'seconds', order: null, title: (row: (typeof rows)[number]) => `${row.plan}\n${PHASES[row.phase] ?? row.phase}: ${duration(row.seconds)}`, fill: 'var(--panel)', stroke: 'var(--line-strong)' }))),
    ],
  }), [rows, plans, picked]);
  return <Chart title="Where the time of a step goes" note="Only the part of each phase that does not run beside another one" hint="Click a bar to select its plan." name="rl-step" rows={rows} draw={draw} legend={Object.entries(PHASES).map(([phase, name]) => [name, COLOURS[phase] ?? 'gray'])} onPick={(value) => { onPick((value as (typeof rows)[number]).at); }} />;
}

export function RlPage() {
  const question = useQuestion('recommend', DEFAULTS, questionOf, { numbers: () => RL, view: ['plan'], reset: { plan: '1' }, quick: quickOf, hasPlan: (answer) => (answer.plans ?? []).length > 0 });
  const { state, change, choose, slider } = question;
  return (
    <AskPage title="RL training" what="Reinforcement learning: which GPUs, and how to divide them between training and generation" question={question} names={NAMES}
      fields={
        <>
          <ModelField value={state.model} onChange={choose('model')} />
          <div class="pair">
            <SelectField label="Algorithm" value={state.algorithm} choices={[['grpo', 'GRPO'], ['ppo', 'PPO'], ['dapo', 'DAPO'], ['rloo', 'RLOO'], ['reinforce++', 'REINFORCE++'], ['distill', 'distillation']]} onChange={choose('algorithm')} />
            <SelectField label="Framework" value={state.stack} choices={[['verl', 'verl'], ['nemo-rl', 'NeMo-RL'], ['openrlhf', 'OpenRLHF'], ['trl', 'TRL']]} onChange={choose('stack')} />
          </div>
          {slider('prompts')}
          {slider('samples')}
          {slider('isl')}
          {slider('osl')}
          {slider('longest')}
          {slider('steps')}
          {slider('maxgpus')}
          <TextField label="Only these GPUs" value={state.gpu} placeholder="h100-sxm, b200-sxm" onChange={choose('gpu')} />
        </>
      }
    >
      {(value) => {
        const found = value as unknown as Rl;
        const plans = found.plans ?? [];
        const plan = plans[Number(state.plan) - 1] ?? plans[0];
        const cheaper = plans.filter((each) => plans[0] && each.usd_total < plans[0].usd_total).sort((a, b) => a.usd_total - b.usd_total)[0];
        const less = [...(found.offers ?? []), ...(found.changes ?? [])].filter((each) => plans[0] && each.usd_total < 0.995 * plans[0].usd_total).sort((a, b) => a.usd_total - b.usd_total);
        if (!plan) return <Hero line="Nothing meets these limits" sub="Allow more GPUs, or shorten the answers." />;
        return (
          <>
            <Hero line={`${number(plan.gpus)} × ${plan.gpu} at ${plan.provider} — ${money(plan.usd_total)}: ${layoutShown(plan.layout)}`} sub={`${found.algorithm.toUpperCase()} of ${found.model} with ${found.stack}, ${number(found.steps)} steps in ${duration(plan.hours * 3600)}.`}>
              <Stats
                items={[
                  { name: 'Total', value: money(plan.usd_total), note: moneyRange(plan.low, plan.high) },
                  { name: 'A step takes', value: duration(plan.step_seconds), note: `${duration(plan.step_low_seconds)} to ${duration(plan.step_high_seconds)}` },
                  { name: 'GPUs idle', value: percent(plan.idle_share), note: 'of the time', help: 'GPUs that wait for the longest answers, or for the other side of a split' },
                  { name: 'Tokens', value: `${number(plan.tokens_per_second_per_gpu)}/s`, note: 'per GPU' },
                  { name: 'Per hour', value: money(plan.usd_per_hour) },
                ]}
              />
              {plan === plans[0] && cheaper && <p class="note" style={{ marginTop: '8px' }}>{`${number(cheaper.gpus)} × ${cheaper.gpu} at ${cheaper.provider} would cost ${money(cheaper.usd_total)}${cheaper.basis === 'specification' ? ', but its speed comes from the data sheet' : ''}.`}</p>}
              {(plan.caveats ?? []).length > 0 && <ul class="caveats" aria-label="Caveats">{(plan.caveats ?? []).map((each) => <li key={each}>{inPageWords(each, NAMES)}</li>)}</ul>}
            </Hero>
            <Step plans={plans} picked={plan} onPick={(at) => { change({ plan: String(at + 1) }, true); }} />
            <TableCard
              title="Plans"
              rows={plans}
              keyOf={(row) => String(row.rank)}
              picked={String(plan.rank)}
              onPick={(row) => { change({ plan: String(row.rank) }, true); }}
              columns={[
                { title: 'GPUs', cell: (row) => `${number(row.gpus)} × ${row.gpu}`, sort: (row) => row.gpu },
                { title: 'Total', number: true, cell: (row) => <strong>{money(row.usd_total)}</strong>, sort: (row) => row.usd_total },
                { title: 'Time', number: true, cell: (row) => duration(row.hours * 3600), sort: (row) => row.hours },
                ...(new Set(plans.map((row) => row.layout)).size > 1 ? [{ title: 'Layout', roomy: true, cell: (row: Plan) => layoutShown(row.layout) }] : []),
                { title: 'Provider', roomy: true, cell: (row) => row.provider, sort: (row) => row.provider },
                { title: 'Idle', number: true, roomy: true, cell: (row) => percent(row.idle_share), sort: (row) => row.idle_share },
                { title: 'Memory', roomy: true, cell: (row) => <Badge tone={row.memory_verdict === 'fits' ? 'good' : 'warn'}>{row.memory_verdict}</Badge> },
              ]}
            />
            {less.length > 0 && (
              <TableCard
                title="What would cost less"
                rows={less}
                keyOf={(row) => row.flags}
                columns={[
                  { title: 'Change', cell: (row) => row.what },
                  { title: 'Total', number: true, cell: (row) => <strong>{money(row.usd_total)}</strong>, sort: (row) => row.usd_total },
                  { title: 'vs first', number: true, cell: (row) => signedPercent(row.usd_total / (plans[0]?.usd_total ?? 1) - 1) },
                  { title: 'Time', number: true, roomy: true, cell: (row) => duration(row.hours * 3600), sort: (row) => row.hours },
                ]}
              />
            )}
          </>
        );
      }}
    </AskPage>
  );
}
