"""The API of `rightsize serve`: every response is the document of the command; wrong requests are refused and logged; no
client and no server behind it can stop or block it. Usage: api_test.py PROGRAM"""
import gzip
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from server import ROOT, Server, running

PROGRAM = os.path.abspath(sys.argv[1])
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def command(*words):
    done = subprocess.run([PROGRAM, *words, '--format', 'json'], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, 'XDG_DATA_HOME': '/nonexistent', 'XDG_CONFIG_HOME': '/nonexistent'})
    return done.returncode, done.stdout


def timeless(document):
    """The document without run times."""
    if isinstance(document, dict):
        return {k: timeless(v) for k, v in document.items() if k not in ('seconds', 'search_seconds', 'verify_seconds', 'explain_seconds')}
    return [timeless(v) for v in document] if isinstance(document, list) else document


CASES = [
    ('recommend', {'model': 'llama-3.1-8b', 'tokens': '1B', 'deadline': '7d'}),
    ('recommend', {'model': 'llama-3.1-8b', 'tokens': '1B', 'deadline': '3d', 'plans-only': True, 'top': 9}),
    ('recommend', {'job': 'serve', 'model': 'qwen2.5-1.5b', 'rate': '5/s', 'ttft-slo': '2s', 'tpot-slo': '50ms', 'price': ['h100-sxm=1.5', 'l4=0.4']}),
    ('recommend', {'model': 'llama-3.1-70b', 'tokens': '10B', 'deadline': '1h', 'max-gpus': 8}),
    ('memory', {'model': 'llama-3.1-8b', 'batch': 4, 'seq': 2048}),
    ('estimate', {'model': 'llama-3.1-8b', 'gpu': 'h100-sxm', 'job': 'serve', 'concurrency': 32, 'roofline': True}),
    ('batch', {'model': 'bert-large', 'gpu': 'l4', 'arrivals': 'poisson:50', 'max-batch': 8, 'max-delay': '5ms', 'requests': '5000'}),
    ('mig', {'gpu': 'h100-sxm', 'list-layouts': True}),
    ('gpus', {'gpu': 'h100'}),
    ('models', {'model': 'qwen'}),
    ('prices', {'gpu': 'h100-sxm', 'provider': 'aws'}),
    ('prices', {'what': 'compare', 'gpu': 'l4'}),
    ('window', {'volume': '1M/d', 'item-time': '82ms', 'gpu': 'a100-80gb-sxm', 'window': '4h'}),
    ('commit', {'base': '8,peak=20,share=0.3', 'gpu': 'h100-sxm', 'provider': 'gcp'}),
]


def words_of(name, asked):
    words = [name]
    for flag, value in asked.items():
        if flag == 'what':
            words.append(value)
        elif value is True:
            words.append(f'--{flag}')
        else:
            for each in value if isinstance(value, list) else [value]:
                words += [f'--{flag}', str(each)]
    return words


def check_same_as_commands(server):
    for name, asked in CASES:
        code, said = command(*words_of(name, asked))
        status, headers, text = server.ask(f'/api/{name}', asked)
        check(status == 200, f'{name} {asked}: {status} {text[:200]}')
        check(headers.get('Rightsize-Exit-Code') == str(code), f'{name} {asked}: exit {code} against {headers.get("Rightsize-Exit-Code")}')
        check(timeless(json.loads(text)) == timeless(json.loads(said)), f'{name} {asked}: the API and the command differ')
        again = server.ask(f'/api/{name}', asked)[2]
        check(again == text, f'{name}: a kept answer differs')


