#!/usr/bin/env python3
"""The dynamic batcher of src/sim in SimPy: Poisson arrivals, one executor, batches of up to 32, 5 ms of delay.
Prints simulated requests per CPU second, the mean latency in milliseconds and the mean batch. Needs python3-simpy3.
Usage: simpy_batcher.py REQUESTS SEED"""
import random
import sys
import time

import simpy

RATE, MAX_BATCH, DELAY = 1500.0, 32, 5e-3


def service_time(batch):
    return (2.0 + 0.35 * batch) * 1e-3


def arrivals(env, queue, count, draw, wake):
    for _ in range(count):
        yield env.timeout(draw.expovariate(RATE))
        queue.append(env.now)
        if wake['event'] is not None and not wake['event'].triggered:
            wake['event'].succeed()


def batcher(env, queue, count, latencies, wake):
    done, batches = 0, 0
    while done < count:
        while not (len(queue) >= MAX_BATCH or (queue and env.now - queue[0] >= DELAY - 1e-12)):
            wake['event'] = env.event()
            if queue:
                yield wake['event'] | env.timeout(queue[0] + DELAY - env.now)
            else:
                yield wake['event']
        batch = queue[:MAX_BATCH]
        del queue[:MAX_BATCH]
        yield env.timeout(service_time(len(batch)))
        latencies.extend(env.now - arrived for arrived in batch)
        done += len(batch)
        batches += 1
    wake['batches'] = batches


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    env, queue, latencies, wake = simpy.Environment(), [], [], {'event': None}
    env.process(arrivals(env, queue, count, random.Random(seed), wake))
    env.process(batcher(env, queue, count, latencies, wake))
    start = time.process_time()
    env.run()
    taken = time.process_time() - start
    print(count / taken, 1e3 * sum(latencies) / count, count / wake['batches'])


if __name__ == '__main__':
    main()
