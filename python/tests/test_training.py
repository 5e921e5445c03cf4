"""Watches a block and a training run, with a fake NVML library and fake trainer modules."""
import io
import os
import sys
import tempfile
import time
import types
import unittest

import rightsize

FAKE = os.environ['RIGHTSIZE_FAKE_NVML']


class Watching(unittest.TestCase):
    def setUp(self):
        os.environ['RIGHTSIZE_NVML'] = FAKE

    def tearDown(self):
        os.environ.pop('RIGHTSIZE_NVML', None)

    def test_a_block(self):
        shown = io.StringIO()
        with rightsize.watch(hz=20, price={'h200-sxm': 3.5}, show=shown) as watched:
            time.sleep(0.5)
        self.assertEqual(watched.profile.gpus[0].verdict, 'memory-bound')
        self.assertIn('memory-bound', shown.getvalue())

    def test_the_block_runs_without_a_gpu(self):
        os.environ['RIGHTSIZE_NVML'] = '/nowhere/libnvidia-ml.so'
        shown = io.StringIO()
        with rightsize.watch(show=shown) as watched:
            done = True
        self.assertTrue(done)
        self.assertIsNone(watched.profile)
        self.assertIn('not watching', shown.getvalue())

    def test_readings_are_kept_and_errors_of_the_block_propagate(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, 'kept.csv')
            with self.assertRaises(ZeroDivisionError):
                with rightsize.watch(hz=20, record=file, show=None):
                    time.sleep(0.2)
                    1 / 0  # noqa: B018
            self.assertTrue(rightsize.profile(replay=file).gpus)

    def test_an_invalid_sampling_rate(self):
        shown = io.StringIO()
        with rightsize.watch(hz=1e6, show=shown) as watched:
            pass
        self.assertIn('readings a second', watched.why_not)


class Config:
    def to_dict(self):
        return {'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 256, 'intermediate_size': 512, 'num_attention_heads': 4,
                'vocab_size': 1000}


class Trainers(unittest.TestCase):
    def setUp(self):
        os.environ['RIGHTSIZE_NVML'] = FAKE
        transformers = types.ModuleType('transformers')
        transformers.TrainerCallback = type('TrainerCallback', (), {})
        lightning = types.ModuleType('lightning')
        lightning.pytorch = types.ModuleType('lightning.pytorch')
        lightning.pytorch.Callback = type('Callback', (), {})
        sys.modules.update({'transformers': transformers, 'lightning': lightning, 'lightning.pytorch': lightning.pytorch})

    def tearDown(self):
        for name in ('transformers', 'lightning', 'lightning.pytorch'):
            sys.modules.pop(name, None)
        os.environ.pop('RIGHTSIZE_NVML', None)

    def test_transformers(self):
        shown = io.StringIO()
        callback = rightsize.trainer_callback(seq=512, hz=20, price={'h200-sxm': 3.5}, show=shown)
        arguments = types.SimpleNamespace(bf16=True, per_device_train_batch_size=8, gradient_accumulation_steps=1, gradient_checkpointing=False)
        state = types.SimpleNamespace(is_local_process_zero=True)
        model = types.SimpleNamespace(config=Config(), dtype='torch.float32')
        callback.on_train_begin(arguments, state, None, model=model)
        for _ in range(5):
            time.sleep(0.1)
            callback.on_step_end(arguments, state, None)
        callback.on_train_end(arguments, state, None)
        self.assertEqual(callback.profile.gpus[0].verdict, 'memory-bound')
        self.assertIn('amp-bf16', shown.getvalue())
        step = float(callback.run.watch.settings['step_time'].removesuffix('ms'))
        self.assertTrue(90 < step < 300, step)

    def test_only_the_first_process_watches(self):
        callback = rightsize.trainer_callback(show=None)
        callback.on_train_begin(None, types.SimpleNamespace(is_local_process_zero=False), None)
        callback.on_train_end(None, None, None)
        self.assertIsNone(callback.profile)

    def test_lightning(self):
        callback = rightsize.lightning_callback(hz=20, show=None)
        trainer = types.SimpleNamespace(local_rank=0)
        callback.on_train_start(trainer, None)
        time.sleep(0.3)
        callback.on_train_batch_end(trainer, None, None, None, 0)
        callback.on_train_end(trainer, None)
        self.assertTrue(callback.profile.gpus)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
