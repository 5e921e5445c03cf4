"""Every refusal ends with a command that runs and keeps what was typed.

Generates wrong command lines from the flags that each command declares: misspelt flags, values of another type or out of range, flags
of another job, flags given twice, unknown words and missing ones, two random damages at once, and workload files with a wrong key or value.
A command that is
refused (exit code 1) must end with a line `try: rightsize ...`, and that command must exit 0. Every other word that was typed is in the
suggestion, or a note says that it is left out, which it is only if an error names it. A suggestion never leaves out a file; there may
be none for a file that is not a workload. It keeps the command unless it keeps every other word, and has no number that was neither
typed nor marked as an example.

Usage: refusals_test.py PROGRAM [--all] [--seed N]; by default a random sample of each kind."""
import concurrent.futures
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
SPARED = ("COLUMNS", "RIGHTSIZE_CATALOG", "RIGHTSIZE_STORE", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in SPARED} | {
    "RIGHTSIZE_STORE": "/nonexistent/prices.db", "XDG_CONFIG_HOME": "/nonexistent"}
ALL = "--all" in sys.argv
SEED = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 1
SAMPLE = 12  # of each kind of mistake

# A command line that runs, for each command that only reads.
RIGHT = {
    "recommend": "--model llama-3.1-8b --tokens 1B --gpu h100-sxm",
    "recommend ": "--model llama-3.1-8b --job serve --rate 5/s",
    "estimate": "llama-3.1-8b h100-sxm",
    "memory": "llama-3.1-8b h100-sxm",
    "batch": "bert-large l4 --arrivals poisson:200",
    "cache": "examples/cache/chat.jsonl --model llama-3.1-8b",
    "autoscale": "llama-3.1-8b h100-sxm --startup weights=stream",
    "window": "--volume 1M/d --item-time 82ms --gpu a100-80gb-sxm",
    "bill": "examples/bill/focus.csv",
    "commit": "--base 8 --gpu h100-sxm",
    "gpus": "h100",
    "models": "qwen",
    "prices": "h100",
    "fleet": "--from examples/fleet/cluster.json --price 2.49",
    "service": "--from examples/service/metrics.txt.gz --gpu h200-sxm --price h200-sxm=3.50",
    "mig": "examples/mig/workloads.yaml",
    "portfolio": "examples/portfolio/team.yaml",
}


def run(words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, timeout=120)


FLAGS = {name: [flag for flag in command["flags"] if flag["name"].startswith("--") and flag["name"] not in ("--help", "--catalog")]
         for name, command in json.loads(run(["schema", "commands"]).stdout).items()}


def bases():
    for name, rest in RIGHT.items():
        yield name.strip(), shlex.split(rest)


def misspelt():
    for command, rest in bases():
        for flag in FLAGS[command]:
            name = flag["name"]
            yield [command, *rest, name[:4] + name[5:], "2"]


def wrong_type():
    for command, rest in bases():
        for flag in FLAGS[command]:
            if flag["values"] and flag["name"] != "--header":  # notes show no credentials
                yield [command, *rest, flag["name"], "banana"]


def out_of_range():
    for command, rest in bases():
        for flag in FLAGS[command]:
            if flag["values"] in ("N", "X", "0-1", "TIME", "USD", "N/s", "N/h", "BYTES"):
                for value in ("0", "-3", "99999999999999999999"):
                    yield [command, *rest, flag["name"], value]


def twice():
    for command, rest in bases():
        for flag in FLAGS[command]:
            if flag["values"] in ("N", "TIME", "USD"):
                yield [command, *rest, flag["name"], "2", flag["name"], "4"]


def no_value():
    for command, rest in bases():
        for flag in FLAGS[command]:
            if flag["values"]:
                yield [command, *rest, flag["name"]]


def other_job():
    for command, rest in bases():
        for other, rest_of_other in bases():
            for flag in FLAGS[other]:
                if flag["values"] and flag["name"] not in (*rest, "--header"):
                    yield [command, *rest, flag["name"], "2"]


def missing():
    for command, rest in bases():
        yield [command]
        for i in range(len(rest)):
            yield [command, *rest[:i], *rest[i + 1:]]


def unknown_words():
    for command, rest in bases():
        for word in ("please", "zzz-9000", "7b", "gpt-4", "--frobnicate", "--turbo=max"):
            yield [command, *rest, word]
            yield [command, word]
    for word in ("recomend", "estimat", "llama-3.1-8b", "h100", "frobnicate", "pricse"):
        yield [word]


# What a workload file says, as flags.
WORKLOADS = [
    {"job": "serve", "model": "llama-3.1-8b", "rate": "7/s", "isl": "1500"},
    {"job": "serve", "model": "qwen2.5-7b", "rate": "3/s", "osl": "120", "gpu": "l40s"},
    {"job": "train", "model": "llama-3.2-1b", "tokens": "40M", "seq": "4096"},
]
MISTAKES = ["frobnicate: 7", "max_load: banana", "budget: [", "isl: {}", "gpus: -3", "tokens_out: none"]
FOLDER = tempfile.TemporaryDirectory()


def doubled(words, at):
    return [*words[:at], words[at][:4] + words[at][3:], *words[at + 1:]]


