import { describe, expect, it } from 'vitest';
import { actionKey, cellsOf, cutBefore, endOf, monthlyOf, periodsOf, placeOf, savingOf, shortPlaces, teamOf, teamsOf, tilesOf, topTeams, totalsOf, verdictCounts, type Action, type Fleet, type Gpu } from './shapes';

const gpu = (id: string, owner: string, spend: number, waste: number) => ({ id, owner, host: 'n1', index: 0, spend_usd: spend, waste_usd: waste }) as unknown as Gpu;
const GPUS = [gpu('a', 'x/one', 100, 10), gpu('b', 'x/two', 50, 50), gpu('c', 'y/one', 30, 30), gpu('d', '(unowned)', 20, 20)];

describe('teams', () => {
  it('add up and are sorted by waste', () => {
    expect(teamsOf(GPUS).map((team) => [team.name, team.spend, team.waste])).toEqual([['x', 150, 60], ['y', 30, 30], ['unowned', 20, 20]]);
  });
});

describe('totals', () => {
  it('per month of all teams add up to that of the fleet', () => {
    const fleet = { totals: { usd_per_month: 1000, spend_usd: 200 } } as Fleet;
    expect(teamsOf(GPUS).reduce((sum, team) => sum + monthlyOf(fleet, GPUS.filter((each) => teamOf(each.owner) === team.name)), 0)).toBeCloseTo(1000);
    expect(monthlyOf({ totals: { ...fleet.totals, spend_usd: 0 } }, GPUS)).toBe(0);
  });
  it('of a selection are sums over its GPUs', () => {
    const totals = totalsOf(GPUS.filter((each) => each.owner.startsWith('x/')));
    expect([totals.gpus, totals.spend_usd, totals.waste_usd, totals.waste_share]).toEqual([2, 150, 60, 0.4]);
    expect(totalsOf([]).waste_share).toBe(0);
  });
});

describe('many teams', () => {
  it('are the top and the rest, which add up to all', () => {
    const teams = Array.from({ length: 120 }, (_, i) => ({ name: `t${String(i)}`, spend: 10 + i, waste: 200 - i, gpus: 1 + (i % 7) }));
    for (const most of [1, 10, 118, 119, 120, 500]) {
      const top = topTeams(teams, most);
      expect(top.length).toBeLessThanOrEqual(Math.max(most + 1, 1));
      for (const of of ['spend', 'waste', 'gpus'] as const) expect(top.reduce((sum, team) => sum + team[of], 0)).toBe(teams.reduce((sum, team) => sum + team[of], 0));
      expect(top.slice(0, Math.min(most, 119))).toEqual(teams.slice(0, Math.min(most, 119)));
    }
  });
});

describe('actions', () => {
  const action = (kind: string, owner: string, gpus: string[], usd: number, counted = true) => ({ kind, owner, gpus, saving_usd_per_month: usd, counted }) as unknown as Action;
  it('keep their name in any order, at any price', () => {
    const all = [action('stop', 'a/x', ['1', '2'], 10), action('stop', 'a/x', ['3'], 10), action('downsize', 'a/x', ['1', '2'], 10), action('stop', 'b/x', ['1', '2'], 10)];
    expect(new Set(all.map(actionKey)).size).toBe(all.length);
    expect(actionKey(action('stop', 'a/x', ['2', '1'], 99))).toBe(actionKey(action('stop', 'a/x', ['1', '2'], 10)));
  });
  it('save what is ticked and counted', () => {
    const all = [action('stop', 'a', ['1'], 10), action('stop', 'b', ['2'], 20), action('mig', 'c', ['3'], 40, false)];
    expect(savingOf(all, new Set())).toBe(30);
    expect(savingOf(all, new Set([actionKey(all[0] ?? action('', '', [], 0))]))).toBe(20);
  });
});

