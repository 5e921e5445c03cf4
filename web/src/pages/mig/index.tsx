// Many small models on few GPUs: the plan as slices, and the effect of moving one.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask, askForFile, type AskFor, type Schemas } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAnswer, useSettled } from '../../lib/answer';
import { knit, number, plural } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { save } from '../../lib/save';
import { Badge, Busy, Card, CopyLink, CopyText, Export, Named, PageHead, Problem, Stats } from '../../parts/basics';
import { readField, wrongIn } from '../../lib/number_field';
import { SelectField } from '../../parts/fields';
import { MIG } from '../numbers';
import { Hero, Line, TableCard } from '../../parts/ask_page';
import { BoardView } from './board';
import { decode, encode, EXAMPLE, layoutOf, mistakesOf, moved, readMoves, placed, toYaml, type Board, type Workload } from './workloads';

const DEFAULTS = { gpu: 'h100-sxm', w: encode(EXAMPLE), file: 'mig_parted', moves: '' };
const UNITS = 8; // the most memory slices of any GPU with MIG

const FILES = [['mig_parted', 'mig-parted'], ['nvidia_smi', 'nvidia-smi'], ['kubernetes', 'Kubernetes'], ['config_map', 'GPU operator']] as const;

function Editor(props: { workloads: Workload[]; onChange: (next: Workload[]) => void }) {
  const set = (i: number, part: Partial<Workload>) => { props.onChange(props.workloads.map((each, j) => (i === j ? { ...each, ...part } : each))); };
  const cell = (i: number, name: 'memory' | 'load' | 'replicas', label: string) => (
    <td class="number">
      <input type="text" inputMode="decimal" class="figure" aria-invalid={wrongIn(MIG[name], props.workloads[i]?.[name] ?? '') !== undefined} value={props.workloads[i]?.[name]} aria-label={`${label} of ${props.workloads[i]?.name ?? ''}`} onChange={(event) => { set(i, { [name]: readField(MIG[name], event.currentTarget.value, 1).kept }); }} />
    </td>
  );
  return (
    <div class="scroll editor">
      <table>
        <thead>
          <tr>
            <th scope="col">Workload</th>
            <th scope="col" class="number"><Named name="GiB" help="GPU memory that one replica needs." /></th>
            <th scope="col" class="number"><Named name="Load %" help="Mean load of one replica, as a share of a whole GPU." /></th>
            <th scope="col" class="number"><Named name="Replicas" help="Copies of the workload that run at the same time." /></th>
            <th scope="col">
              <span class="hidden-visually">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.workloads.map((each, i) => (
            <tr key={i}>
              <td>
                <input type="text" value={each.name} aria-label={`Name of workload ${String(i + 1)}`} onChange={(event) => { set(i, { name: event.currentTarget.value.replace(/[^\w.-]/g, '-') }); }} />
              </td>
              {cell(i, 'memory', 'Memory in GiB')}
              {cell(i, 'load', 'Load')}
              {cell(i, 'replicas', 'Replicas')}
              <td>
                <button type="button" class="ghost" aria-label={`Remove ${each.name}`} onClick={() => { props.onChange(props.workloads.filter((_, j) => i !== j)); }}>
                  ✕
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" class="button small" style={{ margin: '8px 0 0' }} onClick={() => { props.onChange([...props.workloads, { name: `model-${String(props.workloads.length + 1)}`, memory: '8', load: '10', replicas: '1' }]); }}>
        Add a workload
      </button>
    </div>
  );
}

const WAYS: Record<string, string> = { mig: 'MIG', mps: 'MPS', 'time-slicing': 'time-slicing', 'gpu-each': 'a GPU each', 'smaller-gpu-each': 'a smaller GPU each' };
/** As advice. */
const INSTEAD: Record<string, string> = { mps: 'share the GPUs with MPS', 'time-slicing': 'share the GPUs by time-slicing', 'gpu-each': 'a GPU for each replica', 'smaller-gpu-each': 'a smaller GPU for each replica' };
const wayName = (way: string) => WAYS[way] ?? way;

export function MigPage() {
  const [state, change] = useAddress(DEFAULTS);
  const workloads = useMemo(() => decode(state.w), [state.w]);
  const names = workloads.map((each) => each.name);
  const mistakes = useMemo(() => mistakesOf(workloads), [workloads]);
  // While a row is wrong, the last valid question keeps its answer, greyed.
  const usable = useRef<Workload[]>([]);
  if (mistakes.length === 0) usable.current = workloads;
  const asked = useMemo<AskFor<'mig'> | null>(() => (usable.current.length === 0 ? null : { workloads: toYaml(usable.current), gpu: state.gpu }), [usable.current, state.gpu]);
  const answer = useAnswer('mig', useSettled(asked, 250));
  const gpus = useAnswer('gpus', useMemo(() => ({}), []));
  const cuttable = useMemo(() => (gpus.value?.gpus ?? []).filter((gpu) => gpu.mig).map((gpu) => [gpu.name, gpu.name] as const), [gpus.value]);
  const [boards, setBoards] = useState<Board[]>([]);
  const [refused, setRefused] = useState<{ to: number; why: string } | null>(null);
  const plan = answer.value;
  const checked = (next: Board[], to: number) => ask('mig', { gpu: next[to]?.gpu ?? state.gpu, check: layoutOf((next[to]?.pieces ?? []).map((one) => one.profile)) });
  useEffect(() => {
    setRefused(null);
    let current = true;
    const first = (plan?.gpus ?? []).map((gpu) => ({ gpu: gpu.gpu ?? '', pieces: (gpu.instances ?? []).map((each) => ({ profile: each.profile, start: each.start, size: each.size, workload: each.workload, replica: each.workloads?.[0]?.replica ?? 0 })) }));
    setBoards(first);
    // The arrangement of a link, move by move.
    void (async () => {
      let now: Board[] = first;
      for (const [from, piece, to] of readMoves(state.moves)) {
        const next = moved(now, from, piece, to);
        const slot = next ? (await checked(next, to).catch(() => undefined))?.gpus?.[0] : undefined;
        if (!current || !next || !slot?.fits) return;
        now = next.map((board, i) => (i === to ? placed(board, slot.create ?? []) : board));
        setBoards(now);
      }
    })();
    return () => { current = false; };
  }, [plan]);
  const used = boards.filter((board) => board.pieces.length > 0).length;
  const each = plan && plan.gpu_count ? (plan.usd_per_month ?? 0) / plan.gpu_count : 0;
  const changed = plan !== undefined && JSON.stringify(boards.map((board) => board.pieces.map((piece) => piece.workload))) !== JSON.stringify((plan.gpus ?? []).map((gpu) => (gpu.instances ?? []).map((one) => one.workload)));

  // The program decides whether it fits.
  const move = (from: number, piece: number, to: number) => {
    const next = moved(boards, from, piece, to);
    const target = next?.[to];
    if (!next || !target) return;
    setRefused(null);
    checked(next, to).then(
      (check) => {
        const slot = check.gpus?.[0];
        if (slot?.fits) {
          setBoards(next.map((board, i) => (i === to ? placed(board, slot.create ?? []) : board)));
          change({ moves: [state.moves, `${String(from)}.${String(piece)}.${String(to)}`].filter(Boolean).join(';') });
        } else setRefused({ to, why: 'these slices do not fit together' });
      },
      (failed: unknown) => { setRefused({ to, why: failed instanceof Error ? failed.message : 'cannot be checked' }); },
    );
  };
  const cheaper = (plan?.alternatives ?? []).filter((way) => way.feasible && (way.usd_per_month ?? Infinity) < (plan?.usd_per_month ?? 0)).sort((a, b) => (a.usd_per_month ?? 0) - (b.usd_per_month ?? 0))[0];
  const replicas = (plan?.gpus ?? []).flatMap((gpu) => (gpu.instances ?? []).flatMap((one) => (one.workloads ?? []).map((each) => each.workload)));
  const text = plan?.[state.file as 'mig_parted'];
  return (
    <>
      <PageHead title="MIG" what="Many small models on few GPUs: slices, their workloads, and the saving of sharing">
        <CopyLink />
        <Export items={[...FILES.map(([file, name]): [string, () => void] => [name, () => { save(`rightsize-${file}.txt`, String(plan?.[file] ?? ''), 'text/plain'); }]), ['Report (HTML)', () => { if (asked) void askForFile('mig', asked, 'html').then((blob) => { save('rightsize-mig.html', blob, blob.type); }); }], ['Plan (JSON)', () => { save('rightsize-mig.json', JSON.stringify(plan, null, 2), 'application/json'); }]]} />
      </PageHead>
      <div class="with-controls roomy">
        <div class="controls">
          <section class="card fields" aria-label="The question">
            <SelectField label="GPU" value={state.gpu} choices={cuttable.length > 0 ? cuttable : [[state.gpu, state.gpu]]} onChange={(gpu) => { change({ gpu, moves: '' }, true); }} />
            <Editor workloads={workloads} onChange={(next) => { change({ w: encode(next), moves: '' }, true); }} />
            {mistakes.length > 0 && plan && <p class="hint">The answer is that of the table before.</p>}
            {mistakes.map((mistake) => <p class="note bad" role="alert" key={mistake}>{mistake}</p>)}
          </section>
        </div>
        <div class="stack">
          {answer.failed !== undefined && (
            <Card label="Error">
              <Problem failed={answer.failed} />
            </Card>
          )}
          {workloads.length === 0 && <Card label="No workloads"><p class="empty">Add a workload to see how many GPUs it needs.</p></Card>}
          {!plan && asked !== null && answer.failed === undefined && <Busy what="Packing…" />}
          {plan && (plan.unplaceable ?? []).length > 0 && (
            <section class={`card hero ${mistakes.length > 0 ? 'stale kept' : answer.busy || asked === null || answer.failed !== undefined ? 'stale' : ''}`} aria-label="The answer">
              <Line line={`No slice of ${state.gpu} fits ${(plan.unplaceable ?? []).map((each) => each.workload).join(', ')}`} />
              {(plan.unplaceable ?? []).map((each) => (
                <p class="note warn" key={each.workload}>
                  <strong>{each.workload}</strong> {each.reason}.{each.would_fit ? ` It would fit: ${each.would_fit}.` : ''}
                </p>
              ))}
            </section>
          )}
          {plan && (plan.unplaceable ?? []).length === 0 && (
            <div class={`stack ${mistakes.length > 0 ? 'stale kept' : answer.busy || asked === null || answer.failed !== undefined ? 'stale' : ''}`}>
              <Hero
                example={state.w === DEFAULTS.w && state.gpu === DEFAULTS.gpu}
                line={cheaper ? `Do not slice: ${INSTEAD[cheaper.way] ?? wayName(cheaper.way)} — ${running(cheaper.usd_per_month)}` : `${number(plan.gpu_count ?? 0)} × ${boards[0]?.gpu ?? state.gpu}, sliced — ${running(plan.usd_per_month)}`}
                sub={`${plural(replicas.length, 'replica')} of ${plural(new Set(replicas).size, 'workload')}. ${cheaper ? `Sliced, they need ${number(plan.gpu_count ?? 0)} × ${boards[0]?.gpu ?? state.gpu}: ${running(plan.usd_per_month)}. ` : ''}${plan.proved_optimal ? 'No cheaper way to slice them exists.' : `No slicing costs less than ${running(plan.lower_bound)}.`}`}
              >
                <Stats items={(plan.alternatives ?? []).filter((way) => way.feasible).sort((a, b) => (a.usd_per_month ?? 0) - (b.usd_per_month ?? 0)).slice(0, 5).map((way) => ({ name: wayName(way.way), value: amountOf(way.usd_per_month ?? 0), note: `per ${period()}, ${plural(way.gpu_count ?? 0, 'GPU')}`, help: `What the GPUs cost in a ${period()} if the workloads share them this way` }))} />
              </Hero>
              <Card title="Slices" note="Drag a workload to another GPU, or pick it and press Move here." tools={changed ? <Badge tone={used < boards.length ? 'good' : 'accent'}>{used < boards.length ? `${String(boards.length - used)} GPU free: −${running(each * (boards.length - used))}` : 'your arrangement'}</Badge> : undefined}>
                <BoardView boards={boards} units={UNITS} names={names} onMove={move} refused={refused} />
              </Card>
              <TableCard
                title="Ways to share"
                rows={plan.alternatives ?? []}
                keyOf={(way) => way.way}
                columns={[
                  { title: 'Way', cell: (way) => wayName(way.way) },
                  { title: 'GPUs', cell: (way) => knit(Object.entries(way.gpus).map(([gpu, count]) => `${number(Number(count))} × ${gpu}`).join(', ')) || '–' },
                  { title: `$/${period()}`, number: true, cell: (way) => (way.feasible ? amountOf(way.usd_per_month) : '–'), sort: (way) => way.usd_per_month ?? 0 },
                  { title: 'Isolates', cell: (way) => <span class="quiet">{way.isolation}</span> },
                  ...((plan.alternatives ?? []).some((way) => way.why_not) ? [{ title: 'Why not', wide: true, cell: (way: NonNullable<Schemas['Mig']['alternatives']>[number]) => <span class="quiet">{way.why_not}</span> }] : []),
                ]}
              />
              {changed && <p class="note">The files below are those of the program’s plan, not of your arrangement.</p>}
              <Card title="Files" tools={<div class="actions">{FILES.map(([file, name]) => <button type="button" key={file} class="button small choice" aria-pressed={state.file === file} onClick={() => { change({ file }); }}>{name}</button>)}<CopyText text={String(text ?? '')} /></div>}>
                <pre class="file" tabIndex={0}>{text}</pre>
              </Card>
            </div>
          )}
        </div>
      </div>
    </>
  );
}
