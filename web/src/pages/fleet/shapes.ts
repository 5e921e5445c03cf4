// Converts the document of `fleet` to the data of the charts.
import { hierarchy, treemap, type HierarchyRectangularNode } from 'd3-hierarchy';
import type { Schemas } from '../../api/client';

export type Fleet = Schemas['Fleet'];
export type Gpu = Fleet['gpus'][number];
export type Action = Fleet['actions'][number];
export type Unplanned = NonNullable<Fleet['without_action']>[number];

/** "chat/chat-70b" -> "chat" */
export function teamOf(owner: string): string {
  return owner.includes('/') ? owner.slice(0, owner.indexOf('/')) : ownerShown(owner);
}

/** The name for time without an owner label. */
export function ownerShown(owner: string): string {
  return owner === '(unowned)' ? 'unowned' : owner;
}

/** Readable names of verdicts: "idle-held" is the name in files. */
export function verdictShown(verdict: string): string {
  return verdict === 'idle-held' ? 'idle, memory held' : verdict;
}

/** Cost and waste of these GPUs, in the format of a fleet's totals. */
export function totalsOf(gpus: Gpu[]) {
  const sum = (of: (gpu: Gpu) => number | null) => gpus.reduce((total, gpu) => total + (of(gpu) ?? 0), 0);
  const spend = sum((gpu) => gpu.spend_usd);
  const waste = sum((gpu) => gpu.waste_usd);
  return {
    gpus: gpus.length,
    gpu_hours: sum((gpu) => gpu.gpu_hours),
    spend_usd: spend,
    waste_usd: waste,
    waste_share: spend > 0 ? waste / spend : 0,
    idle_gpu_hours: sum((gpu) => (gpu.gpu_hours ?? 0) * (gpu.idle_share ?? 0)),
  };
}

const keys = new WeakMap<object, string>();

/** Names an action in the address: the same action keeps its name when prices and savings change. */
export function actionKey(action: Pick<Action, 'kind' | 'owner' | 'gpus'>): string {
  const known = keys.get(action);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5; // FNV-1a
  for (const char of [action.kind, action.owner, ...[...action.gpus].sort()].join('|')) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const key = hash.toString(36);
  keys.set(action, key);
  return key;
}

/** The cost per month of these GPUs: their share of the fleet's cost in the window. */
export const monthlyOf = (fleet: Pick<Fleet, 'totals'>, gpus: Gpu[]) => (fleet.totals.spend_usd > 0 ? (fleet.totals.usd_per_month * gpus.reduce((sum, gpu) => sum + (gpu.spend_usd ?? 0), 0)) / fleet.totals.spend_usd : 0);

/** What the ticked actions save per month. */
export const savingOf = (actions: Action[], off: Set<string>) => actions.reduce((sum, action) => sum + (action.counted && !off.has(actionKey(action)) ? action.saving_usd_per_month : 0), 0);

export interface Team {
  name: string;
  spend: number;
  waste: number;
  gpus: number;
  others?: boolean; // several teams as one
}

/** Teams by dollars wasted, in descending order. */
export function teamsOf(gpus: Gpu[]): Team[] {
  const teams = new Map<string, Team>();
  for (const gpu of gpus) {
    const name = teamOf(gpu.owner);
    const team = teams.get(name) ?? { name, spend: 0, waste: 0, gpus: 0 };
    team.spend += gpu.spend_usd ?? 0;
    team.waste += gpu.waste_usd ?? 0;
    team.gpus += 1;
    teams.set(name, team);
  }
  return [...teams.values()].sort((a, b) => b.waste - a.waste);
}

/** The teams that waste most, and the others as one. */
export function topTeams(teams: Team[], most: number): Team[] {
  if (teams.length <= most + 1) return teams;
  const rest = teams.slice(most);
  const sum = (of: (team: Team) => number) => rest.reduce((total, team) => total + of(team), 0);
  return [...teams.slice(0, most), { name: `${String(rest.length)} other teams`, spend: sum((team) => team.spend), waste: sum((team) => team.waste), gpus: sum((team) => team.gpus), others: true }];
}