def check_documents(server):
    yaml = open(os.path.join(ROOT, 'examples/mig/workloads.yaml')).read()
    said = command('mig', 'examples/mig/workloads.yaml')[1]
    check(json.loads(server.ask('/api/mig', {'workloads': yaml})[2]) == json.loads(said), 'mig of pasted workloads differs')
    code, said = command('fleet', '--from', 'data/examples/fleet.json.gz', '--timeline')
    text = server.ask('/api/fleet', {'timeline': True})[2]
    check(timeless(json.loads(text)) == timeless(json.loads(said)), 'the example fleet differs from the command')
    yaml = open(os.path.join(ROOT, 'examples/portfolio/team.yaml')).read()
    said = command('portfolio', 'examples/portfolio/team.yaml')[1]
    check(json.loads(server.ask('/api/portfolio', {'organisation': yaml})[2]) == json.loads(said), 'portfolio of a pasted organisation differs')
    said = command('service', '--from', 'examples/service/metrics.txt.gz')[1]
    check(timeless(json.loads(server.ask('/api/service')[2])) == timeless(json.loads(said)), 'the example service differs from the command')
    telemetry = open(os.path.join(ROOT, 'examples/fleet/cluster.json')).read()
    said = command('fleet', '--from', 'examples/fleet/cluster.json', '--price', '2.49')[1]
    text = server.ask('/api/fleet', {'telemetry': telemetry, 'price': '2.49'})[2]
    check(json.loads(text)['totals'] == json.loads(said)['totals'], 'pasted telemetry differs from --from')
    status, headers, text = server.ask('/api/gpus?format=csv&gpu=h100')
    check(status == 200 and headers['Content-Type'].startswith('text/csv') and 'attachment' in headers['Content-Disposition'], 'CSV is a file')


def check_uploads(server):
    """A file sent in parts is the same as one sent at once; a part cannot be lost or added twice."""
    packed = gzip.compress(open(os.path.join(ROOT, 'examples/fleet/cluster.json'), 'rb').read())
    raw = {'Content-Type': 'application/octet-stream'}
    part = len(packed) // 3
    id, at = '', 0
    while at < len(packed):
        status, _, text = server.ask(f'/api/uploads?id={id}&at={at}', packed[at:at + part], headers=raw)
        check(status == 200, f'a part of an upload: {status} {text}')
        id, at = json.loads(text)['id'], json.loads(text)['bytes']
        check(server.ask(f'/api/uploads?id={id}&at=1', b'again', headers=raw)[0] == 409, 'a part is added twice')
    said = command('fleet', '--from', 'examples/fleet/cluster.json')[1]
    status, _, text = server.ask('/api/fleet', {'telemetry': f'upload:{id}'})
    check(status == 200 and timeless(json.loads(text))['totals'] == json.loads(said)['totals'], f'a fleet sent in parts: {status} {text[:200]}')
    for other in ('0', '../' + id, '/etc/passwd', ''):
        status, _, text = server.ask('/api/fleet', {'telemetry': f'upload:{other}'})
        check(status == 400 and 'root:' not in text, f'an unknown upload {other!r}: {status} {text[:200]}')
    check(server.ask('/api/uploads?id=unknown', b'x', headers=raw)[0] == 404, 'an unknown upload')
    check(server.ask('/api/uploads', b'x', headers={'Content-Type': 'text/plain'})[0] == 415, 'a form is not an upload')


def check_decisions(folder):
    """A plan is decided by POST only, the decision is in the ledger, and no response names its path."""
    ledger = os.path.join(folder, 'team.db')
    with running(PROGRAM, '--ledger', ledger) as server:
        found = server.ask('/api/recommend', {'model': 'llama-3.2-1b', 'tokens': '1M', 'plans-only': True, 'top': 3})[2]
        check(server.ask('/api/decide?workload=x')[0] == 405, 'a link cannot decide')
        status, _, text = server.ask('/api/decide', {'document': found, 'workload': 'tuner', 'by': 'ann', 'plan': 2, 'dry-run': True})
        check(status == 200 and not os.path.exists(ledger), f'a dry run writes nothing: {status} {text[:200]}')
        status, _, text = server.ask('/api/decide', {'document': found, 'workload': 'tuner', 'by': 'ann', 'plan': 2})
        check(status == 200 and ledger not in text, f'decided: {status} {text[:300]}')
        listed = json.loads(server.ask('/api/decisions?what=list')[2])['decisions']
        check([each['workload'] for each in listed] == ['tuner'] and listed[0]['gpu'] == json.loads(found)['plans'][1]['gpu'], f'the second plan was decided: {listed}')
        status, _, text = server.ask('/api/verify?decision=D1')
        check(status == 200 and all(each['samples'] == 0 for each in json.loads(text)['verification']['metrics']), f'nothing is measured yet: {text[:300]}')
        for path, body in [('/api/decide', {'document': found, 'workload': 'x', 'ledger': '/tmp/x.db'}), ('/api/verify', {'decision': 'D1', 'prometheus': 'http://x'}),
                           ('/api/verify', {'decision': 'D1', 'profile': '/etc/passwd'}), ('/api/verify', {'decision': 'D9'})]:
            status, _, text = server.ask(path, body)
            check(status == 400 and ledger not in text, f'{path} {body.keys()}: {status} {text[:200]}')


