// All workloads of an organisation in one plan: pools as rows, parts of the month as columns, workloads as blocks.
import { useMemo, useState } from 'preact/hooks';
import type { AskFor, Schemas } from '../../api/client';
import { useAnswer } from '../../lib/answer';
import { number, percent, plural } from '../../lib/format';
import { amountOf, period, running } from '../../lib/period';
import { inPageWords } from '../../lib/words';
import { useQuestion } from '../../parts/question';
import { Badge, Card, Stats } from '../../parts/basics';
import { AskPage, Hero, TableCard } from '../../parts/ask_page';
import { Field } from '../../parts/fields';
import { colourOf } from '../mig/board';
import { EXAMPLE, listed, pinned, readPins, writePins, type Listed } from './organisation';

const DEFAULTS = { org: EXAMPLE, pins: '' };
type Portfolio = Schemas['Portfolio'];
type Workload = NonNullable<Portfolio['workloads']>[number];

/** Whether a workload takes GPUs in a part of the month: "5 GPUs day, 1 night", "2x 1g.10gb". */
export function runsIn(takes: string, block: string, blocks: string[]): boolean {
  return !blocks.some((each) => new RegExp(`\\b${each.replace(/[^\w-]/g, '.')}\\b`).test(takes)) || new RegExp(`\\b${block.replace(/[^\w-]/g, '.')}\\b`).test(takes);
}

