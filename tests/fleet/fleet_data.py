"""Telemetry of a synthetic fleet of known kinds: the six default metrics of dcgm-exporter for GPUs that
are idle, held, bursty, busy, memory-bound or underused. Used by the tests with real servers and by bench/fleet_bench.py.

    fleet_data.py json OUT --gpus 1000 --days 1        one Prometheus query_range response
    fleet_data.py openmetrics OUT ...                  for promtool tsdb create-blocks-from openmetrics
    fleet_data.py import OUT ...                       VictoriaMetrics's /api/v1/import, one series per line
"""
import argparse
import json
import random

METRICS = ('DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE',
           'DCGM_FI_PROF_DRAM_ACTIVE', 'DCGM_FI_DEV_FB_USED', 'DCGM_FI_DEV_POWER_USAGE')
# The share of time each kind works, and its values while it works: activity, tensor, dram, memory MiB, watts.
KINDS = {
    'idle': dict(duty=0.0, activity=0.0, tensor=0.0, dram=0.0, memory=615, watts=80),
    'idle-held': dict(duty=0.0, activity=0.0, tensor=0.0, dram=0.0, memory=41000, watts=115),
    'busy': dict(duty=1.0, activity=0.985, tensor=0.62, dram=0.34, memory=69000, watts=655),
    'memory': dict(duty=1.0, activity=0.985, tensor=0.03, dram=0.71, memory=66000, watts=480),
    'underused': dict(duty=1.0, activity=0.09, tensor=0.012, dram=0.02, memory=7200, watts=135),
    'bursty': dict(duty=0.25, activity=0.96, tensor=0.55, dram=0.35, memory=30500, watts=600),
}
ORDER = ('busy', 'idle-held', 'underused', 'busy', 'memory', 'bursty', 'busy', 'idle')


def kind_of(gpu):
    return ORDER[gpu % len(ORDER)]


def values(kind, samples, step, seed=0, burst=2400):
    """Six lists of text. Bursts are `burst` seconds long; noise is a few percent."""
    rng = random.Random('%s %d' % (kind, seed))
    k = KINDS[kind]
    rows = [[] for _ in METRICS]
    for i in range(samples):
        on = k['duty'] >= 1 or (k['duty'] > 0 and (i * step) % (burst / k['duty']) < burst)
        noise = rng.uniform(0.97, 1.03)
        activity = min(1.0, k['activity'] * noise) if on else 0.0
        rows[0].append('%d' % round(activity * 100))
        rows[1].append('%.4f' % activity)
        rows[2].append('%.4f' % (k['tensor'] * noise if on else 0.0))
        rows[3].append('%.4f' % (k['dram'] * noise if on else 0.0))
        rows[4].append('%d' % k['memory'])
        rows[5].append('%.1f' % (k['watts'] * noise if on else 95.0 if k['memory'] > 1000 else 80.0))
    return rows


def labels(gpu, per_host=8, extra=None):
    kind = kind_of(gpu)
    found = {'gpu': str(gpu % per_host), 'UUID': 'GPU-%06d' % gpu, 'device': 'nvidia%d' % (gpu % per_host),
             'modelName': 'NVIDIA H100 80GB HBM3', 'Hostname': 'node-%04d' % (gpu // per_host)}
    if kind != 'idle':
        found.update(namespace='team-%d' % (gpu % 5), pod='%s-7d4b9c6f5-%s' % (kind, 'bcdfg'))
    found.update(extra or {})
    return found


def prom_labels(found):
    return '{' + ','.join('%s="%s"' % item for item in found.items()) + '}'


class Fleet:
    """Values are drawn once per kind, to write large fleets quickly."""

    def __init__(self, gpus, seconds, step, end):
        self.gpus, self.step = gpus, step
        self.samples = int(seconds // step)
        self.times = [int(end - seconds + step * (i + 1)) for i in range(self.samples)]
        self.rows = {kind: values(kind, self.samples, step) for kind in KINDS}

    def truth(self):
        return {'GPU-%06d' % gpu: kind_of(gpu) for gpu in range(self.gpus)}

    def write_json(self, out):
        out.write('{"status":"success","data":{"resultType":"matrix","result":[')
        texts = {(kind, m): ','.join('[%d,"%s"]' % pair for pair in zip(self.times, rows[m]))
                 for kind, rows in self.rows.items() for m in range(len(METRICS))}
        for gpu in range(self.gpus):
            for m, name in enumerate(METRICS):
                head = json.dumps({'__name__': name, **labels(gpu)}, separators=(',', ':'))
                out.write('%s{"metric":%s,"values":[%s]}' % (',' if gpu or m else '', head, texts[kind_of(gpu), m]))
        out.write(']}}')

    def write_import(self, out):
        times = ','.join('%d000' % t for t in self.times)
        texts = {(kind, m): ','.join(rows[m]) for kind, rows in self.rows.items() for m in range(len(METRICS))}
        for gpu in range(self.gpus):
            for m, name in enumerate(METRICS):
                head = json.dumps({'__name__': name, **labels(gpu)}, separators=(',', ':'))
                out.write('{"metric":%s,"values":[%s],"timestamps":[%s]}\n' % (head, texts[kind_of(gpu), m], times))

    def write_openmetrics(self, out):
        for m, name in enumerate(METRICS):
            out.write('# TYPE %s gauge\n' % name)
            for gpu in range(self.gpus):
                head = name + prom_labels(labels(gpu))
                rows = self.rows[kind_of(gpu)][m]
                out.writelines('%s %s %d\n' % (head, value, time) for time, value in zip(self.times, rows))
        out.write('# EOF\n')


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument('format', choices=('json', 'openmetrics', 'import'))
    args.add_argument('out')
    args.add_argument('--gpus', type=int, default=16)
    args.add_argument('--days', type=float, default=1)
    args.add_argument('--step', type=int, default=30)
    args.add_argument('--end', type=int, default=1790000000)
    a = args.parse_args()
    fleet = Fleet(a.gpus, a.days * 86400, a.step, a.end)
    with open(a.out, 'w', buffering=1 << 20) as out:
        getattr(fleet, 'write_' + a.format)(out)


if __name__ == '__main__':
    main()
