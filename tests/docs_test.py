#!/usr/bin/env python3
"""Every example of README, docs and examples runs, and the output it shows is what the program prints.

- A line of a ```sh block that begins with `rightsize` is run in a copy of the repository's examples and must exit 0; what needs
  a server, a GPU or a file of the reader's own (NOT_RUN) must at least be understood: `--help` is added to it.
- A ```console block holds `$ rightsize ...` and what it prints. A line `...` stands for any lines left out.

Usage: docs_test.py PROGRAM [--bless]; --bless puts in what the program prints now, as many lines as stand there before
`...`, or all."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parent.parent
BLESS = "--bless" in sys.argv[2:]
NOT_RUN = re.compile(
    r"--prometheus|prices update|profile (--record \S+ )?--( |$)|--pid|rightsize top\b(?!.*--replay)|exporter|nvidia-smi"
    r"|path/to|my-measurements|logs/|scrapes/|exports/|sacct|\brun\.csv|\bgpu\.csv|\bservice\.csv|prices import|docs/decisions|rightsize serve\b(?!.*--openapi)|decide .*--ledger (?!examples)|rollout (?!status)")
ENVIRONMENT = {"PATH": os.environ["PATH"], "NO_COLOR": "1", "RIGHTSIZE_TODAY": "2026-11-15", "LC_ALL": "C.UTF-8",
               "COLUMNS": "100", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
failures = []


def documents():
    for pattern in ("README.md", "docs/*.md", "examples/**/*.md"):
        yield from sorted(ROOT.glob(pattern))


def run(command, folder):
    command = re.sub(r"(^|\| )rightsize\b", lambda found: f"{found.group(1)}'{PROGRAM}'", command)
    # What waits for ever, such as a server, belongs into NOT_RUN: `timeout` ends it with 124.
    return subprocess.run(["timeout", "100", "bash", "-c", command], capture_output=True, text=True, cwd=folder,
                          env=ENVIRONMENT | {"HOME": str(folder)}, stdin=subprocess.DEVNULL)


def without_comment(line):
    return re.sub(r"\s+# .*$", "", line)


def check_shell(where, line, folder):
    command = without_comment(line)
    if NOT_RUN.search(command):
        command = re.sub(r" (--|\||>) .*$", "", command) + " --help"
    done = run(command, folder)
    # A limit that is exceeded and a prediction that does not hold have exit codes of their own.
    wanted = (0, 2, 4) if "--fail-o" in command or " verify " in command else (0,)
    if done.returncode not in wanted:
        failures.append(f"{where}: '{command}' exits {done.returncode}: {(done.stderr or done.stdout)[:300]}")


def agrees(shown, printed):
    """Lines against lines, where `...` stands for any number."""
    if "..." not in shown:
        return shown == printed
    at = 0
    parts, part = [], []
    for line in shown:
        if line == "...":
            parts.append(part)
            part = []
        else:
            part.append(line)
    parts.append(part)
    for number, part in enumerate(parts):
        if not part:
            continue
        places = [0] if number == 0 else range(at, len(printed) - len(part) + 1)
        if number == len(parts) - 1 and number > 0:
            places = [len(printed) - len(part)]
        found = next((p for p in places if printed[p:p + len(part)] == part and p >= at), None)
        if found is None:
            return False
        at = found + len(part)
    return True


def blessed(shown, printed):
    if "..." in shown:
        return printed[:shown.index("...")] + ["..."]
    return printed


def check_console(where, block, folder):
    """The block as it should be."""
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
        if not agrees(shown, printed) and not BLESS:
            failures.append(f"{where}: '{command}' prints something else; {__file__} PROGRAM --bless puts it in")
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
            if opening.startswith("```"):  # another kind of block: to its end
                while lines[at].strip() != "```":
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
        # Files of the reader's own that examples speak of.
        shutil.copy(ROOT / "examples/recommend/serve-70b.yaml", folder / "workload.yaml")
        shutil.copy(ROOT / "examples/decisions/plan.json", folder / "plan.json")
        shutil.copytree(ROOT / "examples/ci/before", folder / "old")
        shutil.copytree(ROOT / "examples/ci/after", folder / "new")
        ledger = folder / ".local/share/rightsize"
        ledger.mkdir(parents=True)
        shutil.copy(ROOT / "examples/decisions/ledger.db", ledger / "decisions.db")
        count = sum(check(path, folder) for path in documents())
    print("\n".join(failures) or f"{count} examples run, and print what the documents show")
    sys.exit(1 if failures else 0)


main()
