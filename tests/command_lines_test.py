"""Random command lines of every command: whatever is typed, the program answers or refuses.

Half of them are a command line that runs with one number replaced by one at, near or beyond a limit (nan, inf, empty, negative, huge,
tiny); half are random flags, words and values. Each runs in a random format, with and without a terminal's variables. Properties: exit code 0 to 4 and
no signal; an answer within 10 s of processor time; no NaN and no negative amount (answers.py); CSV that is never empty and has no cell that begins a formula; `-q`
is one line, or a whole file; no colours with TERM=dumb or NO_COLOR; a refusal begins with what is wrong.

Usage: command_lines_test.py PROGRAM [--count N] [--seed N] [--log FILE]"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from answers import wrong_in

parser = argparse.ArgumentParser()
parser.add_argument('program')
parser.add_argument('--count', type=int, default=400)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--log')
asked = parser.parse_args()
PROGRAM = os.path.abspath(asked.program)
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = tempfile.TemporaryDirectory()
SLOW, SPARED = 10, ('COLUMNS', 'TERM', 'NO_COLOR')
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(('RIGHTSIZE_', 'XDG_')) and name not in SPARED} | {
    'HOME': FOLDER.name, 'RIGHTSIZE_TODAY': '2026-11-15', 'RIGHTSIZE_LEDGER': 'examples/decisions/ledger.db'}

# Command lines that run, for every command that ends without a signal and changes nothing.
RIGHT = [shlex.split(line) for line in '''
recommend --model llama-3.1-8b --tokens 1B --gpu h100-sxm
recommend --model llama-3.2-1b --job serve --rate 5/s --gpu l4
recommend --model qwen2.5-1.5b --job rl --gpu h100-sxm --max-gpus 8
checklist --model llama-3.2-1b --job serve --rate 5/s --gpu l4
init --model llama-2-7b --tokens 1B
estimate llama-3.1-8b h100-sxm
estimate llama-3.1-8b h100-sxm --job serve --rate 5/s
memory llama-3.1-8b h100-sxm
memory llama-3.1-8b h100-sxm --job serve
batch bert-large l4 --arrivals poisson:200 --requests 2000
batch llama-3.2-1b l4 --arrivals poisson:2 --requests 300
cache examples/cache/chat.jsonl --model llama-3.1-8b
autoscale llama-3.2-1b l4 --arrivals diurnal:1,1.5 --duration 2h --policy fixed:replicas=2 --startup 60s
window --volume 1M/d --item-time 82ms --gpu a100-80gb-sxm
bill examples/bill/focus.csv
commit --base 8 --gpu h100-sxm
calibrate examples/calibrate/measured.csv --dry-run
gpus h100
models qwen
prices h100
prices spot --gpu h100-sxm
prices compare --gpu l4
prices history
fleet --from examples/fleet/cluster.json --price 2.49
exporter --once --from examples/fleet/cluster.json --price 2.49
service --from examples/service/metrics.txt.gz --gpu h200-sxm --price h200-sxm=3.50
diff examples/ci/before examples/ci/after
mig examples/mig/workloads.yaml
mig --gpu h100-sxm --list-layouts
portfolio examples/portfolio/team.yaml
profile --replay examples/profile/train.csv
decisions
'''.strip().splitlines()]
EDGES = ['nan', 'inf', '-inf', '', '0', '-0', '-1', '-1e9', '1e-300', '1e-17', '1e-6', '1e-3', '0.5', '1', '2', '3.7', '100', '1e4', '1e6', '1e9', '1e12', '1e18', '1e26', '1e300',
         '9' * 40, '0x10', '1e', '.', '1,2', '1..4', '١٢']
UNITS = ['', '', '', 's', 'ms', 'h', 'd', '/s', '/h', '/d', 'k', 'M', 'B', '%', 'GiB', 'GB', 'W', 'x']
WORDS = ['h100', 'l4', 'llama-3.1-8b', 'bert-large', '8xh100', '', 'zzz', '=1+1', '../..', '-', '--', '💥', '\n', "'; drop table", 'a=b', 'a=1,b=2', 'all', 'none', 'x' * 3000, 'p95=1s', 'ttft=1s']
NEVER = {'--help', '--version', '--out', '--record', '--ledger', '--store', '--listen', '--prometheus', '--catalog'}  # reach elsewhere, or are another answer
COMMANDS = json.loads(subprocess.run([PROGRAM, 'schema', 'commands'], capture_output=True, text=True).stdout)
FLAGS = {name: [flag for flag in command['flags'] if flag['name'].startswith('--') and flag['name'] not in NEVER] for name, command in COMMANDS.items()}


def is_number(flag):
    return flag.get('type') in ('integer', 'number') or flag['values'] in ('N', 'X', '0-1', 'TIME', 'USD', 'USD/H', 'N/s', 'N/h', 'BYTES', 'GB/s', 'WATTS', 'WATTS|best')


# By the word that help shows for a value; most numbers get a matching unit, because otherwise most lines would only test units.
UNITS_OF = {'TIME': ['s', 'ms', 'h', 'd'], 'N/s': ['/s'], 'N/h': ['/h'], 'BYTES': ['GiB', 'MiB'], 'GB/s': ['GB/s'], 'WATTS': ['W'], 'WATTS|best': ['W']}


def unit_for(chance, flag):
    return chance.choice(UNITS if chance.random() < 0.2 else UNITS_OF.get(flag['values'], ['']))


def value_for(chance, flag):
    if chance.random() < 0.15:
        return chance.choice(EDGES + WORDS)
    if flag.get('choices'):
        return chance.choice(flag['choices'])
    if is_number(flag):
        least, most = flag.get('minimum', 0), min(flag.get('maximum', 1e6), 1e6)
        return f"{chance.choice([least, most, least + (most - least) * chance.random() ** 4, chance.randint(1, 64)]):g}{unit_for(chance, flag)}"
    return chance.choice(WORDS)


def with_number(chance):
    words = list(chance.choice(RIGHT))
    flag = chance.choice([flag for flag in FLAGS[words[0]] if is_number(flag)] or FLAGS[words[0]])
    near = [f"{flag.get(end, 1) * factor:g}" for end in ('minimum', 'maximum') for factor in (0.999, 1, 1, 1, 1.001)]
    return [*words, flag['name'], chance.choice(chance.choice([EDGES, near])) + unit_for(chance, flag)]


def random_line(chance):
    words = list(chance.choice(RIGHT))
    for flag in chance.sample(FLAGS[words[0]], min(len(FLAGS[words[0]]), chance.choice([1, 1, 2, 3, 6]))):
        words += [flag['name'], value_for(chance, flag)] if flag['values'] else [flag['name']]
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        words.insert(chance.randrange(1, len(words) + 1), chance.choice(WORDS + EDGES))
    if chance.random() < 0.2 and len(words) > 1:
        del words[chance.randrange(1, len(words))]
    return words


def run(words, environment):
    """The exit code, both outputs, and the seconds of processor time. Time on the clock depends on other work on the machine, so it is only limited."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([PROGRAM, *words], stdout=out, stderr=err, cwd=ROOT, env={**ENVIRONMENT, **environment}, stdin=subprocess.DEVNULL,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6 * SLOW, 6 * SLOW)))
        killer = threading.Timer(100 * SLOW, child.kill)
        killer.start()
        _, status, usage = os.wait4(child.pid, 0)
        killer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        return child.returncode, out.read().decode(errors='replace'), err.read().decode(errors='replace'), usage.ru_utime + usage.ru_stime


