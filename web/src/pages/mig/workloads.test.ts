import { describe, expect, it } from 'vitest';
import { decode, encode, EXAMPLE, layoutOf, mistakesOf, moved, readMoves, placed, toYaml, type Board } from './workloads';

describe('workloads', () => {
  it('survive the address, also if they are not valid yet', () => {
    expect(decode(encode(EXAMPLE))).toEqual(EXAMPLE);
    for (const text of ['a:1:2:3', 'bad name:1:1:1', 'b:0:1:1', 'c:1:1:0.5', 'c:3,5:1:1', 'c:1:x:1', 'c:1:1:-3', ':1:1:1', 'd:::']) {
      expect(encode(decode(text))).toBe(text);
      expect(mistakesOf(decode(text)).length > 0).toBe(text !== 'a:1:2:3');
    }
    expect(mistakesOf(decode('a:1:1:1;a:2:1:1'))).toEqual(['a: two workloads have this name.']);
    expect(readMoves('0.1.2;x;1.0;;3.2.-1;4.5.6')).toEqual([[0, 1, 2], [4, 5, 6]]);
  });
  it('become YAML', () => {
    expect(toYaml([{ name: 'a', memory: '3', load: '6', replicas: '2' }])).toBe('workloads:\n  - name: a\n    memory: 3GiB\n    load: 6%\n    replicas: 2\n');
  });
});

describe('slices', () => {
  const piece = (workload: string, profile: string) => ({ workload, profile, start: 0, size: 1, replica: 0 });
  const boards: Board[] = [{ gpu: 'g', pieces: [piece('a', '1g.10gb'), piece('b', '2g.20gb')] }, { gpu: 'g', pieces: [piece('c', '1g.10gb')] }];
  it('are counted for --check', () => {
    expect(layoutOf(['1g.10gb', '3g.40gb', '1g.10gb'])).toBe('2x1g.10gb,3g.40gb');
  });
  it('move only from one GPU to another', () => {
    const next = moved(boards, 0, 1, 1);
    expect(next?.map((board) => board.pieces.map((each) => each.workload))).toEqual([['a'], ['c', 'b']]);
    expect(moved(boards, 0, 0, 0)).toBeNull();
    expect(moved(boards, 0, 7, 1)).toBeNull();
  });
  it('are placed where the program creates them', () => {
    const laid = placed({ gpu: 'g', pieces: [piece('a', '1g.10gb'), piece('b', '1g.10gb')] }, [{ profile: '1g.10gb', start: 6, size: 1 }, { profile: '1g.10gb', start: 5, size: 1 }]);
    expect(laid.pieces.map((each) => each.start)).toEqual([6, 5]);
  });
});
