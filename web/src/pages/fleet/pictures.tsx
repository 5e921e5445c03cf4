import * as Plot from '@observablehq/plot';
import { useCallback, useMemo } from 'preact/hooks';
import { middleCut, money, number, percent, plural, sentence, shortMoney } from '../../lib/format';
import { cutApart, once } from '../../parts/axes';
import { Segmented } from '../../parts/basics';
import { ZONE } from '../../lib/zone';
import { Chart } from '../../parts/chart';
import { cellsOf, ownerShown, periodsOf, placeOf, shortPlaces, teamsOf, tilesOf, topTeams, verdictCounts, VERDICTS, verdictShown, type Cell, type Fleet, type Gpu, type Period, type Team, type Tile } from './shapes';

const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)' };

/** A label stays readable where the lines between GPUs cross it. */
const HALO = { stroke: 'var(--panel)', strokeWidth: 3, strokeOpacity: 0.7 };

export function SpendTreemap(props: { gpus: Gpu[]; tall: number; onPick: (team: string, gpu: string) => void }) {
  const rows = useMemo(() => props.gpus.map((gpu) => ({ gpu: placeOf(gpu), model: gpu.name, owner: gpu.owner, verdict: gpu.verdict, spend_usd: gpu.spend_usd, waste_usd: gpu.waste_usd })), [props.gpus]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const height = width < 420 ? 380 : props.tall;
      const tiles = tilesOf(props.gpus, width, height, (gpu) => gpu.spend_usd ?? 0);
      const wide = (tile: Tile) => tile.x2 - tile.x1;
      const tall = (tile: Tile) => tile.y2 - tile.y1;
      const share = (tile: Tile) => (tile.spend > 0 ? tile.waste / tile.spend : 0);
      const cut = (text: string, room: number, each = 6.6) => (room < 8 * each && text.length * each > room ? '' : middleCut(text, Math.floor(room / each))); // names look alike with fewer letters
      const firstThatFits = (texts: string[], room: number, each = 6.6) => texts.find((text) => text.length * each <= room) ?? cut(texts[texts.length - 1] ?? '', room, each);
      return {
        height,
        margin: 0,
        x: { axis: null, domain: [0, width], range: [0, width] },
        y: { axis: null, domain: [0, height], range: [0, height] },
        marks: [
          Plot.rect(tiles.teams, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: 'var(--sunken)', stroke: 'var(--line)', rx: 4 }),
          Plot.text(tiles.teams.filter((t) => tall(t) > 15), { x: (t: Tile) => t.x1 + 6, y: (t: Tile) => t.y1 + 10, text: (t: Tile) => firstThatFits([`${t.team}  ${money(t.waste)} wasted`, `${t.team}  ${shortMoney(t.waste)}`, t.team], wide(t) - 8, 7.2), textAnchor: 'start', fontWeight: 620, fill: 'var(--ink)' }),
          // A pod shows through the gaps between its GPUs: its label, which crosses them, stays readable.
          ...[...(tiles.pods.length === 0 ? [] : [{ of: tiles.pods, top: 0, part: 0.55 }]), { of: tiles.gpus, top: tiles.pods.length === 0 ? 18 : 0, part: tiles.pods.length === 0 ? 1 : 0.6 }].flatMap(({ of, top, part }) => [
            Plot.rect(of, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', insetTop: top, fill: 'var(--good)', fillOpacity: (t: Tile) => part * 0.26 * (1 - share(t)) }),
            Plot.rect(of, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', insetTop: top, fill: 'var(--bad)', fillOpacity: (t: Tile) => part * 0.6 * share(t) }),
          ]),
          Plot.rect(tiles.pods, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', stroke: 'var(--panel)', strokeWidth: 1.5, fill: 'none' }),
          Plot.text(tiles.pods.filter((t) => tall(t) > 16), { x: (t: Tile) => t.x1 + 6, y: (t: Tile) => t.y1 + 12, text: (t: Tile) => cut(ownerShown(t.owner).slice(t.owner.indexOf('/') + 1), wide(t) - 10), textAnchor: 'start', fill: 'var(--ink)', ...HALO }),
          Plot.text(tiles.pods.filter((t) => tall(t) > 34), { x: (t: Tile) => t.x1 + 6, y: (t: Tile) => t.y1 + 27, text: (t: Tile) => firstThatFits([`${percent(share(t))} of ${money(t.spend)}`, `${percent(share(t))} of ${shortMoney(t.spend)}`, percent(share(t))], wide(t) - 10), textAnchor: 'start', fill: 'var(--ink)', ...HALO }),
          Plot.tip(tiles.gpus, Plot.pointer({ x: (t: Tile) => (t.x1 + t.x2) / 2, y: (t: Tile) => (t.y1 + t.y2) / 2, title: (t: Tile) => `${ownerShown(t.owner)}${t.gpu ? '' : `: ${number(t.gpus)} GPUs`}\n${t.gpu ? `${placeOf(t.gpu)} ${t.gpu.name}: ${verdictShown(t.gpu.verdict)}` : ''}\n${money(t.waste)} wasted of ${money(t.spend)}`, ...TIP })),
        ],
      };
    },
    [props.gpus, props.tall],
  );
  return (
    <Chart
      title="Spend and waste by team, pod and GPU"
      note="Area is cost; the red share is waste."
      hint="Click a team to zoom in."
      name="fleet-spend"
      rows={rows}
      draw={draw}
      legend={[['useful', 'color-mix(in srgb, var(--good) 30%, transparent)'], ['half wasted', 'color-mix(in srgb, var(--bad) 34%, transparent)'], ['all wasted', 'color-mix(in srgb, var(--bad) 66%, transparent)']]}
      onPick={(value) => {
        const tile = value as Tile;
        if (!tile.others) props.onPick(tile.team, tile.gpu?.id ?? '');
      }}
    />
  );
}

export function WasteByTeam(props: { gpus: Gpu[]; team: string; onPick: (team: string) => void }) {
  const all = useMemo(() => teamsOf(props.gpus), [props.gpus]);
  const [teams, rest] = useMemo(() => { const top = topTeams(all, 10); return [top.filter((team) => !team.others), top.find((team) => team.others)]; }, [all]);
  const rows = useMemo(() => all.map((team) => ({ team: team.name, gpus: team.gpus, spend_usd: team.spend, waste_usd: team.waste })), [all]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: Math.max(140, 34 * teams.length + 34),
      marginLeft: Math.min(130, Math.max(60, 16 + 6.6 * Math.max(...teams.map((team) => Math.min(17, team.name.length))))),
      marginRight: 96,
      x: { label: null, grid: true, ticks: width < 400 ? 2 : 4, tickFormat: once((v: number) => money(v).replace('.00', '')) },
      y: { label: null, domain: teams.map((team) => team.name), tickSize: 0, tickFormat: cutApart(teams.map((team) => team.name), 17) },
      marks: [
        Plot.barX(teams, { y: 'name', x: 'spend', fill: 'var(--good)', fillOpacity: 0.24, insetTop: 6, insetBottom: 6, rx: 2 }),
        Plot.barX(teams, { y: 'name', x: 'waste', fill: 'var(--bad)', fillOpacity: (team: Team) => (props.team === '' || props.team === team.name ? 0.78 : 0.3), insetTop: 6, insetBottom: 6, rx: 2 }),
        Plot.text(teams, { y: 'name', x: 'spend', dx: 6, textAnchor: 'start', text: (team: Team) => `${money(team.waste)} (${percent(team.spend > 0 ? team.waste / team.spend : 0)})`, fill: 'var(--ink-2)' }),
        Plot.tip(teams, Plot.pointerY({ y: 'name', x: 'waste', title: (team: Team) => `${team.name}: ${number(team.gpus)} GPUs\n${money(team.waste)} wasted of ${money(team.spend)}`, ...TIP })),
      ],
    }),
    [teams, props.team],
  );
  return (
    <Chart
      title="Which team wastes most"
      note={`Waste (red) within the cost of each team’s GPUs.${rest ? ` ${sentence(rest.name).slice(0, -1)} waste ${money(rest.waste)} of ${money(rest.spend)}.` : ''}`}
      name="waste-by-team"
      rows={rows}
      draw={draw}
      onPick={(value) => {
        props.onPick((value as Team).name);
      }}
    />
  );
}

