#!/usr/bin/env python3
"""The program under adverse conditions: a full disk, exhausted memory, kills, few file handles, a clock that jumps, secrets.

In every case it exits with a documented code (never a signal, never 70), reports what happened, and loses no existing
data. Usage: stress_test.py PROGRAM FAKE_NVML JUMPING_CLOCK [CASE...]"""
import base64
import http.server
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, NVML, CLOCK = map(os.path.abspath, sys.argv[1:4])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.chdir(ROOT)
LONG = 'RIGHTSIZE_LONG' in os.environ  # `make check`


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def environment(self, **more):
        return {'PATH': os.environ['PATH'], 'HOME': self.home, 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8', **more}

    def run_program(self, *words, limits=(), stdout=subprocess.PIPE, **more):
        def limit():
            for what, most in limits:
                resource.setrlimit(what, (most, most))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

        return subprocess.run([PROGRAM, *words], stdout=stdout, stderr=subprocess.PIPE, text=True, env=self.environment(**more),
                              preexec_fn=limit, timeout=120)

    def assert_clear(self, done):
        """Fails with one of the documented errors."""
        self.assertIn(done.returncode, (1, 3), f'{done.args}: {done.returncode} {done.stderr[-500:]}')
        self.assertTrue(done.stderr.startswith('error: ') or '\nerror: ' in done.stderr, done.stderr[-500:])
        self.assertNotIn('please report this', done.stderr)


class FullDisk(Case):
    """Limits files to a few bytes, which causes the same errors as a full disk."""

    def limits(self, most):
        return [(resource.RLIMIT_FSIZE, most)]

    def test_standard_output(self):
        with open('/dev/full', 'w') as full:
            for words in (['gpus'], ['models', '--format', 'json'], ['recommend', '--model', 'llama-3.1-8b', '--tokens', '1B']):
                self.assert_clear(self.run_program(*words, stdout=full))

    def test_a_recording(self):
        file = f'{self.home}/recording.csv'
        done = self.run_program('profile', '--replay', 'examples/profile/train.csv', '--record', file, limits=self.limits(4096))
        self.assert_clear(done)

    def test_a_calibration_keeps_the_old_one(self):
        overlay = f'{self.home}/catalog'
        os.mkdir(overlay)
        done = self.run_program('calibrate', 'examples/calibrate/measured.csv', '--catalog', overlay)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = {path.name: path.read_bytes() for path in pathlib.Path(overlay).iterdir()}
        self.assertTrue(before)
        done = self.run_program('calibrate', 'examples/calibrate/measured.csv', '--catalog', overlay, limits=self.limits(64))
        self.assert_clear(done)
        after = {path.name: path.read_bytes() for path in pathlib.Path(overlay).iterdir() if path.name in before}
        self.assertEqual(after, before)

    def test_a_workload_file(self):
        file = f'{self.home}/workload.yaml'
        done = self.run_program('init', '--model', 'llama-3.1-8b', '--tokens', '1B', '--output', file, limits=self.limits(16))
        self.assert_clear(done)
        self.assertFalse(os.path.exists(file) and os.path.getsize(file) == 16, 'half a file was left behind')

    def test_the_price_store_keeps_its_prices(self):
        store, feed = f'{self.home}/prices.db', f'{self.home}/feed.csv'
        rows = 'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n'
        rows += ''.join(f'box-{i},H100-SXM,8,96,1024,{20 + i / 1000:.4f},region-{i},,8\n' for i in range(300))
        pathlib.Path(feed).write_text(rows)
        words = ['prices', 'import', '--feed', 'skypilot', '--provider', 'acme', feed, '--store', store]
        self.assertEqual(self.run_program(*words).returncode, 0)
        listed = ['prices', '--provider', 'acme', '--top', '0', '--format', 'json', '--store', store]
        before = json.loads(self.run_program(*listed).stdout)['prices']
        pathlib.Path(feed).write_text(rows.replace(',20.', ',30.').replace('region-', 'place-'))
        self.assert_clear(self.run_program(*words, limits=self.limits(os.path.getsize(store) // 2)))
        self.assertEqual(json.loads(self.run_program(*listed).stdout)['prices'], before)


    def test_prices_can_be_read_where_nothing_can_be_written(self):
        store, feed = f'{self.home}/prices.db', f'{self.home}/feed.csv'
        pathlib.Path(feed).write_text('InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n'
                                      'box,H100-SXM,8,96,1024,20,region,,8\n')
        self.assertEqual(self.run_program('prices', 'import', '--feed', 'skypilot', '--provider', 'acme', feed, '--store', store).returncode, 0)
        os.chmod(store, 0o444)
        os.chmod(self.home, 0o555)  # root may write all the same, but the limit on files also applies to root
        try:
            for words in (['prices', '--provider', 'acme'], ['prices', 'history', '--provider', 'acme'], ['recommend', '--model', 'llama-3.1-8b', '--tokens', '1B'],
                          ['mig', 'examples/mig/workloads.yaml'], ['profile', '--replay', 'examples/profile/train.csv'],
                          ['fleet', '--from', 'examples/fleet/cluster.json', '--price', '2.49'], ['diff', 'examples/ci/before', 'examples/ci/after']):
                with self.subTest(words=words):
                    done = self.run_program(*words, limits=self.limits(0), RIGHTSIZE_STORE=store)
                    self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            os.chmod(self.home, 0o755)


class NoThreads(Case):
    def test_threads_that_cannot_start_are_done_without(self):
        def limit():
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)  # the limit does not hold for root
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        for words in (['recommend', '--model', 'llama-3.2-1b', '--job', 'serve', '--rate', '5/s', '--gpu', 'l4'],
                      ['checklist', '--model', 'llama-3.2-1b', '--job', 'serve', '--rate', '5/s', '--gpu', 'l4'],
                      ['service', '--from', 'examples/service/metrics.txt.gz', '--gpu', 'h200-sxm', '--price', 'h200-sxm=3.50']):
            with self.subTest(words=words):
                done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=self.environment(HOME='/nonexistent'), preexec_fn=limit, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)


class NoMemory(Case):
    COMMANDS = (['gpus'], ['memory', 'llama-3.1-8b', 'h100-sxm'], ['estimate', 'llama-3.1-8b', 'h100-sxm'],
                ['recommend', '--model', 'llama-3.1-8b', '--tokens', '1B'], ['recommend', '--model', 'llama-3.1-70b', '--rate', '20'],
                ['profile', '--replay', 'examples/profile/train.csv'],
                ['fleet', '--from', 'examples/fleet/cluster.json', '--price', '2.49'], ['mig', 'examples/mig/workloads.yaml'])

    def test_it_succeeds_or_reports_an_error(self):
        for words in self.COMMANDS:
            # The memory that 'recommend' holds depends on the timing of its threads, so this is tried often.
            times = 1 if words[0] != 'recommend' else 20 if LONG else 3
            for megabytes in ((100, 130, 160, 200, 260, 400) if LONG else (100, 160, 260)) * times:
                with self.subTest(words=words, megabytes=megabytes):
                    done = self.run_program(*words, limits=[(resource.RLIMIT_AS, megabytes << 20)])
                    # Below what its libraries need, the loader itself exits with 127.
                    if done.returncode not in (0, 2, 127):
                        self.assert_clear(done)
                        self.assertIn('memory', done.stderr)

    def test_an_import_takes_bounded_memory_whatever_the_feed(self):
        """Feeds with more different offers than an import keeps: of a machine type each, of a few types in many zones, and with notes."""
        header = 'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,AvailabilityZone,GpuInfo,SpotPrice\n'
        feeds = {'skypilot': (header + ''.join(f'box-{i},H100-SXM,8,96,1024,{20 + i % 999 / 100:.2f},r-{i},,,8\n' for i in range(150_000)),
                              header + ''.join(f'box-{i % 99},H100-SXM,8,96,1024,{20 + i % 999 / 100:.2f},r-{i // 999},z-{i},,8\n' for i in range(150_000))),
                 'csv': ('provider,instance,region,purchase,price,currency,gpu,gpus,note\n' +
                         ''.join(f'acme-{i % 9},box-{i % 999},r-{i},on-demand,{20 + i % 999 / 100:.2f},EUR,H100-SXM,8,note {i}\n' for i in range(150_000)),)}
        for kind, texts in feeds.items():
            for number, text in enumerate(texts):
                with self.subTest(kind=kind, number=number):
                    feed = f'{self.home}/{kind}-{number}.csv'
                    pathlib.Path(feed).write_text(text)
                    process = subprocess.Popen([PROGRAM, 'prices', 'import', '--feed', kind, '--provider', 'acme', feed, '--store', feed + '.db'],
                                               stdout=subprocess.DEVNULL, env=self.environment())
                    _, status, used = os.wait4(process.pid, 0)
                    self.assertEqual(status, 0)
                    self.assertLess(used.ru_maxrss, 100 << 10)  # KiB


class Killed(Case):
    def test_a_recording_can_be_read_up_to_where_it_ended(self):
        random.seed(5)
        for _ in range(20 if LONG else 3):
            file = f'{self.home}/live.csv'
            process = subprocess.Popen([PROGRAM, 'profile', '--record', file, '--hz', '50'], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=self.environment(RIGHTSIZE_NVML=NVML))
            time.sleep(1.2 + random.random() / 2)
            process.kill()
            process.wait()
            done = self.run_program('profile', '--replay', file, '--format', 'json')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)['gpus'][0]['samples'], 10)

    def test_a_calibration_is_the_old_or_the_new_one(self):
        overlay = pathlib.Path(self.home) / 'catalog'
        overlay.mkdir()
        words = [PROGRAM, 'calibrate', 'examples/calibrate/measured.csv', '--catalog', str(overlay)]
        began = time.monotonic()
        subprocess.run(words, check=True, capture_output=True, env=self.environment())
        whole = time.monotonic() - began
        good = {path.name: path.read_bytes() for path in overlay.iterdir()}
        random.seed(6)
        for _ in range(200 if LONG else 10):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment())
            time.sleep(random.random() * whole * 1.1)
            process.kill()
            process.wait()
            now = {path.name: path.read_bytes() for path in overlay.iterdir() if path.name in good}
            self.assertEqual(now, good)


