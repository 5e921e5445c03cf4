#!/usr/bin/env python3
"""Checks the rules and the dashboard of `rightsize fleet --emit` with promtool: the rules load, their alerts fire
on a fleet of known kinds and on nothing else, and every expression of the dashboard parses.
Usage: emit_test.py PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet_data
import servers

PROGRAM = sys.argv[1]

# One GPU is held without work, one works, and the last success of an exporter was long ago.
SERIES = '''
rule_files: [rules.yml]
evaluation_interval: 5m
tests:
  - interval: 5m
    input_series:
      - series: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname="n1",UUID="held",gpu="0",modelName="NVIDIA H100 80GB HBM3"}'
        values: '0x330'
      - series: 'DCGM_FI_DEV_FB_USED{Hostname="n1",UUID="held",gpu="0",modelName="NVIDIA H100 80GB HBM3"}'
        values: '40000x330'
      - series: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname="n1",UUID="busy",gpu="1",modelName="NVIDIA H100 80GB HBM3"}'
        values: '0.9x330'
      - series: 'DCGM_FI_DEV_FB_USED{Hostname="n1",UUID="busy",gpu="1",modelName="NVIDIA H100 80GB HBM3"}'
        values: '40000x330'
      - series: 'rightsize_last_success_timestamp_seconds{instance="exporter:9477"}'
        values: '60x330'
      - series: 'rightsize_failed_measurements_total{instance="exporter:9477"}'
        values: '0+1x330'
    promql_expr_test:
      - expr: sum(rightsize:gpu_idle)
        eval_time: 1d
        exp_samples: [{value: 1}]
      - expr: sum(rightsize:gpu_idle_usd_per_hour)
        eval_time: 1d
        exp_samples: [{value: 2.5}]
'''


ALERTS = ('GpuHeldIdle', 'GpuIdle', 'FleetIdleSpend', 'RightsizeExporterFailing', 'RightsizeExporterStale', 'RightsizeNumbersMislead')


def firing_alerts(rules, folder):
    """{(alert, time): output of promtool} for all alerts that fire: promtool expects none and reports each one."""
    with open(os.path.join(folder, 'test.yml'), 'w') as out:
        out.write(SERIES + '    alert_rule_test:\n')
        for name in ALERTS:
            assert name in rules, name
            for when in ('10m', '26h'):
                out.write('      - {eval_time: %s, alertname: %s, exp_alerts: []}\n' % (when, name))
    done = subprocess.run([servers.PROMTOOL, 'test', 'rules', 'test.yml'], cwd=folder, capture_output=True, text=True)
    parts = re.split(r'alertname: ?(\w+), time: ?(\w+)', done.stdout + done.stderr)
    assert 'expr:' not in parts[0] and len(parts) > 1, done.stdout + done.stderr  # the recorded values are correct
    return {(parts[i], parts[i + 1]): parts[i + 2] for i in range(1, len(parts) - 2, 3)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'fleet.json')
        with open(path, 'w') as out:
            fleet_data.Fleet(8, 86400, 300, 1790000000).write_json(out)
        emit = lambda what: subprocess.run([PROGRAM, 'fleet', '--from', path, '--price', 'h100-sxm=2.5', '--emit', what],
                                           capture_output=True, text=True, check=True).stdout
        rules = emit('rules')
        with open(os.path.join(folder, 'rules.yml'), 'w') as out:
            out.write(rules)
        subprocess.run([servers.PROMTOOL, 'check', 'rules', os.path.join(folder, 'rules.yml')], check=True, capture_output=True)
        firing = firing_alerts(rules, folder)
        late = {name for name, when in firing if when in ('26h', '1d2h')}
        assert late == set(ALERTS) - {'RightsizeNumbersMislead'}, firing.keys()
        assert not any(when == '10m' for _, when in firing), firing.keys()
        for (name, _), got in firing.items():
            if name in ('GpuHeldIdle', 'GpuIdle'):
                assert 'UUID="held"' in got and 'UUID="busy"' not in got, got
        # Every expression of the dashboard, checked as a recording rule.
        board = json.loads(emit('grafana'))
        expressions = [t['expr'] for p in board['panels'] for t in p['targets']]
        assert len(expressions) >= 10
        with open(os.path.join(folder, 'board.yml'), 'w') as out:
            out.write('groups:\n  - name: board\n    rules:\n')
            for i, expression in enumerate(expressions):
                out.write('      - record: panel_%d\n        expr: %s\n' % (i, json.dumps(expression)))
        done = subprocess.run([servers.PROMTOOL, 'check', 'rules', os.path.join(folder, 'board.yml')], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return 0


if __name__ == '__main__':
    sys.exit(main())