describe('the treemap', () => {
  it('of a large fleet shows teams, and every dollar once', () => {
    const many = Array.from({ length: 10000 }, (_, i) => gpu(`g${String(i)}`, `team-${String(i % 120)}/pod-${String(i % 777)}`, 1 + (i % 5), i % 3));
    const tiles = tilesOf(many, 800, 500, (each) => each.spend_usd ?? 0);
    expect(tiles.teams.length).toBeLessThanOrEqual(31);
    const sum = (of: (tile: { spend: number; waste: number; gpus: number }) => number) => tiles.teams.reduce((total, tile) => total + of(tile), 0);
    expect([sum((tile) => tile.gpus), sum((tile) => tile.spend), sum((tile) => tile.waste)]).toEqual([10000, many.reduce((a, b) => a + (b.spend_usd ?? 0), 0), many.reduce((a, b) => a + (b.waste_usd ?? 0), 0)]);
  });
  it('gives each GPU its share of the area, inside its pod and team', () => {
    const tiles = tilesOf(GPUS, 400, 300, (each) => each.spend_usd ?? 0);
    const area = (id: string) => {
      const tile = tiles.gpus.find((each) => each.gpu?.id === id);
      return tile ? (tile.x2 - tile.x1) * (tile.y2 - tile.y1) : 0;
    };
    expect(tiles.teams).toHaveLength(3);
    expect(tiles.pods).toHaveLength(4);
    expect(area('a')).toBeGreaterThan(area('b'));
    expect(area('b')).toBeGreaterThan(area('c'));
    expect(tiles.teams.find((each) => each.team === 'x')?.waste).toBe(60);
  });
});

const FLEET = {
  gpus: GPUS,
  timelines: [
    { id: 'a', start: '2026-11-08T00:00Z', step_seconds: 3600, activity: [0.9, 0.1, null, 0], idle: [0, 0, null, 1], verdict_seconds: 10800, verdicts: ['compute-bound', null] },
    { id: 'b', start: '2026-11-08T00:00Z', step_seconds: 3600, activity: [0.5, 0.5, 0.5, 0.5], idle: [0, 0, 0, 0], verdict_seconds: 10800, verdicts: ['compute-bound', 'idle'] },
  ],
} as unknown as Fleet;

describe('time', () => {
  it('is aggregated if there are too many steps; missing values stay missing', () => {
    const cells = cellsOf(FLEET, GPUS, 2);
    expect(cells).toHaveLength(4);
    expect(cells[0]?.activity).toBeCloseTo(0.5);
    expect(cells[1]?.activity).toBe(0);
    expect(cellsOf(FLEET, GPUS, 10)[2]?.activity).toBeNull();
  });
  it('can be cut to its end, on whole steps of the verdicts', () => {
    const line = FLEET.timelines?.[1];
    if (!line) throw new Error('no timeline');
    const end = endOf(FLEET);
    expect(new Date(end).toISOString()).toBe('2026-11-08T04:00:00.000Z');
    expect(cutBefore(line, end - 3_600_000)).toMatchObject({ start: '2026-11-08T03:00:00.000Z', activity: [0.5], verdicts: ['idle'] });
    expect(cutBefore(line, 0)).toBe(line);
    expect(periodsOf(FLEET, GPUS, end - 3_600_000).every((period) => period.from.getTime() >= end - 3_600_000)).toBe(true);
  });
  it('counts GPUs by verdict, and none if no GPU reported', () => {
    const periods = periodsOf(FLEET, GPUS);
    expect(periods.map((each) => each.gpu)).toEqual(['n1/0', 'n1/0', 'n1/0', 'n1/0']);
    expect(periods[1]?.to.toISOString()).toBe('2026-11-08T04:00:00.000Z');
    const counts = verdictCounts(periods);
    expect(counts.map((each) => [each.from.getUTCHours(), each.verdict, each.gpus])).toEqual([[0, 'compute-bound', 2], [3, 'idle', 1]]);
  });
});

describe('short names of GPUs', () => {
  const on = (...hosts: string[]) => hosts.map((host, index) => ({ id: String(index), host, index }) as unknown as Gpu);
  const shown = (gpus: Gpu[]) => gpus.map((each) => shortPlaces(gpus)(placeOf(each)));
  it('leave out the domain that all hosts share', () => {
    expect(shown(on('ip-10-0-1-2.eu.compute.internal', 'ip-10-0-1-3.eu.compute.internal'))).toEqual(['ip-10-0-1-2/0', 'ip-10-0-1-3/1']);
    expect(shown(on('a.eu.corp', 'b.us.corp'))).toEqual(['a.eu/0', 'b.us/1']);
    for (const hosts of [['n1', 'n2'], ['a.corp', 'n2'], ['10.0.0.1', '10.1.0.1']]) expect(shown(on(...hosts))).toEqual(on(...hosts).map(placeOf));
  });
});