class FewHandles(Case):
    def test_many_files_with_few_handles(self):
        """Files are opened one after the other."""
        files = []
        for i in range(10000 if LONG else 200):
            files.append(f'{self.home}/{i}.json')
            os.symlink(ROOT / 'examples/fleet/cluster.json', files[-1])
        done = self.run_program('fleet', '--price', '2.49', '--from', *files, limits=[(resource.RLIMIT_NOFILE, 64)])
        self.assertEqual(done.returncode, 0, done.stderr[-500:])

    def test_no_file_handle(self):
        done = self.run_program('profile', '--replay', 'examples/profile/train.csv', limits=[(resource.RLIMIT_NOFILE, 3)])
        if done.returncode != 127:  # the loader needs a handle
            self.assert_clear(done)


class Clock(Case):
    def test_a_clock_that_jumps(self):
        more = {'LD_PRELOAD': CLOCK, 'RIGHTSIZE_NVML': NVML}
        done = self.run_program('profile', '--format', 'json', '--', 'sleep', '1', **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        self.assertTrue(0.9 < made['source']['wall_seconds'] < 10, made['source'])
        self.assertTrue(0.5 < made['gpus'][0]['seconds'] < 10, made['gpus'][0]['seconds'])
        done = self.run_program('recommend', '--model', 'llama-3.1-8b', '--tokens', '1B', '--format', 'json', **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(0 <= json.loads(done.stdout)['seconds'] < 60)


class Silent(http.server.BaseHTTPRequestHandler):
    """Responds like a failing server, and repeats what it received."""
    seen = []

    def do_GET(self):
        Silent.seen.append(dict(self.headers))
        kind = self.server.kind
        if kind == 'redirect':
            self.send_response(302)
            self.send_header('Location', f'http://127.0.0.1:{self.server.server_port}/elsewhere')
            self.end_headers()
            return
        text = f"wrong: {self.path} {self.headers.get('Authorization', '')} {self.headers.get('X-Token', '')}".encode()
        self.send_response({'refused': 401, 'broken': 500}[kind])
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Secrets(Case):
    SECRET = 'hunter2-do-not-show'

    def serve(self, kind):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Silent)
        server.kind = kind
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port

    def assert_silent(self, done):
        for shown in (done.stdout, done.stderr):
            self.assertNotIn(self.SECRET, shown)
            self.assertNotIn(base64.b64encode(f'me:{self.SECRET}'.encode()).decode(), shown)

    def test_errors_do_not_contain_secrets(self):
        secret = pathlib.Path(self.home) / 'secret'
        secret.write_text(self.SECRET)
        for kind in ('refused', 'broken', 'redirect'):
            port = self.serve(kind)
            for command in ('fleet', 'service') if LONG or kind == 'refused' else ('fleet',):
                for words in (['--prometheus', f'http://me:{self.SECRET}@127.0.0.1:{port}'],
                              ['--prometheus', f'http://127.0.0.1:{port}/?token={self.SECRET}'],
                              ['--prometheus', f'http://127.0.0.1:{port}', '--bearer-file', str(secret)],
                              ['--prometheus', f'http://127.0.0.1:{port}', '--user', 'me', '--password-file', str(secret)],
                              ['--prometheus', f'http://127.0.0.1:{port}', '--header', f'X-Token: {self.SECRET}']):
                    with self.subTest(kind=kind, command=command, words=words):
                        done = self.run_program(command, *words, '--tries', '1', '--retry-wait', '1ms', '--progress')
                        self.assertNotEqual(done.returncode, 0)
                        self.assert_silent(done)

    def test_an_unreachable_server(self):
        for words in (['fleet', '--prometheus', f'http://me:{self.SECRET}@127.0.0.1:9'],
                      ['prices', 'update', '--feed', 'skypilot', '--url', f'http://me:{self.SECRET}@127.0.0.1:9/x.csv'],
                      ['prices', '--store', f'postgresql://me:{self.SECRET}@127.0.0.1:9/prices']):
            with self.subTest(words=words):
                done = self.run_program(*words, *(['--tries', '1'] if words[0] == 'fleet' else []))
                self.assertNotEqual(done.returncode, 0)
                self.assert_silent(done)

    def test_a_server_with_an_unknown_certificate_receives_nothing(self):
        key, certificate = f'{self.home}/key.pem', f'{self.home}/certificate.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=localhost',
                        '-addext', 'subjectAltName=DNS:localhost'], check=True, capture_output=True)
        received = []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                received.append(self.headers)
                self.send_error(500)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server) as server:
            server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            words = ['fleet', '--prometheus', f'https://localhost:{server.server_port}', '--tries', '1', '--price', '2.49']
            done = self.run_program(*words)
            self.assert_clear(done)
            self.assertEqual((done.returncode, received), (3, []), done.stderr)
            self.run_program(*words, SSL_CERT_FILE=certificate)
            self.assertTrue(received)  # trusted now
            server.shutdown()

    def test_written_files_contain_no_secrets(self):
        file = f'{self.home}/recording.csv'
        done = self.run_program('profile', '--record', file, '--format', 'json', '--', 'sh', '-c', 'sleep 0.4', RIGHTSIZE_NVML=NVML,
                                API_TOKEN=self.SECRET)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_silent(done)
        self.assertNotIn(self.SECRET, pathlib.Path(file).read_text())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
