"""Fleets with irregular telemetry and known hours: GPUs that come and go, change their interval, host, owner or MIG layout,
are shared, miss scrapes, or report invalid values. The truth comes from the periods of presence, never from the readings."""
import collections
import json
import random

UTIL, MEMORY = 'DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_FB_USED'
HOUR = 3600


class Stretch:
    """A series: there from `begin` to before `end`, read every `step` seconds; `activity` in per cent, None: only memory."""

    def __init__(self, gpu, begin, end, step, pod, activity, host='node-1', job='dcgm', instance=None, skip=(), bad=None):
        self.gpu, self.begin, self.end, self.step, self.pod, self.activity = gpu, begin, end, step, pod, activity
        self.host, self.job, self.instance, self.skip, self.bad = host, job, instance, skip, bad

    def labels(self):
        found = {'UUID': self.gpu, 'gpu': '0', 'modelName': 'NVIDIA H100 80GB HBM3', 'job': self.job}
        if self.host:
            found['Hostname'] = self.host
        if self.pod:
            found.update(namespace='team', pod=self.pod)
        if self.instance:
            found.update(GPU_I_ID=self.instance[0], GPU_I_PROFILE=self.instance[1])
        return found

    def series(self):
        times = [t for t in range(self.begin, self.end, self.step) if not any(a <= t < b for a, b in self.skip)]
        if self.activity is not None:
            values = [str(self.activity)] * len(times)
            if self.bad:
                values[::7] = [self.bad] * len(values[::7])
            yield UTIL, self.labels(), times, values
        yield MEMORY, self.labels(), times, ['20000'] * len(times)


