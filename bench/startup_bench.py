#!/usr/bin/env python3
"""CPU time and wall time of commands that need no network, and how fast Ctrl-C ends long ones.
Usage: startup_bench.py PROGRAM

The fastest of 30 runs counts, because other work on the machine only adds time."""
import os
import signal
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


def interrupted(words):
    """The longest time in milliseconds from Ctrl-C to the end over several moments; None if the work was already done."""
    longest = None
    for wait in (0.1, 0.2, 0.4, 0.7, 1.0):
        running = subprocess.Popen([sys.argv[1], *words.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            running.wait(timeout=wait)
            continue
        except subprocess.TimeoutExpired:
            pass
        begun = time.perf_counter()
        running.send_signal(signal.SIGINT)
        running.wait()
        longest = max(longest or 0, 1e3 * (time.perf_counter() - begun))
    return longest


print(f"\n{'Ctrl-C during':<76}  {'ends within':>11}")
for words in ("batch --model bert-large --gpu l4 --arrivals poisson:20000 --slo p99=100ms",
              "batch --model llama-3.1-8b --gpu h100-sxm --arrivals poisson:200 --slo ttft=1s",
              "recommend --model llama-3.1-70b --job serve --rate 60/s --ttft-slo 1s"):
    longest = interrupted(words)
    print(f"{words:<76}  {'-' if longest is None else f'{longest:.0f} ms':>11}")
