#!/usr/bin/env python3
"""The rules and the dashboard that `rightsize fleet --emit` writes, by Prometheus's own tool: the rules load, their
alerts fire on a fleet of which the truth is known and on nothing else, and every expression of the dashboard parses.
Usage: emit_test.py PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet_data
import servers

PROGRAM = sys.argv[1]

# One GPU held without work, one that works; an exporter whose last success was long ago.
SERIES = '''
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname="n1",UUID="held",gpu="0",modelName="NVIDIA H100 80GB HBM3"}'
        values: '0x1600'
      - series: 'DCGM_FI_DEV_FB_USED{Hostname="n1",UUID="held",gpu="0",modelName="NVIDIA H100 80GB HBM3"}'
        values: '40000x1600'
      - series: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname="n1",UUID="busy",gpu="1",modelName="NVIDIA H100 80GB HBM3"}'
        values: '0.9x1600'
      - series: 'DCGM_FI_DEV_FB_USED{Hostname="n1",UUID="busy",gpu="1",modelName="NVIDIA H100 80GB HBM3"}'
        values: '40000x1600'
      - series: 'rightsize_last_success_timestamp_seconds{instance="exporter:9477"}'
        values: '60x1600'
      - series: 'rightsize_failed_measurements_total{instance="exporter:9477"}'
        values: '0+1x1600'
    promql_expr_test:
      - expr: sum(rightsize:gpu_idle)
        eval_time: 1d
        exp_samples: [{value: 1}]
      - expr: sum(rightsize:gpu_idle_usd_per_hour)
        eval_time: 1d
        exp_samples: [{value: 2.5}]
'''


def alerts_at(rules, folder, when):
    """{alert: labels} that fire, found by asking promtool for none and reading what it got instead."""
    found = {}
    for name in ('GpuHeldIdle', 'GpuIdle', 'FleetIdleSpend', 'RightsizeExporterFailing', 'RightsizeExporterStale', 'RightsizeNumbersMislead'):
        assert name in rules, name
        with open(os.path.join(folder, 'test.yml'), 'w') as out:
            out.write(SERIES + '    alert_rule_test:\n      - {eval_time: %s, alertname: %s, exp_alerts: []}\n' % (when, name))
        done = subprocess.run([servers.PROMTOOL, 'test', 'rules', 'test.yml'], cwd=folder, capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert done.returncode == 0 or 'alertname' in said, said
        if done.returncode:
            found[name] = said
    return found


def main():
    if not servers.PROMTOOL:
        print('no promtool: skipped')
        return 77
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
        firing = alerts_at(rules, folder, '26h')
        assert set(firing) == {'GpuHeldIdle', 'GpuIdle', 'FleetIdleSpend', 'RightsizeExporterFailing', 'RightsizeExporterStale'}, set(firing)
        for name in ('GpuHeldIdle', 'GpuIdle'):
            assert 'UUID="held"' in firing[name] and 'UUID="busy"' not in firing[name], firing[name]
        assert 'GpuIdle' not in alerts_at(rules, folder, '10m')
        # Every expression of the dashboard, as if it were recorded.
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
