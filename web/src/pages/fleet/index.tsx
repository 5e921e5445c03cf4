// The cost of the fleet, the waste of each team, and the actions that save most.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { askForFile, showServer, type AskFor } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { duration, gib, money, number, percent, plural } from '../../lib/format';
import { save } from '../../lib/save';
import { inPageWords } from '../../lib/words';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem, Stats, type Tone } from '../../parts/basics';
import { TextField } from '../../parts/fields';
import { Table } from '../../parts/table';
import { Actions } from './actions';
import { HeatMap, SpendTreemap, VerdictsOverTime, WasteByTeam } from './pictures';
import { ownerShown, placeOf, teamOf, teamsOf, totalsOf, verdictShown, type Action, type Fleet, type Gpu } from './shapes';

const DEFAULTS = { team: '', price: '', gpu: '', off: '', heat: 'activity' };

const VERDICT: Record<string, Tone> = { idle: 'bad', 'idle-held': 'bad', underused: 'warn', bursty: 'warn', 'input-bound': 'warn', 'launch-bound': 'warn', 'transfer-bound': 'warn', 'compute-bound': 'good', 'memory-bound': 'good' };

function useSource(): { source: string; example: boolean } {
  const [source, setSource] = useState({ source: '', example: false });
  useEffect(() => {
    showServer().then((server) => { setSource(server.fleet); }, () => undefined);
  }, []);
  return source;
}

function Summary(props: { fleet: Fleet; team: string; gpus: Gpu[]; actions: Action[] }) {
  const { fleet, team } = props;
  const totals = team === '' ? fleet.totals : totalsOf(props.gpus, props.actions);
  // The monthly cost of a team: its share of the fleet's cost in the window.
  const monthly = team === '' ? fleet.totals.usd_per_month : fleet.totals.spend_usd > 0 ? (fleet.totals.usd_per_month * totals.spend_usd) / fleet.totals.spend_usd : 0;
  const worst = teamsOf(fleet.gpus)[0];
  return (
    <section class="card hero" aria-label="Summary">
      <p class="hero-line" data-testid="summary">
        {team !== '' && `${team}: `}
        {money(totals.waste_usd)} of {money(totals.spend_usd)} is wasted ({percent(totals.waste_share)}){team === '' && worst ? `; ${worst.name} wastes most` : ''}
      </p>
      <p class="hero-sub">
        {plural(totals.gpus, 'GPU')} over {duration(fleet.totals.window_seconds)}. {props.actions.length === 0 ? 'No action was found.' : `${plural(props.actions.length, 'action')} would save ${money(totals.savings_usd_per_month)} of ${money(monthly)}/month.`}
      </p>
      <div style={{ marginTop: '12px' }}>
        <Stats
          items={[
            { name: 'Spent', value: money(totals.spend_usd), note: `${number(totals.gpu_hours)} GPU-hours` },
            { name: 'Wasted', value: money(totals.waste_usd), note: `${percent(totals.waste_share)} of it, ${money(monthly * totals.waste_share)}/month` },
            { name: 'Idle', value: `${number(totals.idle_gpu_hours)} h`, note: `${percent(totals.gpu_hours > 0 ? totals.idle_gpu_hours / totals.gpu_hours : 0)} of GPU-hours` },
            { name: 'Per month at this rate', value: money(monthly) },
            { name: 'Actions save', value: money(totals.savings_usd_per_month), note: 'per month' },
          ]}
        />
      </div>
    </section>
  );
}

function GpuTable(props: { gpus: Gpu[]; picked: string; onPick: (id: string) => void }) {
  const picked = props.gpus.find((gpu) => gpu.id === props.picked);
  return (
    <Card title="GPUs" note="Click one for the evidence." bare>
      {picked && (
        <div class="card-body">
          <p class="note">
            <strong>{placeOf(picked)}</strong>: {verdictShown(picked.verdict)}, {percent(picked.confidence)} sure. {picked.evidence.join('; ')}. Memory at its peak {gib(picked.memory_peak_bytes)}; price: {picked.price_source}.
          </p>
        </div>
      )}
      <Table
        label="GPUs"
        rows={props.gpus}
        most={15}
        keyOf={(gpu) => gpu.id}
        picked={props.picked}
        onPick={(gpu) => { props.onPick(gpu.id); }}
        columns={[
          { title: 'GPU', cell: (gpu) => placeOf(gpu), sort: placeOf },
          { title: 'Model', roomy: true, cell: (gpu) => gpu.name, sort: (gpu) => gpu.name },
          { title: 'Owner', roomy: true, cell: (gpu) => ownerShown(gpu.owner), sort: (gpu) => gpu.owner },
          { title: 'Verdict', cell: (gpu) => <Badge tone={VERDICT[gpu.verdict] ?? 'plain'}>{verdictShown(gpu.verdict)}</Badge>, sort: (gpu) => gpu.verdict },
          { title: 'Idle', roomy: true, number: true, cell: (gpu) => percent(gpu.idle_share), sort: (gpu) => gpu.idle_share ?? 0 },
          { title: 'Spent', roomy: true, number: true, cell: (gpu) => money(gpu.spend_usd), sort: (gpu) => gpu.spend_usd ?? 0 },
          { title: 'Wasted', number: true, cell: (gpu) => money(gpu.waste_usd), sort: (gpu) => gpu.waste_usd ?? 0 },
        ]}
      />
    </Card>
  );
}

