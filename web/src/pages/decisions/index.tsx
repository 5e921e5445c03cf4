// Recorded decisions with their expected and measured savings.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { showServer, type AskFor } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { duration, money, number, percent, plural, sentence } from '../../lib/format';
import { running } from '../../lib/period';
import { save } from '../../lib/save';
import { localDay } from '../../lib/zone';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem, Stats, type Tone } from '../../parts/basics';
import { Line, TableCard } from '../../parts/ask_page';
import { Table } from '../../parts/table';
import { SavingsByDecision } from './pictures';
import { joined, totalSaved, type Decision, type Detail, type Savings } from './shapes';

const DEFAULTS = { id: '', team: '' };
const STATUS: Record<string, Tone> = { 'in-force': 'good', 'rolling-out': 'accent', 'rolled-back': 'bad', superseded: 'plain', decided: 'plain' };
const NAMES: Record<string, string> = { ttft_seconds: 'TTFT', tpot_seconds: 'TPOT', usd_per_hour: 'price per hour', memory_bytes: 'memory per GPU', tokens_per_second: 'tokens per second', hours: 'duration in hours' };
const metricName = (metric: string) => NAMES[metric] ?? metric.replace(/_(seconds|bytes)$/, '').replace(/_/g, ' ');
const VERDICT: Record<string, Tone> = { kept: 'good', broken: 'bad' };
const CONFIRMED: Record<string, string> = { kept: 'confirmed', broken: 'not confirmed' };

/** A job has a cost per run, a service one per month. */
const costPer = (usd: number | null | undefined, per: string | undefined) => (typeof usd !== 'number' ? '–' : per === 'month' ? running(usd) : `${money(usd)}/${per ?? 'run'}`);

