#!/usr/bin/env python3
"""rightsize service on random services of known truth (play_service.cc), alternately in a real Prometheus and a real VictoriaMetrics:
rate within 2 %, mean lengths within 5 %, percentiles within one bucket, the SLO verdict, GPU-hours and dollars. The cheapest plan
meets the SLO when it is simulated with the true traffic, and costs on average at most a tenth more than the plan that would be chosen
with the true traffic and speed (with a margin of a twentieth to the limit, for the next run).
Usage: truth_test.py PROGRAM PLAYER [SEED ... | --seeds N]."""
import bisect
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fleet'))
import servers

USD = 2.0


class OpenMetrics:
    """The input from which servers.prometheus() creates its blocks."""
    def __init__(self, path):
        self.path = path

    def write_openmetrics(self, out):
        with open(self.path) as text:
            out.write(text.read())


def limits_of(truth):
    """Limits well away from the true p95, at bounds of buckets."""
    of, limits = truth['of'], {}
    if 'bounds' in of['ttft']:
        limits['ttft'] = next(b for b in of['ttft']['bounds'] if b >= max(0.25, 1.3 * of['ttft']['p95']))
    tokens = next(of[k] for k in ('tpot', 'itl', 'mean') if 'bounds' in of.get(k, {}))
    worst = max(of[k]['p99'] for k in ('tpot', 'itl', 'mean'))
    limits['tpot'] = next(b for b in tokens['bounds'] if b >= 1.5 * worst)
    return limits