def check_refusals(server):
    for path, body, status in [
            ('/api/recommend', {'model': '/etc/passwd'}, 400), ('/api/recommend', {'model': '../../etc/passwd'}, 400),
            ('/api/models', {'model': '/proc/self/environ'}, 400), ('/api/recommend', {'workload': 'x.yaml'}, 400),
            ('/api/recommend', {'catalog': '/etc'}, 400), ('/api/fleet', {'from': '/etc/passwd'}, 400),
            ('/api/fleet', {'prometheus': 'http://169.254.169.254/'}, 400), ('/api/prices', {'what': 'update'}, 400),
            ('/api/mig', {'workloads': 'workloads:\n  - name: a\n    model: /etc/passwd\n'}, 400),
            ('/api/batch', {'arrivals': 'trace:/etc/passwd', 'model': 'bert-large', 'gpu': 'l4'}, 400),
            ('/api/recommend', '{"model": ', 400), ('/api/recommend', '[1]', 400), ('/api/recommend', {'tokens': {'a': 1}}, 400),
            ('/api/nothing', {}, 404), ('/api/job/nothing', None, 404), ('/api/job-events/nothing', None, 404)]:
        got, _, text = server.ask(path, body)
        check(got == status, f'{path} {body}: {got}, not {status}: {text[:150]}')
        check('root:' not in text and 'PATH=' not in text, f'{path} {body} shows a file of this machine')
    check(server.ask('/api/recommend', 'model=x', headers={'Content-Type': 'text/plain'})[0] == 415, 'a form is not JSON')
    check(server.ask('/api/recommend', '{"x": "' + 'y' * 9_000_000 + '"}')[0] == 413, 'a body of 9 MB is refused')
    for path in ('/../../etc/passwd', '/%2e%2e/etc/passwd', '/assets/..%2f..%2fetc/passwd', '/assets/%00'):
        got, _, text = server.ask(path)
        check(got == 400 and 'root:' not in text, f'{path}: {got}')
    check(server.ask('/', headers={'Host': 'evil.example'})[0] == 403, 'a foreign host name')
    link = {'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document'}
    for view in ('/', '/recommend?model=llama-3.1-8b', '/fleet', '/prices?gpu=l4'):
        check(server.ask(view, headers=link)[0] == 200, f'a link from another site opens {view}')
    status, _, text = server.ask('/recomend', headers=link)
    check(status == 404 and '<title>rightsize</title>' in text, f'a mistyped address shows the page: {status}')
    check(server.ask('/recomend')[2].startswith('{'), 'programs get JSON')
    folders = [server.ask('/api/models', {'model': name})[2].replace(name, '') for name in ('/etc', '/nonexistent')]
    check(folders[0] == folders[1], f'folders that exist are answered differently: {folders}')
    check(server.ask('/api/gpus', headers=link)[0] == 403, 'a link from another site to the API')
    check(server.ask('/api/gpus', headers={'Sec-Fetch-Site': 'cross-site'})[0] == 403, 'a page of another site')
    check(server.ask('/', headers=link | {'Sec-Fetch-Dest': 'iframe'})[0] == 403, 'a frame in another site')
    check(server.ask('/api/gpus', {}, headers={'Origin': 'null'})[0] == 403, 'a sandboxed page')
    message = json.loads(server.ask('/api/recommend', {'modle': 'x'})[2])
    check('model' in str(message['errors'][0]['hints']), f'an unknown name gets a suggestion: {message}')