export interface Tile {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  team: string;
  owner: string;
  gpu: Gpu | undefined;
  spend: number;
  waste: number;
  gpus: number;
  others?: boolean;
}

interface Branch {
  name: string;
  children?: Branch[];
  gpu?: Gpu;
  value?: number;
}

function branches(gpus: Gpu[], size: (gpu: Gpu) => number): Branch {
  const root: Branch = { name: '', children: [] };
  const known = new Map<string, Branch>();
  const child = (parent: Branch, name: string) => {
    const key = `${parent.name}\n${name}`;
    let found = known.get(key);
    if (!found) {
      found = { name, children: [] };
      known.set(key, found);
      parent.children?.push(found);
    }
    return found;
  };
  for (const gpu of gpus) {
    const pod = child(child(root, teamOf(gpu.owner)), gpu.owner);
    pod.children?.push({ name: gpu.id, gpu, value: size(gpu) });
  }
  return root;
}

/** More GPUs would be smaller than a pixel, and slow: teams are drawn instead. */
const MOST_TILES = 1500;
const MOST_TEAM_TILES = 30;

function teamTiles(gpus: Gpu[], width: number, height: number): Tile[] {
  const root = hierarchy({ children: topTeams(teamsOf(gpus).sort((a, b) => b.spend - a.spend), MOST_TEAM_TILES) } as { children: Team[] } | Team).sum((team) => ('spend' in team ? team.spend : 0));
  const laid = treemap<{ children: Team[] } | Team>().size([width, height]).paddingOuter(2).paddingInner(2).round(true)(root);
  return laid.leaves().map((leaf) => {
    const team = leaf.data as Team;
    return { x1: leaf.x0, y1: leaf.y0, x2: leaf.x1, y2: leaf.y1, team: team.name, owner: team.name, gpu: undefined, spend: team.spend, waste: team.waste, gpus: team.gpus, others: team.others ?? false };
  });
}

