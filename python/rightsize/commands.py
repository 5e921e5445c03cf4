"""The commands as functions."""
import contextlib
import datetime
import functools
import json
import os
import tempfile

from . import _core, result, results


class Model(str):
    """A configuration as text. Convert a dictionary or object once with `Model(config)` if you use it in a loop."""

    def __new__(cls, config):
        return super().__new__(cls, _model_text(config))


def _model_text(model):
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    config = model.to_dict() if hasattr(model, 'to_dict') else model
    if not isinstance(config, dict):
        raise TypeError(f'{model!r} is not a model: pass a name, the path of a config.json, a dictionary, or an object with to_dict()')
    return json.dumps(config, default=str)


@functools.lru_cache(maxsize=None)
def _flags(command):
    """{'max_batch': flag} of a command."""
    return {flag['name'].lstrip('-').replace('-', '_'): flag for flag in _core.describe(command)['flags']}


def _text(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, datetime.timedelta):
        return f'{_text(value.total_seconds())}s'
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _values(value):
    if isinstance(value, dict):
        return [f'{name}={_text(item)}' for name, item in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [_text(item) for item in value]
    return [_text(value)]


def _words(command, settings):
    """Converts keywords to command-line words. Unknown keywords are kept: the command refuses them with a suggestion."""
    words = []
    for keyword, value in settings.items():
        name = keyword.rstrip('_').replace('-', '_')
        if value is None:
            continue
        if name == 'model':
            value = _model_text(value)
        flag = _flags(command).get(name)
        spelled = '--' + name.replace('_', '-')
        if flag and not flag['values']:
            words += [spelled] if value else []
            continue
        values = _values(value)
        if not (flag and flag['repeatable']):
            values = [','.join(values)]
        for text in values:
            words += [f'{spelled}={text}'] if text.startswith('-') else [spelled, text]
    return words


def _ask(command, words):
    answer = _core.call(command, words)
    made = answer.document(results.class_of(answer.schema))
    made.__dict__['_answer'] = answer
    return made


@contextlib.contextmanager
def _as_file(value, name, text_of):
    """The path of a file; other values are written to a temporary file first."""
    if value is None or isinstance(value, (str, os.PathLike)):
        yield None if value is None else os.fspath(value)
        return
    with tempfile.TemporaryDirectory(prefix='rightsize-') as folder:
        path = os.path.join(folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text_of(value))
        yield path


def call(command, *arguments, **settings):
    """Runs any command: `call('window', volume='1M/d', item_time='82ms', gpu='l4')`."""
    return _ask(command, [_text(word) for word in arguments] + _words(command, settings))


def commands():
    """The names of the commands."""
    return _core.commands()


def reload():
    """Reads the catalogue, your overlay and your calibration again: estimate() caches them in the process."""
    _core.reload()


def memory(model, gpu=None, **settings):
    """The GPU memory that a job needs, part by part, and whether it fits."""
    return _ask('memory', _words('memory', {'model': model, 'gpu': gpu, **settings}))


def estimate(model, gpu=None, **settings):
    """How fast a job runs on a GPU, its bottleneck, and the confidence interval. Takes microseconds, for use in loops."""
    if not isinstance(model, str):
        model = _model_text(model)
    if _SLOW.isdisjoint(settings):
        try:
            made = _core.estimate(results.Estimate, model, gpu, settings, False)
        except TypeError:
            made = None  # a value that only the command accepts
        if made is not None:
            made.__dict__['_asked'] = (model, gpu, settings)
            return made
    return _ask('estimate', _words('estimate', {'model': model, 'gpu': gpu, **settings}))


# Settings that only the command handles.
_SLOW = frozenset(('sweep', 'roofline', 'catalog', 'format', 'wide', 'quiet', 'help', 'model', 'gpu'))


def _estimate_details(asked):
    """The lists and objects of an estimate."""
    return _core.estimate(results.Estimate, *asked, True).__dict__


def _estimate_report(asked):
    model, gpu, settings = asked
    return _core.call('estimate', _words('estimate', {'model': model, 'gpu': gpu, **settings}))


def recommend(model=None, *, workload=None, **settings):
    """The cheapest GPUs for a workload: how many, from which provider, on which terms and with which settings.

    `workload` is a workload file, or a dictionary of the same settings."""
    words = []
    if isinstance(workload, dict):
        settings = {**workload, **settings}
    elif workload is not None:
        words = [os.fspath(workload)]
    if model is not None:
        settings['model'] = model
    return _ask('recommend', words + _words('recommend', settings))


def batch(model=None, gpu=None, *, service=None, **settings):
    """Latency of a batching server, and the cheapest setting that meets its SLOs.

    `service` is a CSV file of measured batch times, or a dictionary {batch: milliseconds}."""
    def table(times):
        return 'batch,ms_p50\n' + ''.join(f'{size},{_text(time)}\n' for size, time in times.items())

    with _as_file(service, 'service.csv', table) as path:
        return _ask('batch', _words('batch', {'model': model, 'gpu': gpu, 'service': path, **settings}))


def mig(workloads=None, **settings):
    """Many small models on few GPUs: slices, layouts, repacking, and the saving from sharing.

    `workloads` is a YAML file, a list of dictionaries, or a dictionary like the file."""
    def text(value):
        return json.dumps(value if isinstance(value, dict) else {'workloads': list(value)}, default=str)

    with _as_file(workloads, 'workloads.yaml', text) as path:
        return _ask('mig', ([path] if path else []) + _words('mig', settings))


def prices(what=None, **settings):
    """Prices of machines: `prices('h100', provider='aws,gcp')`, `prices('spot', gpu='h100-sxm', hours=100)`."""
    return _ask('prices', ([what] if what else []) + _words('prices', settings))


def profile(command=None, *, replay=None, **settings):
    """The bottleneck and the waste of a workload on a GPU, from a recording (`replay`), a command (a list of words), a process
    (`pid`), or this machine for some time (`duration`). `watch` does the same for a block of Python."""
    words = _words('profile', {'replay': replay, **settings})
    if command is not None:
        words += ['--', *([command] if isinstance(command, str) else map(str, command))]
    return _ask('profile', words)


def gpus(gpu=None, **settings):
    """The GPUs of the catalogue."""
    return _ask('gpus', _words('gpus', {'gpu': gpu, **settings}))


def models(model=None, **settings):
    """Model shapes: parameters, layers, heads; built-in models or a configuration."""
    return _ask('models', _words('models', {'model': model, **settings}))


def fleet(**settings):
    """The cost and waste of a fleet, and the actions that save most: `fleet(from_='metrics.json', price=2.49)`."""
    return _ask('fleet', _words('fleet', settings))


def service(**settings):
    """Analyses a running LLM service from its metrics: `service(from_='metrics.txt', gpu='h200-sxm')`."""
    return _ask('service', _words('service', settings))


def _document(function):
    """Adds the command's flags to the function's help."""
    lines = [function.__doc__.rstrip(), '', 'Keywords:']
    for keyword, flag in _flags(function.__name__).items():
        if flag['group'] != 'Output':
            lines.append(f"    {keyword}: {flag['meaning']}" + (f" [{flag['values']}]" if '|' in flag['values'] else ''))
    function.__doc__ = '\n'.join(lines)


for _function in (memory, estimate, recommend, batch, mig, prices, profile, gpus, models, fleet, service):
    _document(_function)
del _function

result.estimate_details, result.estimate_report = _estimate_details, _estimate_report
