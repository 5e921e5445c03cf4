#!/usr/bin/env python3
"""rightsize exporter over HTTP: /metrics is valid exposition text for our reader and for promtool (if
installed), measurements repeat, failures show at once, stale values are withdrawn, and the program ends on request. Usage: exporter_test.py PROGRAM"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet_data
import servers

PROGRAM = sys.argv[1]
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)')


def samples(text):
    """{name with labels: value}; every line that is not a comment must be a sample, and no sample may occur twice."""
    found = {}
    for line in text.splitlines():
        if line.startswith('#') or not line:
            continue
        match = SAMPLE.fullmatch(line)
        assert match, 'no sample: ' + line
        key = match.group(1) + (match.group(2) or '')
        assert key not in found, 'twice: ' + key
        found[key] = float(match.group(3))
    return found


def write_fleet(path, gpus):
    with open(path + '.new', 'w') as out:
        fleet_data.Fleet(gpus, 86400, 300, 1790000000).write_json(out)
    os.rename(path + '.new', path)


def wait_until(true, seconds=20):
    end = time.time() + seconds
    while not true():
        assert time.time() < end, 'it did not happen in %d s' % seconds
        time.sleep(0.05)


def status_of(url):
    try:
        servers.get(url)
        return 200
    except urllib.error.HTTPError as error:
        return error.code


def starts_without_a_source(folder):
    """The exporter starts even if its source is down: it reports that and keeps trying."""
    path = os.path.join(folder, 'later.json')
    exporter = subprocess.Popen([PROGRAM, 'exporter', '--from', path, '--listen', '127.0.0.1:0', '--every', '200ms'],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(exporter.stderr.readline, '')
        base = next(m.group(0) for m in (re.search(r'http://127\.0\.0\.1:\d+', line) for line in lines) if m)
        assert status_of(base + '/healthz') == 503
        write_fleet(path, 8)
        wait_until(lambda: status_of(base + '/healthz') == 200)
    finally:
        exporter.kill()
        exporter.wait()


def check_page(base):
    text = servers.get(base + '/metrics').decode()
    found = samples(text)
    assert found['rightsize_fleet_gpus'] == 8, text[:500]
    spent = sum(v for k, v in found.items() if k.startswith('rightsize_fleet_usd{'))
    assert abs(spent - 8 * 24 * 2.5) < 0.01, spent
    verdicts = [k for k in found if k.startswith('rightsize_gpu_verdict{') and found[k] == 1]
    assert len(verdicts) == 8 and any('verdict="idle-held"' in v for v in verdicts), verdicts
    done = subprocess.run([servers.PROMTOOL, 'check', 'metrics'], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # Our reader recognises the format, and that it contains no GPU readings.
    done = subprocess.run([PROGRAM, 'fleet', '--from', '-'], input=text, capture_output=True, text=True)
    assert done.returncode in (1, 3) and 'at byte' not in done.stderr and 'line' not in done.stderr, done.stderr
    assert b'/metrics' in servers.get(base + '/')
    try:
        servers.get(base + '/nothing-here')
        raise AssertionError('a page that is not there was found')
    except urllib.error.HTTPError as error:
        assert error.code == 404, error


def stays_reachable(base):
    """Idle connections, slow senders and large bodies do not prevent others from scraping."""
    address = ('127.0.0.1', int(base.rsplit(':', 1)[1]))
    held = [socket.create_connection(address) for _ in range(96)]
    for slow in held[64:]:
        slow.sendall(b'GET /metrics HT')
    begin = time.time()
    assert b'rightsize_fleet_gpus' in servers.get(base + '/metrics')
    assert time.time() - begin < 2, 'a scrape took %.1f s' % (time.time() - begin)
    with socket.create_connection(address) as sender:
        sender.settimeout(10)
        sender.sendall(b'POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
        refused = b''
        try:
            for _ in range(64):
                sender.sendall(b'100000\r\n' + b'x' * 0x100000 + b'\r\n')
            refused = sender.recv(64)
        except OSError:
            refused = b'closed'
        assert refused == b'closed' or refused.split()[1] in (b'404', b'405', b'413'), refused
    for one in held:
        one.close()
    with socket.create_connection(address) as stranger:
        stranger.sendall(b'GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
        assert b' 403 ' in stranger.recv(64), 'a foreign Host was answered'


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'fleet.json')
        write_fleet(path, 8)
        exporter = subprocess.Popen([PROGRAM, 'exporter', '--from', path, '--price', 'h100-sxm=2.5', '--listen', '127.0.0.1:0',
                                     '--every', '200ms', '--stale-after', '1s'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        starts_without_a_source(folder)
        try:
            said = exporter.stderr.readline()
            base = re.search(r'http://127\.0\.0\.1:\d+', said).group(0)
            check_page(base)
            stays_reachable(base)
            taken = subprocess.run([PROGRAM, 'exporter', '--from', path, '--listen', base[len('http://'):]],
                                   capture_output=True, text=True, timeout=60)
            assert taken.returncode == 3 and 'cannot listen on' in taken.stderr, taken.stderr
            write_fleet(path, 16)  # the next measurement includes the new GPUs
            wait_until(lambda: samples(servers.get(base + '/metrics').decode())['rightsize_fleet_gpus'] == 16)
            assert servers.get(base + '/healthz').startswith(b'ok')
            before = samples(servers.get(base + '/metrics').decode())
            assert before['rightsize_failed_measurements_total'] == 0 and before['rightsize_last_measurement_success'] == 1
            os.rename(path, path + '.gone')  # a failure is counted at once; the last values stay until they are stale
            assert any('fleet.json' in line for line in iter(exporter.stderr.readline, ''))  # after lines about refused requests
            page = lambda: samples(servers.get(base + '/metrics').decode())
            wait_until(lambda: page()['rightsize_failed_measurements_total'] >= 1)
            assert page()['rightsize_last_measurement_success'] == 0
            wait_until(lambda: 'rightsize_fleet_gpus' not in page())
            assert page()['rightsize_last_success_timestamp_seconds'] >= before['rightsize_last_success_timestamp_seconds']
            assert status_of(base + '/healthz') == 503
            os.rename(path + '.gone', path)  # and it recovers
            wait_until(lambda: page().get('rightsize_fleet_gpus') == 16)
            assert status_of(base + '/healthz') == 200
            exporter.send_signal(signal.SIGTERM)
            assert exporter.wait(10) == 0, exporter.returncode
        finally:
            if exporter.poll() is None:
                exporter.kill()
                exporter.wait()


if __name__ == '__main__':
    main()
