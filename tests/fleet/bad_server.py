"""A Prometheus-compatible server that misbehaves on purpose: a proxy in front of a real VictoriaMetrics with a small
fleet of known kinds.

Modes: ok, down (closes connections after some requests), busy (429 with Retry-After, then responds), flaky (503 for every third
request), broken (always 500), slow (never responds in time), partial (warnings and isPartial, like Thanos and VictoriaMetrics
cluster), nan (the largest values of some GPUs are NaN), duplicate (every series twice, from two replicas, like Thanos without
deduplication), no-memory (no FB_USED), no-activity, skew (its clock is an hour ahead), huge (422 unless the query is for one GPU),
short (422 for more than ten minutes at once), html (a login page), auth (401 without the token), truncated (JSON cut off for
one GPU), million (a label with a different value for each of 10^6 series), empty (silently omits one shard), lost (the same,
but only the first time), mimir (everything under /prometheus, requires a tenant, limits are 422 with Mimir's messages)."""
import contextlib
import http.server
import io
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import servers
from fleet_data import Fleet, METRICS

STEP = 30
END = int(time.time()) // 3600 * 3600 + 7200  # end of the data, which covers four hours around now


@contextlib.contextmanager
def backend():
    """Starts a VictoriaMetrics with fleets of 8, 16 and 32 GPUs (label set), and one with two replicas; returns its base URL."""
    with servers.victoria() as base:
        for gpus in (8, 16, 32):
            text = io.StringIO()
            Fleet(gpus, 4 * 3600, STEP, END).write_import(text)
            lines = text.getvalue()
            servers.get(base + '/api/v1/import?extra_label=set=%d' % gpus, data=lines.encode())
            if gpus == 16:
                for replica in 'ab':
                    servers.get(base + '/api/v1/import?extra_label=set=duplicate&extra_label=replica=' + replica, data=lines.encode())
        servers.get(base + '/internal/force_flush')
        yield base


class BadServer:
    """`with BadServer(base, 'flaky', gpus=16) as server: server.url`"""

    def __init__(self, base, mode, gpus=16):
        self.base, self.mode, self.gpus = base, mode, gpus
        self.requests, self.seen, self.put_off = 0, [], set()

    def __enter__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            wbufsize = -1  # headers and body in one packet

            def log_message(self, *args):
                pass

            def do_GET(self):
                path, _, query = self.path.partition('?')
                outer.answer(self, path, urllib.parse.parse_qs(query))

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length', 0))).decode()
                outer.answer(self, self.path, urllib.parse.parse_qs(body))

        self.http = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = 'http://127.0.0.1:%d' % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, handler, path, form):
        self.requests += 1
        self.seen.append((path, dict(handler.headers)))
        send = lambda status, body, **headers: self.send(handler, status, body, headers)
        mode, query = self.mode, form.get('query', [''])[0]
        if mode == 'auth' and handler.headers.get('Authorization') != 'Bearer s3cret-token':
            return send(401, '{"status":"error","error":"no organisation"}')
        if mode == 'mimir':
            if not path.startswith('/prometheus/'):
                return send(404, 'page not found')
            if handler.headers.get('X-Scope-OrgID') != 'team-a':
                return send(401, 'no org id')
            path = path[len('/prometheus'):]
        if mode == 'html':
            return send(200, '<html>please log in</html>')
        if mode == 'broken':
            return send(500, '{"status":"error","errorType":"internal","error":"disk on fire"}')
        if mode == 'slow' and self.requests > 6:
            time.sleep(1)
        if mode == 'busy' and self.requests % 4 == 1 and self.first_time(path, form):
            return send(429, 'slow down', **{'Retry-After': '0'})
        if mode == 'flaky' and self.requests % 3 == 0 and self.first_time(path, form):
            return send(503, 'upstream')
        if mode == 'down' and self.requests > 12:
            handler.close_connection = True
            handler.connection.close()
            return
        if mode == 'million' and path.endswith('/values') and '__name__' not in path:
            return send(200, json.dumps({'status': 'success', 'data': ['pod-%07d.gpu.example' % i for i in range(1000000)]}))
        wanted = re.findall(r'UUID=~"([^"]*)"', query)
        wanted = set(wanted[0].replace('\\', '').split('|')) if wanted else set()
        refusal = {'huge': (len(wanted) > 1, 'query processing would load too many samples into memory in query execution'),
                   'mimir': (len(wanted) > 4, 'err-mimir-max-chunks-per-query: the query exceeded the maximum number of chunks'),
                   'short': (self.span(form) > 600, 'too many points for the given step: they exceed -search.maxPointsPerTimeseries')}
        if refusal.get(mode, (False,))[0]:
            return send(422, json.dumps({'status': 'error', 'errorType': 'execution', 'error': refusal[mode][1]}))
        status, body = self.forward(path, form)
        if status == 200 and body.startswith('{'):
            body = json.dumps(self.bend(json.loads(body), path, query, wanted, form))
        if mode == 'truncated' and 'GPU-000001' in wanted:
            body = body[:len(body) // 2]
        send(status, body)

    def span(self, form):
        return float(form['end'][0]) - float(form['start'][0]) if 'step' in form else 0

    def forward(self, path, form):
        form = dict(form, extra_label=['set=duplicate' if self.mode == 'duplicate' else 'set=%d' % self.gpus])
        try:
            with urllib.request.urlopen(self.base + path, data=urllib.parse.urlencode(form, doseq=True).encode(), timeout=60) as r:
                return r.status, r.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def bend(self, answer, path, query, wanted, form):
        """The response in the mode of this server."""
        mode, data = self.mode, answer.get('data')
        if mode == 'partial':
            answer.update(warnings=['store gateway 3 is not reachable'], isPartial=True)
        if mode == 'skew' and query == 'vector(time())':
            data['result'] = [{'metric': {}, 'value': [time.time() + 3600, '%.3f' % (time.time() + 3600)]}]
        if path.endswith('/label/__name__/values'):
            missing = {'no-memory': METRICS[4:5], 'no-activity': METRICS[:2]}.get(mode, ())
            answer['data'] = [m for m in data if m not in missing]
        if mode == 'nan' and query.startswith('max_over_time('):
            for row in data['result']:
                if 'value' in row and int(row['metric']['UUID'][-6:]) % 4 == 0:
                    row['value'][1] = 'NaN'
        if 'GPU-000000' in wanted and (mode == 'empty' or (mode == 'lost' and self.first_time(path, form))):
            data['result'] = []
        return answer

    def first_time(self, path, form):
        """No query fails twice; with several clients one could otherwise run out of tries by chance."""
        question = path + repr(sorted(form.items()))
        if question in self.put_off:
            return False
        self.put_off.add(question)
        return True

    def send(self, handler, status, body, headers):
        try:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header('Content-Length', str(len(body)))
            handler.end_headers()
            handler.wfile.write(body.encode())
        except OSError:
            pass  # the client gave up
