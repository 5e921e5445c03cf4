"""Starts and stops `rightsize serve` for the tests in this folder."""
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server:
    def __init__(self, program, *flags, **environment_given):
        environment = {k: v for k, v in os.environ.items() if k not in ('RIGHTSIZE_CATALOG', 'RIGHTSIZE_STORE', 'RIGHTSIZE_TOKEN')}
        environment['XDG_DATA_HOME'] = environment['XDG_CONFIG_HOME'] = '/nonexistent'
        environment |= environment_given
        self.process = subprocess.Popen([program, 'serve', '--listen', '127.0.0.1:0', *flags], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True, env=environment, cwd=ROOT)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r'(https?)://127\.0\.0\.1:(\d+)/', line):
                self.scheme, self.port = found[1], int(found[2])
                break
        else:
            raise RuntimeError('the server did not start: ' + ''.join(self.lines))
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self.reader.start()

    @property
    def log(self):
        return ''.join(self.lines)

    def ask(self, path, body=None, method=None, headers=None):
        """Sends one request; returns status, headers and text."""
        status, answered, content = self.ask_bytes(path, headers, body, method)
        return status, answered, content.decode()

    def ask_bytes(self, path, headers=None, body=None, method=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        data = None if body is None else json.dumps(body) if not isinstance(body, (str, bytes)) else body
        sent = dict(headers or {})
        if data is not None:
            sent.setdefault('Content-Type', 'application/json')
        connection.request(method or ('GET' if data is None else 'POST'), path, data, sent)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def stop(self, how=signal.SIGTERM):
        """Stops the server and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=20)
        self.reader.join(timeout=5)
        return code


@contextlib.contextmanager
def running(program, *flags, **environment):
    server = Server(program, *flags, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
