#!/usr/bin/env python3
"""rightsize fleet with a server that misbehaves: missing data is reported, the rest is analysed, and the exit code
is 3 if the answer would be misleading. Usage: bad_server_test.py PROGRAM."""
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bad_server import BadServer, END, backend

PROGRAM = sys.argv[1]
BASE = None


def run(server, *args, **env):
    command = [PROGRAM, 'fleet', '--prometheus', server.url, '--window', '1h', '--price', 'h100-sxm=2',
               '--retry-wait', '5ms', '--format', 'json', *args]
    if server.mode != 'skew':
        command += ['--end', str(END - 3600)]
    if '--shard' not in args:
        command += ['--shard', '8']
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
    return done, json.loads(done.stdout) if done.stdout.startswith('{') else None


def check(mode, code, *args, gpus=16, **env):
    with BadServer(BASE, mode, gpus) as server:
        done, found = run(server, *args, **env)
        assert done.returncode == code, '%s: exit %d instead of %d: %s' % (mode, done.returncode, code, done.stderr[:500])
        print('%-12s exit %d  %s' % (mode, code, done.stderr.split('\n')[0][:120]))
        return server, done, found


def notes(found):
    return ' | '.join(found['notes'] + found['misleading'] + found['failures'])


def main():
    global BASE
    with backend() as BASE:
        check_all()


def check_all():
    _, _, good = check('ok', 0)
    assert good['totals']['gpus'] == 16 and good['totals']['gpu_hours'] == 16, good['totals']

    for mode in ('busy', 'flaky'):  # retried until the server responds, with the same result
        server, _, found = check(mode, 0)
        assert found['totals'] == good['totals'], mode
        assert 'asked again' in found['read'][0] and ', 0 asked again' not in found['read'][0], found['read']

    _, done, _ = check('broken', 3, '--tries', '2')
    assert 'disk on fire' in done.stderr, done.stderr
    _, done, _ = check('html', 3, '--tries', '1')
    _, done, _ = check('auth', 3, '--tries', '1')
    assert 'hint: credentials' in done.stderr, done.stderr

    # The token comes from the environment or a file and is never printed.
    _, done, found = check('auth', 0, RIGHTSIZE_BEARER='s3cret-token')
    assert 's3cret' not in done.stdout + done.stderr
    with tempfile.NamedTemporaryFile('w') as token:
        token.write('s3cret-token\n')
        token.flush()
        check('auth', 0, '--bearer-file', token.name)
    server, _, _ = check('ok', 0, '--org-id', 'team-a', '--user', 'me', RIGHTSIZE_PASSWORD='pw')
    headers = server.seen[-1][1]
    assert headers.get('X-Scope-OrgID') == 'team-a' and headers.get('Authorization') == 'Basic bWU6cHc=', headers

    # The server fails halfway or is too slow: the report uses the data that was read and names the rest.
    _, done, found = check('truncated', 3, '--tries', '1')
    assert found['totals']['gpus'] == 8 and 'GPU-000000 to GPU-000007' in notes(found), notes(found)
    _, done, found = check('slow', 3, '--tries', '1', '--timeout', '300ms', gpus=8)
    _, done, found = check('down', 3, '--tries', '1')

    _, _, found = check('partial', 3)
    assert 'partial' in notes(found) and 'store gateway 3' in notes(found), notes(found)
    _, _, found = check('nan', 0)
    assert found['totals']['gpus'] == 16 and found['totals']['gpu_hours'] == 16, notes(found)
    wanted = {g['id']: g['verdict'] for g in good['gpus']}
    assert {g['id']: g['verdict'] for g in found['gpus']} == wanted, found['gpus'][0]
    _, _, found = check('duplicate', 0)
    assert found['totals']['gpu_hours'] == 16 and 'several series' in notes(found), (found['totals'], notes(found))
    _, _, found = check('no-memory', 0)
    assert 'memory_used_bytes' in notes(found), notes(found)
    _, done, _ = check('no-activity', 3)
    assert 'no metric of GPU activity' in done.stderr and '--name' in done.stderr, done.stderr
    _, _, found = check('skew', 0)
    assert 'ahead of' in notes(found), notes(found)
    # Refused queries are repeated for fewer GPUs or a shorter time, with the same result.
    _, _, found = check('huge', 0, '--shard', '1000', gpus=32)
    assert found['totals']['gpus'] == 32 and found['totals']['gpu_hours'] == 32, found['totals']
    for mode, args in (('short', ()), ('mimir', ('--org-id', 'team-a'))):
        _, _, found = check(mode, 0, *args)
        # The last hour moves on while the test runs.
        assert found['totals'].keys() == good['totals'].keys(), (mode, found['totals'])
        assert all(math.isclose(value, good['totals'][name], rel_tol=0.02) for name, value in found['totals'].items()
                   if not isinstance(value, (bool, str, type(None)))), (mode, found['totals'], good['totals'])

    # An empty response for GPUs that the server lists is repeated and then an error, never zero hours.
    _, _, found = check('lost', 0)
    assert found['totals'] == good['totals'], found['totals']
    _, _, found = check('empty', 3)
    assert found['totals']['gpus'] == 8 and 'no reading of them' in notes(found), notes(found)

    # Stored responses belong to one server and tenant, and incomplete or empty responses are requested again.
    with tempfile.TemporaryDirectory() as kept:
        for gpus in (16, 8):
            _, _, found = check('ok', 0, '--resume', kept, gpus=gpus)
            assert found['totals']['gpus'] == gpus, found['totals']
        with BadServer(BASE, 'ok', 16) as server:
            for tenant in ('a', 'b'):
                before = server.requests
                run(server, '--resume', kept, '--org-id', tenant)
                assert server.requests - before > 20, 'tenant %s got the answers of another' % tenant
        with BadServer(BASE, 'partial', 16) as server:
            run(server, '--resume', kept)
            once = server.requests
            run(server, '--resume', kept)
            assert server.requests >= 2 * once, 'a partial answer was kept'

    # A million values of the label that identifies hosts: reported at once, in bounded memory, and not queried.
    server, done, _ = check('million', 3)
    assert "'UUID' has 1,000,000 values" in done.stderr and '--match' in done.stderr, done.stderr
    assert server.requests < 10, server.requests
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # the maximum over all runs above
    print('%-12s %d MiB' % ('', peak))
    assert peak < 300, 'it took %d MiB for an answer of 24 MiB' % peak

    # An address without a server.
    done = subprocess.run([PROGRAM, 'fleet', '--prometheus', 'http://user:pw@127.0.0.1:9', '--tries', '1'], capture_output=True,
                          text=True)
    assert done.returncode == 3 and 'pw' not in done.stderr and 'hint:' in done.stderr, done.stderr


if __name__ == '__main__':
    main()
