"""Commands as people type them, in the style of other tools.

RULES generate variants of commands from the tables of aliases, the catalogue and the flags that each command declares. A variant
must exit with the same code and print the same as the command that it is a variant of; a misspelt name must get the right suggestion.
tests/hands.txt has the few commands that no rule generates. A line of it is

    KIND | COMMAND | PATTERN

KIND `ok`: exits 0 and the output matches; `note`: the same, and the note on standard error about how the input was read must
match; `hint`: refused, and the error with its hints matches; `none`: exits 2, no feasible answer; `source`: exits 3.

Usage: hands_test.py PROGRAM [--all] [--seed N]; by default each rule runs a random sample of its variants."""
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parent.parent
CODES = {"ok": 0, "note": 0, "hint": 1, "none": 2, "source": 3}
SPARED = ("COLUMNS", "RIGHTSIZE_CATALOG", "RIGHTSIZE_STORE", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in SPARED} | {
    "RIGHTSIZE_STORE": "/nonexistent/prices.db", "XDG_CONFIG_HOME": "/nonexistent"}
SAMPLE = 25  # variants of each rule

# Commands that rules vary: fast, and with as many flags as possible.
MODEL, GPU = "llama-3.1-8b", "h100-sxm"
TRAIN, SERVE = f"memory {MODEL} {GPU}", f"memory {MODEL} {GPU} --job serve"
PLAN = f"recommend --model {MODEL} --tokens 1B --gpu {GPU} --provider lambda"
ARGUMENTS = {"gpus": "--min-memory 80GiB", "prices": f"{GPU} --provider aws --top 3", "memory": f"{MODEL} {GPU}", "models": "qwen",
             "estimate": f"{MODEL} {GPU}", "recommend": PLAN.split(" ", 1)[1], "commit": f"--gpu {GPU} --base 8 --provider gcp",
             "help": ""}
VALUES = {"--provider": "aws", "--region": "us-east-1", "--gpu": GPU, "--model": MODEL, "--instance": "p5.48xlarge",
          "--machine": "p5.48xlarge", "--sort": "memory", "--gpus": "2", "--resolution": "512"}


def run(command, shell=False):
    words = re.sub(r"^rightsize\b", f"'{PROGRAM}'", command) if shell else [PROGRAM, *shlex.split(command)]
    return subprocess.run(words, shell=shell, capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.DEVNULL)


def document(command):
    return json.loads(run(command + " --format json").stdout)


COMMANDS = json.loads(run("schema commands").stdout)


def flags(command):
    return {flag["name"]: flag for flag in COMMANDS[command]["flags"]}


def example(flag):
    """A value that the flag accepts."""
    shown = flag["values"]
    if flag["name"] in VALUES or not shown:
        return VALUES.get(flag["name"], "")
    if re.fullmatch(r"[\w-]+(?:\|[\w-]+)+", shown):
        return shown.split("|")[-1]
    return {"TIME": "2h", "BYTES": "40GiB", "N/s": "5/s", "USD": "500", "0-1": "0.5", "GB/s": "400GB/s"}.get(shown, "2")


