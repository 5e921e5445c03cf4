#!/usr/bin/env python3
"""Measures the time and memory of rightsize fleet, with a fleet in VictoriaMetrics and one in a file.

    bench/fleet_bench.py build/release/rightsize                     1,000 GPUs x 7 days on the server, 10,000 x 1 day as a file
    bench/fleet_bench.py PROGRAM --gpus 250 500 1000 --days 7        shows how time grows with the number of GPUs
    bench/fleet_bench.py PROGRAM --file-gpus 10000 --gpus            only the file

Prints one line per run; docs/fleet.md quotes them. Needs Debian's victoria-metrics and disk space: 22 bytes per sample for the file."""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'fleet'))
import fleet_data
import servers

END = 1790000000 // 3600 * 3600


def measure(command):
    """Wall seconds, CPU seconds and peak MiB of a rightsize command."""
    begin = time.time()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(['/usr/bin/env', 'python3', '-c', MEASURED, *command], stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, seconds = out.split('\n')[-2].split()
    assert process.returncode == 0, out
    return time.time() - begin, float(seconds), float(peak) / 1024


# A separate process, because the peak must be that of one program.
MEASURED = '''
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(use.ru_maxrss, use.ru_utime + use.ru_stime)
sys.exit(code)
'''


def fill(base, fleet, batch=64):
    """Posts the fleet a few GPUs at a time, in the line format of VictoriaMetrics."""
    import json
    times = ','.join('%d000' % t for t in fleet.times)
    texts = {(kind, m): ','.join(rows[m]) for kind, rows in fleet.rows.items() for m in range(len(fleet_data.METRICS))}
    lines = []
    for gpu in range(fleet.gpus):
        for m, name in enumerate(fleet_data.METRICS):
            head = json.dumps({'__name__': name, **fleet_data.labels(gpu)}, separators=(',', ':'))
            lines.append('{"metric":%s,"values":[%s],"timestamps":[%s]}' % (head, texts[fleet_data.kind_of(gpu), m], times))
        if len(lines) >= batch or gpu + 1 == fleet.gpus:
            servers.get(base + '/api/v1/import', data='\n'.join(lines).encode(), timeout=300)
            lines = []
    servers.get(base + '/internal/force_flush')


def bench_server(program, gpus, days, step):
    fleet = fleet_data.Fleet(gpus, days * 86400, step, END)
    with servers.victoria() as base:
        begin = time.time()
        fill(base, fleet)
        servers.get(base + '/internal/force_merge')
        filled = time.time() - begin
        time.sleep(min(20, filled / 4))  # lets the server finish merging
        wall, cpu, peak = measure([program, 'fleet', '--prometheus', base, '--window', '%gd' % days, '--end', str(END),
                                   '--price', 'h100-sxm=2.5'])
    print('server: %6d GPUs x %g d at %d s, %.1f M samples (filled in %.0f s): %6.1f s, ours %.1f s of processor, %.0f MiB'
          % (gpus, days, step, gpus * fleet.samples * 6 / 1e6, filled, wall, cpu, peak), flush=True)


def bench_file(program, gpus, days, step):
    fleet = fleet_data.Fleet(gpus, days * 86400, step, END)
    with tempfile.NamedTemporaryFile('w', suffix='.json', buffering=1 << 20) as file:
        fleet.write_json(file)
        file.flush()
        size = os.path.getsize(file.name)
        wall, cpu, peak = measure([program, 'fleet', '--from', file.name, '--price', 'h100-sxm=2.5'])
    print('file:   %6d GPUs x %g d at %d s, %.2f GB: %6.1f s, %.0f MB/s, %.0f MiB'
          % (gpus, days, step, size / 1e9, wall, size / 1e6 / cpu, peak), flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument('program')
    args.add_argument('--gpus', type=int, nargs='*', default=[1000])
    args.add_argument('--days', type=float, default=7)
    args.add_argument('--step', type=int, default=30)
    args.add_argument('--file-gpus', type=int, nargs='*', default=[10000])
    args.add_argument('--file-days', type=float, default=1)
    a = args.parse_args()
    for gpus in a.gpus:
        bench_server(a.program, gpus, a.days, a.step)
    for gpus in a.file_gpus:
        bench_file(a.program, gpus, a.file_days, a.step)


if __name__ == '__main__':
    main()
