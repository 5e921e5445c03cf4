// The cost of the fleet, the waste of each team, and the actions that save most.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { askForFile, Refused, showServer, upload, type AskFor, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSearch } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { duration, gib, middleCut, money, number, percent, plural, sentence } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { wrongPrices } from '../../lib/parse';
import { save } from '../../lib/save';
import { inPageWords } from '../../lib/words';
import { Badge, Busy, Card, CopyLink, Export, PageHead, Problem, Stats, type Tone } from '../../parts/basics';
import { Line } from '../../parts/ask_page';
import { Combobox, SelectField, TextField } from '../../parts/fields';
import { Table } from '../../parts/table';
import { Actions } from './actions';
import { HeatMap, SpendTreemap, VerdictsOverTime, WasteByTeam } from './pictures';
import { actionKey, endOf, monthlyOf, ownerShown, placeOf, savingOf, shortPlaces, teamOf, teamsOf, totalsOf, verdictShown, type Action, type Fleet, type Gpu } from './shapes';

const DEFAULTS = { team: '', price: '', gpu: '', off: '', heat: 'activity', window: '', range: '', file: '', upload: '' };
/** Teams that get a button; the others are found by typing. */
const MOST_TEAMS = 10;
const HOUR = 3_600_000;
/** How far back to query a metrics server. */
const WINDOWS = [['', 'as the server was started'], ['1d', '1 day'], ['3d', '3 days'], ['7d', '7 days'], ['14d', '14 days'], ['30d', '30 days'], ['90d', '90 days']] as const;

const VERDICT: Record<string, Tone> = { idle: 'bad', 'idle-held': 'bad', underused: 'warn', bursty: 'warn', 'input-bound': 'warn', 'launch-bound': 'warn', 'transfer-bound': 'warn', 'compute-bound': 'good', 'memory-bound': 'good' };

function useSource(): Schemas['Server']['fleet'] {
  const [source, setSource] = useState<Schemas['Server']['fleet']>({ source: '', example: false });
  useEffect(() => {
    showServer().then((server) => { setSource(server.fleet); }, () => undefined);
  }, []);
  return source;
}

function Summary(props: { fleet: Fleet; team: string; gpus: Gpu[]; monthly: number; actions: Action[]; off: Set<string>; example: boolean }) {
  const { fleet, team } = props;
  const totals = team === '' ? fleet.totals : totalsOf(props.gpus);
  const saving = savingOf(props.actions, props.off);
  const chosen = props.actions.filter((action) => action.counted && !props.off.has(actionKey(action))).length;
  const { monthly } = props;
  const worst = team === '' ? teamsOf(fleet.gpus)[0] : undefined;
  const most = worst && worst.waste >= 0.005 ? `; ${worst.name === ownerShown('(unowned)') ? 'GPUs without an owner waste' : `${worst.name} wastes`} most, ${money(worst.waste)}` : '';
  return (
    <section class="card hero" aria-label="Summary">
      <Line testid="summary" line={`${team === '' ? '' : `${team}: `}${totals.waste_usd < 0.005 ? `no waste found in ${money(totals.spend_usd)}` : `${money(totals.waste_usd)} of ${money(totals.spend_usd)} is wasted (${percent(totals.waste_share)})`}${most}`} />
      <p class="hero-sub">
        {props.example && <Badge tone="accent" title="Not your fleet: open your own readings">Example</Badge>} {plural(totals.gpus, 'GPU')} over {duration(fleet.totals.window_seconds)}. {props.actions.length === 0 ? 'No action was found.' : `${chosen === props.actions.length ? plural(chosen, 'action') : `${number(chosen)} of ${plural(props.actions.length, 'action')}`} would save ${amountOf(saving)} of ${running(monthly)}.`}
      </p>
      <div style={{ marginTop: '12px' }}>
        <Stats
          items={[
            { name: 'Spent', value: money(totals.spend_usd), note: `${number(totals.gpu_hours)} GPU-hours` },
            { name: 'Wasted', value: money(totals.waste_usd), note: `${percent(totals.waste_share)} of it, ${running(monthly * totals.waste_share)}` },
            { name: 'Idle', value: `${number(totals.idle_gpu_hours)} h`, note: `${percent(totals.gpu_hours > 0 ? totals.idle_gpu_hours / totals.gpu_hours : 0)} of GPU-hours` },
            { name: `Per ${period()} at this rate`, value: amountOf(monthly) },
            { name: 'Actions save', value: amountOf(saving), note: `per ${period()}, those ticked below` },
          ]}
        />
      </div>
    </section>
  );
}

