// Records the selected plan as a decision in the server's ledger.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, showServer, type AskFor, type Plan, type Schemas } from '../../api/client';
import { money } from '../../lib/format';
import { running } from '../../lib/period';
import { parseMoney } from '../../lib/parse';
import { Busy, Card, Problem } from '../../parts/basics';
import { TextField } from '../../parts/fields';
import { machinesOf } from './answer';

/** The document of the answer with this plan as its only one, as `decide` reads it. */
export function documentOf(found: Schemas['Recommend'], plan: Plan): string {
  return JSON.stringify({ ...found, plans: [{ ...plan, rank: 1 }], pareto: [], rejected: [] });
}

/** What a decision lacks, by field; empty if it can be recorded. */
export function missing(fields: Pick<typeof FIELDS, 'workload' | 'before'>): Partial<Record<keyof typeof FIELDS, string>> {
  return {
    ...(fields.workload === '' ? { workload: 'Name the service or job that will run on this plan.' } : {}),
    ...(fields.before !== '' && parseMoney(fields.before) === undefined ? { before: `“${fields.before}” is not an amount, like $9,200.` } : {}),
  };
}

/** In the order of the form. */
const FIELDS = { workload: '', team: '', by: '', before: '', why: '' };
const FLAGS = { workload: 'Workload', team: 'Team', by: 'Decided by', why: 'Reason', 'cost-before': 'Cost today' };

export function DecideForm(props: { found: Schemas['Recommend']; plan: Plan; serving: boolean; onClose: () => void }) {
  const [fields, setFields] = useState(FIELDS);
  const [state, setState] = useState<{ busy: boolean; failed?: unknown; id?: string }>({ busy: false });
  const [tried, setTried] = useState(false);
  const [isFirst, setIsFirst] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const opener = useRef(document.activeElement);
  const close = () => { props.onClose(); if (opener.current instanceof HTMLElement) opener.current.focus(); };
  useEffect(() => {
    form.current?.querySelector('input')?.focus();
    showServer().then((server) => { setIsFirst(!server.ledger); }, () => undefined);
  }, []);
  const lacks = missing(fields);
  // An empty field is a mistake only when the visitor tries to go on.
  const wrongOf = (name: keyof typeof FIELDS) => (tried || fields[name] !== '' ? lacks[name] : undefined);
  const field = (name: keyof typeof FIELDS, label: string, placeholder: string) => <TextField label={label} value={fields[name]} live placeholder={placeholder} wrong={wrongOf(name)} onChange={(value) => { setFields((old) => ({ ...old, [name]: value })); }} />;
  const send = async () => {
    setTried(true);
    if (Object.keys(lacks).length > 0) {
      form.current?.querySelectorAll('input')[Object.keys(FIELDS).indexOf(Object.keys(lacks)[0] ?? '')]?.focus();
      return;
    }
    setState({ busy: true });
    const before = parseMoney(fields.before);
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
    <Card title="Decide" note={`Record ${machinesOf(props.plan)} (${props.serving ? running(props.plan.usd_total) : money(props.plan.usd_total)}) with its predictions in the ledger of this server.${isFirst ? ' It is the first decision: the ledger is created with it.' : ''}`} tools={<button type="button" class="button small" onClick={close}>Close</button>}>
      <form class="decide" ref={form} noValidate onKeyDown={(event) => { if (event.key === 'Escape') close(); }} onSubmit={(event) => { event.preventDefault(); if (!state.busy) void send(); }}>
        {field('workload', 'Workload', 'chat')}
        {field('team', 'Team (optional)', 'search')}
        {field('by', 'Decided by (optional)', 'your name')}
        {field('before', `Cost today, $ per ${props.serving ? 'month' : 'run'} (optional)`, '9,200')}
        <div class="whole">{field('why', 'Reason (optional)', 'the same SLO for half the money')}</div>
        <div class="actions whole">
          <button type="submit" class="button main-one" disabled={state.busy}>Record the decision</button>
          {state.busy && <Busy what="Recording…" />}
          {fields.before === '' && <span class="quiet">Without the cost today, no saving is predicted.</span>}
        </div>
      </form>
      {state.failed !== undefined && <Problem failed={state.failed} fields={FLAGS} />}
    </Card>
  );
}
