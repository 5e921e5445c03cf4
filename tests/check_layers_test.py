#!/usr/bin/env python3
"""Tests tools/check_layers with small trees that each break one rule."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent / 'tools/check_layers'
MODULES = 'rightsize_module(base)\nrightsize_module(perf DEPS base\n  PARTS kernels stacks LIBS x::y)\n'
COMMANDS = 'rightsize_command(input)\nrightsize_command(estimate MODULES perf)\nrightsize_command(top COMMANDS estimate)\n'
SOUND = {
    'CMakeLists.txt': MODULES,
    'apps/rightsize/CMakeLists.txt': COMMANDS,
    'src/base/units.h': 'x.in_base()\n',
    'src/perf/perf.h': '#include "perf/kernels/roofline.h"\n',
    'src/perf/kernels/roofline.h': '#include "base/units.h"\n',
    'src/perf/stacks/eager.cc': '#include "perf/kernels/roofline.h"\n#include "perf/perf.h"\n',
    'apps/rightsize/command.h': '#include "base/units.h"\n',
    'apps/rightsize/input/job.h': '#include "rightsize/command.h"\n',
    'apps/rightsize/estimate/report.cc': '#include "perf/perf.h"\n#include "rightsize/input/job.h"\n',
    'apps/rightsize/top/top.cc': '#include "rightsize/estimate/report.h"\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, files=()):
        """Exit code and output for the sound tree with some files changed."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**SOUND, **dict(files)}.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            ran = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
            return ran.returncode, ran.stdout

    def fails(self, files, words):
        code, said = self.check(files)
        self.assertEqual(code, 1, said)
        self.assertIn(words, said)
        self.assertIn('1 failed', said)

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.check(), (0, '1 passed, 0 failed\n'))

    def test_a_module_includes_an_undeclared_module(self):
        self.fails({'src/base/units.cc': '#include "perf/perf.h"\n'}, "src/base/units.cc:1: module 'base' may not include 'perf'")

    def test_a_declared_module_is_not_used(self):
        self.fails({'src/perf/kernels/roofline.h': ''}, "'perf' declares the module 'base' and includes nothing of it")

    def test_modules_in_a_cycle(self):
        code, said = self.check({'CMakeLists.txt': MODULES.replace('(base)', '(base DEPS perf)')})
        self.assertEqual(code, 1)
        self.assertIn('modules in a circle: base -> perf -> base', said)

    def test_a_lower_part_includes_a_higher_one(self):
        self.fails({'src/perf/kernels/gemm.cc': '#include "perf/stacks/eager.h"\n'},
                   "'perf/kernels' may not include 'perf/stacks', which stands above it")

    def test_a_sub_folder_is_not_declared(self):
        self.fails({'src/perf/fit/fit.cc': ''}, "'fit' is no declared part of the module 'perf'")

    def test_a_declared_sub_folder_is_missing(self):
        self.fails({'CMakeLists.txt': MODULES.replace('stacks', 'stacks fit')}, "module 'perf' has no part 'fit'")

    def test_a_folder_of_src_is_not_a_module(self):
        self.fails({'src/other/other.cc': ''}, "folder 'other' is no declared module")

    def test_a_command_includes_an_undeclared_module(self):
        self.fails({'apps/rightsize/top/view.cc': '#include "perf/perf.h"\n'}, "'top' may not include module 'perf'")

    def test_a_command_includes_an_undeclared_command(self):
        self.fails({'apps/rightsize/estimate/more.cc': '#include "rightsize/top/top.h"\n'},
                   "command 'estimate' may not include 'top'")

    def test_a_declared_command_is_not_used(self):
        self.fails({'apps/rightsize/top/top.cc': ''}, "'top' declares the command 'estimate' and includes nothing of it")

    def test_a_command_is_not_declared(self):
        self.fails({'apps/rightsize/new/new.cc': ''}, "folder 'new' is no declared command")

    def test_headers_in_a_cycle(self):
        self.fails({'src/perf/kernels/roofline.h': '#include "base/units.h"\n#include "perf/perf.h"\n'},
                   'headers in a circle: perf/')

    def test_raw_unit_values(self):
        self.fails({'src/perf/stacks/eager.cc': 'double x = y.in_base();\n'}, 'src/perf/stacks/eager.cc:1: a raw value')

    def test_a_long_file(self):
        self.fails({'src/perf/long.cc': '\n' * 601}, 'src/perf/long.cc: 601 lines; the most is 600')


if __name__ == '__main__':
    unittest.main()