def check_page(server):
    status, headers, text = server.ask('/')
    check(status == 200 and '<title>rightsize</title>' in text, 'the page')
    check("script-src 'self'" in headers['Content-Security-Policy'] and headers['X-Content-Type-Options'] == 'nosniff', 'security headers')
    check('http://' not in text and 'https://' not in text, 'the page loads nothing from other hosts')
    for view in ('/recommend', '/fleet', '/service', '/batching', '/autoscale', '/cache', '/rl', '/mig', '/portfolio', '/window', '/commit', '/energy', '/prices', '/live', '/decisions'):
        check(server.ask(view)[2] == text, f'{view} opens the page')
    for path in ('/', '/api/openapi.json', '/api/gpus', '/api/recommend?model=llama-3.1-8b&tokens=1B&plans-only=true'):
        plain = server.ask(path)
        check('Content-Encoding' not in plain[1], f'{path}: compressed without Accept-Encoding')
        for header in ('gzip', 'deflate, gzip;q=0.5, *;q=0'):
            packed = server.ask_bytes(path, {'Accept-Encoding': header})
            check(packed[1].get('Content-Encoding') == 'gzip' and gzip.decompress(packed[2]).decode() == plain[2] and
                  len(packed[2]) < len(plain[2]), f'{path}: not the same compressed')
        check('Content-Encoding' not in server.ask_bytes(path, {'Accept-Encoding': 'gzip;q=0'})[1], f'{path}: gzip was refused')
    check(server.ask('/', headers={'If-None-Match': headers['ETag']})[0] == 304, 'what is unchanged is not sent')
    check(server.ask('/healthz')[2] == 'ok\n', '/healthz')
    metrics = server.ask('/metrics')[2]
    check('rightsize_server_requests_total{route="/api/recommend",code="200"}' in metrics, f'/metrics: {metrics[:300]}')
    check('rightsize_server_refused_total' in metrics, 'refusals are counted')


def events(server, path, until, most=30):
    connection = socket.create_connection(('127.0.0.1', server.port), timeout=most)
    connection.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
    text = b''
    while until.encode() not in text:
        block = connection.recv(65536)
        if not block:
            break
        text += block
    connection.close()
    return text.decode()


def check_jobs(server):
    asked = {'model': 'bert-large', 'gpu': 'l4', 'arrivals': 'poisson:200', 'slo': 'p99=100ms'}
    status, _, text = server.ask('/api/jobs/batch', asked)
    job = json.loads(text)
    check(status == 202 and job['state'] in ('waiting', 'running'), f'a search starts: {text}')
    told = events(server, f'/api/job-events/{job["id"]}', 'event: done')
    check('event: progress' in told and 'event: done' in told, f'a search tells how it goes: {told[:300]}')
    check(timeless(json.loads(server.ask(f'/api/job/{job["id"]}')[2])) == timeless(json.loads(command(*words_of('batch', asked))[1])),
          'a search has the answer of the command')
    # The next search for the same takes the kept answer, byte for byte; so does a request.
    first = server.ask(f'/api/job/{job["id"]}')[2]
    again = json.loads(server.ask('/api/jobs/batch', asked)[2])
    events(server, f'/api/job-events/{again["id"]}', 'event: done')
    check(server.ask(f'/api/job/{again["id"]}')[2] == first, 'a repeated search takes the kept answer')
    check(server.ask('/api/batch', asked)[2] == first, 'a request takes the answer that a search left')
    kept = re.search(r'kept_answers (\d+)', server.ask('/metrics')[2])[1]
    long = {'model': 'bert-large', 'job': 'serve', 'rate': '20000/s', 'ttft-slo': '30ms', 'max-gpus': 1024}
    job = json.loads(server.ask('/api/jobs/recommend', long)[2])
    while job['state'] == 'waiting':
        job = json.loads(server.ask(f'/api/job/{job["id"]}')[2])
    begun = time.time()
    state = json.loads(server.ask(f'/api/job/{job["id"]}', method='DELETE')[2])['state']
    check(state == 'cancelled' and time.time() - begun < 2, f'a search is cancelled at once: {state}')
    check(re.search(r'kept_answers (\d+)', server.ask('/metrics')[2])[1] == kept, 'a cancelled search leaves no answer')
    # The worker is available again.
    for _ in range(3):
        job = json.loads(server.ask('/api/jobs/gpus', {'gpu': 'l4'})[2])
        check('event: done' in events(server, f'/api/job-events/{job["id"]}', 'event: done'), 'jobs run after a cancelled one')