const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
/** As many day ticks as fit this width; hours if there are few days. */
const times = (width: number) => ({ ticks: width < 560 ? 3 : 7, tickFormat: (date: Date) => (date.getHours() + date.getMinutes() > 0 ? clock : width < 560 ? shortDay : day).format(date) });
const hour = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });

const VERDICT_COLOURS: Record<string, string> = { idle: 'var(--line-strong)', 'idle-held': 'var(--bad)', underused: 'var(--c5)', bursty: 'var(--c2)', 'input-bound': 'var(--c6)', 'launch-bound': 'var(--c4)', 'transfer-bound': 'var(--c8)', 'memory-bound': 'var(--c7)', 'compute-bound': 'var(--c1)', unknown: 'var(--sunken)' };
const colourOf = (verdict: string) => VERDICT_COLOURS[verdict] ?? 'gray';

/** Rows of the heat map; more would be indistinguishable. */
const MOST_ROWS = 96;

/** GPUs over time, coloured by activity or by verdict. */
export function HeatMap(props: { fleet: Fleet; gpus: Gpu[]; by: 'activity' | 'verdict'; since: number; onBy: (by: 'activity' | 'verdict') => void }) {
  const { by } = props;
  const shown = useMemo(() => {
    if (props.gpus.length <= MOST_ROWS) return props.gpus;
    const worst = new Set([...props.gpus].sort((a, b) => (b.waste_usd ?? 0) - (a.waste_usd ?? 0)).slice(0, MOST_ROWS));
    return props.gpus.filter((gpu) => worst.has(gpu));
  }, [props.gpus]);
  const cells = useMemo(() => cellsOf(props.fleet, shown, 84, props.since), [props.fleet, shown, props.since]);
  const periods = useMemo(() => periodsOf(props.fleet, shown, props.since), [props.fleet, shown, props.since]);
  const rows = useMemo(() => (by === 'activity' ? cells.map((cell) => ({ gpu: cell.gpu, from: cell.from.toISOString(), activity: cell.activity })) : periods.map((period) => ({ gpu: period.gpu, from: period.from.toISOString(), verdict: period.verdict }))), [by, cells, periods]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const [names, short] = [shown.map(placeOf), shortPlaces(shown)];
      const owner = new Map(shown.map((gpu) => [placeOf(gpu), ownerShown(gpu.owner)]));
      const middle = (cell: { from: Date; to: Date }) => new Date((cell.from.getTime() + cell.to.getTime()) / 2);
      const marks =
        by === 'activity'
          ? [
              Plot.rect(cells, { x1: 'from', x2: 'to', y: 'gpu', fill: 'var(--c1)', fillOpacity: (cell: Cell) => (cell.activity === null ? 0 : 0.06 + 0.9 * cell.activity), inset: 0.4 }),
              Plot.tip(cells, Plot.pointer({ x: middle, y: 'gpu', title: (cell: Cell) => `${cell.gpu} (${owner.get(cell.gpu) ?? ''})\n${hour.format(cell.from)}: ${cell.activity === null ? 'no readings' : `${percent(cell.activity)} active`}`, ...TIP })),
            ]
          : [
              Plot.rect(periods.filter((period) => period.verdict !== null), { x1: 'from', x2: 'to', y: 'gpu', fill: (period: Period) => colourOf(period.verdict ?? ''), fillOpacity: 0.75, inset: 0.5 }),
              Plot.tip(periods, Plot.pointer({ x: middle, y: 'gpu', title: (period: Period) => `${period.gpu} (${owner.get(period.gpu) ?? ''})\n${hour.format(period.from)} to ${hour.format(period.to)}: ${period.verdict ?? 'no readings'}`, ...TIP })),
            ];
      const label = cutApart(names.map(short), width < 560 ? 12 : 26);
      return {
        height: Math.max(120, 13 * names.length + 34),
        marginLeft: width < 560 ? 92 : Math.min(190, Math.max(80, 14 + 6.4 * Math.max(...names.map((name) => Math.min(26, short(name).length))))),
        marginTop: 22,
        marginBottom: 8,
        marginRight: 34,
        x: { type: 'time', label: null, axis: 'top', ...times(width), tickSize: 0 },
        y: { label: null, domain: names, tickSize: 0, tickFormat: (name: string) => label(short(name)) },
        marks,
      };
    },
    [by, cells, periods, shown],
  );
  const most = shown.length < props.gpus.length ? ` The ${number(MOST_ROWS)} of ${number(props.gpus.length)} GPUs that waste most.` : '';
  const used = VERDICTS.filter((verdict) => periods.some((period) => period.verdict === verdict));
  return (
    <Chart title="GPUs over time" note={(by === 'activity' ? 'A stronger colour means busier; an idle GPU costs as much as a busy one.' : 'The bottleneck of each GPU over time.') + most} name="gpus-over-time" rows={rows} draw={draw} {...(by === 'verdict' ? { legend: used.map((verdict): [string, string] => [verdictShown(verdict), colourOf(verdict)]) } : {})}>
      <div style={{ maxWidth: '240px', marginTop: '6px' }}>
        <Segmented label="Colour by" value={by} choices={[['activity', 'Activity'], ['verdict', 'Verdict']]} onChange={props.onBy} />
      </div>
    </Chart>
  );
}

