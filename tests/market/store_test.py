#!/usr/bin/env python3
"""The same imports into SQLite and a real PostgreSQL: history, diff, forget and the resulting prices agree.

Usage: store_test.py PROGRAM"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import postgres

HEADER = 'provider,instance,region,zone,purchase,price,gpu,gpus\n'
MONDAY = HEADER + 'acme,box,east,,on-demand,20,h100-sxm,8\nacme,box,east,a,spot,8,h100-sxm,8\nacme,box,east,b,spot,9,h100-sxm,8\n'
TUESDAY = HEADER + 'acme,box,east,,on-demand,18,h100-sxm,8\nacme,box,east,a,spot,8,h100-sxm,8\nacme,box,west,,on-demand,21,h100-sxm,8\n'


def answers(program, store, home):
    def run(*words):
        done = subprocess.run([program, 'prices', *words, '--store', store, '--format', 'json'], capture_output=True, text=True,
                              env={'HOME': home, 'PATH': os.environ['PATH'], 'RIGHTSIZE_TODAY': '2026-11-15'}, timeout=60)
        assert done.returncode in (0, 2), (words, done.stderr)
        return json.loads(done.stdout)

    for day, text in (('2026-11-02', MONDAY), ('2026-11-03', TUESDAY)):
        path = pathlib.Path(home) / 'feed.csv'
        path.write_text(text)
        imported = run('import', '--feed', 'csv', '--date', day, str(path))['imports'][0]
        assert imported['rows_taken'] == 3 and imported['rows_refused'] == 0, imported
    found = {'history': run('history', '--provider', 'acme'),
             'diff': run('diff', '--from', '2026-11-02', '--to', '2026-11-03'),
             'list': [(p['instance'], p['region'], p['zone'], p['purchase'], p['usd_per_hour'], p['date'])
                      for p in run('--provider', 'acme', '--gpu', 'h100-sxm')['prices']]}
    # Every command that ranks offers sees them.
    done = subprocess.run([program, 'recommend', '--job', 'train', '--model', 'llama-3.1-8b', '--tokens', '1B', '--provider', 'acme', '--format', 'json'],
                          capture_output=True, text=True, timeout=120,
                          env={'HOME': home, 'PATH': os.environ['PATH'], 'RIGHTSIZE_TODAY': '2026-11-15', 'RIGHTSIZE_STORE': store})
    assert done.returncode == 0, done.stderr
    found['recommended'] = [(p['instance'], p['region']) for p in json.loads(done.stdout)['plans']][:1]
    assert found['recommended'] == [('box', 'east')], found['recommended']
    found['forgotten'] = run('forget', '--before', '2026-11-03')['forgotten']
    found['after'] = run('history', '--provider', 'acme')
    return found


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as home, postgres.server() as url:
        lite = answers(program, f'{home}/prices.db', home)
        changes = {(c['region'], c['purchase']): (c['before_usd_per_hour'], c['after_usd_per_hour']) for c in lite['diff']['changes']}
        assert changes == {('east', 'on-demand'): (20, 18), ('west', 'on-demand'): (None, 21)}, changes
        assert ('box', 'east', None, 'on-demand', 18, '2026-11-03') in lite['list'], lite['list']
        assert len(lite['history']['offers']) == 4, lite['history']
        # Of the two days before the third, only the zone that was not seen again keeps its price.
        assert lite['forgotten'] == 2, lite['forgotten']
        assert sum(len(o['prices']) for o in lite['after']['offers']) == 4, lite['after']
        assert answers(program, url, home) == lite
        print('SQLite and PostgreSQL agree')


main()