function GpuTable(props: { gpus: Gpu[]; picked: string; onPick: (id: string) => void }) {
  const shortPlace = useMemo(() => shortPlaces(props.gpus), [props.gpus]);
  const worst = useMemo(() => [...props.gpus].sort((a, b) => (b.waste_usd ?? 0) - (a.waste_usd ?? 0)), [props.gpus]);
  const picked = props.gpus.find((gpu) => gpu.id === props.picked);
  return (
    <Card title="GPUs" note="Those that waste most first. Click one for the evidence." bare>
      {picked && (
        <div class="card-body">
          <p class="note">
            <strong>{placeOf(picked)}</strong>: {verdictShown(picked.verdict)}, {percent(picked.confidence)} sure. {picked.evidence.join('; ')}. Memory at its peak {gib(picked.memory_peak_bytes)}; price: {picked.price_source}.
          </p>
        </div>
      )}
      <Table
        label="GPUs"
        rows={worst}
        most={15}
        find={(gpu) => `${placeOf(gpu)} ${gpu.name} ${gpu.owner} ${gpu.verdict}`}
        keyOf={(gpu) => gpu.id}
        picked={props.picked}
        onPick={(gpu) => { props.onPick(gpu.id); }}
        columns={[
          { title: 'GPU', clip: placeOf, cell: (gpu) => middleCut(shortPlace(placeOf(gpu)), 26), sort: placeOf },
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

/** A slow read of a metrics server: how long it takes so far, and a way to stop it. */
function Elapsed(props: { what: string; onCancel: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const begun = Date.now();
    const timer = setInterval(() => { setSeconds(Math.floor((Date.now() - begun) / 1000)); }, 1000);
    return () => { clearInterval(timer); };
  }, []);
  return (
    <div class="actions" style={{ marginBottom: '10px' }}>
      <Busy what={seconds === 0 ? `${props.what}…` : `${props.what}, ${duration(seconds)}`} />
      {seconds > 0 && <button type="button" class="button small" onClick={props.onCancel}>Cancel</button>}
    </div>
  );
}

/** Sends a file of readings, and shows progress and errors. */
function useUpload(done: (file: string, id: string) => void) {
  const [state, setState] = useState<{ name: string; share: number; failed?: unknown } | null>(null);
  const control = useRef<AbortController>();
  const send = (file: File) => {
    control.current?.abort();
    const mine = new AbortController();
    control.current = mine;
    setState({ name: file.name, share: 0 });
    upload(file, mine.signal, (share) => { if (!mine.signal.aborted) setState({ name: file.name, share }); }).then(
      (id) => { if (!mine.signal.aborted) { setState(null); done(file.name, id); } },
      (failed: unknown) => { if (!mine.signal.aborted) setState({ name: file.name, share: 0, failed }); },
    );
  };
  return { state, send, cancel: () => { control.current?.abort(); setState(null); } };
}

export function FleetPage() {
  const [state, change] = useAddress(DEFAULTS);
  const source = useSource();
  const sending = useUpload((file, id) => { change({ file, upload: id, team: '', gpu: '', off: '', range: '' }, true); });
  const usable = useRef('');
  if (wrongPrices(state.price) === undefined) usable.current = state.price;
  const price = usable.current; // the last one that can be read as prices
  const asked = useMemo<AskFor<'fleet'>>(() => ({ timeline: true, ...(price === '' ? {} : { price: [price] }), ...(state.upload === '' ? {} : { telemetry: state.upload }), ...(state.window === '' ? {} : { window: state.window }) }), [price, state.upload, state.window]);
  // Large files take longer than a request may.
  const [stopped, setCancelled] = useState<string | null>(null);
  const cancelled = state.upload === '' && stopped === JSON.stringify(asked);
  const direct = useAnswer('fleet', state.upload === '' && !cancelled ? asked : null);
  const searched = useSearch('fleet', state.upload === '' ? null : JSON.stringify(asked));
  const answer = state.upload === '' ? direct : { ...searched, busy: searched.seconds !== null };
  // If the next question fails, the answer before it stays, with the name of its source.
  const last = useRef<{ fleet: Fleet; name: string }>();
  const name = state.upload !== '' ? `Readings of ${state.file}` : source.example ? 'An example fleet. Open your own readings to replace it' : `Readings of ${source.source}`;
  if (answer.value && answer.failed === undefined && !answer.busy) last.current = { fleet: answer.value, name };
  const fleet = last.current?.fleet;
  const gpus = useMemo(() => (fleet?.gpus ?? []).filter((gpu) => state.team === '' || teamOf(gpu.owner) === state.team), [fleet, state.team]);
  const actions = useMemo(() => (fleet?.actions ?? []).filter((action) => state.team === '' || teamOf(action.owner) === state.team), [fleet, state.team]);
  const teams = useMemo(() => teamsOf(fleet?.gpus ?? []), [fleet]);
  const monthly = useMemo(() => (!fleet ? 0 : state.team === '' ? fleet.totals.usd_per_month : monthlyOf(fleet, gpus)), [fleet, gpus, state.team]);
  const off = useMemo(() => new Set(state.off.split(',').filter(Boolean)), [state.off]);
  const hours = Number(state.range);
  const since = useMemo(() => (fleet && hours > 0 ? endOf(fleet) - hours * HOUR : 0), [fleet, hours]);
  const days = (fleet?.totals.window_seconds ?? 0) / 86400;
  const buttons = [...teams.slice(0, MOST_TEAMS), ...teams.slice(MOST_TEAMS).filter((team) => team.name === state.team)];
  const pickTeam = (team: string) => { change({ team: state.team === team ? '' : team }, true); };
  const models = new Set((fleet?.gpus ?? []).map((gpu) => gpu.name));
  const forAll = state.price !== '' && !state.price.includes('=') && models.size > 1 ? `For all ${number(models.size)} kinds of GPU; ${[...models][0] ?? ''}=${state.price} is for one.` : '';
  const wrongPrice = wrongPrices(state.price);
  const priceField = <TextField label="Your price" value={state.price} wrong={wrongPrice} hint={forAll} placeholder="h100-sxm=2.10" help="Dollars per GPU-hour, for one GPU or several: h100-sxm=2.10, l4=0.50. A number alone applies to every GPU" onChange={(price) => { change({ price }, true); }} />;
  const report = (format: 'html' | 'md' | 'csv') => {
    void askForFile('fleet', { ...asked, timeline: false }, format).then((blob) => { save(`rightsize-fleet.${format}`, blob, blob.type); });
  };
  return (
    <>
      <PageHead title="Fleet" what={last.current?.name ?? name}>
        <label class="button">
          Open readings…
          <input
            type="file"
            class="hidden-visually"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) sending.send(file);
              event.currentTarget.value = '';
            }}
          />
        </label>
        {state.upload !== '' && <button type="button" class="button" onClick={() => { change({ file: '', upload: '', team: '', gpu: '', off: '' }, true); }}>Close {state.file}</button>}
        <CopyLink />
        <Export items={[['Report (HTML)', () => { report('html'); }], ['Report (Markdown)', () => { report('md'); }], ['Tables (CSV)', () => { report('csv'); }], ['GPUs (CSV)', () => { save('rightsize-gpus.csv', toCsv(gpus.map((gpu) => ({ gpu: placeOf(gpu), model: gpu.name, owner: gpu.owner, verdict: gpu.verdict, spend_usd: gpu.spend_usd, waste_usd: gpu.waste_usd }))), 'text/csv'); }]]} />
      </PageHead>
      {sending.state && (
        <Card label="Upload">
          {sending.state.failed !== undefined ? (
            <>
              <p class="note bad" role="alert">{sending.state.name} was not sent{fleet ? '; the page still shows the readings before' : ''}.</p>
              <Problem failed={sending.state.failed} />
            </>
          ) : (
            <div class="actions">
              <progress max={1} value={sending.state.share} aria-label={`Sending ${sending.state.name}`} />
              <span role="status">Sending {sending.state.name}: {percent(sending.state.share)}</span>
              <button type="button" class="button small" onClick={sending.cancel}>Cancel</button>
            </div>
          )}
        </Card>
      )}
      {state.upload !== '' && searched.seconds !== null && searched.seconds > 0.5 && <Card label="Working"><div class="actions"><Busy what={`Reading ${state.file}, ${searched.seconds.toFixed(0)} s`} /><button type="button" class="button small" onClick={searched.cancel}>Cancel</button></div></Card>}
      {answer.failed !== undefined && (
        <Card label="Error">
          <Problem failed={answer.failed} fields={{ price: '“Your price”' }} />
          {answer.failed instanceof Refused && answer.failed.status === 504 && source.server && <p>{source.source} did not answer in time. <button type="button" class="button small" onClick={() => { location.reload(); }}>Try again</button></p>}
          {fleet && <p class="quiet">The page still shows: {last.current?.name}.</p>}
          {!fleet && state.price !== '' && priceField}
        </Card>
      )}
      {cancelled && <Card label="Cancelled"><p class="empty">Reading was cancelled. <button type="button" class="button small" onClick={() => { setCancelled(null); }}>Read again</button></p></Card>}
      {state.upload === '' && direct.busy && <Elapsed key={JSON.stringify(asked)} what={source.server ? `Reading ${source.source}` : 'Reading the fleet'} onCancel={() => { setCancelled(JSON.stringify(asked)); }} />}
      {fleet && (
        <div class={`stack ${wrongPrice !== undefined ? 'stale kept' : answer.busy || answer.failed !== undefined ? 'stale' : ''}`}>
          <Summary example={source.example && state.upload === ''} fleet={fleet} team={state.team} gpus={gpus} monthly={monthly} actions={actions} off={off} />
          <div class="actions">
            <div class="checks" role="group" aria-label="Team">
              <button type="button" aria-pressed={state.team === ''} onClick={() => { change({ team: '' }, true); }}>
                every team
              </button>
              {buttons.map((team) => (
                <button type="button" key={team.name} aria-pressed={state.team === team.name} title={team.name} onClick={() => { pickTeam(team.name); }}>
                  {middleCut(team.name, 24)}
                </button>
              ))}
            </div>
            <div class="beside-fields">
              {teams.length > MOST_TEAMS && <Combobox label={`Find one of ${number(teams.length)} teams`} value={state.team} choices={teams.map((team) => ({ value: team.name, note: `${money(team.waste)} wasted`, words: team.name.toLowerCase() }))} onChange={(team) => { change({ team }, true); }} />}
              {source.server && state.upload === '' && <SelectField label="Look back" value={state.window} choices={WINDOWS} onChange={(window) => { change({ window, range: '' }, true); }} />}
              {days > 1.5 && <SelectField label="Time charts show" value={state.range} choices={[['', `all ${duration(fleet.totals.window_seconds)}`], ...([1, 3, 7, 14].filter((each) => each < days).map((each): [string, string] => [String(24 * each), each === 1 ? 'the last day' : `the last ${String(each)} days`]))]} onChange={(range) => { change({ range }, true); }} />}
              {priceField}
            </div>
          </div>
          <div class="columns wide-left">
            <SpendTreemap gpus={gpus} tall={Math.max(520, 440 + 34 * Math.min(10, teams.length))} onPick={(team, gpu) => { change(state.team === '' ? { team } : { gpu }, true); }} />
            <div class="stack">
              <WasteByTeam gpus={fleet.gpus} team={state.team} onPick={pickTeam} />
              <VerdictsOverTime fleet={fleet} gpus={gpus} since={since} />
            </div>
          </div>
          <Actions monthly={monthly} team={state.team} actions={actions} unplanned={(fleet.without_action ?? []).filter((waste) => state.team === '' || teamOf(waste.owner) === state.team)} off={off} onOff={(next) => { change({ off: [...next].join(',') }); }} />
          <HeatMap fleet={fleet} gpus={gpus} since={since} by={state.heat === 'verdict' ? 'verdict' : 'activity'} onBy={(heat) => { change({ heat }); }} />
          <GpuTable gpus={gpus} picked={state.gpu} onPick={(gpu) => { change({ gpu: state.gpu === gpu ? '' : gpu }); }} />
          {fleet.notes.length > 0 && (
            <Card title="Notes on these numbers">
              <ul class="stack">
                {fleet.notes.map((note) => (
                  <li class="note" key={String(note)}>
                    {sentence(inPageWords(String(note), { price: '“Your price”' }))}
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
