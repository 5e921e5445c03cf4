"""Compares the Python module with the program: the same answers and the same errors."""
import dataclasses
import datetime
import gc
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import rightsize
from rightsize import results

PROGRAM = os.environ['RIGHTSIZE_PROGRAM']
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIG = {'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 256, 'intermediate_size': 512, 'num_attention_heads': 4,
          'vocab_size': 1000}
os.chdir(ROOT)


def program(*words):
    done = subprocess.run([PROGRAM, *words, '--format', 'json'], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 2), done.stderr
    return json.loads(done.stdout)


def without_times(document):
    """The document without the run times of searches and simulations."""
    return {name: value for name, value in document.items() if name != 'seconds'}


class LikeTransformers:
    """The part of a `transformers` configuration that we use."""

    def to_dict(self):
        return dict(CONFIG)


class SameAsTheProgram(unittest.TestCase):
    def same(self, result, *words):
        self.assertEqual(without_times(result.to_dict()), without_times(program(*words)))

    def test_memory(self):
        self.same(rightsize.memory('llama-3.1-8b', 'h100-sxm', batch=4, seq=2048), 'memory', 'llama-3.1-8b', 'h100-sxm', '--batch', '4', '--seq',
                  '2048')
        self.same(rightsize.memory('llama-3.1-8b', options=True), 'memory', 'llama-3.1-8b', '--options')

    def test_estimate(self):
        for settings in ({}, {'job': 'serve', 'concurrency': 32}, {'job': 'serve', 'rate': '5/s'}, {'batch': 64, 'seq': 8192},
                         {'precision': 'amp-bf16', 'compile': True}):
            words = [word for name, value in settings.items() for word in ('--' + name, str(value).lower())]
            with self.subTest(settings=settings):
                self.same(rightsize.estimate('llama-3.1-8b', 'h100-sxm', **settings), 'estimate', 'llama-3.1-8b', 'h100-sxm', *words)
        self.same(rightsize.estimate('llama-3.1-8b', 'h100-sxm', sweep='batch=1..8'), 'estimate', 'llama-3.1-8b', 'h100-sxm', '--sweep',
                  'batch=1..8')

    def test_an_infeasible_estimate(self):
        settings = {'job': 'serve', 'stack': 'hf', 'precision': 'fp8'}
        words = [word for name, value in settings.items() for word in ('--' + name, value)]
        made = rightsize.estimate('llama-3.1-70b', 't4', **settings)
        self.same(made, 'estimate', 'llama-3.1-70b', 't4', *words)

    def test_recommend(self):
        made = rightsize.recommend('llama-3.1-8b', tokens='1B', deadline=datetime.timedelta(days=7), top=3)
        self.same(made, 'recommend', '--model', 'llama-3.1-8b', '--tokens', '1B', '--deadline', '604800s', '--top', '3')
        self.assertEqual(made.plans[0].rank, 1)
        self.same(rightsize.recommend(workload={'model': 'llama-3.1-8b', 'tokens': '1B', 'deadline': '7d'}), 'recommend', '--model',
                  'llama-3.1-8b', '--tokens', '1B', '--deadline', '7d')
        self.same(rightsize.recommend(workload='examples/recommend/fine-tune-7b.yaml'), 'recommend', 'examples/recommend/fine-tune-7b.yaml')

    def test_batch(self):
        made = rightsize.batch('bert-large', 'l4', arrivals='poisson:200', slo={'p99': '100ms'}, requests=20000)
        self.same(made, 'batch', '--model', 'bert-large', '--gpu', 'l4', '--arrivals', 'poisson:200', '--slo', 'p99=100ms', '--requests', '20000')
        times = {1: 2.0, 8: 6.5, 32: 20}
        with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
            file.write('batch,ms_p50\n' + ''.join(f'{size},{time}\n' for size, time in times.items()))
            file.flush()
            self.same(rightsize.batch(service=times, arrivals='poisson:100', requests=2000), 'batch', '--service', file.name, '--arrivals',
                      'poisson:100', '--requests', '2000')

    def test_mig(self):
        self.same(rightsize.mig('examples/mig/workloads.yaml'), 'mig', 'examples/mig/workloads.yaml')
        made = rightsize.mig([{'name': 'small', 'memory': '3GiB', 'load': '10%'}], gpu='a100-80gb-sxm')
        self.assertEqual(made.gpu_count, 1)
        self.assertEqual(made.gpus[0].instances[0].workload, 'small')

    def test_prices_gpus_models(self):
        self.same(rightsize.prices('h100', provider=['aws', 'gcp'], region='us'), 'prices', 'h100', '--provider', 'aws,gcp', '--region', 'us')
        self.assertIsInstance(rightsize.prices('spot', gpu='h100-sxm', hours=100), results.PricesSpot)
        self.same(rightsize.gpus(min_memory='80GiB'), 'gpus', '--min-memory', '80GiB')
        self.same(rightsize.models('llama-3.1-70b'), 'models', 'llama-3.1-70b')

    def test_profile(self):
        self.same(rightsize.profile(replay='examples/profile/train.csv', price={'h200-sxm': 3.5}), 'profile', '--replay',
                  'examples/profile/train.csv', '--price', 'h200-sxm=3.5')

    def test_fleet_and_any_command(self):
        self.same(rightsize.fleet(from_='examples/fleet/cluster.json', price=2.49), 'fleet', '--from', 'examples/fleet/cluster.json', '--price',
                  '2.49')
        made = rightsize.call('window', volume='1M/d', item_time='82ms', gpu='a100-80gb-sxm', window='4h')
        self.same(made, 'window', '--volume', '1M/d', '--item-time', '82ms', '--gpu', 'a100-80gb-sxm', '--window', '4h')

    def test_every_command_has_a_class_for_its_document(self):
        for schema in results.BY_SCHEMA:
            self.assertTrue(issubclass(results.class_of(schema), rightsize.Result), schema)


