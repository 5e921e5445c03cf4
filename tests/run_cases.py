#!/usr/bin/env python3
"""Runs the whole-program cases of tests/cli/*.case and compares the facts in their output (tests/facts.py), not the wording.

A file contains cases one after the other:

    NAME    one GPU, and a typing error
    RUN     rightsize gpus --gpu h10
    EXIT    1
    FACTS
    row h100-sxm | 80 GiB | 3350 GB/s
    14 | --format
    END
    ERROR
    h10
    END

FACTS are the numbers, names and table rows on standard output, ERROR those on standard error; without ERROR nothing may be
printed there. A few cases have complete screens instead, compared word for word: STDOUT and STDERR. HAS replaces FACTS in a
case that checks part of an output: each line is the beginning of a printed line, or a sentence with facts that must be printed.
STDIN is the standard input.

Usage: run_cases.py PROGRAM [--bless] [FILE...]
--bless rewrites all of these except HAS with the current output; read the diff before you commit it."""
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from facts import Facts

HERE = pathlib.Path(__file__).resolve().parent
SECTIONS = ('STDIN', 'FACTS', 'ERROR', 'HAS', 'STDOUT', 'STDERR')
SANITIZERS = ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'LLVM_PROFILE_FILE')  # of the build under test


def parse(path):
    cases, case, section = [], None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if section and line == 'END':
            section = None
        elif not section and line in SECTIONS:
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
        done = subprocess.run([program, *words[1:]], input=stdin, capture_output=True, text=True, env=env, cwd=HERE, timeout=300)
        clean = lambda text: text.replace(home, '$SCRATCH')
        return done.returncode, clean(done.stdout), clean(done.stderr)


def is_csv(case):
    return '--format csv' in case['RUN'] or '--csv' in case['RUN']


def word_for_word(name, want, got):
    got = got.splitlines()
    for at in range(max(len(want), len(got))):
        a = want[at] if at < len(want) else '(nothing)'
        b = got[at] if at < len(got) else '(nothing)'
        if a != b:
            if os.environ.get('RIGHTSIZE_NEAR') and not list(Facts.of(a).missing_in(Facts.of(b))):
                continue
            yield f'{name} line {at + 1}:\n      expected: {a}\n      printed:  {b}'
            return


def has(wanted, out):
    printed = [line.strip() for line in out.splitlines()]
    loose = None
    for want in map(str.strip, wanted):
        if any(line.startswith(want) for line in printed):
            continue
        loose = loose or Facts.of('\n'.join(' '.join(line.split()) for line in printed))
        facts = Facts.of(' '.join(want.split()))
        if not facts.loose or want.startswith('"') or list(facts.missing_in(loose)):
            yield f'no line {want!r}'


def differences(case, code, out, err):
    if str(code) != case['EXIT']:
        yield f"exit code {code}, expected {case['EXIT']}"
    if 'STDOUT' in case:
        yield from word_for_word('STDOUT', case['STDOUT'], out)
    elif 'HAS' in case:
        yield from has(case['HAS'], out)
    elif 'FACTS' in case:
        yield from Facts.read(case['FACTS']).missing_in(Facts.of(out, is_csv(case)))
        if not out:
            yield 'nothing on standard output'
    elif out:
        yield f'unexpected on standard output: {out[:200]}'
    if 'STDERR' in case:
        yield from word_for_word('STDERR', case['STDERR'], err)
    elif 'ERROR' in case:
        yield from Facts.read(case['ERROR']).missing_in(Facts.of(err))
        if not err:
            yield 'nothing on standard error'
    elif err:
        yield f'unexpected on standard error: {err[:200]}'


def blessed(case, code, out, err):
    text = f"NAME    {case['NAME']}\nRUN     {case['RUN']}\nEXIT    {code}\n"
    section = lambda name, lines: '\n'.join([name, *lines, 'END', ''])
    if 'STDIN' in case:
        text += section('STDIN', case['STDIN'])
    if 'HAS' in case:
        text += section('HAS', case['HAS'])
    elif out:
        text += section('STDOUT', out.splitlines()) if 'STDOUT' in case else section('FACTS', Facts.of(out, is_csv(case)).lines(is_csv(case)))
    if err:
        text += section('STDERR', err.splitlines()) if 'STDERR' in case else section('ERROR', Facts.of(err).lines())
    return text


def main():
    args = [a for a in sys.argv[1:] if a != '--bless']
    bless = '--bless' in sys.argv
    program = str(pathlib.Path(args[0]).resolve())
    files = [pathlib.Path(a) for a in args[1:]] or sorted((HERE / 'cli').glob('*.case'))
    files = [(path, parse(path)) for path in files]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = {path: [pool.submit(run, case, program) for case in cases] for path, cases in files}
        for path, cases in files:
            done = [result.result() for result in results[path]]
            if bless:
                comment = [line for line in path.read_text().split('NAME ', 1)[0].splitlines() if line.startswith('#')]
                text = '\n'.join(comment) + ('\n\n' if comment else '')
                path.write_text(text + '\n'.join(blessed(case, *result) for case, result in zip(cases, done)))
                continue
            for case, result in zip(cases, done):
                found = list(differences(case, *result))
                passed, failed = passed + (not found), failed + bool(found)
                for what in found:
                    print(f"{path.name}:{case['line']}: {case['NAME']}\n    $ {case['RUN']}\n    {what}")
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
