"""Real metrics servers for tests, started on a free port in a temporary folder and always stopped."""
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

SERVERS = PROMETHEUS, PROMTOOL, VICTORIA = [shutil.which(n) for n in ('prometheus', 'promtool', 'victoria-metrics')]
if None in SERVERS:
    raise SystemExit('Prometheus or VictoriaMetrics is not installed: run tools/setup test')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def get(url, data=None, timeout=60):
    return urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=timeout).read()


def wait_for(url, process, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        if process.poll() is not None:
            raise RuntimeError('the server ended with %s' % process.returncode)
        try:
            return get(url, timeout=2)
        except OSError:
            time.sleep(0.05)
    raise RuntimeError('no answer from ' + url)


@contextlib.contextmanager
def running(command, ready):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(ready, process)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def prometheus(fleet):
    """A Prometheus server with the fleet in its blocks; yields its base URL."""
    with tempfile.TemporaryDirectory() as folder:
        text, data, config = (os.path.join(folder, n) for n in ('in.om', 'data', 'config.yml'))
        with open(text, 'w') as out:
            fleet.write_openmetrics(out)
        open(config, 'w').close()
        subprocess.run([PROMTOOL, 'tsdb', 'create-blocks-from', 'openmetrics', text, data], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        base = 'http://127.0.0.1:%d' % free_port()
        command = [PROMETHEUS, '--config.file=' + config, '--storage.tsdb.path=' + data,
                   '--storage.tsdb.retention.time=100y', '--web.listen-address=' + base[7:]]
        with running(command, base + '/-/ready'):
            yield base


@contextlib.contextmanager
def victoria():
    """An empty VictoriaMetrics; yields its base URL."""
    with tempfile.TemporaryDirectory() as folder:
        base = 'http://127.0.0.1:%d' % free_port()
        command = [VICTORIA, '-storageDataPath=' + folder, '-httpListenAddr=' + base[7:], '-retentionPeriod=100y',
                   '-search.maxQueryDuration=120s', '-memory.allowedPercent=40', '-search.latencyOffset=0s']
        with running(command, base + '/health'):
            yield base


def import_lines(base, lines):
    get(base + '/api/v1/import', data='\n'.join(lines).encode(), timeout=300)
    get(base + '/internal/force_flush')