class Fleet:
    KINDS = ('steady', 'faster', 'churn', 'silent', 'moves', 'no_host', 'pods', 'shared', 'partitioned', 'missed', 'outages',
             'nonsense', 'twice', 'unowned')

    def __init__(self, seed, begin, hours=24):
        self.random, self.begin, self.hours, self.stretches = random.Random(seed), begin, hours, []
        for number, kind in enumerate(self.KINDS * 2):
            self.gpu, self.kind = 'GPU-%s-%d' % (kind.replace('_', ''), number), kind
            getattr(self, kind)()

    def add(self, begin, end, step, pod, activity, **more):
        """A time, in hours from the beginning."""
        offset = self.begin + self.shift
        self.stretches.append(Stretch(self.gpu, offset + int(begin * HOUR), offset + int(end * HOUR), step, pod, activity, **more))

    @property
    def shift(self):
        return 11  # exporters are not read at full minutes

    def pod(self):
        return self.random.choice(('train-0', 'serve-0', 'eval-0', ''))

    def busy(self):
        return self.random.choice((0, 0, 35, 80))

    def steady(self):
        self.add(0, self.hours, self.random.choice((15, 30, 60)), self.pod(), self.busy())

    def faster(self):
        middle = self.random.randrange(2, self.hours - 2)
        self.add(0, middle, 60, 'train-0', self.busy())
        self.add(middle, self.hours, 15, 'train-0', self.busy())

    def churn(self):
        at = self.random.random()
        while at + 1 < self.hours:
            self.add(at, at + 0.5, 30, self.pod(), self.busy())
            at += 1

    def silent(self):
        a, b = sorted(self.random.sample(range(2, self.hours - 1), 2))
        pod = self.pod()
        self.add(0, a, 60, pod, 0)
        self.add(a, b, 60, pod, None)
        self.add(b, self.hours, 60, pod, 50)

    def moves(self):
        middle = self.random.randrange(2, self.hours - 2)
        self.add(0, middle, 60, 'train-0', self.busy(), host='node-1')
        self.add(middle, self.hours, 60, 'train-0', self.busy(), host='node-2')

    def no_host(self):
        self.add(0, self.hours, 60, self.pod(), self.busy(), host=None)

    def pods(self):
        for hour in range(self.hours):
            self.add(hour, hour + 1, 60, 'job%d-0' % hour, self.busy())

    def shared(self):
        late = self.random.choice((0, self.hours / 2))
        activity = self.busy()
        self.add(0, self.hours, 60, 'left-0', activity)
        self.add(late, self.hours, 60, 'right-0', activity)

    def partitioned(self):
        middle = self.random.randrange(2, self.hours - 2)
        self.add(0, middle, 60, self.pod(), self.busy())
        for number in '12':
            self.add(middle, self.hours, 60, 'slice%s-0' % number, self.busy(), instance=(number, '3g.40gb'))

    def holes(self, seconds, count):
        found = []
        for hour in self.random.sample(range(1, self.hours - 1), count):
            at = self.begin + hour * HOUR + self.random.randrange(0, HOUR // 2)
            found.append((at, at + seconds))
        return found

    def missed(self):  # up to four minutes: a scrape was missed, but the GPU was present
        self.add(0, self.hours, 30, self.pod(), self.busy(), skip=self.holes(230, 20))

    def outages(self):  # longer: the GPU was not present
        at, pod = 0, self.pod()
        while at + 2 < self.hours:
            self.add(at, at + 2, 30, pod, self.busy())
            at += 2 + self.random.choice((6.5, 8, 9.5, 15)) / 60

    def nonsense(self):
        first = not any(s.bad for s in self.stretches)
        self.add(0, self.hours, 60, self.pod(), 0, bad=self.random.choice(('2147483632', '250', '-1')) if first else 'NaN')

    def twice(self):
        pod, activity = self.pod(), self.busy()
        self.add(0, self.hours, 60, pod, activity)
        self.add(0, self.hours, 15, pod, activity, job='second')

    def unowned(self):  # a second exporter, read more often, that does not know pods
        activity = self.busy()
        self.add(0, self.hours, 60, 'train-0', activity)
        self.add(0, self.hours, 30, '', activity, job='second')

    # --- the truth ---

    def truth(self):
        """In seconds: {gpu: present}, {pod: owned}, idle (minimum, maximum), and the tolerance of each: one interval per period."""
        there, had, slack, idle = collections.Counter(), collections.Counter(), collections.Counter(), [0, 0]
        by_gpu = collections.defaultdict(list)
        for s in self.stretches:
            by_gpu[s.gpu].append(s)
            slack[s.gpu] += s.step
            slack[s.pod] += s.step
        for gpu, stretches in by_gpu.items():
            cuts = sorted({t for s in stretches for t in (s.begin, s.end)})
            for a, b in zip(cuts, cuts[1:]):
                now = [s for s in stretches if s.begin <= a < s.end]
                if not now:
                    continue
                there[gpu] += b - a
                parts = [s for s in now if s.instance]  # instances with half of the GPU each
                pods = {s.pod for s in now if s.pod}
                for pod in pods:
                    had[pod] += (b - a) / (2 if parts else len(pods))
                known = [s.activity for s in (parts or now) if s.activity is not None]
                share = (b - a) / len(known) if parts else b - a
                for activity in known if parts else known[:1]:
                    idle[0] += share * (activity == 0)
                    idle[1] += share * (activity == 0)
                idle[1] += 0 if known else b - a
        return there, had, idle, slack

    # --- the readings ---

    def series(self):
        merged = {}
        for s in sorted(self.stretches, key=lambda s: s.begin):
            for name, labels, times, values in s.series():
                entry = merged.setdefault((name, tuple(sorted(labels.items()))), (name, labels, [], []))
                entry[2].extend(times)
                entry[3].extend(values)
        return merged.values()

    def write_json(self, out):
        rows = [json.dumps({'metric': dict(labels, __name__=name), 'values': [[t, v] for t, v in zip(times, values)]})
                for name, labels, times, values in self.series()]
        out.write('{"status":"success","data":{"resultType":"matrix","result":[' + ',\n'.join(rows) + ']}}')

    def write_import(self, out):
        for name, labels, times, values in self.series():
            out.write('{"metric":%s,"values":[%s],"timestamps":[%s]}\n' % (
                json.dumps(dict(labels, __name__=name)), ','.join(values), ','.join('%d000' % t for t in times)))

    def write_openmetrics(self, out):
        for metric in (UTIL, MEMORY):
            out.write('# TYPE %s gauge\n' % metric)
            for name, labels, times, values in self.series():
                if name == metric:
                    head = name + '{' + ','.join('%s="%s"' % item for item in labels.items()) + '}'
                    out.writelines('%s %s %d\n' % (head, v, t) for t, v in zip(times, values))
        out.write('# EOF\n')
