// Recorded decisions with their expected and measured savings.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { showServer, type AskFor } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { duration, money, number, percent } from '../../lib/format';
import { save } from '../../lib/save';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem, Stats, type Tone } from '../../parts/basics';
import { Table } from '../../parts/table';
import { SavingsByDecision } from './pictures';
import { joined, type Decision, type Detail, type Savings } from './shapes';

const DEFAULTS = { id: '', team: '' };
const STATUS: Record<string, Tone> = { 'in-force': 'good', 'rolling-out': 'accent', 'rolled-back': 'bad', superseded: 'plain', decided: 'plain' };
const VERDICT: Record<string, Tone> = { kept: 'good', broken: 'bad' };

/** The predictions of a decision, each with its interval and limit. */
function Picked(props: { id: string }) {
  const answer = useAnswer('decisions', useMemo(() => ({ what: ['show', props.id] }) as unknown as AskFor<'decisions'>, [props.id]));
  const decision = (answer.value as { decisions?: Detail[] } | undefined)?.decisions?.[0];
  if (!decision) return <Busy />;
  const shown = (metric: string, value: number | null) => (value === null ? '–' : metric.endsWith('_seconds') ? duration(value) : metric.endsWith('_bytes') ? `${number(value / 2 ** 30)} GiB` : metric.startsWith('usd') ? money(value) : metric === 'utilization' ? percent(value) : number(value));
  return (
    <Card title={`${decision.id}: ${decision.workload}`} note={decision.what ?? ''}>
      <div class="stack">
        {decision.why && <p class="note">{decision.why}</p>}
        <Table
          label="Predictions"
          rows={decision.predictions ?? []}
          keyOf={(row) => row.metric}
          columns={[
            { title: 'Predicted', cell: (row) => row.metric.replace(/_/g, ' ') },
            { title: 'Low', number: true, cell: (row) => shown(row.metric, row.low) },
            { title: 'Likely', number: true, cell: (row) => <strong>{shown(row.metric, row.likely)}</strong> },
            { title: 'High', number: true, cell: (row) => shown(row.metric, row.high) },
            { title: 'Limit', number: true, cell: (row) => shown(row.metric, row.limit) },
          ]}
        />
        {decision.way_back && (
          <p class="quiet">
            Way back: <code>{decision.way_back}</code>
          </p>
        )}
      </div>
    </Card>
  );
}

/** Whether the server has decisions to show; undefined until it has answered. */
function useLedger(): boolean | undefined {
  const [kept, setKept] = useState<boolean>();
  useEffect(() => {
    showServer().then((server) => { setKept(server.ledger); }, () => { setKept(true); });
  }, []);
  return kept;
}

export function DecisionsPage() {
  const [state, change] = useAddress(DEFAULTS);
  const kept = useLedger();
  const list = useAnswer('decisions', useMemo(() => (kept ? ({ what: 'list' } as AskFor<'decisions'>) : null), [kept]));
  const savings = useAnswer('decisions', useMemo(() => (kept ? ({ what: 'savings' } as AskFor<'decisions'>) : null), [kept]));
  const rows = useMemo(() => joined((list.value as { decisions?: Decision[] } | undefined)?.decisions ?? [], savings.value as Savings | undefined), [list.value, savings.value]);
  const shown = state.team === '' ? rows : rows.filter((row) => row.team === state.team);
  const teams = [...new Set(rows.map((row) => row.team))];
  const total = (savings.value as Savings | undefined)?.measured_usd;
  return (
    <>
      <PageHead title="Decisions" what="Recorded decisions with their expected and measured savings">
        <CopyLink />
        <Export items={[['Decisions (CSV)', () => { save('rightsize-decisions.csv', toCsv(shown.map((row) => ({ ...row }))), 'text/csv'); }]]} />
      </PageHead>
      {kept === false && (
        <Card label="No ledger">
          <p class="empty">
            No decision is kept yet. <code>rightsize decide</code> keeps one; <code>rightsize serve --ledger FILE</code> shows those of a team.
          </p>
        </Card>
      )}
      {list.failed !== undefined && <Card label="Error"><Problem failed={list.failed} /></Card>}
      {kept !== false && !list.value && list.failed === undefined && <Busy />}
      {list.value && (
        <div class="stack">
          <section class="card hero" aria-label="Summary">
            <p class="hero-line" data-testid="answer">
              {total === undefined ? `${number(rows.length)} decisions` : `${money(total)} saved so far by ${number(rows.length)} decisions`}
            </p>
            <div style={{ marginTop: '12px' }}>
              <Stats
                items={[
                  { name: 'In force', value: number(rows.filter((row) => row.status === 'in-force').length) },
                  { name: 'Rolling out', value: number(rows.filter((row) => row.status === 'rolling-out').length) },
                  { name: 'Savings confirmed', value: number(rows.filter((row) => row.verdict === 'kept').length), note: 'by measurement' },
                  { name: 'Not confirmed', value: number(rows.filter((row) => row.verdict === 'broken').length) },
                ]}
              />
            </div>
          </section>
          {teams.length > 1 && (
            <div class="checks" role="group" aria-label="Team">
              <button type="button" aria-pressed={state.team === ''} onClick={() => { change({ team: '' }, true); }}>every team</button>
              {teams.map((team) => (
                <button type="button" key={team} aria-pressed={state.team === team} onClick={() => { change({ team }, true); }}>{team}</button>
              ))}
            </div>
          )}
          {shown.some((row) => row.measured_usd !== null) && <SavingsByDecision rows={shown} />}
          <Card title="Kept decisions" note="Click one for its predictions." bare>
            <Table
              label="Kept decisions"
              rows={shown}
              keyOf={(row) => row.id}
              picked={state.id}
              onPick={(row) => { change({ id: state.id === row.id ? '' : row.id }, true); }}
              columns={[
                { title: 'Workload', cell: (row) => `${row.id} ${row.workload}`, sort: (row) => row.workload },
                { title: 'Team', cell: (row) => row.team, sort: (row) => row.team },
                { title: 'Decided', cell: (row) => row.decided_at.slice(0, 10), sort: (row) => row.decided_at },
                { title: 'Choice', wide: true, cell: (row) => <span class="quiet">{row.choice}</span> },
                { title: 'Status', cell: (row) => <Badge tone={STATUS[row.status] ?? 'plain'}>{row.status}</Badge>, sort: (row) => row.status },
                { title: 'Verdict', cell: (row) => (row.verdict ? <Badge tone={VERDICT[row.verdict] ?? 'plain'}>{row.verdict}</Badge> : '–'), sort: (row) => row.verdict ?? '' },
                { title: 'Expected', number: true, cell: (row) => (row.saving_usd === null ? '–' : `${money(row.saving_usd)}/${row.per}`), sort: (row) => row.saving_usd ?? 0 },
                { title: 'Saved so far', number: true, cell: (row) => <strong>{money(row.measured_usd)}</strong>, sort: (row) => row.measured_usd ?? 0 },
              ]}
            />
          </Card>
          {state.id !== '' && <Picked id={state.id} />}
        </div>
      )}
    </>
  );
}