ABSURD = ['nan', '-nan', 'inf', '-inf', '1e26', '-1', '1e400', '0', '', '1e-400', '9' * 400, 2**63, -1e308]


def check_absurd_numbers(server):
    """Every number that a client can send has bounds: none can stop the server or keep it busy."""
    begun = time.time()
    for value in ABSURD:
        for path, body in [('/api/fleet', {'price': value}), ('/api/mig', {'price': value, 'gpu': 'h100-sxm', 'workloads': 'workloads:\n  - {name: a, memory: 9GiB}\n'}),
                           ('/api/prices', {'what': 'spot', 'gpu': 'h100-sxm', 'hours': value}),
                           ('/api/recommend', {'model': 'llama-3.2-1b', 'tokens': '1M', 'price': value, 'plans-only': True}),
                           ('/api/recommend', {'model': 'llama-3.2-1b', 'tokens': value, 'plans-only': True}),
                           ('/api/window', {'volume': '1M/d', 'item-time': '82ms', 'gpu': 'l4', 'window': value}),
                           ('/api/commit', {'base': value, 'gpu': 'h100-sxm', 'provider': 'gcp'})]:
            try:
                status = server.ask(path, body)[0]
            except OSError as error:
                status = repr(error)
            check(status in (200, 400), f'{path} {body}: {status}')
    for window in ('1us', '1ms', '1s', '1e-9s'):
        status = server.ask('/api/window', {'volume': '1M/d', 'item-time': '82ms', 'gpu': 'l4', 'window': window})[0]
        check(status == 400, f'/api/window {window}: {status}')
    check(server.process.poll() is None, f'the server ended: {server.log[-500:]}')
    check(time.time() - begun < 120, f'absurd numbers took {time.time() - begun:.0f} s')


def silent_server():
    """A server that accepts connections and never responds."""
    listener = socket.create_server(('127.0.0.1', 0), backlog=64)
    return listener, f'http://alice:s3cretpw@127.0.0.1:{listener.getsockname()[1]}'


def check_silent_prometheus():
    listener, url = silent_server()
    with listener:
        server = Server(PROGRAM, '--prometheus', url)
        waiting = []
        for _ in range(6):
            waiting.append(socket.create_connection(('127.0.0.1', server.port)))
            waiting[-1].sendall(b'GET /api/fleet HTTP/1.1\r\nHost: localhost\r\n\r\n')
        time.sleep(0.5)
        begun = time.time()
        check(server.ask('/api/gpus')[0] == 200 and server.ask('/api/recommend', CASES[0][1])[0] == 200, 'commands run')
        check(time.time() - begun < 30, f'a silent Prometheus holds up other commands: {time.time() - begun:.1f} s')
        text = server.ask('/api/server')[2]
        check('s3cretpw' not in text and 'alice' not in text and '127.0.0.1' in text, f'/api/server shows a password: {text}')
        begun = time.time()
        code = server.stop()
        check(code == 0 and time.time() - begun < 10, f'SIGTERM with work under way: exit {code} after {time.time() - begun:.1f} s')
        check('s3cretpw' not in server.log, 'the log shows a password')
        for each in waiting:
            each.close()