def mistakes(words, form, code, out, err):
    if code not in range(5):
        return [f'exit code {code}: {err[-300:]}']
    found = ['an internal error'] if 'internal' in err and 'interval' not in err else []
    if '\x1b' in err:
        found.append('control characters in an error')
    if code == 1 and not any(line.startswith('error: ') for line in err.splitlines()):
        found.append(f'a refusal without an error: {err[:100]!r}')
    if code in (0, 2, 4) and not {'--emit', '--list-emit'} & set(words):
        found += wrong_in(out, form)
        if form == 'quiet' and words[0] not in ('init', 'exporter') and len(out.strip().splitlines()) > 1:
            found.append(f'-q prints {len(out.splitlines())} lines')
    return found


def check(number):
    chance = random.Random(f'{asked.seed}/{number}')
    words = (with_number if number % 2 else random_line)(chance)
    form = chance.choice(['text', 'json', 'json', 'csv', 'md', 'html', 'quiet'])
    environment = chance.choice([{}, {'TERM': 'dumb'}, {'NO_COLOR': '1', 'TERM': 'xterm'}, {'COLUMNS': '40'}])
    typed_format = '--' in words or '--format' in words or any(word.startswith('--format=') for word in words)  # after '--', flags are words
    line = words if typed_format else [*words, '-q'] if form == 'quiet' else [*words, '--format', form]
    code, out, err, seconds = run(line, environment)
    found = [] if typed_format and code in range(5) else mistakes(line, form, code, out, err)
    if seconds > SLOW:
        found.append(f'{seconds:.1f} s')
    return [f'{shlex.join(["rightsize", *line])[:600]}\n  {one}' for one in found], code


def main():
    codes, failures = {}, []
    log = open(asked.log, 'w') if asked.log else None
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        try:
            for found, code in pool.map(check, range(asked.count)):
                codes[code] = codes.get(code, 0) + 1
                failures += found
                if log and found:
                    print('\n'.join(found), file=log, flush=True)
        except KeyboardInterrupt:  # report what ran
            pool.shutdown(wait=False, cancel_futures=True)
    print('\n'.join([*failures[:60], f'{sum(codes.values())} command lines (exit codes {dict(sorted(codes.items()))}): ' +
                     (f'{len(failures)} mistakes' if failures else f'each answered or refused, no absurd answer, none over {SLOW} s')]))
    sys.exit(1 if failures else 0)


main()
