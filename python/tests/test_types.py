"""The generated classes and stubs are valid Python, type checkers accept them, and results can be copied and pickled."""
import ast
import copy
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import rightsize

PACKAGE = pathlib.Path(rightsize.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
USER = '''import rightsize

best = rightsize.recommend('llama-3.1-8b', tokens='1B', deadline='7d')
cost: float | None = best.plans[0].usd_total
needed: float = rightsize.memory('llama-3.1-8b', 'h100-sxm', batch=4).per_gpu.device_bytes
text: str = best.to_json()
rightsize.estimate('llama-3.1-8b', 'h100-sxm', batch=4).step_seconds
'''


class Types(unittest.TestCase):
    def test_every_file_parses_and_every_module_can_be_imported_by_name(self):
        files = [*PACKAGE.rglob('*.py'), *PACKAGE.rglob('*.pyi')]
        self.assertTrue(any(path.parent.name == 'results' for path in files))
        for path in files:
            with self.subTest(path=path.name):
                self.assertTrue(path.stem.isidentifier())
                ast.parse(path.read_text(), path.name)

    def test_every_command_with_a_function_has_a_stub(self):
        stubs = ast.parse((PACKAGE / 'commands.pyi').read_text())
        named = {node.name for node in stubs.body if isinstance(node, ast.FunctionDef)}
        self.assertLessEqual({'memory', 'estimate', 'recommend', 'batch', 'mig', 'prices', 'gpus', 'models', 'fleet', 'service'}, named)

    def test_the_stub_of_the_module_in_c_names_what_it_has(self):
        from rightsize import _core
        stub = ast.parse((PACKAGE / '_core.pyi').read_text())
        functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
        classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
        self.assertEqual(functions | set(classes), {name for name in dir(_core) if not name.startswith('_')})
        for name, node in classes.items():
            members = {member.name if isinstance(member, ast.FunctionDef) else member.target.id for member in node.body}
            self.assertEqual(members - {'__init__'}, {member for member in dir(getattr(_core, name)) if not member.startswith('_')})

    def test_stubs_carry_choices_and_ranges(self):
        text = (PACKAGE / 'commands.pyi').read_text()
        self.assertIn("job: Literal['train', 'serve', 'rl'] | None = ...,", text)
        self.assertIn('concurrency: int | float | str | None = ...,  # 1 to 1e+06', text)

    def test_mypy_accepts_what_a_user_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'user.py'
            file.write_text(USER)
            done = subprocess.run(['mypy', '--follow-imports=silent', '--python-version', '3.10', '--cache-dir', folder, str(file)],
                                  capture_output=True, text=True, env={**os.environ, 'MYPYPATH': str(PACKAGE.parent)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def results():
    os.chdir(ROOT)
    yield rightsize.gpus('h100')
    yield rightsize.memory('llama-3.1-8b', 'l4')
    yield rightsize.estimate('llama-3.1-8b', 'h100-sxm', batch=4)
    looked_at = rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve', concurrency=8)
    str(looked_at), looked_at.parts  # holds a report now
    yield looked_at
    yield rightsize.call('calibrate', 'examples/calibrate/measured.csv', dry_run=True)


class Copies(unittest.TestCase):
    def same(self, copied, original):
        self.assertEqual(copied.to_dict(), original.to_dict())
        self.assertEqual(str(copied), str(original))
        self.assertEqual(repr(copied), repr(original))
        self.assertEqual(copied.to_csv(), original.to_csv())
        self.assertEqual(copied.exit_code, original.exit_code)

    def test_results_can_be_pickled_twice(self):
        for result in results():
            with self.subTest(type=type(result).__name__):
                once = pickle.loads(pickle.dumps(result))
                self.same(once, result)
                self.same(pickle.loads(pickle.dumps(once)), result)

    def test_results_can_be_copied(self):
        for result in results():
            with self.subTest(type=type(result).__name__):
                self.same(copy.deepcopy(result), result)
                self.same(copy.copy(result), result)

    def test_another_process_can_read_a_result(self):
        made = pickle.dumps(rightsize.memory('llama-3.1-8b', 'l4'))
        done = subprocess.run([sys.executable, '-c', 'import pickle, sys; print(pickle.load(sys.stdin.buffer).fits[0].gpu)'], input=made,
                              capture_output=True)
        self.assertEqual(done.stdout.decode().strip(), 'l4', done.stderr.decode())


if __name__ == '__main__':
    unittest.main()