def check_abandoned_work(server):
    """Work ends when its client disconnects: later requests do not wait for it."""
    long = {'model': 'bert-large', 'job': 'serve', 'ttft-slo': '30ms', 'max-gpus': 1024}
    for i in range(8):
        body = json.dumps(long | {'rate': f'{20000 + i}/s'})
        with socket.create_connection(('127.0.0.1', server.port)) as gone:
            gone.sendall(f'POST /api/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}'.encode())
            time.sleep(0.2)
    begun = time.time()
    check(server.ask('/api/mig', {'gpu': 'h100-sxm', 'list-layouts': True, 'top': '3'})[0] in (200, 400), 'the next request')
    check(time.time() - begun < 20, f'abandoned work holds up the next request for {time.time() - begun:.1f} s')


def check_changes_while_running(folder):
    """After every change of the user's files, the server answers as the command does, errors included."""
    places = {'XDG_CONFIG_HOME': os.path.join(folder, 'config'), 'XDG_DATA_HOME': os.path.join(folder, 'data')}
    catalog = os.path.join(folder, 'config/rightsize/catalog')
    fixtures = os.path.join(ROOT, 'tests/fixtures')

    def cheaper(price):
        with open(os.path.join(catalog, 'prices/acme.csv'), 'a') as file:
            file.write(f'a100-x1,eu-west,on-demand,{price},2026-11-01\n')

    changes = [
        lambda: shutil.copytree(os.path.join(fixtures, 'overlay'), catalog),
        lambda: cheaper('1.50USD/h'),
        lambda: cheaper('nonsense'),
        lambda: shutil.copytree(os.path.join(fixtures, 'overlay'), catalog, dirs_exist_ok=True),
        lambda: subprocess.run([PROGRAM, 'prices', 'import', '--feed', 'skypilot', '--date', '2026-11-14', os.path.join(fixtures, 'feeds/aws_v8.csv')],
                               env={**os.environ, **places}, capture_output=True, check=False),
        lambda: shutil.rmtree(catalog),
    ]
    questions = [('prices', {'gpu': 'h100-sxm'}), ('prices', {'provider': 'acme'}), ('recommend', {'model': 'llama-3.2-1b', 'tokens': '1M', 'plans-only': True, 'top': 7})]
    with running(PROGRAM, **places) as server:
        seen = set()
        for number, make in enumerate([lambda: None, *changes]):
            make()
            for name, asked in questions:
                said = subprocess.run([PROGRAM, *words_of(name, asked), '--format', 'json'], capture_output=True, text=True, env={**os.environ, **places}).stdout
                for _ in range(2):
                    status, _, text = server.ask(f'/api/{name}', asked)
                    same = timeless(json.loads(text)) == timeless(json.loads(said)) if status == 200 and said else status != 200 and not said
                    check(same, f'change {number}, {name} {asked}: an outdated answer: {status} {text[:200]}')
                seen.add((name, said))
        check(len(seen) > 8, f'the changes change answers: {len(seen)}')


def check_live():
    with running(PROGRAM, '--replay', 'examples/profile/train.csv') as server:
        told = events(server, '/api/live', 'tensor_active')
        check('event: gpus' in told, f'live GPUs: {told[:300]}')
    with running(PROGRAM) as server:
        told = events(server, '/api/live', '\n\n')
        check('event: unavailable' in told or 'event: gpus' in told or 'HTTP/1.1 200' in told, f'without a GPU it says so: {told[:300]}')


