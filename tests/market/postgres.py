"""A PostgreSQL server in a temporary folder, reachable only through a socket there."""
import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile


@contextlib.contextmanager
def server():
    """Yields a URL. The server refuses to run as root, so it then runs as the user postgres."""
    installed = sorted(glob.glob('/usr/lib/postgresql/*/bin'))
    if not installed:
        raise SystemExit('PostgreSQL is not installed: run tools/setup test')
    folder = installed[-1]
    home = pathlib.Path(tempfile.mkdtemp(prefix='rightsize-pg-'))
    user = {}
    if os.getuid() == 0:
        who = pwd.getpwnam('postgres')
        os.chown(home, who.pw_uid, who.pw_gid)
        user = {'user': who.pw_uid, 'group': who.pw_gid, 'extra_groups': []}
    os.chmod(home, 0o755)
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL, 'cwd': str(home), **user}
    data = home / 'data'
    subprocess.run([f'{folder}/initdb', '-D', data, '-U', 'rightsize', '-A', 'trust', '-E', 'UTF8'], check=True, **quiet)
    subprocess.run([f'{folder}/pg_ctl', '-D', data, '-w', '-l', home / 'log', '-o',
                    f"-c listen_addresses='' -c unix_socket_directories='{home}' -c fsync=off", 'start'], check=True, **quiet)
    try:
        yield f'postgres://rightsize@/postgres?host={home}'
    finally:
        subprocess.run([f'{folder}/pg_ctl', '-D', data, '-m', 'immediate', 'stop'], **quiet)
        shutil.rmtree(home, ignore_errors=True)
