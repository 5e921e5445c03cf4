"""Finds the cheapest GPUs for a workload.

    import rightsize

    rightsize.memory('llama-3.1-8b', 'h100-sxm', batch=4, seq=2048).per_gpu.device_bytes
    rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve', concurrency=32).tpot_seconds
    rightsize.recommend('llama-3.1-8b', tokens='1B', deadline='7d').plans[0]

A model is a built-in name, the path of a config.json, a configuration as a dictionary, or a `transformers` configuration.
Keywords are the flags of the command of the same name (`max_batch` is `--max-batch`); help(rightsize.estimate) lists them.
"""
from ._core import __version__
from .commands import (Model, batch, call, commands, estimate, fleet, gpus, memory, mig, models, prices, profile, recommend, reload,
                       service)
from .errors import Bug, Error, InputError, SourceError
from .result import Record, Result
from .training import lightning_callback, trainer_callback, watch

__all__ = ['__version__', 'Bug', 'Error', 'InputError', 'Model', 'Record', 'Result', 'SourceError', 'batch', 'call', 'commands',
           'estimate', 'fleet', 'gpus', 'lightning_callback', 'memory', 'mig', 'models', 'prices', 'profile', 'recommend', 'reload',
           'service', 'trainer_callback', 'watch']