def check_token_and_tls(folder):
    token = os.path.join(folder, 'token')
    with open(token, 'w') as out:
        out.write('0123456789abcdef0123\n')
    with running(PROGRAM, '--token-file', token) as server:
        check(server.ask('/healthz')[0] == 200 and server.ask('/')[0] == 200, 'health and the page are open')
        check(server.ask('/api/gpus')[0] == 401 and server.ask('/metrics')[0] == 401, 'the rest needs the token')
        check(server.ask('/api/gpus', headers={'Authorization': 'Bearer 0123456789abcdef0123'})[0] == 200, 'with the token')
        check('401' in server.log, 'a missing token is logged')
        guesses = [server.ask('/api/gpus', headers={'Authorization': f'Bearer 0123456789abcdef{i:04}'})[0] for i in range(30)]
        check(guesses[:20] == [401] * 20 and set(guesses[20:]) == {429}, f'guesses are throttled: {guesses}')
        check(server.ask('/api/gpus', headers={'Authorization': 'Bearer 0123456789abcdef0123'})[0] == 429, 'also the right one')
        check(server.ask('/healthz')[0] == 200, 'health stays open')
    for short in ('x', ' ', '0123456789abcde'):
        refused = subprocess.run([PROGRAM, 'serve', '--listen', '0.0.0.0:0'], capture_output=True, text=True, timeout=20,
                                 env={**os.environ, 'RIGHTSIZE_TOKEN': short})
        check(refused.returncode == 1 and '16' in refused.stderr, f'$RIGHTSIZE_TOKEN={short!r}: {refused.stderr}')
    refused = subprocess.run([PROGRAM, 'serve', '--listen', '0.0.0.0:0'], capture_output=True, text=True, timeout=20)
    check(refused.returncode == 1 and 'token' in refused.stderr, f'other addresses need a token: {refused.stderr}')
    cert, key = os.path.join(folder, 'cert.pem'), os.path.join(folder, 'key.pem')
    made = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '1',
                           '-subj', '/CN=localhost'], capture_output=True)
    if made.returncode != 0:
        return
    with running(PROGRAM, '--tls-cert', cert, '--tls-key', key) as server:
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False
        with socket.create_connection(('127.0.0.1', server.port)) as plain, context.wrap_socket(plain) as secure:
            secure.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
            answer = b''.join(iter(lambda: secure.recv(4096), b''))
        with socket.create_connection(('127.0.0.1', server.port)) as plain, \
                context.wrap_socket(plain, suppress_ragged_eofs=False) as secure:
            job = json.dumps({'gpu': 'l4'})
            secure.sendall(f'POST /api/jobs/gpus HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(job)}\r\n\r\n{job}'.encode())
            started = secure.recv(65536).decode()
            id = started[started.index('"id"'):].split('"')[3]
            secure.sendall(f'GET /api/job-events/{id} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
            try:
                text = b''.join(iter(lambda: secure.recv(65536), b'')).decode()
            except ssl.SSLEOFError:
                text = 'no close_notify'
            check('event: done' in text, f'a stream over TLS ends with close_notify: {text[-200:]}')
        check(answer.startswith(b'HTTP/1.1 200') and b'Strict-Transport-Security' in answer, f'HTTPS: {answer[:200]}')


def check_stopping(folder):
    os.environ['TMPDIR'] = folder
    for how in (signal.SIGTERM, signal.SIGINT):
        server = Server(PROGRAM)
        quiet = socket.create_connection(('127.0.0.1', server.port))
        begun = time.time()
        code = server.stop(how)
        check(code == 0 and time.time() - begun < 5 and 'has stopped' in server.log, f'{how!r}: exit {code}')
        quiet.close()
    left = [name for name in os.listdir(folder) if name.startswith('rightsize-')]
    check(not left, f'nothing is left behind: {left}')


published = json.loads(subprocess.run([PROGRAM, 'serve', '--openapi', '--format', 'json'], capture_output=True, text=True).stdout)
with running(PROGRAM) as server:
    check(json.loads(server.ask('/api/openapi.json')[2]) == published, '/api/openapi.json')
    check_same_as_commands(server)
    check_documents(server)
    check_uploads(server)
    check_refusals(server)
    check_page(server)
    check_jobs(server)
    check_absurd_numbers(server)
    check_abandoned_work(server)
    server.stop()
    for line in ('the path leaves its folder', 'the body is larger than 8 MiB', 'Host header', 'another site'):
        check(line in server.log, f'refusals are logged: {line!r} not in {server.log[-1500:]}')
check_live()
check_silent_prometheus()
with tempfile.TemporaryDirectory() as folder:
    check_token_and_tls(folder)
    check_decisions(folder)
    check_changes_while_running(folder)
    check_stopping(folder)
print('\n'.join(failures) or f'{len(CASES)} requests answered as the commands answer them; refusals, searches, tokens, TLS and stopping in order')
sys.exit(1 if failures else 0)
