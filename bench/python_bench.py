#!/usr/bin/env python3
"""Estimates and recommendations in process: CPU time per call, and the wall time of the fastest block.

Usage: PYTHONPATH=build/release/python bench/python_bench.py PROGRAM

The fastest block counts, because other work on the machine only adds time. Every estimate of a block has different settings."""
import itertools
import os
import subprocess
import sys
import time

import rightsize

PROGRAM = sys.argv[1]
MODELS = ['llama-3.1-8b', 'llama-3.1-70b', 'qwen2.5-7b']
GPUS = ['h100-sxm', 'a100-80gb-sxm', 'l4', 'h200-sxm']
KINDS = {
    'train': [{'batch': batch, 'seq': seq} for batch in range(1, 33) for seq in (512, 1024, 2048, 4096)],
    'train, 8 GPUs': [{'batch': batch, 'seq': seq, 'gpus': 8} for batch in range(1, 33) for seq in (512, 1024, 2048, 4096)],
    'serve': [{'job': 'serve', 'concurrency': n, 'isl': isl} for n in range(1, 33) for isl in (256, 512, 1024, 4096)],
    'serve, open loop': [{'job': 'serve', 'rate': f'{n / 4}/s', 'isl': isl} for n in range(1, 33) for isl in (256, 512, 1024, 4096)],
}
RECOMMEND = {'train': ({'model': 'llama-3.1-8b', 'tokens': '1B', 'deadline': '7d'}, ['--model', 'llama-3.1-8b', '--tokens', '1B', '--deadline', '7d']),
             'serve': ({'model': 'llama-3.1-8b', 'job': 'serve', 'rate': '20/s', 'ttft_slo': '1s'},
                       ['--model', 'llama-3.1-8b', '--job', 'serve', '--rate', '20/s', '--ttft-slo', '1s'])}


def best(call, blocks):
    """The smallest (wall, CPU) time of the blocks."""
    wall, processor = [], []
    for _ in range(blocks):
        begun, used = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
    return min(wall), min(processor)


def children(call, times):
    """(wall, CPU) time of starting the program."""
    wall, processor = [], []
    for _ in range(times):
        begun, before = time.perf_counter(), os.times()
        call()
        wall.append(time.perf_counter() - begun)
        after = os.times()
        processor.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(wall), min(processor)


print(f"{'estimate':<20} {'wall':>9} {'processor':>10}  a second of processor time")
for kind, settings in KINDS.items():
    cases = [(model, gpu, one) for model, gpu, one in itertools.product(MODELS, GPUS, settings)]

    def block():
        for model, gpu, one in cases:
            rightsize.estimate(model, gpu, **one)

    block()  # loads models and constants
    wall, processor = best(block, 10)
    print(f'{kind:<20} {wall / len(cases) * 1e6:6.1f} us {processor / len(cases) * 1e6:7.1f} us  {len(cases) / processor:,.0f}')

print(f"\n{'recommend':<20} {'wall':>9} {'processor':>10}")
for kind, (settings, words) in RECOMMEND.items():
    model = settings['model']
    others = {name: value for name, value in settings.items() if name != 'model'}
    rightsize.recommend(model, **others)
    wall, processor = best(lambda: rightsize.recommend(model, **others), 5)
    print(f'{kind + ", in process":<20} {wall * 1e3:6.0f} ms {processor * 1e3:7.0f} ms')
    command = [PROGRAM, 'recommend', *words, '--format', 'json']
    wall, processor = children(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True), 5)
    print(f'{kind + ", the program":<20} {wall * 1e3:6.0f} ms {processor * 1e3:7.0f} ms')
