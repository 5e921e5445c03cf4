#!/usr/bin/env python3
"""Measurements from a metrics server and from a recording: verify and rollout use each sample once.

Usage: prometheus_test.py PROGRAM"""
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import urllib.parse

import ledger

NOW = 1_792_800_000


class Metrics(http.server.BaseHTTPRequestHandler):
    """Responds like Prometheus; the value of a query depends on the metric in it."""
    asked = []

    def do_GET(self):
        self.answer(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query))

    def do_POST(self):
        self.answer(urllib.parse.parse_qs(self.rfile.read(int(self.headers['Content-Length'])).decode()))

    def answer(self, form):
        query = form['query'][0]
        if query == 'vector(time())':
            result = {'resultType': 'vector', 'result': [{'metric': {}, 'value': [NOW, str(NOW)]}]}
        elif query == 'time()':
            result = {'resultType': 'scalar', 'result': [NOW, str(NOW)]}
        else:
            Metrics.asked.append(query)
            value = 0.41 if 'first_token' in query else 0.031 if 'output_token' in query else 20.5e9 if 'FB_USED' in query else None
            start, end, step = (float(form[k][0]) for k in ('start', 'end', 'step'))
            points = []
            for i in range(int((end - start) / step) + 1):
                points.append([start + i * step, str(value * (1 + 0.002 * (i % 5 - 2)))] if value else [start + i * step, 'NaN'])
            result = {'resultType': 'matrix', 'result': [{'metric': {}, 'values': points}]}
        body = json.dumps({'status': 'success', 'data': result}).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def metric(verification, name):
    return next(m for m in verification['verification']['metrics'] if m['metric'] == name)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Metrics)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        plan = ledger.write_plan(home)
        url = f'{home}/a.db'
        run = lambda *words, expect=(0,): ledger.run(program, [*words, '--ledger', url], home, expect, RIGHTSIZE_NOW='2026-10-25T00:00:00Z')
        ask = ['--prometheus', f'http://127.0.0.1:{server.server_port}', '--window', '4h', '--step', '5min']
        run('decide', '--from', plan, '--workload', 'chat', '--before', '2460')
        kept = run('verify', 'chat', *ask)
        assert kept['verification']['verdict'] == 'kept', kept
        assert metric(kept, 'tpot_seconds')['samples'] == 49 == metric(kept, 'ttft_seconds')['samples'], kept
        assert any('vllm:time_to_first_token_seconds_bucket' in q and 'histogram_quantile(0.95' in q for q in Metrics.asked), Metrics.asked
        again = run('verify', 'chat', *ask)
        assert again['samples_added'] == 0, again['samples_added']
        # The same server confirms a stage; missing measurements are reported, not filled in.
        run('rollout', 'start', 'chat')
        waits = run('rollout', 'confirm', 'chat', '--prometheus', f'http://127.0.0.1:{server.server_port}', '--window', '1h', '--end', '2026-10-25T06:00:00Z',
                    '--query', 'tpot_seconds=output_token', '--query', 'ttft_seconds=first_token', expect=(2,))
        states = {c['check']: c['state'] for c in waits['checks']}
        assert states == {'speed': 'passed', 'slo': 'passed', 'memory': 'unknown', 'cost': 'unknown'}, states
        passed = run('rollout', 'confirm', 'chat', '--oom', '0', '--measured', 'usd_per_hour=2')
        assert passed['stages'][0]['state'] == 'passed' and passed['stages'][1]['stage'] == '10%', passed
        nothing = run('verify', 'chat', *ask, '--query', 'utilization=absent')
        assert nothing['samples_added'] == 0, nothing
        # A recording of half an hour with two readings per minute and less memory than predicted.
        recording = pathlib.Path(home) / 'run.csv'
        recording.write_text('t_s,gpu,gpu_util_pct,fb_used_mib\n' + ''.join(f'{i * 30},0,80,{19000 + i % 7}\n' for i in range(70)))
        profiled = run('verify', 'chat', '--profile', str(recording))
        memory = metric(profiled, 'memory_bytes')
        assert memory['samples'] == 49 + 35 and memory['verdict'] == 'kept', memory
        assert run('verify', 'chat', '--profile', str(recording))['samples_added'] == 0
        print('a metrics server and a recording are taken, each sample once')


main()