/** The predictions of a decision next to the later measurements. */
function Picked(props: { id: string }) {
  const answer = useAnswer('decisions', useMemo(() => ({ what: ['show', props.id] }) as unknown as AskFor<'decisions'>, [props.id]));
  const verified = useAnswer('verify', useMemo(() => ({ decision: props.id }), [props.id]));
  const decision = (answer.value as { decisions?: Detail[] } | undefined)?.decisions?.[0];
  if (answer.failed !== undefined) return <Card label="Error"><Problem failed={answer.failed} /></Card>;
  if (!decision || decision.id !== props.id) return <Busy />;
  const verification = verified.value?.verification;
  const measured = new Map((verification?.metrics ?? []).map((each) => [each.metric, each]));
  const broken = (verification?.metrics ?? []).filter((each) => each.verdict === 'broken');
  const shown = (metric: string, value: number | null | undefined) => (value === null || value === undefined ? '–' : metric.endsWith('_seconds') ? duration(value) : metric.endsWith('_bytes') ? `${number(value / 2 ** 30)} GiB` : metric.startsWith('usd') ? money(value) : metric === 'utilization' ? percent(value) : number(value));
  return (
    <Card title={`${decision.id}: ${decision.workload}`} note={decision.what ?? ''}>
      <div class="stack">
        {decision.why && <p class="note">{decision.why}</p>}
        {broken.map((each) => (
          <p class="note bad" key={each.metric}>
            {sentence(metricName(each.metric)).slice(0, -1)}: {shown(each.metric, each.measured)}, outside the predicted range of {shown(each.metric, each.predicted.low)} to {shown(each.metric, each.predicted.high)}.
          </p>
        ))}
        <Table
          label="Predicted and measured"
          rows={decision.predictions ?? []}
          keyOf={(row) => row.metric}
          columns={[
            { title: 'What', cell: (row) => metricName(row.metric) },
            { title: 'Predicted', number: true, cell: (row) => <>{shown(row.metric, row.likely)}{row.low !== null && <small class="roomy-only">{shown(row.metric, row.low)} to {shown(row.metric, row.high)}</small>}</> },
            { title: 'Measured', number: true, cell: (row) => {
              const real = measured.get(row.metric);
              if (!real || real.measured === null || real.measured === undefined) return <span class="quiet">{verified.busy ? '…' : 'not measured'}</span>;
              return <><strong>{shown(row.metric, real.measured)}</strong><small class="roomy-only">{real.low !== null && real.low !== undefined ? `${shown(row.metric, real.low)} to ${shown(row.metric, real.high)}, ` : ''}{plural(real.samples, 'sample')}</small></>;
            } },
            { title: 'Verdict', roomy: true, cell: (row) => { const verdict = measured.get(row.metric)?.verdict; return verdict ? <Badge tone={VERDICT[verdict] ?? 'plain'}>{CONFIRMED[verdict] ?? verdict}</Badge> : '–'; } },
            { title: 'Limit', number: true, roomy: true, cell: (row) => shown(row.metric, row.limit) },
          ]}
        />
        {typeof verification?.measured_usd === 'number' && <p>Measured cost: <strong>{costPer(verification.measured_usd, decision.per)}</strong> <span class="quiet">({verification.cost_method})</span>{typeof verification.saved_usd === 'number' ? verification.saved_usd < 0 ? `; ${costPer(-verification.saved_usd, decision.per)} more than before` : `; saves ${costPer(verification.saved_usd, decision.per)}` : ''}{typeof verification.predicted_saving_usd === 'number' ? `, predicted saving ${costPer(verification.predicted_saving_usd, decision.per)}` : ''}.</p>}
        {decision.rollback && (
          <p class="quiet">
            Rollback: <code>{decision.rollback}</code>
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
    showServer().then((server) => { setKept(server.ledger !== false); }, () => { setKept(true); });
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
  const teams = [...new Set(rows.flatMap((row) => row.team || []))];
  const total = totalSaved(shown);
  const measured = shown.filter((row) => row.measured_usd !== null).length;
  const by = measured === shown.length ? plural(measured, 'decision') : `${number(measured)} of ${plural(shown.length, 'decision')}`;
  return (
    <>
      <PageHead title="Decisions" what="Recorded decisions with their expected and measured savings">
        <CopyLink />
        <Export items={[['Decisions (CSV)', () => { save('rightsize-decisions.csv', toCsv(shown.map((row) => ({ ...row }))), 'text/csv'); }]]} />
      </PageHead>
      {kept === false && (
        <Card label="No ledger">
          <p class="empty">
            No decision is recorded yet. “Decide” on the Recommend page records one; <code>rightsize serve --ledger FILE</code> shows those of a team.
          </p>
        </Card>
      )}
      {list.failed !== undefined && <Card label="Error"><Problem failed={list.failed} /></Card>}
      {kept !== false && !list.value && list.failed === undefined && <Busy />}
      {list.value && (
        <div class="stack">
          <section class="card hero" aria-label="Summary">
            <Line line={`${state.team === '' ? '' : `${state.team}: `}${total === undefined ? plural(shown.length, 'decision') : total < 0 ? `${money(-total)} more spent so far by ${by}` : `${money(total)} saved so far by ${by}`}`} />
            <div style={{ marginTop: '12px' }}>
              <Stats
                items={[
                  { name: 'In force', value: number(shown.filter((row) => row.status === 'in-force').length) },
                  { name: 'Rolling out', value: number(shown.filter((row) => row.status === 'rolling-out').length) },
                  { name: 'Savings confirmed', value: number(shown.filter((row) => row.verdict === 'kept').length), note: 'by measurement' },
                  { name: 'Not confirmed', value: number(shown.filter((row) => row.verdict === 'broken').length) },
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
          <TableCard
            title="Decisions"
            note="Click one for its predictions and measurements."
            rows={shown}
            keyOf={(row) => row.id}
            picked={state.id}
            onPick={(row) => { change({ id: state.id === row.id ? '' : row.id }, true); }}
            columns={[
              { title: 'Workload', cell: (row) => `${row.id} ${row.workload}`, sort: (row) => row.workload },
              { title: 'Saved so far', number: true, cell: (row) => <strong>{money(row.measured_usd)}</strong>, sort: (row) => row.measured_usd ?? 0 },
              { title: 'Team', roomy: true, cell: (row) => row.team || '–', sort: (row) => row.team ?? '' },
              { title: 'Decided', roomy: true, tight: true, cell: (row) => localDay(row.decided_at), sort: (row) => row.decided_at },
              { title: 'Choice', wide: true, roomy: true, cell: (row) => <span class="quiet">{row.choice.replace(/(\d) x /g, '$1 × ')}</span> },
              { title: 'Status', roomy: true, cell: (row) => <Badge tone={STATUS[row.status] ?? 'plain'}>{row.status.replace('-', ' ')}</Badge>, sort: (row) => row.status },
              { title: 'Verdict', cell: (row) => (row.verdict ? <Badge tone={VERDICT[row.verdict] ?? 'plain'}>{CONFIRMED[row.verdict] ?? row.verdict}</Badge> : '–'), sort: (row) => row.verdict ?? '' },
              { title: 'Expected', number: true, roomy: true, cell: (row) => costPer(row.saving_usd, row.per), sort: (row) => row.saving_usd ?? 0 },
            ]}
          />
          {state.id !== '' && <Picked id={state.id} />}
        </div>
      )}
    </>
  );
}
