"""Shared by the ledger tests: runs the program, provides a plan and a private PostgreSQL."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'market'))
import postgres  # noqa: E402,F401

PLAN = {
    'schema': 'rightsize/recommend/1', 'name': 'chat', 'what': 'Serve llama-3.1-8b at 5 requests/s', 'catalogue': '2026-11-15-00000000',
    'request': {'job': 'serve', 'model': 'llama-3.1-8b', 'rate': '5/s', 'ttft-slo': '1s', 'tpot-slo': '50ms'},
    'plans': [{'rank': 1, 'gpu': 'l4', 'gpus': 2, 'provider': 'gcp', 'instance': 'g2-standard-24', 'instances': 1, 'region': 'us-central1',
               'purchase': 'on-demand', 'precision': 'fp8', 'stack': 'vllm', 'slo_percentile': 95, 'ttft_seconds': 0.4, 'tpot_seconds': 0.03,
               'utilization': 0.6, 'usd_per_hour': 2.0, 'usd_total': 1460.0, 'low': 1460.0, 'high': 1600.0, 'memory_bytes': 20e9,
               'memory_low_bytes': 19e9, 'memory_high_bytes': 21e9, 'capacity_bytes': 24e9, 'list_usd_per_machine_hour': 2.0,
               'time_factor': {'low': 0.8, 'high': 1.25}}]}


def environment(home, **more):
    return {'HOME': str(home), 'PATH': os.environ['PATH'], 'USER': 'ann', **more}


def run(program, words, home, expect=(0,), **more):
    """The JSON of a command; `expect` lists the allowed exit codes."""
    done = subprocess.run([program, *words, '--format', 'json'], capture_output=True, text=True, env=environment(home, **more), timeout=120)
    assert done.returncode in expect, (words, done.returncode, done.stdout[-500:], done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def write_plan(home):
    path = pathlib.Path(home) / 'plan.json'
    path.write_text(json.dumps(PLAN))
    return str(path)
