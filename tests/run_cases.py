#!/usr/bin/env python3
"""Runs the whole-program cases of tests/cli/*.case and compares what they print, byte for byte.

A file holds cases one after the other:

    NAME    what the case shows
    RUN     rightsize gpus --gpu h10
    EXIT    1
    STDOUT
    STDERR
    error: unknown GPU 'h10'
    END

STDIN may stand before STDOUT. `MATCH` instead of STDOUT holds
beginnings of lines that must occur in this order, anything between. Usage: run_cases.py PROGRAM [--bless] [FILE...]
--bless rewrites EXIT, STDOUT and STDERR with what the program prints; read the difference before committing it."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECTIONS = ('STDIN', 'STDOUT', 'STDERR', 'MATCH')
SANITIZERS = ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'LLVM_PROFILE_FILE')  # of the build that is tested


def parse(path):
    cases, case, section = [], None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if section and line == 'END':
            section = None
        elif line in SECTIONS:
            section = line
            case[section] = []
        elif section:
            case[section].append(line)
        elif line.startswith('NAME '):
            case = {'NAME': line[5:].strip(), 'EXIT': '0', 'line': number}
            cases.append(case)
        elif line.strip() and not line.startswith('#'):
            key, _, value = line.partition(' ')
            case[key] = value.strip()
    return cases


def run(case, program):
    with tempfile.TemporaryDirectory() as home:
        env = {'PATH': os.environ['PATH'], 'HOME': home, 'NO_COLOR': '1', 'RIGHTSIZE_TODAY': '2026-11-15', 'LC_ALL': 'C.UTF-8',
               'SCRATCH': home, **{name: os.environ[name] for name in SANITIZERS if name in os.environ}}
        words = shlex.split(case['RUN'].replace('$SCRATCH', home))
        while '=' in words[0] and not words[0].startswith('-'):
            key, _, value = words.pop(0).partition('=')
            env[key] = value
        assert words[0] == 'rightsize', case['RUN']
        stdin = '\n'.join(case.get('STDIN', [])) + '\n' if 'STDIN' in case else ''
        done = subprocess.run([program, *words[1:]], input=stdin, capture_output=True, text=True, env=env, cwd=HERE, timeout=120)
        clean = lambda text: text.replace(home, '$SCRATCH')
        return done.returncode, clean(done.stdout).splitlines(), clean(done.stderr).splitlines()


def same(want, got):
    """RIGHTSIZE_NEAR=1: the program of another compiler, which rounds otherwise. Numbers may be 5 % off there."""
    if want == got or not os.environ.get('RIGHTSIZE_NEAR'):
        return want == got
    number = r'\d+(?:\.\d+)?(?:e[-+]?\d+)?'
    if re.split(number, want) != re.split(number, got):
        return False
    pairs = zip(re.findall(number, want), re.findall(number, got))
    return all(abs(float(a) - float(b)) <= 0.05 * abs(float(a)) for a, b in pairs)


def differences(case, code, out, err):
    if str(code) != case['EXIT']:
        yield f"exit code {code}, expected {case['EXIT']}"
    if 'MATCH' in case:
        lines = iter(out)
        for want in case['MATCH']:
            if not any(line.startswith(want) for line in lines):
                yield f'no line (in this order): {want}'
                break
    for name, got in (('STDOUT', out), ('STDERR', err)):
        want = case.get(name)
        if want is None and (name == 'STDERR' or 'MATCH' not in case):
            want = []
        if want is not None and want != got:
            for at in range(max(len(want), len(got))):
                a = want[at] if at < len(want) else '(nothing)'
                b = got[at] if at < len(got) else '(nothing)'
                if not same(a, b):
                    yield f'{name} line {at + 1}:\n      expected: {a}\n      printed:  {b}'
                    break


def write(path, cases, results):
    before_cases = path.read_text().split('NAME ', 1)[0]
    comment = [line for line in before_cases.splitlines() if line.startswith('#')]
    text = '\n'.join(comment) + ('\n\n' if comment else '')
    for case, (code, out, err) in zip(cases, results):
        text += f"NAME    {case['NAME']}\nRUN     {case['RUN']}\nEXIT    {code}\n"
        if 'STDIN' in case:
            text += '\n'.join(['STDIN', *case['STDIN'], 'END', ''])
        if 'MATCH' in case:
            text += '\n'.join(['MATCH', *case['MATCH'], 'END', ''])
        else:
            text += '\n'.join(['STDOUT', *out, 'END', '']) if out else ''
        text += '\n'.join(['STDERR', *err, 'END', '']) if err else ''
        text += '\n'
    path.write_text(text.rstrip('\n') + '\n')


def main():
    args = [a for a in sys.argv[1:] if a != '--bless']
    bless = '--bless' in sys.argv
    program = str(pathlib.Path(args[0]).resolve())
    files = [pathlib.Path(a) for a in args[1:]] or sorted((HERE / 'cli').glob('*.case'))
    passed = failed = 0
    for path in files:
        cases = parse(path)
        results = [run(case, program) for case in cases]
        if bless:
            write(path, cases, results)
            continue
        for case, result in zip(cases, results):
            found = list(differences(case, *result))
            passed, failed = passed + (not found), failed + bool(found)
            for what in found:
                print(f"{path.name}:{case['line']}: {case['NAME']}\n    $ {case['RUN']}\n    {what}")
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
