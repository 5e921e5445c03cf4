import { describe, expect, it } from 'vitest';
import { EXAMPLE, listed, pinned, readPins, writePins } from './organisation';

describe('an organisation', () => {
  it('has its workloads and options as they are written', () => {
    const all = listed(EXAMPLE);
    expect(all.map((each) => each.name)).toEqual(['chat', 'nightly-training', 'notebooks', 'embeddings', 'rerank', 'moderation', 'speech']);
    expect(all.map((each) => each.options.length)).toEqual([2, 3, 2, 2, 2, 3, 2]);
    expect(listed('workloads: [{name: a}]')).toEqual([]);
    expect(listed('')).toEqual([]);
  });
  it('keeps exactly the pinned option of a workload, and everything of the others', () => {
    for (const [i, workload] of listed(EXAMPLE).entries()) {
      workload.options.forEach((option, j) => {
        const after = listed(pinned(EXAMPLE, new Map([[workload.name, j]])));
        expect(after[i]?.options).toEqual([option]);
        after.forEach((other, k) => { if (k !== i) expect(other.options).toEqual(listed(EXAMPLE)[k]?.options); });
      });
    }
    expect(pinned(EXAMPLE, new Map([['chat', 9], ['unknown', 0]]))).toBe(EXAMPLE);
    expect(pinned(EXAMPLE, new Map())).toBe(EXAMPLE);
  });
  it('reads options over several lines', () => {
    const text = 'workloads:\n  - name: a\n    options:\n      - where: x\n        gpus: 1\n      - where: y\n        gpus: 2\nteams:\n  - {name: t}\n';
    expect(pinned(text, new Map([['a', 1]]))).toBe('workloads:\n  - name: a\n    options:\n      - where: y\n        gpus: 2\nteams:\n  - {name: t}\n');
  });
  it('has pins that survive the address', () => {
    expect(writePins(readPins('a=0;b=12'))).toBe('a=0;b=12');
    expect([...readPins('a=x;=1;;c')]).toEqual([]);
  });
});