/** Rectangles of GPUs inside pods inside teams; the area is `size`. */
export function tilesOf(gpus: Gpu[], width: number, height: number, size: (gpu: Gpu) => number): { gpus: Tile[]; pods: Tile[]; teams: Tile[] } {
  if (gpus.length > MOST_TILES) {
    const teams = teamTiles(gpus, width, height);
    return { gpus: teams, pods: [], teams };
  }
  const root = hierarchy(branches(gpus, size))
    .sum((branch) => branch.value ?? 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const laid = treemap<Branch>().size([width, height]).paddingOuter(2).paddingTop((node) => (node.depth === 1 ? 18 : 2)).paddingInner(1.5).round(true)(root);
  const tile = (node: HierarchyRectangularNode<Branch>): Tile => {
    const inside = node.leaves().flatMap((leaf) => (leaf.data.gpu ? [leaf.data.gpu] : []));
    const sum = (of: (gpu: Gpu) => number | null) => inside.reduce((total, gpu) => total + (of(gpu) ?? 0), 0);
    const owner = inside[0]?.owner ?? '';
    return { x1: node.x0, y1: node.y0, x2: node.x1, y2: node.y1, team: teamOf(owner), owner, gpu: node.data.gpu, spend: sum((gpu) => gpu.spend_usd), waste: sum((gpu) => gpu.waste_usd), gpus: inside.length };
  };
  const at = (depth: number) => laid.descendants().filter((node) => node.depth === depth).map(tile);
  return { gpus: at(3), pods: at(2), teams: at(1) };
}

export interface Cell {
  gpu: string;
  from: Date;
  to: Date;
  activity: number | null;
}

/** Activity of each GPU over time, in at most `columns` steps. */
export function cellsOf(fleet: Fleet, gpus: Gpu[], columns: number, since = 0): Cell[] {
  const names = new Map(gpus.map((gpu) => [gpu.id, placeOf(gpu)]));
  return (fleet.timelines ?? []).filter((line) => names.has(line.id)).map((line) => cutBefore(line, since)).flatMap((line) => {
    const together = Math.max(1, Math.ceil(line.activity.length / columns));
    const start = new Date(line.start).getTime();
    const cells: Cell[] = [];
    for (let i = 0; i < line.activity.length; i += together) {
      const part = line.activity.slice(i, i + together).filter((value): value is number => value !== null);
      cells.push({
        gpu: names.get(line.id) ?? line.id,
        from: new Date(start + i * line.step_seconds * 1000),
        to: new Date(start + Math.min(line.activity.length, i + together) * line.step_seconds * 1000),
        activity: part.length === 0 ? null : part.reduce((a, b) => a + b, 0) / part.length,
      });
    }
    return cells;
  });
}

type Timeline = NonNullable<Fleet['timelines']>[number];

/** The part of a timeline after a time (milliseconds), on whole steps of its verdicts. */
export function cutBefore(line: Timeline, since: number): Timeline {
  const start = new Date(line.start).getTime();
  const gone = Math.min(line.verdicts.length, Math.max(0, Math.floor((since - start) / (line.verdict_seconds * 1000))));
  if (gone === 0) return line;
  const steps = Math.round((gone * line.verdict_seconds) / line.step_seconds);
  return { ...line, start: new Date(start + gone * line.verdict_seconds * 1000).toISOString(), activity: line.activity.slice(steps), verdicts: line.verdicts.slice(gone) };
}

/** The end of the readings, in milliseconds. */
export function endOf(fleet: Fleet): number {
  return Math.max(0, ...(fleet.timelines ?? []).slice(0, 1000).map((line) => new Date(line.start).getTime() + line.activity.length * line.step_seconds * 1000));
}

export function placeOf(gpu: Gpu): string {
  return gpu.host ? `${gpu.host}/${String(gpu.index)}` : gpu.id;
}

/** The place on short lines: without the domain that all hosts share. */
export function shortPlaces(gpus: Gpu[]): (place: string) => string {
  const hosts = [...new Set(gpus.flatMap((gpu) => gpu.host || []))];
  let shared = hosts[0]?.split('.').slice(1) ?? [];
  for (const host of hosts) {
    const parts = host.split('.').slice(1);
    while (shared.length > 0 && shared.join('.') !== parts.slice(-shared.length).join('.')) shared = shared.slice(1);
  }
  const domain = shared.length > 0 && !hosts.some((host) => /^[\d.]+$/.test(host)) ? `.${shared.join('.')}/` : '/';
  return (place) => place.replace(domain, '/');
}

/** Verdicts in stacking order: idle, underused, working. */
export const VERDICTS = ['idle', 'idle-held', 'underused', 'bursty', 'input-bound', 'launch-bound', 'transfer-bound', 'memory-bound', 'compute-bound', 'unknown'] as const;

export interface Period {
  gpu: string;
  from: Date;
  to: Date;
  verdict: string | null;
}

/** The verdict of each GPU in each period, usually a day. */
export function periodsOf(fleet: Fleet, gpus: Gpu[], since = 0): Period[] {
  const names = new Map(gpus.map((gpu) => [gpu.id, placeOf(gpu)]));
  return (fleet.timelines ?? []).flatMap((whole) => {
    const line = cutBefore(whole, since);
    const gpu = names.get(line.id);
    if (gpu === undefined) return [];
    const start = new Date(line.start).getTime();
    const end = start + line.activity.length * line.step_seconds * 1000;
    const at = (i: number) => new Date(Math.min(end, start + i * line.verdict_seconds * 1000));
    return line.verdicts.map((verdict, i) => ({ gpu, from: at(i), to: at(i + 1), verdict }));
  });
}

/** The number of GPUs with each verdict in each period. */
export function verdictCounts(periods: Period[]): { from: Date; to: Date; verdict: string; gpus: number }[] {
  const counts = new Map<string, { from: Date; to: Date; verdict: string; gpus: number }>();
  for (const { from, to, verdict } of periods) {
    if (verdict === null) continue;
    const key = `${String(from.getTime())} ${verdict}`;
    const entry = counts.get(key) ?? { from, to, verdict, gpus: 0 };
    entry.gpus += 1;
    counts.set(key, entry);
  }
  const order = (verdict: string) => VERDICTS.findIndex((each) => each === verdict);
  return [...counts.values()].sort((a, b) => a.from.getTime() - b.from.getTime() || order(a.verdict) - order(b.verdict));
}
