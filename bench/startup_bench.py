#!/usr/bin/env python3
"""Processor time and wall time of commands that need no network, from start to end. Usage: startup_bench.py PROGRAM

The least of 30 runs: what the machine does beside it only adds."""
import os
import subprocess
import sys
import time

COMMANDS = ["--version", "--help", "gpus", "models llama-3.1-8b", "memory llama-3.1-8b h100-sxm",
            "estimate llama-3.1-8b h100-sxm", "prices h100"]


def measure(command):
    wall, processor = [], []
    for _ in range(30):
        before, begun = os.times(), time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        wall.append(time.perf_counter() - begun)
        after = os.times()
        processor.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(wall), sum(processor) / len(processor)


print(f"{'command':<32}  {'wall':>8}  {'processor':>9}")
for words in COMMANDS:
    wall, processor = measure([sys.argv[1], *words.split()])
    print(f"{words:<32}  {wall * 1e3:5.1f} ms  {processor * 1e3:6.1f} ms")
