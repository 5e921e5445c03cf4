#!/usr/bin/env python3
"""Runs every example of README, docs and examples and compares the facts they show (tests/facts.py) with the program's output.

- Each line of a ```sh block that begins with `rightsize` runs in a copy of the repository's examples and must exit 0. Commands that
  need a server, a GPU or the reader's own files (NOT_RUN) must at least parse: `--help` is added to them.
- A ```console block has `$ rightsize ...` and its output. A line `...` marks omitted lines.
- Counts in sentences (COUNTS) are those of the data, the program and docs/accuracy.md.

Usage: docs_test.py PROGRAM [--bless]; --bless replaces the output with the current one: the same number of lines before
`...`, or all of them."""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from facts import Facts

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parent.parent
BLESS = "--bless" in sys.argv[2:]
NOT_RUN = re.compile(
    r"--prometheus|prices update|profile (--record \S+ )?--( |$)|--pid|rightsize top\b(?!.*--replay)|exporter|nvidia-smi"
    r"|path/to|my-measurements|logs/|scrapes/|exports/|sacct|\brun\.csv|\bgpu\.csv|\bservice\.csv|prices import|docs/decisions|rightsize serve\b(?!.*--openapi)|decide .*--ledger (?!examples)|rollout (?!status)")
ENVIRONMENT = {"PATH": os.environ["PATH"], "NO_COLOR": "1", "RIGHTSIZE_TODAY": "2026-11-15", "LC_ALL": "C.UTF-8",
               "COLUMNS": "100", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
failures = []


def rows(pattern):
    """The rows of the CSV files in data/, without comments and headers."""
    for path in sorted((ROOT / "data").glob(pattern)):
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.reader(line for line in file if not line.startswith("#"))
            next(table)
            yield from (row for row in table if row)


def accuracy(data, what, column):
    """The first number in a cell of docs/accuracy.md."""
    for line in (ROOT / "docs/accuracy.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[:2] == [data, what]:
            return int(re.search(r"\d+", cells[column]).group(0))
    raise KeyError(f"docs/accuracy.md has no row '{data}', '{what}'")


def families():
    done = subprocess.run([PROGRAM, "models", "--format", "json"], capture_output=True, text=True)
    return len(json.loads(done.stdout)["families"])


OUR_RUNS = "our runs, one H200, Hugging Face"
# A sentence's number and what it counts.
COUNTS = [
    (r"([\d,]+) accelerators with", lambda: len(list(rows("gpus.csv")))),
    (r"([\d,]+) machines of\s", lambda: len(list(rows("machines.csv")))),
    (r"([\d,]+) providers, [\d,]+ prices", lambda: len({row[0] for row in rows("machines.csv")})),
    (r"([\d,]+) prices by region", lambda: len(list(rows("prices/*.csv")))),
    (r"([\d,]+) model families", families),
    (r"In ([\d,]+) runs on an H200", lambda: accuracy(OUR_RUNS, "peak allocated", 2)),
    (r"device memory of ([\d,]+) % was inside", lambda: accuracy(OUR_RUNS, "device", 7)),
]


def check_counts():
    texts = {path: path.read_text() for path in documents()}
    for pattern, count in COUNTS:
        wanted, found = f"{count():,}", False
        for path, text in texts.items():
            for match in re.finditer(pattern, text):
                found = True
                if match.group(1) != wanted and not BLESS:
                    failures.append(f"{path.relative_to(ROOT)}: '{match.group(0)}' should say {wanted}; --bless updates it")
            new = re.sub(pattern, lambda match: match.group(0).replace(match.group(1), wanted, 1), text)
            if BLESS and new != text:
                texts[path] = new
                path.write_text(new)
        if not found:
            failures.append(f"no document matches /{pattern}/ any more: remove it from COUNTS")


def documents():
    for pattern in ("README.md", "docs/*.md", "examples/**/*.md"):
        yield from sorted(ROOT.glob(pattern))


def run(command, folder):
    command = re.sub(r"(^|\| )rightsize\b", lambda found: f"{found.group(1)}'{PROGRAM}'", command)
    # Commands that do not end, such as a server, belong in NOT_RUN: `timeout` would end them with 124.
    return subprocess.run(["timeout", "300", "bash", "-c", command], capture_output=True, text=True, cwd=folder,
                          env=ENVIRONMENT | {"HOME": str(folder)}, stdin=subprocess.DEVNULL)


def without_comment(line):
    return re.sub(r"\s+# .*$", "", line)


def check_shell(where, line, folder):
    command = without_comment(line)
    if NOT_RUN.search(command):
        command = re.sub(r" (--|\||>) .*$", "", command) + " --help"
    done = run(command, folder)
    # An exceeded limit and a broken prediction exit 4, an inconclusive one 2.
    wanted = (0, 2, 4) if "--fail-o" in command or " verify " in command else (0,)
    if done.returncode not in wanted:
        failures.append(f"{where}: '{command}' exits {done.returncode}: {(done.stderr or done.stdout)[:300]}")


def differences(shown, printed):
    """All facts shown must be printed. Rows before a `...` must be the first rows of the output, rows after it the last."""
    got = Facts.of("\n".join(printed))
    got.loose += [token for row in got.rows for cell in row for token in cell]
    rows = got.rows
    parts = [Facts.of(part) for part in re.split(r"^\.\.\.$", "\n".join(shown), flags=re.M)]
    for at, part in enumerate(parts):
        got.rows = rows if len(parts) == 1 else rows[:len(part.rows)] if at == 0 else rows[len(rows) - len(part.rows):]
        yield from part.missing_in(got)


def blessed(shown, printed):
    if "..." in shown:
        return printed[:shown.index("...")] + ["..."]
    return printed


def check_console(where, block, folder):
    """Checks a console block and returns it with the current output."""
    out, at = [], 0
    while at < len(block):
        command = block[at]
        at += 1
        end = next((i for i in range(at, len(block)) if block[i].startswith("$ ")), len(block))
        shown, at = block[at:end], end
        while shown and not shown[-1]:
            shown.pop()
        done = run(command[2:], folder)
        printed = [line.rstrip() for line in (done.stdout or done.stderr).splitlines()]
        while printed and not printed[-1]:
            printed.pop()
        if not BLESS:
            for what in differences(shown, printed):
                failures.append(f"{where}: '{command}': {what}; {__file__} PROGRAM --bless updates the document")
        out += [command] + blessed(shown, printed) + ([""] if at < len(block) else [])
    return out


def check(path, folder):
    name = path.relative_to(ROOT)
    lines, out, at, count = path.read_text().splitlines(), [], 0, 0
    while at < len(lines):
        opening = lines[at].strip()
        out.append(lines[at])
        at += 1
        if opening not in ("```sh", "```console"):
            if opening.startswith("```"):  # skip other blocks
                while lines[at].strip() != "```":
                    if lines[at].startswith("$ rightsize"):
                        failures.append(f"{name}:{at + 1}: begin the block with ```console, or nothing compares its output")
                    out.append(lines[at])
                    at += 1
                out.append(lines[at])
                at += 1
            continue
        end = next(i for i in range(at, len(lines)) if lines[i].strip() == "```")
        block = lines[at:end]
        if opening == "```console":
            count += sum(line.startswith("$ ") for line in block)
            block = check_console(f"{name}:{at}", block, folder)
        else:
            here = folder
            for number, line in enumerate(block, at + 1):
                if line.startswith("cd "):
                    here = folder / line[3:].strip()
                if line.startswith("rightsize "):
                    count += 1
                    check_shell(f"{name}:{number}", line, here)
        out += block + [lines[end]]
        at = end + 1
    if BLESS and out != lines:
        path.write_text("\n".join(out) + "\n")
    return count


def main():
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "tests").symlink_to(ROOT / "tests")
        # Files that the examples assume.
        shutil.copy(ROOT / "examples/recommend/serve-70b.yaml", folder / "workload.yaml")
        shutil.copy(ROOT / "examples/decisions/plan.json", folder / "plan.json")
        shutil.copytree(ROOT / "examples/ci/before", folder / "old")
        shutil.copytree(ROOT / "examples/ci/after", folder / "new")
        ledger = folder / ".local/share/rightsize"
        ledger.mkdir(parents=True)
        shutil.copy(ROOT / "examples/decisions/ledger.db", ledger / "decisions.db")
        check_counts()
        count = sum(check(path, folder) for path in documents())
    print("\n".join(failures) or f"{count} examples run and print the facts the documents show")
    sys.exit(1 if failures else 0)


main()