def table(kind):
    """The rows of a kind in data/other_names.csv: names, meaning, more."""
    lines = (ROOT / "data/other_names.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [(row["names"], row["meant"], row["more"]) for row in rows if row["kind"] == kind]


def flag_aliases():
    """Another tool's flag has the effect of its equivalent."""
    taken = set()
    for spellings, target, when in table("flag"):
        name, _, value = target.partition("=")
        for spelling in spellings.split():
            for context in (SERVE,) if when else (TRAIN, SERVE, "prices " + ARGUMENTS["prices"], "gpus h100", PLAN):
                declared = flags(context.split()[0])
                if name not in declared or spelling in declared or (spelling, context) in taken:
                    continue
                taken.add((spelling, context))
                given = "" if value and "*" not in value else "2" if value else example(declared[name])
                meant = f"{name}={value.replace('*', given)}" if value else f"{name} {given}"
                yield f"{context} {spelling} {given}", f"{context} {meant}"


def value_aliases():
    """Another tool's value of a flag is ours, in any case and with any separators."""
    for name, pairs, _ in table("value"):
        for typed, meant in (pair.split("=", 1) for pair in pairs.split()):
            for context in (TRAIN, SERVE):
                if name in flags("memory"):
                    yield f"{context} {name} {typed.upper()}", f"{context} {name} {meant}"


def command_aliases():
    for spellings, target, _ in table("command"):
        command = target.split()[0]
        for spelling in spellings.split():
            if command in ARGUMENTS and spelling not in COMMANDS:
                yield f"{spelling} {ARGUMENTS[command]}", f"{target} {ARGUMENTS[command]}"


def spelled(name):
    yield from (name.upper(), name.replace("-", "_"), f"'{name.replace('-', ' ')}'")


def gpu_names():
    for gpu in document("gpus")["gpus"]:
        yield from ((f"gpus {other}", f"gpus {gpu['name']}") for other in spelled(gpu["name"]))


def model_names():
    """A model by its name in any spelling, its IDs on the Hub and their addresses there."""
    for name, model in json.loads((ROOT / "data/models.json").read_text()).items():
        ids = [alias for alias in model.get("aliases", []) if "/" in alias]
        others = [*spelled(name), *ids, *("https://huggingface.co/" + id for id in ids)]
        yield from ((f"models {other}", f"models {name}") for other in others)


def counts():
    """The number of GPUs, next to the GPU or to --gpus."""
    for count in (2, 4, 8, 16):
        meant = f"memory {MODEL} --gpu {GPU} --gpus {count}"
        for words in (f"{GPU}:{count}", f"--gpu {GPU}:{count}", f"--gpu {count}x{GPU}", f"--gpus {GPU}:{count}", f"--gpus {count}x{GPU}"):
            yield f"memory {MODEL} {words}", meant


def syntax():
    """--flag value, --flag=value, underscores, any case of a choice."""
    for context in (TRAIN, SERVE):
        for name, flag in flags("memory").items():
            value = example(flag)
            if not name.startswith("--") or not value or name in ("--model", "--gpu", "--format", "--catalog"):
                continue
            yield f"{context} {name}={value}", f"{context} {name} {value}"
            yield f"{context} --{name[2:].replace('-', '_')} {value}", f"{context} {name} {value}"
            if "|" in flag["values"]:
                yield f"{context} {name} {value.upper()}", f"{context} {name} {value}"


def amounts():
    for words in ("1e9", "1,000,000,000", "'1 billion'", "1bn", "1000M", "1G"):
        yield PLAN.replace("--tokens 1B", f"--tokens {words}"), PLAN
    for words in ("2w", "'2 weeks'", "336h", "14-00:00:00"):
        yield f"{PLAN} --deadline {words}", f"{PLAN} --deadline 14d"
    for words in ("500USD", "'$500'", "0.5k"):
        yield f"{PLAN} --budget {words}", f"{PLAN} --budget 500"


def unknown_keys():
    """A key without a meaning in a workload file changes no answer."""
    for word in ("colour", "ticket", "cost_center", "pager", "reviewed_by", "jira_id"):
        path = pathlib.Path(FOLDER.name) / f"{word}.yaml"
        path.write_text(f"model: {MODEL}\ntokens: 1B\ngpu: {GPU}\nprovider: lambda\n{word}: blue\n")
        yield f"recommend {path}", PLAN


FOLDER = tempfile.TemporaryDirectory()
EQUAL = (flag_aliases, value_aliases, command_aliases, gpu_names, model_names, counts, syntax, amounts, unknown_keys)


def misspelt(word):
    """The word with a letter missing, doubled, or swapped with the next."""
    at = random.randrange(1, len(word) - 1)
    return random.choice((word[:at] + word[at + 1:], word[:at] + word[at] + word[at:],
                          word[:at] + word[at + 1] + word[at] + word[at + 2:]))


def misspellings():
    """(command, the name that its error must suggest)"""
    known = set(COMMANDS) | {spelling for row in table("kCommands") for spelling in row[0].split()}
    for command in COMMANDS:
        if len(command) > 4 and (typed := misspelt(command)) not in known:
            yield f"{typed} --help-me", command
    known = {spelling for row in table("kFlags") for spelling in row[0].split()} | set(flags("memory"))
    for name in flags("memory"):
        typed = "--" + misspelt(name[2:]) if len(name) > 7 else name
        if name.startswith("--") and typed not in known:
            yield f"{TRAIN} {typed} 2", name


def check_equal(rule, variant, meant):
    got, wanted = run(variant), run(meant)
    printed = [re.sub(r'(?m)^  "seconds": .*', "", done.stdout).splitlines() for done in (got, wanted)]  # the time it took
    if got.returncode == wanted.returncode and printed[0] == printed[1]:
        return None
    said = next((f"'{a}' instead of '{b}'" for a, b in zip(*printed) if a != b), got.stderr[:300])
    return f"{rule}: '{variant}' exits {got.returncode}, '{meant}' {wanted.returncode}: {said}"


def sentences():
    """Sentences from random parts."""
    for verb in ("serve", "how much does it cost to serve", "can I run", "what is the cheapest way to serve"):
        for model in ("llama 3.1 8b", "qwen2.5 7b", "mistral 7b"):
            for gpu in ("", "on an L4", "on H100 PCIe", "on my RTX 4090", "on aws"):
                for traffic in ("", "at 5 requests per second", "for 200 users", "with 800 input tokens"):
                    if gpu or traffic:  # fewer words are a command
                        yield (f"{verb} {model} {gpu} {traffic}",)
    for gpu in ("L40S", "H100 PCIe", "RTX 4090", "MI300X"):
        yield from ((f"fine-tune mistral 7b on {one} {gpu} with {data}",) for one in ("a", "a single", "8") for data in ("50M tokens", "20k examples"))
        yield from ((line.format(gpu),) for line in ("which is faster, {} or A100 80GB?", "is spot worth it for {}", "cheapest {} in europe",
                                                     "how much do 8 {} cost for 2 weeks"))


def check_reading(sentence):
    """The note shows the sentence as typed, and the command it shows gives the same answer."""
    got = run(sentence)
    shown = re.search(r"(?m)^note: '(.*?)' is read as '(rightsize .*)'$", got.stderr)
    if not shown:
        return f"readings: '{sentence}' exits {got.returncode} without its reading: {got.stderr[:300]}"
    wanted = run(shown.group(2)[len("rightsize "):])
    if shown.group(1) != " ".join(sentence.split()):
        return f"readings: '{sentence}' is shown as '{shown.group(1)}'"
    if (got.returncode, got.stdout) != (wanted.returncode, wanted.stdout):
        return f"readings: '{sentence}' exits {got.returncode}, '{shown.group(2)}' {wanted.returncode}: {(wanted.stderr + wanted.stdout)[:300]}"
    return None


def check_misspelt(command, name):
    done = run(command)
    understood = f" is {name} here" in done.stderr  # only dashes and underscores differ
    if understood or (done.returncode == 1 and f"'{name}'" in done.stderr):
        return None
    return f"misspellings: '{command}' exits {done.returncode} and does not suggest '{name}': {done.stderr[:300]}"


def check_line(number, kind, command, pattern):
    done = run(command, shell=True)
    searched = done.stdout if kind == "ok" else done.stderr if kind != "none" else done.stdout + done.stderr
    if done.returncode == CODES[kind] and re.search(pattern, searched, re.M):
        return None
    said = (done.stderr + done.stdout)[:400].strip()
    return f"hands.txt:{number}: {command}\n  exits {done.returncode}, wanted {kind} /{pattern}/:\n  {said}"


def lines():
    for number, line in enumerate((ROOT / "tests/hands.txt").read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ", 2)]
            assert len(parts) == 3 and parts[0] in CODES, f"hands.txt:{number}: not KIND | COMMAND | PATTERN"
            yield number, *parts


def main():
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 1
    random.seed(seed)
    jobs = [(check_line, line) for line in lines()]
    checks = {misspellings: check_misspelt, sentences: check_reading}
    for rule in (*EQUAL, *checks):
        cases = sorted(set(rule()))
        if "--all" not in sys.argv:
            cases = random.sample(cases, min(SAMPLE, len(cases)))
        jobs += [(checks[rule], case) if rule in checks else (check_equal, (rule.__name__, *case)) for case in cases]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [failure for failure in pool.map(lambda job: job[0](*job[1]), jobs) if failure]
    print("\n".join([*failures, f"seed {seed}"]) if failures else f"{len(jobs)} commands as people type them")
    sys.exit(1 if failures else 0)


main()
