"""Random requests to every command of the API, with values inside, at and beyond the limits of every setting: no response is a
server error, none takes longer than ten seconds, no answer contains a NaN or a negative amount, no bounded setting accepts NaN or
infinity, and the server survives.

The ten seconds exclude the time in which the server was ready to run and the machine ran other programs: a slow request is
repeated alone, and the kernel's counters show this waiting time. A request that only fails because of waiting three times is
reported as not judged, neither as passed nor as failed.
Usage: random_requests.py PROGRAM [--count N] [--seed N]"""
import argparse
import collections
import glob
import json
import os
import random
import sys
import threading
import time

from server import running

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from answers import wrong_in_json  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument('program')
parser.add_argument('--count', type=int, default=3000)
parser.add_argument('--seed', type=int, default=1)
asked = parser.parse_args()
NAMES = {'model': ['llama-3.2-1b', 'llama-3.1-8b', 'bert-large', 'sd-3.5-large', 'nothing', ''], 'gpu': ['h100-sxm', 'l4', 'mi300x', 'none'],
         'provider': ['aws', 'gcp,azure', 'nowhere'], 'region': ['us', 'europe', 'moon'], 'what': ['list', 'compare', 'spot', 'history', 'savings', 'show']}
ODD = ['', '0', '-1', '1e26', 'nan', 'inf', '1e-300', '9' * 60, '💥', '../../etc/passwd', "'; drop table", '1/0', 'true', '[]', '\n']
UNITS = ['', '', 's', 'ms', 'h', 'd', '/s', '/d', 'k', 'M', 'B', '%', 'GiB', 'W']
DOCUMENTS = ['', '{}', '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 1000}',
             'workloads:\n  - {name: a, memory: 9GiB, load: 10%}\n', 'gpus\n1\n2\n', '[1,2', 'upload:0', '\x00\xff']


def value_for(chance, name, schema):
    if chance.random() < 0.12:
        return chance.choice(ODD)
    if name in NAMES:
        return chance.choice(NAMES[name])
    if 'enum' in schema:
        return chance.choice(schema['enum'])
    if schema.get('type') == 'boolean':
        return chance.choice([True, False])
    least, most = schema.get('minimum', 0), min(schema.get('maximum', 1e6), 1e6)
    number = chance.choice([least, most, least + (most - least) * chance.random() ** 4, chance.randint(1, 64)])
    return chance.choice([number, f'{number:g}{chance.choice(UNITS)}'])

# Requests that commands answer; each is changed at a few places.
GOOD = {'recommend': [{'model': 'llama-3.1-8b', 'tokens': '1B', 'deadline': '7d'}, {'job': 'serve', 'model': 'llama-3.2-1b', 'rate': '5/s', 'ttft-slo': '1s', 'tpot-slo': '50ms'},
                      {'job': 'rl', 'model': 'qwen2.5-1.5b', 'max-gpus': 8, 'gpu': 'h100-sxm'}],
        'estimate': [{'model': 'llama-3.1-8b', 'gpu': 'h100-sxm', 'job': 'serve', 'concurrency': 32}, {'model': 'bert-large', 'gpu': 'l4'}],
        'memory': [{'model': 'llama-3.1-8b', 'batch': 4, 'seq': 2048}], 'batch': [{'model': 'bert-large', 'gpu': 'l4', 'arrivals': 'poisson:50', 'max-batch': 8, 'max-delay': '5ms', 'requests': '2000'}],
        'autoscale': [{'model': 'llama-3.2-1b', 'gpu': 'l4', 'arrivals': 'diurnal:1,1.5', 'duration': '2h', 'slo': 'ttft=2s,tpot=100ms', 'startup': '60s', 'policy': ['fixed:replicas=2']}],
        'mig': [{'gpu': 'h100-sxm', 'workloads': 'workloads:\n  - {name: a, memory: 9GiB, load: 10%}\n'}], 'window': [{'volume': '1M/d', 'item-time': '82ms', 'gpu': 'l4'}],
        'commit': [{'base': '8,peak=20,share=0.3', 'gpu': 'h100-sxm', 'provider': 'gcp'}], 'fleet': [{}], 'service': [{'gpu': 'h200-sxm', 'slo': 'ttft=1s'}], 'prices': [{'gpu': 'l4'}, {'what': 'compare', 'gpu': 'l4'}]}


