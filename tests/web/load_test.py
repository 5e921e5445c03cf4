"""`rightsize serve` under load: requests per second (wrk), constant memory, and slow clients that do not block others. For `make check`.
Usage: load_test.py PROGRAM [--minutes 10] [--rate 2000]"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

from server import running

parser = argparse.ArgumentParser()
parser.add_argument('program')
parser.add_argument('--minutes', type=float, default=10)
parser.add_argument('--rate', type=float, default=2000)
asked = parser.parse_args()
PROGRAM = os.path.abspath(asked.program)
PATH = '/api/recommend?model=llama-3.1-8b&tokens=1B&deadline=7d'
if not shutil.which('wrk'):
    sys.exit('wrk is not installed: run tools/setup test')
failures = []


def resident(pid):
    """Resident megabytes."""
    return int(re.search(r'VmRSS:\s+(\d+)', open(f'/proc/{pid}/status').read())[1]) / 1024


def kept(server):
    """Megabytes of cached responses: they may grow to their limit, the rest may not."""
    return float(re.search(r'^rightsize_server_kept_answer_bytes (\S+)', server.ask('/metrics')[2], re.M)[1]) / 2**20


def wrk(server, path, seconds, connections=64):
    done = subprocess.run(['wrk', '-t', '1', '-c', str(connections), '-d', f'{seconds}s', '--latency', f'http://127.0.0.1:{server.port}{path}'],
                          capture_output=True, text=True).stdout
    rate = float(re.search(r'Requests/sec:\s+([\d.]+)', done)[1])
    slow = re.search(r'99%\s+(\S+)', done)[1]
    errors = re.search(r'Non-2xx or 3xx responses: (\d+)', done)
    return rate, slow, int(errors[1]) if errors else 0


def trickle(server, stop, count=600):
    """Clients that never finish a request; each reconnects when it is cut off."""
    sockets = []
    while not stop.is_set():
        while len(sockets) < count:
            try:
                one = socket.create_connection(('127.0.0.1', server.port), timeout=2)
                one.sendall(b'POST /api/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n')
                sockets.append(one)
            except OSError:
                break
        for one in list(sockets):
            try:
                one.sendall(b'x')
            except OSError:
                one.close()
                sockets.remove(one)
        stop.wait(0.5)
    for one in sockets:
        one.close()


with running(PROGRAM) as server:
    server.ask(PATH)
    rate, slow, errors = wrk(server, PATH, 10)
    print(f'{rate:.0f} recommendations a second, 99 % within {slow}, {errors} errors')
    if rate < asked.rate or errors:
        failures.append(f'{rate:.0f} requests a second, {errors} errors; at least {asked.rate:.0f} wanted')

    stop = threading.Event()
    attack = threading.Thread(target=trickle, args=(server, stop))
    attack.start()
    time.sleep(3)
    begun = time.time()
    good = sum(server.ask('/healthz')[0] == 200 for _ in range(50))
    took = (time.time() - begun) / 50
    print(f'with 600 slow senders on 512 seats: {good} of 50 answered, {1000 * took:.1f} ms each')
    if good < 50:
        failures.append(f'slow senders keep others out: {good} of 50')
    stop.set()
    attack.join()

    # New questions all the time, and a repeated one: memory must not grow without bound.
    until = time.time() + 60 * asked.minutes
    readings = []
    number = 0
    while time.time() < until:
        wrk(server, PATH, 3)
        for _ in range(20):
            number += 1
            server.ask('/api/recommend', {'model': 'llama-3.1-8b', 'tokens': f'{number}M', 'deadline': '7d', 'plans-only': True})
        readings.append((resident(server.process.pid), kept(server)))
    tail = readings[len(readings) // 3:]
    if tail:
        beside = [whole - answers for whole, answers in tail]
        growth = beside[-1] - beside[0]
        print(f'memory over {asked.minutes:g} minutes and {number} new questions: {readings[0][0]:.0f} MB at first, {tail[-1][0]:.0f} MB at the end, '
              f'{tail[-1][1]:.0f} MB of it kept answers; beside them {growth:+.1f} MB in the last two thirds')
        if growth > 0.1 * beside[0] + 8:  # fluctuations of the allocator
            failures.append(f'memory grows by {growth:.0f} MB')
    if server.stop() != 0:
        failures.append('it did not stop well')
print('\n'.join(failures) or 'fast enough, flat, and open to others under attack')
sys.exit(1 if failures else 0)
