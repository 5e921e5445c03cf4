#!/usr/bin/env python3
"""rightsize fleet on irregular telemetry of known truth: hours, owners and idle hours are within one percent, from a file, a real
Prometheus and a real VictoriaMetrics. Usage: irregular_test.py PROGRAM [SEED ...]."""
import io
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import collections
import json
import subprocess

import servers
from irregular import Fleet, HOUR

BEGIN = 1790000000 // 86400 * 86400


def analyse(program, *args):
    done = subprocess.run([program, 'fleet', '--price', '*=2', '--format', 'json', *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout[-1000:]
    return json.loads(done.stdout)


def near(says, low, high, slack, what):
    room = slack + 0.01 * high
    assert low - room <= says <= high + room, '%s: %.0f s where %.0f to %.0f s is true' % (what, says, low, high)


def check(name, found, fleet):
    there, had, idle, slack = fleet.truth()
    says, owners = collections.Counter(), collections.Counter()
    for gpu in found['gpus']:
        says[gpu['id'].split('/')[0]] += gpu['gpu_hours'] * HOUR
        for owner in gpu['owners']:
            owners[owner['owner']] += owner['seconds'] * gpu['gpu_share']
    for gpu, seconds in there.items():
        near(says[gpu], seconds, seconds, slack[gpu], '%s: %s' % (name, gpu))
    assert set(says) == set(there), (name, set(says) ^ set(there))
    for pod, seconds in had.items():
        near(owners['team/' + pod[:-2]], seconds, seconds, slack[pod], '%s: owner %s' % (name, pod))
    totals = found['totals']
    near(totals['gpu_hours'] * HOUR, sum(there.values()), sum(there.values()), 0, name + ': all hours')
    near(totals['spend_usd'] / 2 * HOUR, sum(there.values()), sum(there.values()), 0, name + ': dollars')
    near(totals['idle_gpu_hours'] * HOUR, *idle, 0, name + ': idle hours')
    notes = ' | '.join(found['notes'])
    for word in ('dropped', 'no activity', 'several series'):
        assert word in notes, (name, word, notes)
    print('%s: %.2f of %.2f GPU-hours' % (name, totals['gpu_hours'], sum(there.values()) / HOUR))


def main():
    program, seeds = sys.argv[1], [int(s) for s in sys.argv[2:]] or [1, 2]
    for seed in seeds:
        fleet = Fleet(seed, BEGIN)
        window = ['--window', '%dh' % fleet.hours, '--end', str(BEGIN + fleet.hours * HOUR)]
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            fleet.write_json(file)
            file.flush()
            check('file %d' % seed, analyse(program, '--from', file.name), fleet)
        with servers.prometheus(fleet) as base:
            check('Prometheus %d' % seed, analyse(program, '--prometheus', base, *window), fleet)
        with servers.victoria() as base:
            text = io.StringIO()
            fleet.write_import(text)
            servers.import_lines(base, [text.getvalue()])
            servers.get(base + '/internal/force_flush')
            check('VictoriaMetrics %d' % seed, analyse(program, '--prometheus', base, *window), fleet)


if __name__ == '__main__':
    main()
