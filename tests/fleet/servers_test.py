#!/usr/bin/env python3
"""rightsize fleet with a real Prometheus and a real VictoriaMetrics and a fleet of known kinds: every
planted case is found, none is invented, and the dollars match those of the same fleet in a file.
Usage: servers_test.py PROGRAM."""
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers
from fleet_data import Fleet

END = 1790000000 // 3600 * 3600
EXPECTED = {'idle': 'idle', 'idle-held': 'idle-held', 'busy': 'compute-bound', 'memory': 'memory-bound',
            'underused': 'underused', 'bursty': 'bursty'}


def analyse(program, *args):
    done = subprocess.run([program, 'fleet', '--price', 'h100-sxm=2.5', '--min-age', '6h', '--format', 'json', *args], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    return json.loads(done.stdout)


def check(name, found, fleet, reference=None):
    truth = fleet.truth()
    verdicts = {g['id']: g['verdict'] for g in found['gpus']}
    wrong = {i: (kind, verdicts.get(i)) for i, kind in truth.items() if verdicts.get(i) != EXPECTED[kind]}
    assert not wrong, '%s: %s' % (name, wrong)
    assert set(verdicts) == set(truth), '%s: invented %s' % (name, set(verdicts) - set(truth))
    totals = found['totals']
    hours = fleet.gpus * fleet.samples * fleet.step / 3600
    assert abs(totals['gpu_hours'] / hours - 1) < 0.02, (name, totals['gpu_hours'], hours)
    ledger = sum(line['usd'] for line in found['ledger'])
    assert abs(ledger / totals['spend_usd'] - 1) < 1e-9, (name, ledger, totals)
    stopped = {i for a in found['actions'] if a['kind'] == 'stop' for i in a['gpus']}
    assert stopped == {i for i, kind in truth.items() if kind.startswith('idle')}, (name, stopped)
    if reference:
        for key in ('spend_usd', 'waste_usd', 'idle_gpu_hours'):
            ratio = totals[key] / reference['totals'][key]
            assert abs(ratio - 1) < 0.03, '%s: %s is %.3f of what the file gives' % (name, key, ratio)
    print('%s: %d GPUs, waste %.1f %%' % (name, totals['gpus'], 100 * totals['waste_share']))


def main():
    program = sys.argv[1]
    fleet = Fleet(24, 86400 / 2, 30, END)
    window = ['--window', '12h', '--end', str(END)]
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        fleet.write_json(file)
        file.flush()
        reference = analyse(program, '--from', file.name)
        rules = subprocess.run([program, 'fleet', '--from', file.name, '--emit', 'rules'], capture_output=True).stdout
        board = subprocess.run([program, 'fleet', '--from', file.name, '--emit', 'grafana'], capture_output=True).stdout
    check('file', reference, fleet)
    panels = json.loads(board)['panels']
    assert len(panels) >= 8 and len({p['id'] for p in panels}) == len(panels)
    with tempfile.NamedTemporaryFile('wb', suffix='.yml') as file:
        file.write(rules)
        file.flush()
        subprocess.run([servers.PROMTOOL, 'check', 'rules', file.name], check=True, stdout=subprocess.DEVNULL)
    with servers.prometheus(fleet) as base:
        check('Prometheus', analyse(program, '--prometheus', base, *window), fleet, reference)
    with servers.victoria() as base:
        text = io.StringIO()
        fleet.write_import(text)
        servers.import_lines(base, [text.getvalue()])
        check('VictoriaMetrics', analyse(program, '--prometheus', base, *window, '--shard', '8'), fleet, reference)
        with tempfile.TemporaryDirectory() as kept:  # a second run repeats no query
            args = ['--prometheus', base, *window, '--resume', kept]
            first, second = analyse(program, *args), analyse(program, *args)
            assert first['totals'] == second['totals'], 'a resumed run differs'
            asked = [int(r['read'][0].split(', ')[1].split()[0]) for r in (first, second)]
            assert asked[1] < asked[0] / 3, asked


if __name__ == '__main__':
    main()