def request_for(chance, schemas):
    command = chance.choice(sorted(schemas))
    properties = schemas[command]
    body = dict(chance.choice(GOOD.get(command, [{}])))
    for name in chance.sample(sorted(properties), min(len(properties), chance.choice([0, 1, 1, 1, 2, 3, 6]))):
        body[name] = value_for(chance, name, properties[name])
        if properties[name].get('type') == 'string' and 'enum' not in properties[name]:
            body[name] = chance.choice(DOCUMENTS)
    if command == 'decide':
        body['dry-run'] = True
    return command, body


def wrong_in(command, body, text):
    """What is wrong with an answer of status 200."""
    if body.get('format', 'json') not in ('json', ''):
        return []
    properties = schemas[command]
    bounded = [name for name, value in body.items() if str(value).lower() in ('nan', 'inf') and ('minimum' in properties[name] or ' between ' in properties[name].get('description', ''))]
    return wrong_in_json(text) + [f'accepts {body[name]} for {name}' for name in bounded]


LIMIT = 10  # seconds


def processor_time(server):
    """Seconds of processor time so far, including threads that have ended."""
    fields = open(f'/proc/{server.process.pid}/stat').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def waiting_time(server):
    """Seconds in which threads were ready to run and got no processor."""
    return sum(int(open(path).read().split()[1]) for path in glob.glob(f'/proc/{server.process.pid}/task/*/schedstat')) / 1e9


def judge(command, body):
    """Sends a request alone to a fresh server, which has no stored answers: 'passed', 'failed' or 'not judged', and the reason."""
    with running(os.path.abspath(asked.program)) as fresh:
        begun, computed, waited = time.time(), processor_time(fresh), waiting_time(fresh)
        try:
            status = fresh.ask(f'/api/{command}', body)[0]
        except OSError:
            status = 599
        seconds, computed, waited = time.time() - begun, processor_time(fresh) - computed, waiting_time(fresh) - waited
    why = f'{status} after {seconds:.1f} s, {computed:.1f} s of processor time, {waited:.1f} s of waiting'
    if computed > LIMIT or seconds - waited > LIMIT or (status >= 500 and seconds <= LIMIT):
        return 'failed', why
    return 'not judged' if status >= 500 else 'passed', why


failures, slow, statuses, slowest = [], [], collections.Counter(), (0, None)
with running(os.path.abspath(asked.program)) as server:
    document = json.loads(server.ask('/api/openapi.json')[2])
    schemas = {}
    for path, methods in document['paths'].items():
        if path.count('/') == 2 and 'post' in methods and 'requestBody' in methods['post'] and path != '/api/uploads':
            schema = methods['post']['requestBody']['content']['application/json']['schema']
            schemas[path.split('/')[-1]] = document['components']['schemas'][schema['$ref'].split('/')[-1]]['properties']
    chance, lock = random.Random(asked.seed), threading.Lock()
    left = asked.count

    def work():
        global left, slowest
        while True:
            with lock:
                if left == 0 or server.process.poll() is not None:
                    return
                left -= 1
                command, body = request_for(chance, schemas)
            begun = time.time()
            try:
                status, _, text = server.ask(f'/api/{command}', body)
            except OSError as error:
                status, text = 599, repr(error)
            seconds = time.time() - begun
            with lock:
                statuses[status] += 1
                slowest = max(slowest, (seconds, f'{command} {body}'), key=lambda each: each[0])
                if status >= 500 and seconds <= LIMIT:
                    failures.append(f'{status}: {command} {json.dumps(body)}: {text[:200]}')
                elif seconds > LIMIT:
                    slow.append((command, body))
                failures.extend(f'{wrong}: {command} {json.dumps(body)}' for wrong in (wrong_in(command, body, text)[:3] if status == 200 else []))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if server.process.poll() is not None:
        failures.append(f'the server ended with {server.process.poll()}: {server.log[-500:]}')
not_judged = 0
for command, body in slow:
    for _ in range(3):
        verdict, why = judge(command, body)
        if verdict != 'not judged':
            break
    print(f'{verdict}: {why}: {command} {json.dumps(body)}')
    not_judged += verdict == 'not judged'
    if verdict == 'failed':
        failures.append(f'{why}: {command} {json.dumps(body)}')
print(f'{sum(statuses.values())} requests: {dict(statuses)}; slowest {slowest[0]:.1f} s: {slowest[1]}')
print(f'{len(slow)} were slow and repeated alone; {not_judged} not judged, because the machine was busy')
print('\n'.join(failures[:40]) or f'{sum(statuses.values()) - not_judged} requests: no server error, none over 10 s, no NaN, no negative amount')
sys.exit(1 if failures else 0)
