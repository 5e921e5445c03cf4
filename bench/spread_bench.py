#!/usr/bin/env python3
"""Measures whole recommendations over random requests: spread_bench.py PROGRAM [REQUESTS] [SEED]

A third train, a third serve language models, a third serve encoders, over the whole catalogue. Each runs in a fresh process
that simulates and explains everything it shows. Prints wall time and CPU time (which hardly depends on other work on the
machine) and the slowest requests. BEFORE=PROGRAM also runs another build and prints the ratio."""
import os
import random
import resource
import subprocess
import sys
import time


def magnitude(draw, low, high):
    return low * (high / low) ** draw.random()


def training(draw):
    words = ['--model', draw.choice(['llama-3.2-1b', 'llama-3.1-8b', 'qwen2.5-7b', 'llama-2-13b', 'llama-3.1-70b', 'mixtral-8x7b']),
             '--tokens', f'{magnitude(draw, 1e7, 2e10):.0f}', '--method', draw.choice(['full', 'lora', 'full,lora'])]
    if draw.random() < 0.4:
        words += ['--deadline', f'{magnitude(draw, 24, 1000):.0f}h']
    if draw.random() < 0.3:
        words += ['--seq', draw.choice(['1024', '4096', '8192'])]
    return words + (['--stack', draw.choice(['torchtitan', 'megatron'])] if draw.random() < 0.3 and '--method' in words and words[5] == 'full' else [])


def language(draw):
    model = draw.choice(['llama-3.2-1b', 'llama-3.1-8b', 'qwen2.5-7b', 'llama-3.1-70b', 'llama-3.1-70b', 'gpt-oss-120b', 'deepseek-v3'])
    return ['--model', model, '--job', 'serve', '--rate', f'{magnitude(draw, 0.5, 100):.1f}/s', '--isl', f'{magnitude(draw, 128, 6000):.0f}',
            '--osl', f'{magnitude(draw, 32, 800):.0f}', '--ttft-slo', f'{magnitude(draw, 300, 5000):.0f}ms',
            '--tpot-slo', f'{magnitude(draw, 20, 100):.0f}ms', '--slo-percentile', draw.choice(['50', '95', '95', '99'])]


def encoder(draw):
    return ['--model', draw.choice(['bert-base', 'bert-large', 'vit-l-16']), '--job', 'serve', '--rate', f'{magnitude(draw, 1, 5000):.0f}/s',
            '--ttft-slo', f'{magnitude(draw, 8, 300):.0f}ms', '--slo-percentile', draw.choice(['95', '95', '99'])]


def run(program, words):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    code = subprocess.run([program, 'recommend', *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


def summary(name, values):
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    print(f'{name:10} p50 {at(0.5):.2f} s   p95 {at(0.95):.2f} s   max {ordered[-1]:.2f} s')


program = sys.argv[1] if len(sys.argv) > 1 else 'build/release/rightsize'
count = int(sys.argv[2]) if len(sys.argv) > 2 else 30
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
rows, others, refused = [], [], 0
for i in range(count):
    words = (training, language, encoder)[i % 3](draw)
    wall, processor, code = run(program, words)
    if code not in (0, 2):  # 2: no plan meets the limits, which needs a complete search too
        refused += 1
        print('refused:', ' '.join(words))
        continue
    rows.append((wall, processor, words))
    if 'BEFORE' in os.environ:
        others.append(run(os.environ['BEFORE'], words)[1])
print(f'{len(rows)} requests' + (f', {refused} refused' if refused else ''))
summary('wall', [row[0] for row in rows])
summary('processor', [row[1] for row in rows])
if others:
    summary('before', others)
    print(f'processor time now over before: {sum(row[1] for row in rows) / sum(others):.2f}')
print('slowest by processor time:')
for wall, processor, words in sorted(rows, key=lambda row: -row[1])[:6]:
    print(f'  {processor:.2f} s (wall {wall:.2f})  {" ".join(words)}')