export function VerdictsOverTime(props: { fleet: Fleet; gpus: Gpu[]; since: number }) {
  const counts = useMemo(() => verdictCounts(periodsOf(props.fleet, props.gpus, props.since)), [props.fleet, props.gpus, props.since]);
  const used = useMemo(() => VERDICTS.filter((verdict) => counts.some((each) => each.verdict === verdict)), [counts]);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => ({
      height: 190,
      marginLeft: 34,
      marginRight: 34,
      x: { type: 'time', label: null, ...times(width) },
      y: { label: '↑ GPUs', grid: true, ticks: 4 },
      marks: [
        Plot.rectY(counts, Plot.stackY({ x1: 'from', x2: 'to', y: 'gpus', fill: (each: (typeof counts)[number]) => colourOf(each.verdict), z: 'verdict', order: [...VERDICTS], fillOpacity: 0.8, insetLeft: 0.8, insetRight: 0.8 })),
        Plot.tip(counts, Plot.pointer(Plot.stackY({ x1: 'from', x2: 'to', y: 'gpus', z: 'verdict', order: [...VERDICTS], title: (each: (typeof counts)[number]) => `${hour.format(each.from)} to ${hour.format(each.to)}\n${plural(each.gpus, 'GPU')}: ${verdictShown(each.verdict)}`, ...TIP }))),
      ],
    }),
    [counts],
  );
  return <Chart title="Verdicts over time" note={`Number of GPUs by verdict. Times are in ${ZONE}.`} name="verdicts-over-time" rows={counts.map((each) => ({ from: each.from.toISOString(), to: each.to.toISOString(), verdict: each.verdict, gpus: each.gpus }))} draw={draw} legend={used.map((verdict) => [verdictShown(verdict), colourOf(verdict)])} />;
}