class Models(unittest.TestCase):
    def test_a_configuration_in_every_form_is_the_same_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'config.json'
            path.write_text(json.dumps(CONFIG))
            forms = [CONFIG, LikeTransformers(), rightsize.Model(CONFIG), json.dumps(CONFIG), path]
            tokens = {rightsize.estimate(form, 'h100-sxm', batch=4).tokens_per_second_per_gpu for form in forms}
            self.assertEqual(len(tokens), 1)
            bytes_ = {rightsize.memory(form, 'h100-sxm', batch=4).per_gpu.device_bytes for form in forms}
            self.assertEqual(len(bytes_), 1)

    def test_a_mistake_in_a_configuration_has_its_place(self):
        with self.assertRaises(rightsize.InputError) as caught:
            rightsize.estimate({**CONFIG, 'num_hidden_layers': 'two'}, 'h100-sxm')
        self.assertIn('num_hidden_layers', str(caught.exception))
        self.assertIn('^', str(caught.exception))
        self.assertGreater(caught.exception.errors[0]['column'], 0)

    def test_an_invalid_model(self):
        with self.assertRaises(TypeError):
            rightsize.memory(42)


class Errors(unittest.TestCase):
    def check(self, call, *words):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)
        with self.assertRaises(rightsize.Error) as caught:
            call()
        told = [line for line in done.stderr.splitlines() if not line.startswith(('try: ', 'note: '))]  # only the program tries other commands
        self.assertEqual(str(caught.exception).splitlines(), told)
        self.assertEqual({1: rightsize.InputError, 3: rightsize.SourceError}[done.returncode], type(caught.exception))

    def test_errors_have_the_text_of_the_program(self):
        self.check(lambda: rightsize.estimate('llama-3.1-8', 'h100-sxm'), 'estimate', '--model', 'llama-3.1-8', '--gpu', 'h100-sxm')
        self.check(lambda: rightsize.estimate('llama-3.1-8b', 'h10'), 'estimate', '--model', 'llama-3.1-8b', '--gpu', 'h10')
        self.check(lambda: rightsize.estimate('llama-3.1-8b', 'h100-sxm', bach=4), 'estimate', '--model', 'llama-3.1-8b', '--gpu', 'h100-sxm',
                   '--bach', '4')
        self.check(lambda: rightsize.memory('llama-3.1-8b', precision='bf61'), 'memory', '--model', 'llama-3.1-8b', '--precision', 'bf61')
        self.check(lambda: rightsize.profile(replay='/nowhere.csv'), 'profile', '--replay', '/nowhere.csv')

    def test_an_unknown_command(self):
        with self.assertRaises(rightsize.InputError) as caught:
            rightsize.call('recomend')
        self.assertIn("did you mean 'recommend'", str(caught.exception))

    def test_none_is_omitted(self):
        self.assertEqual(rightsize.memory('llama-3.1-8b', 'h100-sxm', batch=None).to_dict(), rightsize.memory('llama-3.1-8b', 'h100-sxm').to_dict())


