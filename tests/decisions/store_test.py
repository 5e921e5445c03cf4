#!/usr/bin/env python3
"""The same decisions, rollouts, measurements and reports on SQLite and on a real PostgreSQL agree, and older ledgers migrate.

Usage: store_test.py PROGRAM"""
import http.server
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading

import ledger


class Hook(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        Hook.got.append((self.headers['Content-Type'], json.loads(self.rfile.read(int(self.headers['Content-Length'])))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'ok')

    def log_message(self, *_):
        pass


def story(program, url, home):
    """A decision from the plan to the savings report; returns the output of every command."""
    plan = ledger.write_plan(home)
    at = lambda now, *words, expect=(0,): ledger.run(program, [*words, '--ledger', url], home, expect, RIGHTSIZE_NOW=now)
    said = [at('2026-01-01T00:00:00Z', 'decide', '--from', plan, '--workload', 'chat', '--team', 'search', '--before', '2460', '--why', "it's cheaper")]
    said[0].pop('ledger')
    assert said[0]['decision']['saving_usd'] == 1000
    said.append(at('2026-01-02T00:00:00Z', 'rollout', 'start', 'chat'))
    said.append(at('2026-01-03T00:00:00Z', 'rollout', 'confirm', 'chat', expect=(2,)))
    good = ['--measured', 'tpot_seconds=0.031,0.0305,0.0312,0.0308,0.031,0.0311,0.0309', '--measured', 'ttft_seconds=0.41,0.4,0.42,0.41,0.405,0.4,0.41',
            '--measured', 'usd_per_hour=2.0', '--oom', '0']
    said.append(at('2026-01-03T00:00:00Z', 'rollout', 'confirm', 'chat', *good))
    assert said[-1]['stages'][1]['stage'] == '10%', said[-1]
    said.append(at('2026-01-04T00:00:00Z', 'rollout', 'confirm', 'chat', '--by-hand', '--note', 'looks right'))
    said.append(at('2026-01-05T00:00:00Z', 'rollout', 'confirm', 'chat', *good))
    said.append(at('2026-01-06T00:00:00Z', 'rollout', 'confirm', 'chat', *good))
    assert said[-1]['status'] == 'in-force', said[-1]
    said.append(at('2026-02-05T00:00:00Z', 'verify', 'chat'))
    assert said[-1]['verification']['verdict'] == 'kept' and said[-1]['verification']['saved_usd'] == 1000, said[-1]
    said.append(at('2026-02-05T00:00:00Z', 'decisions', 'savings'))
    months = (0.1 * 1 + 0.5 * 1 + 31) * 86400 / (365 * 86400 / 12)
    assert abs(said[-1]['measured_usd'] - 1000 * months) < 0.01, said[-1]
    said.append(at('2026-02-06T00:00:00Z', 'verify', 'chat', '--measured', 'tpot_seconds=' + ','.join(['0.09', '0.091', '0.089'] * 20), expect=(4,)))
    assert said[-1]['verification']['verdict'] == 'broken'
    said.append(at('2026-02-07T00:00:00Z', 'rollout', 'back', 'chat', '--note', 'too slow'))
    assert said[-1]['status'] == 'rolled-back'
    at('2026-02-08T00:00:00Z', 'decide', '--from', plan, '--workload', 'chat')
    said.append(at('2026-02-08T00:00:00Z', 'decisions', 'list', '--status', 'rolled-back,decided'))
    assert [d['id'] for d in said[-1]['decisions']] == ['D2', 'D1'], said[-1]
    said.append(at('2026-02-08T00:00:00Z', 'decisions', 'export', 'D1'))
    # The machine of the decision now costs 50 % more.
    prices = pathlib.Path(home) / 'later' / 'prices'
    prices.mkdir(parents=True, exist_ok=True)
    (prices / 'gcp.csv').write_text('instance,region,purchase,price,date\ng2-standard-24,us-central1,on-demand,3USD/h,2026-02-07\n')
    server = http.server.HTTPServer(('127.0.0.1', 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Hook.got = []
    said.append(at('2026-02-08T00:00:00Z', 'decisions', 'review', '--catalog', f'{home}/later', '--webhook', f'http://127.0.0.1:{server.server_port}/secret',
                   expect=(4,)))
    server.shutdown()
    assert 'price' in [a['kind'] for a in said[-1]['alerts']], said[-1]
    (kind, payload), = Hook.got
    assert kind == 'application/json' and payload['text'].startswith('rightsize: ') and len(payload['attachments']) == len(said[-1]['alerts'])
    return said


def migrates(program, url, home, execute):
    """A ledger of version 1 is copied, upgraded and used; a newer one is refused and left unchanged."""
    plan = ledger.write_plan(home)
    ledger.run(program, ['decide', '--from', plan, '--workload', 'old', '--ledger', url], home)
    execute('DROP TABLE decision_stage', 'DROP TABLE decision_sample', 'UPDATE decision_version SET number = 1')
    listed = ledger.run(program, ['decisions', 'list', '--ledger', url], home)
    assert [d['workload'] for d in listed['decisions']] == ['old'] and listed['backup'], listed
    ledger.run(program, ['rollout', 'start', 'old', '--ledger', url], home)
    execute('UPDATE decision_version SET number = 99')
    for words in (['decisions', 'list'], ['decide', '--from', plan, '--workload', 'x']):
        refused = ledger.run(program, [*words, '--ledger', url], home, expect=(3,))
        assert 'written by a newer rightsize (table version 99, this program knows 2)' in refused, refused
    return listed['backup']


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as home, ledger.postgres.server() as url:
        lite = story(program, f'{home}/decisions.db', home)

        def lite_statements(*statements):
            connection = sqlite3.connect(f'{home}/old.db', isolation_level=None)
            for statement in statements:
                connection.execute(statement)
            connection.close()

        assert pathlib.Path(migrates(program, f'{home}/old.db', home, lite_statements)).exists()
        assert story(program, url, home) == lite

        def server(*statements):
            for statement in statements:
                subprocess.run(['psql', '-q', url, '-c', statement], check=True, capture_output=True)

        server(*(f'DROP TABLE {t}' for t in ('decision', 'decision_prediction', 'decision_document', 'decision_stage', 'decision_sample', 'decision_version')))
        assert migrates(program, url, home, server) == 'decision_version_v1_backup'
        print('SQLite and PostgreSQL agree')


main()
