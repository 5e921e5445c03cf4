// Records the selected plan as a decision in the server's ledger.
import { useState } from 'preact/hooks';
import { ask, type AskFor, type Plan, type Schemas } from '../../api/client';
import { money } from '../../lib/format';
import { parseMoney } from '../../lib/parse';
import { Busy, Card, Problem } from '../../parts/basics';
import { TextField } from '../../parts/fields';
import { machinesOf } from './answer';

/** The document of the answer with this plan as its only one, as `decide` reads it. */
export function documentOf(found: Schemas['Recommend'], plan: Plan): string {
  return JSON.stringify({ ...found, plans: [{ ...plan, rank: 1 }], pareto: [], rejected: [] });
}

const FIELDS = { workload: '', team: '', by: '', why: '', before: '' };
const FLAGS = { workload: 'Workload', team: 'Team', by: 'Decided by', why: 'Reason', 'cost-before': 'Cost today' };

export function DecideForm(props: { found: Schemas['Recommend']; plan: Plan; serving: boolean; onClose: () => void }) {
  const [fields, setFields] = useState(FIELDS);
  const [state, setState] = useState<{ busy: boolean; failed?: unknown; id?: string }>({ busy: false });
  const field = (name: keyof typeof FIELDS, label: string, more: { placeholder?: string; wrong?: string | undefined } = {}) => <TextField label={label} value={fields[name]} live onChange={(value) => { setFields((old) => ({ ...old, [name]: value })); }} {...more} />;
  const before = fields.before === '' ? undefined : parseMoney(fields.before);
  const wrong = fields.before !== '' && before === undefined ? `“${fields.before}” is not an amount, like $9,200.` : undefined;
  const send = async () => {
    setState({ busy: true });
    try {
      const answer = await ask('decide', { document: documentOf(props.found, props.plan), workload: fields.workload, team: fields.team, by: fields.by, why: fields.why, ...(before === undefined ? {} : { 'cost-before': String(before) }) } as AskFor<'decide'>);
      setState({ busy: false, id: (answer as { decision?: { id?: string } }).decision?.id ?? '' });
    } catch (failed) {
      setState({ busy: false, failed });
    }
  };
  if (state.id !== undefined) {
    return (
      <Card title="Decision recorded" tools={<button type="button" class="button small" onClick={props.onClose}>Close</button>}>
        <p role="status">
          <strong>{state.id}</strong>: {fields.workload} runs on {machinesOf(props.plan)}. <a href={`/decisions?id=${state.id}`}>Show it under Decisions</a>
        </p>
        <p class="quiet">When it runs, <code>rightsize verify {state.id}</code> compares its predictions with measurements.</p>
      </Card>
    );
  }
  return (
    <Card title="Decide" note={`Record ${machinesOf(props.plan)} (${money(props.plan.usd_total)}${props.serving ? '/month' : ''}) with its predictions in the ledger of this server.`} tools={<button type="button" class="button small" onClick={props.onClose}>Close</button>}>
      <form class="decide" onSubmit={(event) => { event.preventDefault(); if (fields.workload !== '' && wrong === undefined) void send(); }}>
        {field('workload', 'Workload', { placeholder: 'chat' })}
        {field('team', 'Team', { placeholder: 'search' })}
        {field('by', 'Decided by', { placeholder: 'your name' })}
        {field('before', `Cost today, $ per ${props.serving ? 'month' : 'run'}`, { placeholder: '9,200', wrong })}
        <div class="whole">{field('why', 'Reason', { placeholder: 'the same SLO for half the money' })}</div>
        <div class="actions whole">
          <button type="submit" class="button main-one" disabled={fields.workload === '' || wrong !== undefined || state.busy}>Record the decision</button>
          {state.busy && <Busy what="Recording…" />}
        </div>
      </form>
      {state.failed !== undefined && <Problem failed={state.failed} fields={FLAGS} />}
    </Card>
  );
}
