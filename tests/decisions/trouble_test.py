#!/usr/bin/env python3
"""Read-only media, a full disk, a locked and a damaged ledger: a clear error, exit code 3, nothing lost.

Usage: trouble_test.py PROGRAM"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import ledger

HERE = pathlib.Path(__file__).resolve().parent
NO_RIGHTS = 65534  # the user without rights on every Unix


def workloads(program, url, home):
    return [d['workload'] for d in ledger.run(program, ['decisions', 'list', '--ledger', url], home)['decisions']]


def read_only(program, plan, home):
    folder = pathlib.Path(home) / 'read-only'
    folder.mkdir()
    url = str(folder / 'a.db')
    ledger.run(program, ['decide', '--from', plan, '--workload', 'kept', '--ledger', url], home)
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    # Root may write everywhere, so another user reads.
    user = {'user': NO_RIGHTS, 'group': NO_RIGHTS, 'extra_groups': []} if os.getuid() == 0 else {}
    os.chmod(home, 0o755)
    run = lambda *words: subprocess.run([program, *words, '--ledger', url], capture_output=True, text=True, env=ledger.environment(home), **user)
    listed = run('decisions', 'list', '--format', 'json')
    assert listed.returncode == 0 and '"kept"' in listed.stdout, (listed.stdout, listed.stderr)
    refused = run('decide', '--from', plan, '--workload', 'lost')
    assert refused.returncode == 3 and 'read-only' in refused.stderr, refused.stderr
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    assert workloads(program, url, home) == ['kept']


def locked(program, plan, home):
    url = f'{home}/locked.db'
    ledger.run(program, ['decide', '--from', plan, '--workload', 'kept', '--ledger', url], home)
    holder = sqlite3.connect(url, isolation_level=None)
    holder.execute('BEGIN IMMEDIATE')
    refused = ledger.run(program, ['decide', '--from', plan, '--workload', 'waits', '--ledger', url, '--wait', '300ms'], home, expect=(3,))
    assert 'locked by another process for 0.3 s' in refused and 'nothing was changed' in refused, refused
    # Readers are not held up.
    assert workloads(program, url, home) == ['kept']
    holder.execute('ROLLBACK')
    ledger.run(program, ['decide', '--from', plan, '--workload', 'waits', '--ledger', url], home)
    assert workloads(program, url, home) == ['waits', 'kept']


def full_disk(program, plan, home):
    compiler = shutil.which('cc') or shutil.which('gcc')
    if compiler is None:
        print('no C compiler: the full disk was not played')
        return
    library = f'{home}/full_disk.so'
    subprocess.run([compiler, '-shared', '-fPIC', '-o', library, str(HERE / 'full_disk.c'), '-ldl'], check=True)
    url = f'{home}/full.db'
    ledger.run(program, ['decide', '--from', plan, '--workload', 'kept', '--ledger', url], home)
    refusals = 0
    for room in (0, 100, 5000, 20000, 200000):
        done = subprocess.run([program, 'decide', '--from', plan, '--workload', f'room{room}', '--ledger', url], capture_output=True, text=True,
                              env=ledger.environment(home, LD_PRELOAD=library, RIGHTSIZE_DISK_BYTES=str(room)))
        assert done.returncode in (0, 3), (room, done.returncode, done.stderr)
        if done.returncode == 3:
            assert 'disk is full' in done.stderr and 'nothing was changed' in done.stderr, done.stderr
            refusals += 1
        there = workloads(program, url, home)
        assert (f'room{room}' in there) == (done.returncode == 0) and 'kept' in there, (room, there)
    assert 0 < refusals < 5, refusals


def damaged(program, plan, home):
    url = f'{home}/damaged.db'
    pathlib.Path(url).write_bytes(b'this is no database' * 100)
    refused = ledger.run(program, ['decisions', 'list', '--ledger', url], home, expect=(3,))
    assert 'file is not a database' in refused and 'not a rightsize database' in refused, refused


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as home:
        plan = ledger.write_plan(home)
        os.chmod(plan, 0o644)
        for trouble in (read_only, locked, full_disk, damaged):
            trouble(program, plan, home)
        print('read-only, locked, full and damaged ledgers: said clearly, nothing lost')


main()
