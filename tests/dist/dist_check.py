#!/usr/bin/env python3
"""Unpacks every artifact of build/dist in an empty root and runs its main command. Artifacts of the other architecture
run under qemu. `make dist-check` calls it; needs root or user namespaces (bubblewrap), and debootstrap for the Debian package.

Usage: dist_check.py BUILD_DIST [CASE...]"""
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

DIST = pathlib.Path(sys.argv[1]).resolve()
MACHINE = platform.machine()
QEMU = {'x86_64': 'qemu-x86_64-static', 'aarch64': 'qemu-aarch64-static'}
DEBIAN = {'x86_64': 'amd64', 'aarch64': 'arm64'}
JOB = ['recommend', '--model', 'llama-3.1-8b', '--tokens', '1B', '--deadline', '7d', '--format', 'json']


def only(pattern):
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f'{pattern}: {found}'
    return found[0]


def output(words, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f'{words}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}'
    return done.stdout


def inside(root, *words):
    """Runs a command in a separate root without network, other files or other users."""
    return output(['bwrap', '--unshare-all', '--die-with-parent', '--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'PATH', '/usr/bin:/bin',
                   '--bind', root, '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--uid', '65534', '--gid', '65534', '--chdir', '/', *words])


class Root(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix='rightsize-root-'))
        self.addCleanup(shutil.rmtree, self.root, True)

    @staticmethod
    def tell_time(what, began):
        """Printed but not checked, because the machine may be busy. The goal is one minute."""
        print(f'  {what}: {time.monotonic() - began:.1f} s')

    def assert_first_recommendation(self, text):
        self.assertGreater(len(json.loads(text)['plans']), 0)