function Board(props: { value: Portfolio; pins: Map<string, number>; onPin: (workload: Workload) => void }) {
  const { value } = props;
  const workloads = value.workloads ?? [];
  const machines = value.machines ?? [];
  const blocks = [...new Map(machines.map((each) => [each.block, each.hours]))];
  const pools = [...new Set([...machines.map((each) => each.pool), ...workloads.map((each) => each.where)])];
  const names = workloads.map((each) => each.name);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="The board">
      <table class="board-table">
        <thead>
          <tr>
            <th scope="col">Machines</th>
            {blocks.map(([block, hours]) => <th scope="col" key={block}>{block} <span class="quiet">{number(hours)} h/month</span></th>)}
          </tr>
        </thead>
        <tbody>
          {pools.map((pool) => {
            const here = machines.filter((each) => each.pool === pool);
            const inside = workloads.filter((each) => each.where === pool);
            if (inside.length === 0 && here.every((each) => each.used_gpus === 0)) return null;
            return (
              <tr key={pool}>
                <th scope="row"><span class="one-line">{pool}</span><small>{here[0]?.gpu ?? 'bought as a service'}</small></th>
                {(blocks.length > 0 ? blocks : [['all', 730] as [string, number]]).map(([block]) => {
                  const machine = here.find((each) => each.block === block);
                  return (
                    <td key={block}>
                      <div class="blocks">
                        {inside.filter((each) => runsIn(each.takes ?? '', block, blocks.map(([name]) => name))).map((each) => (
                          <button type="button" key={each.name} class="block" style={{ '--tint': colourOf(each.name, names) }} aria-pressed={props.pins.has(each.name)} title={`${each.name}: ${each.takes ?? ''}. Click to ${props.pins.has(each.name) ? 'unpin' : 'pin'} it.`} onClick={() => { props.onPin(each); }}>
                            {props.pins.has(each.name) && <span aria-label="pinned">📌</span>}
                            <strong>{each.name}</strong> <span>{inPageWords(each.takes ?? '')}</span>
                          </button>
                        ))}
                      </div>
                      {machine && <small>{plural(machine.used_gpus, 'GPU')} used{machine.reserved_gpus > 0 ? `, ${number(machine.reserved_gpus)} reserved` : ''}{machine.idle_reserved_gpus > 0 ? `, ${number(machine.idle_reserved_gpus)} reserved idle` : ''}{machine.usd_per_month > 0 ? `, ${running(machine.usd_per_month)} rented` : ''}</small>}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The cost of a pin: the plan with all pins against the plan without this one. */
function PinCost(props: { org: string; pins: Map<string, number>; name: string; now: number }) {
  const without = useMemo(() => ({ organisation: pinned(props.org, new Map([...props.pins].filter(([name]) => name !== props.name))) }) as AskFor<'portfolio'>, [props.org, writePins(props.pins), props.name]);
  const answer = useAnswer('portfolio', without);
  if (typeof answer.value?.usd_per_month !== 'number') return <span class="quiet">…</span>;
  const more = props.now - answer.value.usd_per_month;
  return <strong class={answer.busy ? 'stale' : ''}>{more > 0.5 ? `costs ${running(more)}` : 'costs nothing'}</strong>;
}

function Pins(props: { org: string; pins: Map<string, number>; all: Listed[]; now: number; onPins: (pins: Map<string, number>) => void }) {
  return (
    <Card title="Pins" note="A pinned workload keeps its option; the rest is planned around it.">
      <ul class="stack">
        {[...props.pins].map(([name, option]) => {
          const options = props.all.find((each) => each.name === name)?.options ?? [];
          return (
            <li key={name} class="actions">
              <label class="inline-select">
                📌 {name}{' '}
                <select value={String(option)} onChange={(event) => { props.onPins(new Map([...props.pins, [name, Number(event.currentTarget.value)]])); }}>
                  {options.map((text, i) => <option key={i} value={String(i)}>{text}</option>)}
                </select>
              </label>
              <PinCost org={props.org} pins={props.pins} name={name} now={props.now} />
              <button type="button" class="button small" onClick={() => { props.onPins(new Map([...props.pins].filter(([each]) => each !== name))); }}>Unpin</button>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

export function PortfolioPage() {
  const [draft, setDraft] = useState<string | null>(null);
  const question = useQuestion('portfolio', DEFAULTS, (fields): AskFor<'portfolio'> => ({ organisation: pinned(fields.org, readPins(fields.pins)) }));
  const { state, change } = question;
  const pins = useMemo(() => readPins(state.pins), [state.pins]);
  const all = useMemo(() => listed(state.org), [state.org]);
  const keep = (next: Map<string, number>) => { change({ pins: writePins(next) }, true); };
  return (
    <AskPage title="Portfolio" what="All workloads of an organisation in one plan: what runs where, and what one more GPU is worth" question={question} roomy
      fields={
        <>
          <Field label="Organisation" hint="Pools, teams and workloads with their options, as YAML. It stays on this machine.">
            {(id) => <textarea id={id} class="tall" value={draft ?? state.org} spellcheck={false} onInput={(event) => { setDraft(event.currentTarget.value); }} onChange={(event) => { setDraft(null); change({ org: event.currentTarget.value, pins: '' }, true); }} />}
          </Field>
          <div class="actions">
            <label class="button small">
              Open a file…
              <input type="file" accept=".yaml,.yml,.json" class="hidden-visually" onChange={(event) => { const file = event.currentTarget.files?.[0]; if (file) void file.text().then((org) => { setDraft(null); change({ org, pins: '' }, true); }); event.currentTarget.value = ''; }} />
            </label>
            {state.org !== EXAMPLE && <button type="button" class="button small" onClick={() => { change({ org: EXAMPLE, pins: '' }, true); }}>Show the example again</button>}
          </div>
        </>
      }
    >
      {(value: Portfolio) => (
        <>
          {typeof value.usd_per_month !== 'number' ? (
            <Hero line="No plan meets every quota and rule" sub={pins.size > 0 ? 'Remove a pin, or relax a quota.' : 'Relax a quota, or give a workload more options.'} />
          ) : (
            <Hero
              line={`${running(value.usd_per_month)} for ${plural((value.workloads ?? []).length, 'workload')}${value.alone_usd_per_month ? `, ${percent(1 - value.usd_per_month / value.alone_usd_per_month)} less than separate plans` : ''}`}
              sub={`${value.proved ? 'No cheaper plan exists.' : `No plan costs less than ${running(value.lower_bound)}.`} ${value.alone_usd_per_month ? `Separate plans would cost ${running(value.alone_usd_per_month)}: the reservations, and each workload rented on its own.` : ''}`}
            >
              <Stats items={(value.teams ?? []).slice(0, 6).map((team) => ({ name: team.name, value: amountOf(team.usd_per_month), help: `Cost of this team’s workloads per ${period()}, and its budget`, note: team.budget_usd_per_month ? `${team.over_budget ? 'over its budget of' : 'of'} ${amountOf(team.budget_usd_per_month)}` : undefined }))} />
            </Hero>
          )}
          {pins.size > 0 && typeof value.usd_per_month === 'number' && <Pins org={state.org} pins={pins} all={all} now={value.usd_per_month} onPins={keep} />}
          <Card title="The board" note="Machines in rows, parts of the month in columns. Click a workload to pin it to its place." bare>
            <Board value={value} pins={pins} onPin={(workload) => {
              if (pins.has(workload.name)) keep(new Map([...pins].filter(([name]) => name !== workload.name)));
              else if (all.some((each) => each.name === workload.name)) keep(new Map([...pins, [workload.name, workload.option]]));
            }} />
          </Card>
          <TableCard
            title="Workloads"
            rows={value.workloads ?? []}
            keyOf={(row) => row.name}
            most={40}
            find={(row) => `${row.name} ${row.team ?? ''} ${row.where}`}
            columns={[
              { title: 'Workload', cell: (row) => row.name, sort: (row) => row.name },
              { title: `$/${period()}`, help: 'Its share of the cost of the plan, reservations included', number: true, cell: (row) => <strong>{amountOf(row.usd_per_month)}</strong>, sort: (row) => row.usd_per_month },
              { title: 'Extra if alone', number: true, roomy: true, cell: (row) => amountOf(row.alone_usd_per_month), sort: (row) => row.alone_usd_per_month ?? 0 },
              { title: 'Where', tight: true, cell: (row) => row.where, sort: (row) => row.where },
              { title: 'Takes', roomy: true, cell: (row) => inPageWords(row.takes ?? '') },
              { title: 'Team', roomy: true, cell: (row) => row.team, sort: (row) => row.team ?? '' },
              { title: 'Moves', roomy: true, cell: (row) => (row.moves ? <Badge tone="accent">moves</Badge> : '') },
            ]}
          />
          {(value.shadow_prices ?? []).length > 0 && (
            <TableCard
              title="What one more GPU is worth"
              rows={value.shadow_prices ?? []}
              keyOf={(row) => row.what}
              columns={[
                { title: 'One more', cell: (row) => row.what.replace('reserved:', 'reserved GPU in ').replace('quota:', 'GPU of quota in ') },
                { title: `Saves per ${period()}`, number: true, cell: (row) => `${row.exact ? '' : 'at least '}${amountOf(row.usd_per_month)}`, sort: (row) => row.usd_per_month },
              ]}
            />
          )}
          {(value.moves ?? []).length > 0 && (
            <TableCard
              title="How to get there"
              note="In this order no quota is exceeded."
              rows={value.moves ?? []}
              keyOf={(row) => String(row.step)}
              columns={[
                { title: 'Step', number: true, roomy: true, cell: (row) => String(row.step) },
                { title: 'Workload', cell: (row) => row.workload },
                { title: 'From', roomy: true, cell: (row) => inPageWords(row.from) },
                { title: 'To', cell: (row) => <>{inPageWords(row.to)} {row.interrupts && <Badge tone="warn">stops in between</Badge>}</> },
                { title: 'Saves', number: true, cell: (row) => running(row.saves_usd_per_month) },
              ]}
            />
          )}
        </>
      )}
    </AskPage>
  );
}
