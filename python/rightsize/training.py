"""Profiles a training run from inside: a block of Python, a `transformers` Trainer or a Lightning Trainer.

    with rightsize.watch(price=2.49) as watched:
        train()
    watched.profile.gpus[0].verdict

    Trainer(..., callbacks=[rightsize.trainer_callback(price=2.49)])
"""
import csv
import os
import sys
import tempfile
import time

from . import _core
from .commands import profile
from .errors import Error

# One reading per second is enough to find waste in a run of minutes, and its cost is negligible.
_READINGS_A_SECOND = 1.0


class watch:  # noqa: N801: a context manager, named like a function
    """Samples the GPUs that this process uses while the block runs, then prints their bottleneck and waste.

    `hz`: readings per second. `record`: a file for the readings. `show`: where to print; None prints nothing. All other keywords are
    those of `profile`: `price`, `gpu`, and the job (`model`, `batch`, ...), which is then estimated on other GPUs.
    On a machine without NVML the block runs normally and `profile` stays None; `why_not` gives the reason."""

    def __init__(self, *, hz=_READINGS_A_SECOND, record=None, show=sys.stdout, **settings):
        self.profile = None
        self.why_not = None
        self.settings = settings
        self._hz, self._record, self._show = hz, record, show
        self._folder = self._watch = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop()

    def start(self):
        self._folder = tempfile.TemporaryDirectory(prefix='rightsize-')
        self._file = os.fspath(self._record) if self._record else os.path.join(self._folder.name, 'recording.csv')
        try:
            self._watch = _core.Watch(self._file, self._hz)
        except Error as error:
            self.why_not = str(error)
            self._folder.cleanup()
            self._say(f'rightsize: not watching: {error}')

    def stop(self):
        """Stops watching and returns the profile, or None if nothing was watched."""
        if self._watch is None:
            return self.profile
        try:
            seen, self._watch = self._watch.stop(), None
            self.profile = profile(replay=self._of_this_process(seen), **self.settings)
            self._say(str(self.profile))
        except Error as error:  # a failed report must not fail the training
            self.why_not = str(error)
            self._say(f'rightsize: {error}')
        finally:
            self._folder.cleanup()
        return self.profile

    def _say(self, text):
        if self._show is not None:
            print(text, file=self._show, flush=True)

    def _of_this_process(self, seen):
        """The recording of the GPUs that this process or its relatives used; of all GPUs if none was seen, because process IDs differ
        inside containers."""
        relatives = _relatives()
        used = {str(gpu) for gpu, processes in enumerate(seen) if relatives.intersection(processes)}
        if not used or len(used) == len(seen):
            return self._file
        chosen = os.path.join(self._folder.name, 'used.csv')
        with open(self._file, newline='', encoding='utf-8') as source, open(chosen, 'w', newline='', encoding='utf-8') as target:
            rows = csv.reader(source)
            header = next(rows)
            writer = csv.writer(target)
            writer.writerow(header)
            writer.writerows(row for row in rows if row[header.index('gpu')] in used)
        return chosen


def _relatives():
    """This process and its descendants; with several workers on this machine, all descendants of their launcher."""
    root = os.getppid() if int(os.environ.get('LOCAL_WORLD_SIZE', '1')) > 1 else os.getpid()
    children = {}
    for entry in os.listdir('/proc'):
        if not entry.isdigit():
            continue
        try:
            with open(f'/proc/{entry}/stat', encoding='utf-8', errors='replace') as file:
                parent = int(file.read().rpartition(')')[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # the process has just ended
        children.setdefault(parent, []).append(int(entry))
    family, open_ = {root}, [root]
    while open_:
        for child in children.get(open_.pop(), []):
            if child not in family:
                family.add(child)
                open_.append(child)
    return family


class _Run:
    """Shared by the callbacks: watches from the first to the last step and measures the mean step time."""

    def __init__(self, settings):
        self.watch = watch(**settings)
        self._steps, self._began = 0, None

    @property
    def profile(self):
        return self.watch.profile

    def begin(self, is_first_process, job):
        if not is_first_process or self.watch.profile is not None:
            return
        self.watch.settings = {**job, **self.watch.settings}
        self.watch.start()

    def step(self):
        """The clock starts after the first step, which compiles and allocates."""
        if self._began is None:
            self._began = time.monotonic()
        else:
            self._steps += 1

    def end(self):
        settings = self.watch.settings
        if self._steps and 'model' in settings and 'step_time' not in settings:
            settings['step_time'] = f'{1e3 * (time.monotonic() - self._began) / self._steps:.3f}ms'
        self.watch.stop()


def _trainer_job(arguments, model):
    """The settings of a Trainer's job as our keywords; empty if the model has no configuration."""
    config = getattr(model, 'config', None)
    if not hasattr(config, 'to_dict'):
        return {}
    half = 'amp-bf16' if getattr(arguments, 'bf16', False) else 'amp-fp16' if getattr(arguments, 'fp16', False) else 'fp32'
    dtype = str(getattr(model, 'dtype', ''))
    return {'model': config, 'job': 'train', 'precision': 'bf16' if dtype.endswith('bfloat16') else half,
            'batch': arguments.per_device_train_batch_size, 'accumulate': arguments.gradient_accumulation_steps,
            'recompute': 'full' if getattr(arguments, 'gradient_checkpointing', False) else 'none'}


def trainer_callback(**settings):
    """A callback for a `transformers` Trainer that watches the training and prints its waste. Keywords are those of `watch`. With `seq`
    (tokens per sequence), the report also projects the speed of the Trainer's job on other GPUs."""
    from transformers import TrainerCallback

    class RightsizeCallback(TrainerCallback):
        def __init__(self):
            self.run = _Run(settings)

        @property
        def profile(self):
            return self.run.profile

        def on_train_begin(self, args, state, control, model=None, **others):
            # A Trainer does not know the length of its sequences, so the job is known only if the user passes it.
            known = 'seq' in settings and 'model' not in settings
            self.run.begin(state.is_local_process_zero, _trainer_job(args, model) if known else {})

        def on_step_end(self, args, state, control, **others):
            self.run.step()

        def on_train_end(self, args, state, control, **others):
            self.run.end()

    return RightsizeCallback()


def lightning_callback(**settings):
    """The same for a Lightning Trainer."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class RightsizeCallback(Callback):
        def __init__(self):
            super().__init__()
            self.run = _Run(settings)

        @property
        def profile(self):
            return self.run.profile

        def on_train_start(self, trainer, module):
            self.run.begin(trainer.local_rank == 0, {})

        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            self.run.step()

        def on_train_end(self, trainer, module):
            self.run.end()

    return RightsizeCallback()