# What goes wrong when a command is typed: a letter, a unit, upper case, an unknown flag or word, a flag's value joined to it.
DAMAGES = (
    lambda words: doubled(words, 0),
    lambda words: doubled(words, max([at for at, word in enumerate(words) if word.startswith("--")], default=0)),
    lambda words: [re.sub(r"^(\d+)(?:ms|s|h|d|/s)$", r"\1", word) for word in words],
    lambda words: [word.upper() if word.startswith("--") else word for word in words],
    lambda words: [*words, "--colour", "blue"],
    lambda words: [*words, "pronto"],
    lambda words: [*words[1:], words[0]],
)


def damaged():
    draw = random.Random(SEED)
    for command, rest in bases():
        for _ in range(4):
            words = [command, *rest]
            for damage in draw.sample(DAMAGES, 2):
                words = damage(words)
            yield words


def wrong_file():
    for i, workload in enumerate(WORKLOADS):
        for j, mistake in enumerate(MISTAKES):
            for nested in (False, True):
                path = pathlib.Path(FOLDER.name) / f"w{i}_{j}_{nested}.yaml"
                lines = [f"{key}: {value}" for key, value in workload.items()]
                if nested:
                    lines = lines[:2] + ["traffic:"] + ["  " + line for line in lines[2:]]
                path.write_text("\n".join([*lines, mistake]) + "\n")
                FILES[str(path)] = list(workload.values())
                for command in ("recommend", "checklist"):
                    yield [command, str(path)]


FILES = {}  # the values in each file
FILLERS = ("pronto", "please")  # words of sentences that say nothing about GPUs


# The words of a line that its suggestion neither has nor names as left out.
def lost(words, suggested, notes):
    known = {part.lower() for word in suggested for part in (word, word.split("=", 1)[-1], word.split(" ")[0])}
    typed = [value for word in words[1:] for value in FILES.get(word, [word]) if word not in FILLERS]
    if suggested[:1] == ["models"]:  # takes a model without a flag
        typed = [word for word in typed if word != "--model"]
    return [word for word in typed
            if word.lower() not in known and word.split("=", 1)[-1].lower() not in known and f" {word.split('=', 1)[0]}" not in notes]


NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?")


# What a suggestion does that was not asked for: another command, a number from nowhere, a word left out without a reason.
def unasked(words, suggested, stderr):
    said = [line for line in stderr.splitlines() if not line.startswith(("note:", "try:"))]
    notes = [line for line in stderr.splitlines() if line.startswith("note:")]
    typed = " ".join(value for word in words for value in [word, *FILES.get(word, [])])
    examples = " ".join(line for line in notes if re.search(r" (is an example|are examples):", line))
    readings = " ".join(line for line in notes if not line.startswith("note: the command below"))
    known = re.findall(r"\d+(?:\.\d+)?", typed + " " + examples + " " + readings + " ".join(said))
    if new := [number for number in NUMBER.findall(re.sub(r"[=,:x$]", " ", " ".join(suggested))) if number not in known]:
        return f"has numbers that were not typed: {new}"
    left = re.findall(r"leaves out (.*)", "\n".join(notes))
    dropped = [part.split(" ")[0] for line in left for part in line.split(", ")]
    if suggested[0] != words[0].lower() and dropped and words[0] in FLAGS:
        return f"is another command without {dropped}"
    named = "\n".join(said + readings.splitlines()).replace("_", "-").lower()
    for part in [part for line in left for part in line.split(", ")]:
        if part.split(" ")[0].lower().lstrip("-") not in named and part not in FILES and run([*suggested, *part.split(" ")]).returncode == 0:
            return f"leaves out {part}, which no error names and which would be accepted"
    return ""


def check(words):
    done = run(words)
    if done.returncode != 1:
        return None
    typed = shlex.join(["rightsize", *words])
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    files = [word for word in words if os.path.isfile(os.path.join(ROOT, word))]
    if not (found := re.fullmatch(r"try: rightsize (.*)", last)):
        if files and words[0] not in ("recommend", "checklist"):
            return ""  # a command without the file would answer another question
        return f"{typed}\n  ends without a suggestion: {last[:200]}"
    again = run(shlex.split(found.group(1)))
    if again.returncode != 0 and not (again.returncode == 2 and words[0] in ("recommend", "batch")):  # that no plan exists is an answer
        return f"{typed}\n  {last}\n  exits {again.returncode}: {again.stderr[:300].strip()}"
    if found.group(1).endswith("--help") and (files or words[0] not in ("fleet", "service", "mig")):
        return f"{typed}\n  is only answered with help: {done.stderr[:300].strip()}"
    notes = " ".join(line for line in done.stderr.splitlines() if line.startswith("note:"))
    if gone := lost(words, shlex.split(found.group(1)), re.sub(r"[, ]+", " ", notes.replace("--", " --"))):
        return f"{typed}\n  {last}\n  neither keeps nor names {gone}"
    if wrong := unasked(words, shlex.split(found.group(1)), done.stderr):
        return f"{typed}\n  {last}\n  {wrong}"
    return ""


def main():
    chosen = []
    for kind in (misspelt, wrong_type, out_of_range, twice, no_value, other_job, missing, unknown_words,
                 damaged, wrong_file):
        cases = list(kind())
        random.Random(SEED).shuffle(cases)
        chosen += cases if ALL else cases[:SAMPLE]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, chosen))
    refused = [result for result in results if result is not None]
    failures = [result for result in refused if result]
    print("\n".join(failures) or f"{len(refused)} refusals of {len(chosen)} command lines, each with a command that runs")
    sys.exit(1 if failures or len(refused) < 20 else 0)


main()
