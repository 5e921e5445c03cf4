#!/usr/bin/env python3
"""Submits emitted batch scripts to a real Slurm with --test-only: slurmctld reads every #SBATCH line and checks the
request against nodes like the plan's machines. Nothing runs, so no slurmd is needed.
Usage: slurm_test.py PROGRAM"""
import json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time

PROGRAM = sys.argv[1]
DAEMONS = {name: shutil.which(name, path=os.environ['PATH'] + ':/usr/sbin:/sbin') for name in ('slurmctld', 'sbatch', 'munged')}
if None in DAEMONS.values():
    sys.exit('Slurm is not installed: run tools/setup test')

TRAIN = ['--model', 'meta-llama/Llama-3.1-8B-Instruct', '--tokens', '1B']
SERVE = ['--job', 'serve', '--model', 'llama-3.1-8b', '--rate', '20/s', '--ttft-slo', '1s', '--tpot-slo', '50ms']
REQUESTS = [
    [*TRAIN, '--gpu', 'h100-sxm', '--gpus', '16'],
    [*TRAIN, '--gpu', 'h100-sxm', '--gpus', '32', '--stack', 'torchtitan'],
    [*TRAIN, '--stack', 'megatron', '--gpu', 'h200-sxm'],
    [*TRAIN, '--stack', 'llm-foundry', '--gpu', 'a100-80gb-sxm'],
    [*TRAIN, '--gpu', 'mi300x', '--method', 'lora'],
    ['--model', 'resnet-50', '--epochs', '90', '--dataset-samples', '1.28M'],
    SERVE,
    [*SERVE, '--stack', 'sglang', '--gpu', 'l40s'],
    ['--job', 'serve', '--model', 'llama-3.1-405b', '--precision', 'bf16', '--rate', '1/s', '--gpu', 'h100-sxm', '--providers', 'aws'],
    ['--job', 'serve', '--model', 'llama-3.1-8b', '--items', '1M'],
]
# As wide as any node of the plans: 256 nodes with 8 GPUs and 384 processors.
CONFIG = '''ClusterName=test
SlurmctldHost={host}
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmUser={user}
StateSaveLocation={folder}/state
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
SlurmdTimeout=0
ReturnToService=2
MaxJobCount=100
NodeName=n[1-256] NodeAddr={host} Gres=gpu:8 CPUs=384 RealMemory=2000000 State=CLOUD
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=100000
'''


def free_port():
    with socket.socket() as s:
        s.bind(('', 0))
        return s.getsockname()[1]


def start(folder):
    for name in ('state', 'home'):
        os.mkdir(os.path.join(folder, name))
    user = subprocess.check_output(['id', '-un'], text=True).strip()
    with open(os.path.join(folder, 'slurm.conf'), 'w') as f:
        f.write(CONFIG.format(host=socket.gethostname(), port=free_port(), folder=folder, user=user))
    with open(os.path.join(folder, 'munge.key'), 'wb') as f:
        f.write(os.urandom(1024))
    os.chmod(f.name, 0o400)
    os.chmod(folder, 0o755)
    munge = subprocess.Popen([DAEMONS['munged'], '--foreground', '--force', '--key-file', f.name, '--socket', folder + '/munge.socket', '--pid-file', folder + '/munged.pid',
                              '--seed-file', folder + '/munged.seed', '--log-file', folder + '/munged.log'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    control = subprocess.Popen([DAEMONS['slurmctld'], '-D', '-f', folder + '/slurm.conf'], stdout=open(folder + '/slurmctld.log', 'w'), stderr=subprocess.STDOUT)
    return munge, control


def submit(folder, text, *more):
    path = os.path.join(folder, 'job.sh')
    with open(path, 'w') as f:
        f.write(text)
    env = dict(os.environ, SLURM_CONF=folder + '/slurm.conf')
    return subprocess.run([DAEMONS['sbatch'], '--test-only', *more, path], env=env, capture_output=True, text=True, timeout=60)


def main():
    folder = tempfile.mkdtemp(prefix='slurm-')
    processes, wrong = [], []
    try:
        processes = start(folder)
        for _ in range(60):  # until the controller answers
            answer = submit(folder, '#!/bin/bash\n#SBATCH --nodes=1\ntrue\n')
            if answer.returncode == 0:
                break
            time.sleep(0.5)
        else:
            print('slurmctld did not answer:', answer.stderr, open(folder + '/slurmctld.log').read()[-2000:])
            return 1
        for request in REQUESTS:
            made = subprocess.run([PROGRAM, 'recommend', *request, '--plans-only', '--emit', 'slurm', '--format', 'json'], capture_output=True, text=True, timeout=120)
            if made.returncode != 0:
                wrong.append('%s: exit %d %s' % (' '.join(request), made.returncode, made.stderr[:300]))
                continue
            answer_json = json.loads(made.stdout)
            script, plan = answer_json['emit']['slurm'], answer_json['plans'][0]
            answer = submit(folder, script)
            if answer.returncode != 0:
                wrong.append('%s: sbatch: %s' % (' '.join(request), answer.stderr.strip()))
            # Slurm itself reports how many nodes the job gets.
            nodes = re.search(r'on nodes (\S+)', answer.stderr)
            count = 0
            if nodes:
                listed = subprocess.run(['scontrol', 'show', 'hostnames', nodes.group(1)], capture_output=True, text=True, env=dict(os.environ, SLURM_CONF=folder + '/slurm.conf'))
                count = len(listed.stdout.split())
            tasks = re.search(r'#SBATCH --array=0-(\d+)', script)  # offline work: a task for every machine
            count *= int(tasks.group(1)) + 1 if tasks else 1
            if count != plan['instances']:
                wrong.append('%s: %d nodes, the plan has %d' % (' '.join(request), count, plan['instances']))
        broken = submit(folder, '#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=16\ntrue\n')
        if broken.returncode == 0:
            wrong.append('Slurm accepts 16 GPUs on nodes with 8')
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)
    for line in wrong:
        print(line)
    print('%d scripts, %d mistakes' % (len(REQUESTS), len(wrong)))
    return 1 if wrong else 0


sys.exit(main())
