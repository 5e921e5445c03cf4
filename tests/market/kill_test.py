#!/usr/bin/env python3
"""Kills imports at random points: the store then has either all old prices or all new ones.

Usage: kill_test.py PROGRAM [TIMES]     TIMES on SQLite and on PostgreSQL each (default 12; `make check` runs 200)"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import postgres

ROWS = 1500


def feed(path, factor):
    with open(path, 'w') as file:
        file.write('InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n')
        for i in range(ROWS):
            file.write(f'box-{i % 50},H100-SXM,8,96,1024,{20 * factor + i / 1000:.4f},region-{i // 50},,{8 * factor + i / 1000:.4f}\n')


def run(program, words, store, home):
    return subprocess.run([program, 'prices', *words, '--store', store], capture_output=True, text=True,
                          env={'HOME': home, 'PATH': os.environ['PATH']}, timeout=120)


def prices(program, store, home):
    """The provider's prices as commands see them, and the last day in its history."""
    listed = run(program, ['--provider', 'acme', '--top', '0', '--format', 'json'], store, home)
    assert listed.returncode == 0, listed.stderr
    rows = json.loads(listed.stdout)['prices']
    return {(r['instance'], r['region'], r['purchase']): r['usd_per_hour'] for r in rows}


def expected(factor):
    truth = {}
    for i in range(ROWS):
        truth[f'box-{i % 50}', f'region-{i // 50}', 'on-demand'] = round(20 * factor + i / 1000, 4)
        truth[f'box-{i % 50}', f'region-{i // 50}', 'spot'] = round(8 * factor + i / 1000, 4)
    return truth


def same(a, b):
    return a.keys() == b.keys() and all(abs(a[key] - b[key]) < 1e-9 for key in a)


def kill_again_and_again(program, store, home, times):
    files = {1: f'{home}/old.csv', 2: f'{home}/new.csv'}
    for factor, path in files.items():
        feed(path, factor)
    words = lambda factor: ['import', '--feed', 'skypilot', '--provider', 'acme', files[factor]]
    began = time.monotonic()
    first = run(program, words(1), store, home)
    whole = time.monotonic() - began
    assert first.returncode == 0, first.stderr
    holds, finished = 1, 0
    for turn in range(times):
        target = 3 - holds
        process = subprocess.Popen([program, 'prices', *words(target), '--store', store], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={'HOME': home, 'PATH': os.environ['PATH']})
        time.sleep(random.uniform(0, whole * 1.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = prices(program, store, home)
        if same(now, expected(target)):
            holds, finished = target, finished + 1
        elif not same(now, expected(holds)):
            some = [key for key in now if abs(now[key] - expected(holds).get(key, 0)) > 1e-9]
            sys.exit(f'turn {turn}: neither old nor new: {len(now)} prices, {len(some)} of them not of the old import')
    print(f'{store.split("?")[0]}: killed {times} times, {finished} had finished; every time old or new entire')
    return finished


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    random.seed(1)
    with tempfile.TemporaryDirectory() as home:
        kill_again_and_again(program, f'{home}/prices.db', home, times)
        with postgres.server() as url:
            kill_again_and_again(program, url, home, times)


main()