class Tarballs(Root):
    def unpack(self, machine):
        for folder in ('proc', 'dev', 'tmp'):
            (self.root / folder).mkdir(exist_ok=True)
        shutil.rmtree(self.root / 'rightsize', ignore_errors=True)
        output(['tar', 'xzf', only(f'rightsize-*-linux-{machine}.tar.gz'), '-C', self.root])
        return self.root / 'rightsize'

    def test_this_architecture_in_an_empty_root(self):
        began = time.monotonic()
        self.unpack(MACHINE)
        self.assert_first_recommendation(inside(self.root, '/rightsize/bin/rightsize', *JOB))
        self.tell_time('tarball, unpacked and a first recommendation', began)
        self.assertRegex(inside(self.root, '/rightsize/bin/rightsize', '--version'), r'rightsize [\d.]+ \(commit [0-9a-f]{12}')
        # Loads the libraries that are loaded on demand.
        inside(self.root, '/rightsize/bin/rightsize', 'mig', '/rightsize/share/rightsize/examples/mig/workloads.yaml', '--gpu', 'h100-sxm')
        done = subprocess.run(['bwrap', '--unshare-all', '--bind', self.root, '/', '--dev', '/dev', '--proc', '/proc', '/rightsize/bin/rightsize', 'fleet',
                               '--prometheus', 'https://127.0.0.1:9', '--tries', '1'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertNotIn('.so', done.stderr)

    def test_licences_manual_pages_and_completions(self):
        for machine in QEMU:
            with self.subTest(machine=machine):
                home = self.unpack(machine)
                document = json.loads((home / 'sbom.spdx.json').read_text())
                for package in document['packages'][1:]:
                    self.assertNotEqual(package['licenseDeclared'], 'NOASSERTION', package['name'])
                    name = package['name'].removeprefix('npm-').replace('/', '-').lstrip('@')
                    self.assertTrue((home / f'licences/{name}.txt').exists(), name)
                for file in ('man/man1/rightsize.1.gz', 'man/man1/rightsize-recommend.1.gz', 'bash-completion/completions/rightsize'):
                    self.assertTrue((home / 'share' / file).exists(), file)

    def test_the_program_is_hardened(self):
        for machine in QEMU:
            with self.subTest(machine=machine):
                home = self.unpack(machine)
                program = home / 'lib/rightsize/rightsize'
                self.assertRegex(output(['readelf', '-hW', program]), r'Type: +DYN')
                self.assertIn('BIND_NOW', output(['readelf', '-dW', program]))
                segments = output(['readelf', '-lW', program])
                self.assertIn('GNU_RELRO', segments)
                self.assertRegex(segments, r'GNU_STACK.* RW ')
                symbols = output(['readelf', '--dyn-syms', '-W', program])
                self.assertIn('__stack_chk_fail', symbols)
                self.assertRegex(symbols, r'__\w+_chk@')

    def test_the_other_architecture_under_qemu(self):
        other = next(m for m in QEMU if m != MACHINE)
        home = self.unpack(other)
        shutil.copy(shutil.which(QEMU[other]), self.root / 'qemu')
        inner = '/rightsize/lib/rightsize'
        # Without binfmt_misc, qemu cannot start a second program, so the test does the work of the launcher.
        words = ['/qemu', f'{inner}/glibc/ld.so', '--library-path', f'{inner}/lib:{inner}/glibc', f'{inner}/rightsize']
        self.assert_first_recommendation(inside(self.root, *words, *JOB))
        self.assertIn('commit', inside(self.root, *words, '--version'))
        self.assertIn('statically linked', output(['file', home / 'bin/rightsize']))


class Wheels(Root):
    def test_this_architecture_with_debians_python(self):
        began = time.monotonic()
        wheel = only(f'rightsize-*_{MACHINE}.whl')
        output(['/usr/bin/python3', '-m', 'venv', self.root])
        output([self.root / 'bin/pip', 'install', '--no-index', '--quiet', wheel])
        python = self.root / 'bin/python3'
        self.assert_first_recommendation(output([self.root / 'bin/rightsize', *JOB], env={'PATH': '/nowhere'}))
        env = {'PATH': '/usr/bin', 'HOME': str(self.root)}
        code = "import rightsize; print(rightsize.recommend('llama-3.1-8b', tokens='1B', deadline='7d').to_json())"
        self.assert_first_recommendation(output([python, '-c', code], env=env))
        self.tell_time('wheel, a new environment, pip install and two recommendations', began)
        code = "import rightsize.program as p; p.main()"
        self.assert_first_recommendation(output([python, '-c', code, *JOB], env=env))
        # Everything it loads comes from the wheel, except the C library.
        code = "import rightsize; rightsize.mig(gpu='h100-sxm', list_layouts=True); print(open('/proc/self/maps').read())"
        loaded = set(re.findall(r'(/\S+\.so[.\d]*)$', output([python, '-c', code], env=env), re.M))
        foreign = {pathlib.Path(p).name for p in loaded if not p.startswith(str(self.root)) and 'python3' not in p}
        glibc = re.compile(r'(ld-linux|libc|libm|libdl|libpthread|librt|libresolv|libexpat|libz|libffi|libssl|libcrypto|libuuid|libbz2|liblzma)\b')
        self.assertEqual({name for name in foreign if not glibc.match(name)}, set())

    def test_a_system_with_an_older_c_library(self):
        """Debian 11 has glibc 2.31. Its Python is 3.9, older than the wheel's tag, but it has the functions that we use."""
        packages = self.root / 'packages'
        output(['debootstrap', '--variant=minbase', '--include=python3', '--download-only', 'bullseye', packages])
        system = self.root / 'system'
        for package in sorted((packages / 'var/cache/apt/archives').glob('*.deb')):
            output(['dpkg', '-x', package, system])
        with zipfile.ZipFile(only(f'rightsize-*_{MACHINE}.whl')) as archive:
            archive.extractall(system / 'wheel')
        code = ("import sys; sys.path.append('/wheel'); import platform, rightsize as r; assert platform.libc_ver() == ('glibc', '2.31')\n"
                "r.mig(gpu='h100-sxm', list_layouts=True)\n"  # libraries that are loaded on demand
                "try: r.recommend(workload='/wheel/rightsize/py.typed', model='nothing')\n"  # exceptions inside C++
                "except r.InputError: print(r.recommend('llama-3.1-8b', tokens='1B', deadline='7d').to_json())")
        self.assert_first_recommendation(inside(system, '/usr/bin/python3.9', '-c', code))

    def test_the_metadata_of_the_wheels(self):
        for machine in QEMU:
            wheel = only(f'rightsize-*_{machine}.whl')
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                info = next(n.split('/')[0] for n in names if n.endswith('/METADATA'))
                self.assertIn(wheel.name.split('-', 2)[2].removesuffix('.whl'), archive.read(f'{info}/WHEEL').decode())
                for line in archive.read(f'{info}/RECORD').decode().splitlines():
                    name, digest, _ = line.rsplit(',', 2)
                    if digest:
                        import base64
                        made = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b'=').decode()
                        self.assertEqual(digest, f'sha256={made}', name)


class DebianPackages(Root):
    def test_apt_installs_it_on_a_bare_debian(self):
        output(['debootstrap', '--variant=minbase', 'bookworm', self.root])  # from the configured archive
        began = time.monotonic()
        shutil.copy(only(f'rightsize_*_{DEBIAN[MACHINE]}.deb'), self.root / 'tmp/rightsize.deb')
        shutil.copy('/etc/resolv.conf', self.root / 'etc/resolv.conf')
        output(['chroot', self.root, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', '/tmp/rightsize.deb'],
               env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'})
        self.assert_first_recommendation(output(['chroot', self.root, 'rightsize', *JOB]))
        self.tell_time('Debian package, apt install and a first recommendation', began)
        self.assertIn('rightsizeConfig.cmake', output(['chroot', self.root, 'dpkg', '-L', 'rightsize']))

    def test_the_other_architecture_under_qemu(self):
        """Unpacks the package and the packages that apt chooses for it; maintainer scripts are not run."""
        other = next(m for m in QEMU if m != MACHINE)
        arch, apt = DEBIAN[other], self.root / 'apt'
        package = only(f'rightsize_*_{arch}.deb')
        self.assertEqual(output(['dpkg-deb', '-f', package, 'Architecture']).strip(), arch)
        for part in ('lists/partial', 'cache/archives/partial', 'state'):
            (apt / part).mkdir(parents=True)
        (apt / 'status').touch()
        options = {'APT::Architecture': arch, 'APT::Architectures': arch, 'Dir::State::Lists': apt / 'lists', 'Dir::Cache': apt / 'cache',
                   'Dir::State': apt / 'state', 'Dir::State::status': apt / 'status', 'Debug::NoLocking': 1, 'APT::Sandbox::User': 'root'}
        words = ['apt-get', '-qq', *[word for name, value in options.items() for word in ('-o', f'{name}={value}')]]
        output([*words, 'update'])
        output([*words, 'install', '-y', '--download-only', '--no-install-recommends', package])
        system = self.root / 'system'
        for one in [*sorted((apt / 'cache/archives').glob('*.deb')), package]:
            output(['dpkg', '-x', one, system])
        triple = {'amd64': 'x86_64-linux-gnu', 'arm64': 'aarch64-linux-gnu'}[arch]
        for name in ('blas/libblas.so.3', 'lapack/liblapack.so.3'):  # update-alternatives would create these links
            if (system / 'usr/lib' / triple / name).exists():
                (system / 'usr/lib' / triple / name.split('/')[1]).symlink_to(name)
        for folder in ('proc', 'dev', 'tmp'):
            (system / folder).mkdir(exist_ok=True)
        shutil.copy(shutil.which(QEMU[other]), system / 'qemu')
        began = time.monotonic()
        self.assert_first_recommendation(inside(system, '/qemu', '/usr/bin/rightsize', *JOB))
        print(f'  Debian package for {arch} under qemu, a first recommendation: {time.monotonic() - began:.1f} s')
        inside(system, '/qemu', '/usr/bin/rightsize', 'mig', '--gpu', 'h100-sxm', '--list-layouts')  # loads the solver


class Images(Root):
    def test_the_container_image_runs(self):
        store = ['--root', self.root / 'store', '--runroot', self.root / 'run', '--storage-driver', 'vfs']
        began = time.monotonic()
        recipe = pathlib.Path(__file__).resolve().parent.parent.parent / 'packaging/Containerfile'
        output(['buildah', *store, 'build', '--isolation', 'chroot', '-f', recipe, '--build-arg', f'ARCH={MACHINE}', '-t', 'rightsize', DIST])
        container = output(['buildah', *store, 'from', '--pull-never', 'rightsize']).strip()
        config = json.loads(output(['buildah', *store, 'inspect', container]))['OCIv1']['config']
        self.assertEqual(config['User'], '65534:65534')
        root = output(['buildah', *store, 'mount', container]).strip()
        self.assert_first_recommendation(inside(root, *config['Entrypoint'], *JOB))
        self.tell_time('image, built and a first recommendation', began)
        self.assertIn('BEGIN CERTIFICATE', (pathlib.Path(root) / 'etc/ssl/certs/ca-certificates.crt').read_text())


class Papers(unittest.TestCase):
    def test_checksums(self):
        output(['sha256sum', '-c', 'SHA256SUMS'], cwd=DIST)
        listed = {line.split()[1] for line in (DIST / 'SHA256SUMS').read_text().splitlines()}
        self.assertEqual(listed, {p.name for p in DIST.glob('rightsize*') if p.is_file()})

    def test_the_contents(self):
        for machine in QEMU:
            document = json.loads(only(f'rightsize-*-linux-{machine}.spdx.json').read_text())
            self.assertEqual(document['spdxVersion'], 'SPDX-2.3')
            names = {p['name'] for p in document['packages']}
            self.assertLessEqual({'rightsize', 'libc6', 'libcurl4', 'libpq5', 'libsqlite3-0', 'preact'}, names)
            self.assertEqual([p['name'] for p in document['packages'] if p['versionInfo'] == 'unknown'], [])


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