export function FleetPage() {
  const [state, change] = useAddress(DEFAULTS);
  const [telemetry, setTelemetry] = useState<{ name: string; text: string } | null>(null);
  const source = useSource();
  const asked = useMemo<AskFor<'fleet'>>(() => ({ timeline: true, ...(state.price === '' ? {} : { price: [state.price] }), ...(telemetry ? { telemetry: telemetry.text } : {}) }), [state.price, telemetry]);
  const answer = useAnswer('fleet', asked);
  const fleet = answer.value;
  const gpus = useMemo(() => (fleet?.gpus ?? []).filter((gpu) => state.team === '' || teamOf(gpu.owner) === state.team), [fleet, state.team]);
  const actions = useMemo(() => (fleet?.actions ?? []).filter((action) => state.team === '' || teamOf(action.owner) === state.team), [fleet, state.team]);
  const off = new Set(state.off.split(',').filter(Boolean).map(Number));
  const chosen = new Set((fleet?.actions ?? []).map((_, i) => i).filter((i) => !off.has(i)));
  const pickTeam = (team: string) => { change({ team: state.team === team ? '' : team }, true); };
  const report = (format: 'html' | 'md' | 'csv') => {
    void askForFile('fleet', { ...asked, timeline: false }, format).then((blob) => { save(`rightsize-fleet.${format}`, blob, blob.type); });
  };
  return (
    <>
      <PageHead title="Fleet" what={telemetry ? `Readings of ${telemetry.name}` : source.example ? 'An example fleet: start the server with --from or --prometheus to see your own' : `Readings of ${source.source}`}>
        <label class="button">
          Open readings…
          <input
            type="file"
            class="hidden-visually"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) void file.text().then((text) => { setTelemetry({ name: file.name, text }); change({ team: '', gpu: '', off: '' }, true); });
            }}
          />
        </label>
        <CopyLink />
        <Export items={[['Report (HTML)', () => { report('html'); }], ['Report (Markdown)', () => { report('md'); }], ['Tables (CSV)', () => { report('csv'); }], ['GPUs (CSV)', () => { save('rightsize-gpus.csv', toCsv(gpus.map((gpu) => ({ gpu: placeOf(gpu), model: gpu.name, owner: gpu.owner, verdict: gpu.verdict, spend_usd: gpu.spend_usd, waste_usd: gpu.waste_usd }))), 'text/csv'); }]]} />
      </PageHead>
      {answer.failed !== undefined && (
        <Card label="Error">
          <Problem failed={answer.failed} />
        </Card>
      )}
      {!fleet && answer.failed === undefined && <Busy what="Reading the fleet…" />}
      {fleet && (
        <div class={`stack ${answer.busy ? 'stale' : ''}`}>
          <Summary fleet={fleet} team={state.team} gpus={gpus} actions={actions} />
          <div class="actions">
            <span class="quiet">Show</span>
            <div class="checks" role="group" aria-label="Team">
              <button type="button" aria-pressed={state.team === ''} onClick={() => { change({ team: '' }, true); }}>
                every team
              </button>
              {teamsOf(fleet.gpus).map((team) => (
                <button type="button" key={team.name} aria-pressed={state.team === team.name} onClick={() => { pickTeam(team.name); }}>
                  {team.name}
                </button>
              ))}
            </div>
            <div style={{ marginLeft: 'auto', width: '220px' }}>
              <TextField label="Your price" value={state.price} placeholder="2.49, or h100-sxm=2.10" onChange={(price) => { change({ price }, true); }} />
            </div>
          </div>
          <div class="columns wide-left">
            <SpendTreemap gpus={gpus} onPick={(team, gpu) => { change(state.team === '' ? { team } : { gpu }, true); }} />
            <div class="stack">
              <WasteByTeam gpus={fleet.gpus} team={state.team} onPick={pickTeam} />
              <VerdictsOverTime fleet={fleet} gpus={gpus} />
            </div>
          </div>
          <Actions fleet={fleet} actions={actions} unplanned={(fleet.without_action ?? []).filter((waste) => state.team === '' || teamOf(waste.owner) === state.team)} chosen={chosen} onChoose={(next) => { change({ off: fleet.actions.map((_, i) => i).filter((i) => !next.has(i)).join(',') }); }} />
          <HeatMap fleet={fleet} gpus={gpus} by={state.heat === 'verdict' ? 'verdict' : 'activity'} onBy={(heat) => { change({ heat }); }} />
          <GpuTable gpus={gpus} picked={state.gpu} onPick={(gpu) => { change({ gpu: state.gpu === gpu ? '' : gpu }); }} />
          {fleet.notes.length > 0 && (
            <Card title="Notes on these numbers">
              <ul class="stack">
                {fleet.notes.map((note) => (
                  <li class="note" key={String(note)}>
                    {inPageWords(String(note), { price: '“Your price”' })}
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      )}
    </>
  );
}
