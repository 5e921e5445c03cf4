#!/usr/bin/env python3
"""Kills eight processes that write decisions at random points: acknowledged decisions are complete, and the ledger opens.

Usage: kill_test.py PROGRAM [WRITES]     on SQLite and on PostgreSQL each (default 80; `make check` runs 1,000)"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import ledger

WRITERS = 8


def write(program, plan, url, home, name, kill_after):
    """Writes one decision in a separate process. Returns its number if the process printed it before it was killed."""
    process = subprocess.Popen([program, 'decide', '--from', plan, '--workload', name, '--why', name * 20, '--ledger', url, '--format', 'json'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ledger.environment(home))
    if kill_after is not None:
        time.sleep(kill_after)
        process.send_signal(signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    if process.returncode == 0:
        return json.loads(out)['decision']['id']
    assert process.returncode == -signal.SIGKILL, (process.returncode, err)
    return None


def writer(program, plan, url, home, number, count, whole, acknowledged, failures):
    draw = random.Random(number)
    try:
        for i in range(count):
            name = f'w{number}-{i}'
            # Half of them are killed at any time between their first instruction and shortly after their last.
            after = draw.uniform(0, whole * 1.2) if draw.random() < 0.5 else None
            identity = write(program, plan, url, home, name, after)
            if identity is not None:
                acknowledged[name] = identity
    except Exception as problem:  # noqa: BLE001
        failures.append(problem)


def torture(program, url, home, writes):
    plan = ledger.write_plan(home)
    write(program, plan, url, home, 'first', None)
    began = time.monotonic()
    write(program, plan, url, home, 'first', None)
    whole = (time.monotonic() - began) * 2  # eight in parallel take longer than one
    acknowledged, failures = {}, []
    threads = [threading.Thread(target=writer, args=(program, plan, url, home, n, writes // WRITERS, whole, acknowledged, failures))
               for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    listed = check(program, url, home, acknowledged, writes)
    killed = writes // WRITERS * WRITERS - len(acknowledged)
    print(f'{"PostgreSQL" if url.startswith("postgres") else "SQLite"}: {writes} writes by {WRITERS} processes, {killed} killed, '
          f'{len(acknowledged)} acknowledged and there, {listed} in the ledger')


def check(program, url, home, acknowledged, written):
    listed = ledger.run(program, ['decisions', 'list', '--top', '0', '--ledger', url], home)['decisions']
    listed = [d for d in listed if d['workload'] != 'first']
    by_name = {d['workload']: d['id'] for d in listed}
    lost = [name for name, identity in acknowledged.items() if by_name.get(name) != identity]
    assert not lost, f'{len(lost)} acknowledged decisions are lost: {lost[:5]}'
    assert len({d['id'] for d in listed}) == len(listed) == len(by_name), 'a number was given twice'
    assert len(listed) <= written
    # A decision is complete if it has all its parts, even if its process was killed after the commit.
    for decision in random.Random(1).sample(listed, min(20, len(listed))):
        shown = ledger.run(program, ['decisions', 'show', decision['id'], '--ledger', url], home)['decisions'][0]
        assert len(shown['predictions']) == 5 and shown['why'] == decision['workload'] * 20 and shown['plan'], shown
    return len(listed)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    writes = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    with tempfile.TemporaryDirectory() as home:
        torture(program, f'{home}/decisions.db', home, writes)
        with ledger.postgres.server() as url:
            torture(program, url, home, writes)


main()
