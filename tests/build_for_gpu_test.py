#!/usr/bin/env python3
"""The packages that tools/build_for_gpu fetches hold every library the program links and every package CMake asks for.
Usage: build_for_gpu_test.py PROGRAM BUILD_FOLDER"""
import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The C and C++ runtimes and the sanitizers: the GPU machine and the cross compiler bring theirs.
RUNTIME = re.compile(r'^(libc6|libgcc|libstdc|libasan|libubsan|libtsan|libcrypt1|gcc-|g\+\+|cmake)')


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@functools.cache
def owner(path):
    """The Debian package of a file, by its path before or behind the link from /lib to /usr/lib; empty: nobody's."""
    real = os.path.realpath(path)
    return output('dpkg', '-S', real, real.removeprefix('/usr'), '/usr' + real).split(':')[0]


def needed(program, build):
    """Files the program is built with: shared libraries, CMake packages, pkg-config modules."""
    yield from re.findall(r'=> (/\S+)', output('ldd', program))
    text = (ROOT / 'CMakeLists.txt').read_text()
    text = re.sub(r'^if\(BUILD_TESTING\).*?^endif\(\)', '', text, flags=re.M | re.S)
    cache = dict(re.findall(r'^(\w[\w-]*)_DIR:PATH=(/.*)$', (pathlib.Path(build) / 'CMakeCache.txt').read_text(), re.M))
    for package in re.findall(r'find_package\((\S+) ', text):
        if package in cache:
            yield next(str(f) for f in pathlib.Path(cache[package]).iterdir() if f.suffix == '.cmake')
    for module in re.findall(r'pkg_check_modules\(.* (\S+)\)', text):
        folder = output('pkg-config', '--variable=pcfiledir', module).strip()
        yield f'{folder}/{module}.pc'


def main():
    fetched = set(output(ROOT / 'tools/build_for_gpu', '--packages').split())
    files = list(needed(*sys.argv[1:3]))
    missing = {f'{file}: package {owner(file)}' for file in files
               if not RUNTIME.match(owner(file)) and owner(file) not in fetched}
    for problem in sorted(missing):
        print(f'tools/build_for_gpu does not fetch {problem}')
    print(f'{len(files) - len(missing)} passed, {len(missing)} failed')
    return 0 if files and not missing else 1


if __name__ == '__main__':
    sys.exit(main())