def ask(program, base, truth, limits, *flags):
    slo = ','.join('%s=%gs' % kv for kv in limits.items())
    command = [program, 'service', '--prometheus', base, '--end', str(int(truth['end'])), '--window',
               '%dh' % ((truth['end'] - truth['begin']) // 3600), '--slo', slo, '--price', '%s=%g' % (truth['gpu'], USD), '--format', 'json', *flags]
    done = subprocess.run(command + ([] if truth['named'] else ['--model', truth['model']]), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    services = json.loads(done.stdout)['services']
    assert len(services) == 1, [s['name'] for s in services]
    return services[0]


def near(what, says, true, share):
    assert says is not None and abs(says / true - 1) <= share, '%s: %s where %s is true' % (what, says, true)


def same_bucket(what, says, bounds_and_truths):
    ok = says and any(abs(bisect.bisect_left(b, says * (1 - 1e-9)) - bisect.bisect_left(b, t)) <= 1 for b, t in bounds_and_truths)
    assert ok, '%s: %s where %s is true' % (what, says, [t for _, t in bounds_and_truths])


def check(found, truth, limits):
    of = truth['of']
    assert found['engine'] == truth['engine'] and found['gpu'] == truth['gpu'], (found['engine'], found['gpu'])
    near('rate', found['requests_per_second']['mean'], truth['rate'], 0.02)
    peak = found['requests_per_second']['peak_hour']
    assert 0.98 * truth['peak'] <= peak <= 1.02 * truth['peak_sliding'], 'peak hour: %s of %s' % (peak, truth['peak'])
    for key in ('isl', 'osl'):
        if 'bounds' not in of[key] and found[key]['mean'] is None:
            continue
        near(key, found[key]['mean'], of[key]['mean'], 0.05)
        for p in ('p50', 'p95'):
            if 'bounds' in of[key]:
                same_bucket('%s %s' % (key, p), found[key][p], [(of[key]['bounds'], of[key][p])])
    for p in ('p50', 'p95', 'p99'):
        if 'bounds' in of['ttft']:
            same_bucket('ttft ' + p, found['ttft_seconds'][p], [(of['ttft']['bounds'], of['ttft'][p])])
        else:
            assert found['ttft_seconds'][p] is None
        same_bucket('tpot ' + p, found['tpot_seconds'][p], [(of[k]['bounds'], of[k][p]) for k in ('tpot', 'itl', 'mean') if 'bounds' in of[k]])
    near('GPU-hours', found['gpu_hours'], truth['gpu_hours'], 0.01)
    near('dollars', found['usd_per_month'], truth['replicas'] * truth['tp'] * USD * 730, 0.01)
    assert found['replicas'] == truth['replicas'] and found['gpus'] == truth['replicas'] * truth['tp'], found['replicas']
    assert found['slo_kept'] is True, found['slo']
    assert found['plans'], found['notes']


def true_run(player, seed, plan):
    command = [player, str(seed), 'keeps', plan['gpu'], str(plan['tp']), plan['precision'], str(plan['replicas']), str(plan['max_sequences']), str(plan['max_batched_tokens'])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def holds(run, limits, slack=1.0):
    return run is not None and all(run[k] <= slack * limit for k, limit in limits.items())


def cheapest_with_full_knowledge(program, player, base, truth, limits):
    """The cheapest plan, among those for these limits and for looser ones (in case the program was too careful), that meets these
    limits in the busiest hour of the true traffic at the true speed. A plan closer to its limit than two of its runs are to each
    other is skipped: the next run may break it, and it would dominate the mean of a few services."""
    plans = []
    for loose in (1, 1.25, 1.6):
        plans += ask(program, base, truth, {k: v * loose for k, v in limits.items()}, '--top', '40')['plans']
    for plan in sorted(plans, key=lambda p: p['usd_per_month']):
        if holds(true_run(player, truth['seed'], plan)['busiest_hour'], limits, 0.95):
            return plan['usd_per_month']
    return None


def one(program, player, seed, folder):
    out = os.path.join(folder, str(seed))
    subprocess.run([player, str(seed), out], check=True)
    with open(out + '.json') as text:
        truth = json.load(text)
    limits = limits_of(truth)
    truth['seed'] = seed
    prometheus = seed % 2
    if prometheus:
        with servers.prometheus(OpenMetrics(out + '.om')) as base:
            return judged(program, player, base, truth, limits, 'Prometheus')
    with servers.victoria() as base, open(out + '.import') as lines:
        servers.import_lines(base, [lines.read()])
        return judged(program, player, base, truth, limits, 'VictoriaMetrics')


def check_exporter(program, base, truth, limits, found):
    """The exporter publishes the same figures."""
    command = [program, 'exporter', '--prometheus', base, '--end', str(int(truth['end'])), '--window', '%dh' % ((truth['end'] - truth['begin']) // 3600),
               '--services', '--slo', ','.join('%s=%gs' % kv for kv in limits.items()), '--price', '%s=%g' % (truth['gpu'], USD), '--once']
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    says = {line.split('{')[0]: float(line.rsplit(' ', 1)[1]) for line in done.stdout.splitlines() if line.startswith('rightsize_service_')}
    for name, value in (('requests_per_second', found['requests_per_second']['mean']), ('replicas', found['replicas']), ('slo_kept', 1),
                        ('usd_per_month', found['usd_per_month'])):
        near('exporter: ' + name, says.get('rightsize_service_' + name), value, 1e-6)
    if truth['named'] and found['usd_per_month'] > found['plans'][0]['usd_per_month'] * 1.02:
        near('exporter: waste', says.get('rightsize_service_waste_usd_per_month'), found['usd_per_month'] - found['plans'][0]['usd_per_month'], 1e-6)


def check_autoscale(program, base, truth, limits):
    """`autoscale` replays the true traffic on the GPUs that served it; `verify` and `service` measure what it predicts."""
    window = ['--prometheus', base, '--end', str(int(truth['end'])), '--window', '%dh' % ((truth['end'] - truth['begin']) // 3600)]
    model = [] if truth['named'] else ['--model', truth['model']]

    def said(*words):
        done = subprocess.run([program, *words, '--format', 'json'], capture_output=True, text=True)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)
    slo = ','.join('%s=%gs' % kv for kv in limits.items())
    says = said('autoscale', *window, *model, '--slo', slo, '--slo-percentile', '95', '--startup', '60s', '--policy', 'fixed:replicas=%d' % truth['replicas'])
    assert says['gpu'] == truth['gpu'] and says['gpus_per_replica'] == truth['tp'], (says['gpu'], says['gpus_per_replica'])
    near('autoscale: GPU-hours', says['measured']['gpu_hours'], truth['gpu_hours'], 0.01)
    # Random arrivals at the measured rates: four standard deviations.
    requests = truth['rate'] * (truth['end'] - truth['begin'])
    near('autoscale: requests', says['policies'][0]['requests'], requests, 0.02 + 4 / requests ** 0.5)
    hours = [h['requests'] for h in says['policies'][0]['hours']]
    assert max(hours) <= 3600 * truth['peak_sliding'] * 1.05 + 4 * max(hours) ** 0.5, (max(hours), truth['peak_sliding'])
    with tempfile.TemporaryDirectory() as folder:
        plan, ledger = os.path.join(folder, 'plan.json'), os.path.join(folder, 'ledger.db')
        with open(plan, 'w') as out:
            json.dump(says, out)
        said('decide', '--from', plan, '--workload', 'the service', '--tolerance', '5%', '--ledger', ledger)
        of = {m['metric']: m for m in said('verify', 'the service', '--ledger', ledger, *window)['verification']['metrics']}
        day = truth['gpu_hours'] * 86400 / (truth['end'] - truth['begin'])
        near('verify: GPU-hours', of['gpu_hours_per_day']['measured'], day, 0.01)
        assert of['gpu_hours_per_day']['verdict'] == 'kept' and of['over_slo']['verdict'] == 'kept', of  # the limits are met
        assert abs(of['over_slo']['measured'] - of['over_slo']['predicted']['likely']) < 0.02, of
        name = said('service', *window, *model, '--slo', slo, '--top', '1')['services'][0]['workload']
        said('decide', '--from', plan, '--workload', name, '--tolerance', '5%', '--ledger', ledger)
        shown = said('service', *window, *model, '--slo', slo, '--top', '1', '--ledger', ledger)['services'][0]['predicted']['metrics']
        assert [(m['metric'], m['measured']) for m in shown] == [(m, of[m]['measured']) for m in ('over_slo', 'gpu_hours_per_day')], shown


def judged(program, player, base, truth, limits, server):
    """The cost of the plan relative to the one chosen with full knowledge."""
    found = ask(program, base, truth, limits)
    check(found, truth, limits)
    if truth['seed'] <= 2:
        check_autoscale(program, base, truth, limits)
        check_exporter(program, base, truth, limits, found)
    plan = found['plans'][0]
    run = true_run(player, truth['seed'], plan)
    # Simulated runs of the same plan differ by up to a tenth.
    assert holds(run['window'], limits, 1.1), 'plan %s: %s where %s is allowed' % (plan, run, limits)
    least = cheapest_with_full_knowledge(program, player, base, truth, limits)
    regret = max(0, plan['usd_per_month'] / least - 1) if least else 0
    print('%d: %s, %s x %s on %s: %.2f requests/s, TPOT %.1f ms (expected %.1f, true speed x %.2f); $%.0f a month, cheapest $%.0f, regret %.0f %%' % (
        truth['seed'], server, truth['replicas'], truth['model'], truth['gpu'], truth['rate'],
        1e3 * found['tpot_seconds']['mean'], 1e3 * (found['calibration'] or {}).get('prior_tpot_seconds', 0), truth['speed'],
        found['usd_per_month'], plan['usd_per_month'], 100 * regret), flush=True)
    return regret


def main():
    program, player, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    seeds = range(1, 1 + int(words[1])) if words[:1] == ['--seeds'] else [int(w) for w in words] or [1, 2, 3, 4, 5]
    wrong, regrets = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                regrets.append(one(program, player, seed, folder))
            except AssertionError as problem:
                wrong.append('%d: %s' % (seed, problem))
                print('WRONG', wrong[-1], flush=True)
    regret = sum(regrets) / max(1, len(regrets))
    print('%d services, mean regret %.1f %%' % (len(seeds), 100 * regret))
    if regret > 0.1:
        wrong.append('mean regret %.1f %%' % (100 * regret))
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
