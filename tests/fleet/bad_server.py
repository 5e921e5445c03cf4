"""A Prometheus-compatible server that misbehaves on purpose, for one small fleet held in memory.

Modes: ok, down-after-N (closes connections after N requests), busy (429 with Retry-After, then answers), flaky (every
third request 503), broken (always 500), slow (never answers in time), partial (warnings and isPartial), nan (means are
NaN, raw readings have NaN in them), duplicate (every GPU twice, from two replicas), no-memory (no FB_USED), no-activity,
skew (its clock is an hour ahead), huge (one host too many samples: 422 unless asked for a single host), html (a login page),
auth (401 without the token), truncated (JSON cut short for one host), million (a host label with a value for each of 10^6
series)."""
import http.server
import json
import re
import threading
import time
import urllib.parse

from fleet_data import KINDS, METRICS, labels, kind_of

STEP = 30


def value_of(kind, metric, working=True):
    k = KINDS[kind]
    on = 1 if working and k['duty'] > 0 else 0
    return {METRICS[0]: round(100 * k['activity'] * on), METRICS[1]: k['activity'] * on, METRICS[2]: k['tensor'] * on,
            METRICS[3]: k['dram'] * on, METRICS[4]: k['memory'], METRICS[5]: k['watts']}[metric]


class BadServer:
    """`with BadServer('flaky', gpus=16) as server: server.url`"""

    def __init__(self, mode, gpus=16, window=3600):
        self.mode, self.gpus, self.window = mode, gpus, window
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

    # --- what it says ---

    def answer(self, handler, path, form):
        self.requests += 1
        self.seen.append((path, dict(handler.headers)))
        send = lambda status, body, **headers: self.send(handler, status, body, headers)
        mode = self.mode
        if mode == 'auth' and handler.headers.get('Authorization') != 'Bearer s3cret-token':
            return send(401, '{"status":"error","error":"no organisation"}')
        if mode == 'html':
            return send(200, '<html>please log in</html>')
        if mode == 'broken':
            return send(500, '{"status":"error","errorType":"internal","error":"disk on fire"}')
        if mode == 'slow' and self.requests > 4:
            time.sleep(1)
        if mode == 'busy' and self.requests % 4 == 1 and self.first_time(path, form):
            return send(429, 'slow down', **{'Retry-After': '0'})
        if mode == 'flaky' and self.requests % 3 == 0 and self.first_time(path, form):
            return send(503, 'upstream')
        if mode == 'down' and self.requests > 12:
            handler.close_connection = True
            handler.connection.close()
            return
        if path.endswith('/label/__name__/values'):
            return send(200, self.ok([m for m in METRICS if self.has(m)]))
        if path.endswith('/api/v1/labels'):
            return send(200, self.ok(sorted(labels(0)) + (['replica'] if mode == 'duplicate' else [])))
        if path.endswith('/values'):
            name = path.split('/')[-2]
            if mode == 'million':
                return send(200, self.ok(['pod-%07d.gpu.example' % i for i in range(1000000)]))
            return send(200, self.ok(sorted({labels(g)[name] for g in range(self.gpus)})))
        query = form['query'][0]
        if query == 'time()':
            now = time.time() + (3600 if mode == 'skew' else 0)
            return send(200, self.ok({'resultType': 'scalar', 'result': [now, '%.3f' % now]}))
        hosts = re.findall(r'Hostname=~?"([^"]*)"', query)
        wanted = set(hosts[0].replace('\\', '').split('|')) if hosts else None
        if mode == 'huge' and wanted and len(wanted) > 1:
            return send(422, '{"status":"error","errorType":"execution","error":"query processing would load too many samples"}')
        body = self.ok({'resultType': 'matrix' if path.endswith('range') else 'vector',
                        'result': list(self.results(query, wanted, form, path.endswith('range')))})
        if mode == 'truncated' and wanted and 'node-0001' in wanted:
            body = body[:len(body) // 2]
        send(200, body)

    def first_time(self, path, form):
        """No question is put off twice: with several clients, chance would let one run out of tries."""
        question = path + repr(sorted(form.items()))
        if question in self.put_off:
            return False
        self.put_off.add(question)
        return True

    def has(self, metric):
        if self.mode == 'no-memory':
            return metric != METRICS[4]
        if self.mode == 'no-activity':
            return metric not in METRICS[:2]
        return True

    def ok(self, data):
        answer = {'status': 'success', 'data': data}
        if self.mode == 'partial':
            answer.update(warnings=['store gateway 3 is not reachable'], isPartial=True)
        return json.dumps(answer)

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

    # --- a tiny part of PromQL: what the planner asks ---

    def results(self, query, wanted, form, is_range):
        metric = next((m for m in METRICS if re.search(r'\b%s\b' % m, query)), None)
        raw = re.fullmatch(r'\w+\{.*\}\[[0-9a-z]+\]', query)
        gpus = re.findall(r'UUID=~"([^"]*)"', query)
        if query.startswith('quantile(0.5, count_over_time'):
            yield self.series({}, 3600 / STEP, form, is_range)
            return
        for gpu in range(self.gpus):
            found = labels(gpu)
            if wanted is not None and found['Hostname'] not in wanted:
                continue
            if gpus and found['UUID'] not in gpus[0]:
                continue
            for replica in (('a', 'b') if self.mode == 'duplicate' else ('',)):
                named = dict(found, replica=replica) if replica else found
                if raw:
                    end = float(form['time'][0])
                    value = value_of(kind_of(gpu), metric)
                    pairs = [[end - STEP * i, 'NaN' if i % 10 == 0 else str(value)] for i in range(self.window // STEP)]
                    yield {'metric': dict(named, __name__=metric), 'values': pairs}
                else:
                    yield self.series(named, self.number(query, gpu, metric), form, is_range)

    def number(self, query, gpu, metric):
        kind = kind_of(gpu)
        idle = KINDS[kind]['duty'] == 0
        if query.startswith('count_over_time'):
            return self.window / STEP
        if query.startswith('changes'):
            return 0
        if ' * (' in query:
            return 1 if idle and KINDS[kind]['memory'] > 1024 else 0
        if '<= bool' in query:
            return 1 if idle else 0
        if self.mode == 'nan' and gpu % 4 == 0 and 'avg_over_time' in query:
            return float('nan')
        return value_of(kind, metric)

    def series(self, found, value, form, is_range):
        text = 'NaN' if value != value else repr(value)
        if not is_range:
            return {'metric': found, 'value': [float(form['time'][0]), text]}
        start, end, step = (float(form[k][0]) for k in ('start', 'end', 'step'))
        return {'metric': found, 'values': [[start + step * i, text] for i in range(int((end - start) / step) + 1)]}