class Results(unittest.TestCase):
    def setUp(self):
        self.memory = rightsize.memory('llama-3.1-8b', 'h100-sxm')

    def test_results_are_frozen_dataclasses(self):
        self.assertTrue(dataclasses.is_dataclass(self.memory))
        self.assertIn('per_gpu', [field.name for field in dataclasses.fields(self.memory)])
        self.assertIsInstance(self.memory.per_gpu, results.MemoryPerGpu)
        self.assertIsInstance(self.memory.parts[0], results.MemoryPart)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            self.memory.model = 'other'

    def test_absent_fields_are_none(self):
        self.assertIsNone(self.memory.max_concurrency)
        self.assertNotIn('max_concurrency', self.memory.to_dict())

    def test_text_html_markdown_csv(self):
        self.assertIn('Training llama-3.1-8b', str(self.memory))
        self.assertTrue(repr(self.memory).startswith('<Memory: '))
        self.assertIn('<svg', self.memory.to_html())
        self.assertIn('&lt;svg', self.memory._repr_html_())
        self.assertTrue(self.memory._repr_html_().startswith('<iframe srcdoc='))
        self.assertTrue(self.memory.to_markdown().startswith('# Memory'))
        self.assertIn('h100-sxm,', rightsize.gpus('h100-sxm').to_csv())
        self.assertEqual(json.loads(self.memory.to_json()), self.memory.to_dict())

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, 'pandas'):
                self.memory.to_frame()
            return
        frame = rightsize.recommend('llama-3.1-8b', tokens='1B', deadline='7d', top=4).to_frame()
        self.assertEqual(list(frame['rank']), [1, 2, 3, 4])
        self.assertEqual(len(rightsize.estimate('llama-3.1-8b', 'h100-sxm').to_frame()), 1)

    def test_a_fast_estimate_still_warns_when_it_does_not_fit(self):
        made = rightsize.estimate('llama-3.1-8b', 'l4', batch=8)
        self.assertNotIn('warnings', made.__dict__)
        self.assertIn('run out of memory', made.warnings[-1])
        self.assertIn('run out of memory', str(made))


class Calls(unittest.TestCase):
    def test_threads_run_in_parallel_with_separate_answers(self):
        wanted = {size: rightsize.estimate('llama-3.1-8b', 'h100-sxm', batch=size).step_seconds for size in (1, 2, 4, 8)}
        wrong = []

        def ask(size):
            for _ in range(200):
                if rightsize.estimate('llama-3.1-8b', 'h100-sxm', batch=size).step_seconds != wanted[size]:
                    wrong.append(size)

        threads = [threading.Thread(target=ask, args=(size,)) for size in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_an_estimate_inside_another_estimate(self):
        def ask(gpus):
            return rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve', rate='2/s', gpus=gpus).to_dict()

        wanted = {gpus: ask(gpus) for gpus in (1, 2)}
        within = []

        def collected(phase, _):  # Python may call this whenever it creates an object, including those of a result
            gc.callbacks.remove(collected)
            within.append(ask(2) == wanted[2])
            gc.callbacks.append(collected)

        before = gc.get_threshold()
        gc.callbacks.append(collected)
        gc.set_threshold(1)
        try:
            found = [ask(1) for _ in range(20)]
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(collected)
        self.assertTrue(within and all(within))
        self.assertTrue(all(one == wanted[1] for one in found))

    def test_other_python_threads_run_during_a_call(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.wait(0.001):
                ticks.append(1)

        thread = threading.Thread(target=tick)
        thread.start()
        try:
            rightsize.recommend('llama-3.1-8b', tokens='1B', deadline='7d')
        finally:
            stop.set()
            thread.join()
        self.assertGreater(len(ticks), 3)

    def test_reload_reads_the_overlay_again(self):
        with tempfile.TemporaryDirectory() as folder:
            before = rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve').tpot_seconds
            gpus = subprocess.run([PROGRAM, 'gpus', 'h100-sxm', '--format', 'json'], capture_output=True, text=True).stdout
            self.assertIn('h100-sxm', gpus)
            os.environ['RIGHTSIZE_CATALOG'] = folder
            try:
                (pathlib.Path(folder) / 'gpus.csv').write_text('name,bandwidth\nh100-sxm,1000GB/s\n')
                rightsize.reload()
                self.assertGreater(rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve').tpot_seconds, 1.5 * before)
            finally:
                del os.environ['RIGHTSIZE_CATALOG']
                rightsize.reload()
            self.assertEqual(rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve').tpot_seconds, before)

    def test_help_lists_the_flags(self):
        self.assertIn('max_batch', inspect.getdoc(rightsize.estimate))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
