"""What `make dist` packs, checked without building it: every part has a licence and its text, archives are reproducible, and npm packages are
fixed by version and digest. Usage: package_test.py PROGRAM"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('dist', str(ROOT / 'tools/dist'))
dist = importlib.util.module_from_spec(importlib.util.spec_from_loader('dist', loader))
loader.exec_module(dist)


class Contents(unittest.TestCase):
    def setUp(self):
        libraries = dist.Libraries(dist.NATIVE, pathlib.Path('/'))
        self.found = libraries.closure([PROGRAM])
        self.parts = dist.contents(dist.NATIVE, pathlib.Path('/'), self.found, libraries)

    def test_every_library_that_the_program_loads_on_demand_is_packed(self):
        for name in ('libcurl.so.4', 'libpq.so.5', 'libCbcSolver.so.3', 'libClp.so.1'):
            self.assertIn(name, self.found)

    def test_every_part_has_a_licence_and_its_text(self):
        self.assertGreater(len(self.parts), 50)
        with tempfile.TemporaryDirectory() as folder:
            dist.bundled.write_licences(self.parts, pathlib.Path(folder))
            texts = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
        for part in self.parts:
            with self.subTest(part=part.name):
                self.assertGreater(len(texts[part.name.replace('/', '-').lstrip('@') + '.txt']), 200)
        for name in ('common-GPL-2.txt', 'common-LGPL-2.1.txt', 'common-Apache-2.0.txt'):  # Debian's files only refer to these
            self.assertGreater(len(texts[name]), 5000)

    def test_the_spdx_document_names_licences_and_refers_only_to_what_it_contains(self):
        document = dist.bundled.sbom(self.parts, '1.0', 'abc', dist.NATIVE, '2026-01-01T00:00:00Z')
        extracted = {each['licenseId'] for each in document['hasExtractedLicensingInfos']}
        names = {package['name'] for package in document['packages']}
        self.assertLessEqual({'rightsize', 'libc6', 'libeigen3-dev', 'libboost1.74-dev', 'npm-preact', 'npm-d3-scale'}, names)
        ids = [package['SPDXID'] for package in document['packages']]
        self.assertEqual(len(ids), len(set(ids)))
        for package in document['packages']:
            self.assertRegex(package['SPDXID'], r'^SPDXRef-[A-Za-z0-9.-]+$')
            for name in re.split(r' (?:AND|OR|WITH) ', package['licenseDeclared']):
                self.assertTrue(name in extracted or name in SPDX_NAMES, f"{package['name']}: {name}")
        self.assertLessEqual({each['relatedSpdxElement'] for each in document['relationships']}, set(ids))


# SPDX names that occur, from the SPDX licence list 3.25.
SPDX_NAMES = set('''Apache-2.0 BSD-2-Clause BSD-3-Clause BSD-4-Clause BSL-1.0 CC0-1.0 EPL-1.0 GCC-exception-3.1 GPL-2.0-only GPL-2.0-or-later GPL-3.0-or-later ISC
LGPL-2.0-only LGPL-2.0-or-later LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-or-later MIT MPL-2.0 OLDAP-2.8 PostgreSQL Unlicense Zlib blessing bzip2-1.0.6 curl'''.split())


class Archives(unittest.TestCase):
    def test_a_tarball_does_not_depend_on_times_modes_and_order(self):
        made = []
        with tempfile.TemporaryDirectory() as folder:
            dist.OUT = pathlib.Path(folder)
            for names, mask in ((('b', 'a', 'run'), 0o022), (('run', 'a', 'b'), 0o077)):
                home = pathlib.Path(folder) / f'home{mask}'
                before = os.umask(mask)
                home.mkdir()
                for name in names:
                    (home / name).write_text(name)
                    os.utime(home / name, (time.time() - mask, time.time() - mask))
                (home / 'run').chmod(0o755 & ~mask)
                os.umask(before)
                made.append(dist.tarball(dist.NATIVE, home).read_bytes())
        self.assertEqual(made[0], made[1])


class Npm(unittest.TestCase):
    def test_packages_are_fixed_by_version_and_digest_and_name_no_server(self):
        for folder in ('web', 'tests/hand_over'):
            wanted = json.loads((ROOT / folder / 'package.json').read_text())
            lock = json.loads((ROOT / folder / 'package-lock.json').read_text())['packages']
            for kind in ('dependencies', 'devDependencies'):
                self.assertEqual(wanted.get(kind, {}), lock[''].get(kind, {}), folder)
                for name, version in wanted.get(kind, {}).items():
                    self.assertRegex(version, r'^\d+\.\d+\.\d+$', name)
                    self.assertEqual(lock[f'node_modules/{name}']['version'], version)
            for name, package in lock.items():
                self.assertNotIn('resolved', package, name)
                self.assertTrue(name == '' or package['integrity'].startswith('sha512-'), name)


class Security(unittest.TestCase):
    def test_every_test_that_security_md_names_exists(self):
        text = (ROOT / 'SECURITY.md').read_text()
        named = re.findall(r'`((?:tests|src|apps)/[\w/.]+)`(?: \(((?:`\w+`(?:, )?)+)\))?', text)
        self.assertGreater(len(named), 15)
        for path, functions in named:
            self.assertTrue((ROOT / path).exists(), path)
            for function in re.findall(r'\w+', functions):
                self.assertIn(f'def {function}(', (ROOT / path).read_text())


unittest.main()
