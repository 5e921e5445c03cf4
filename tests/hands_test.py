"""Commands as people type them, in the style of other tools (tests/hands.txt).

Each must work, or be refused with the right suggestion. A line of the file is

    KIND | COMMAND | PATTERN

KIND `ok`: exits 0 and the output matches; `note`: the same, and the note on standard error about how the input was read must
match; `hint`: refused, and the error with its hints matches; `none`: exits 2, no feasible answer; `source`: exits 3.
"""
import os
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CODES = {"ok": 0, "note": 0, "hint": 1, "none": 2, "source": 3}
SPARED = ("COLUMNS", "RIGHTSIZE_CATALOG", "RIGHTSIZE_STORE", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def lines():
    with open(os.path.join(HERE, "hands.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                parts = [part.strip() for part in line.split(" | ", 2)]
                assert len(parts) == 3 and parts[0] in CODES, f"hands.txt:{number}: not KIND | COMMAND | PATTERN"
                yield number, *parts


def main():
    environment = {name: value for name, value in os.environ.items() if name not in SPARED}
    environment |= {"RIGHTSIZE_STORE": "/nonexistent/prices.db", "XDG_CONFIG_HOME": "/nonexistent"}
    failures, count = [], 0
    for number, kind, command, pattern in lines():
        count += 1
        words = re.sub(r"^rightsize\b", f"'{PROGRAM}'", command)
        done = subprocess.run(words, shell=True, capture_output=True, text=True, cwd=ROOT, env=environment,
                              stdin=subprocess.DEVNULL)
        searched = done.stdout if kind == "ok" else done.stderr if kind != "none" else done.stdout + done.stderr
        right = done.returncode == CODES[kind] and re.search(pattern, searched, re.M)
        if not right:
            said = (done.stderr + done.stdout)[:400].strip()
            failures.append(f"hands.txt:{number}: {command}\n  exits {done.returncode}, wanted {kind} /{pattern}/:\n  {said}")
    print("\n".join(failures) or f"{count} commands as people type them")
    sys.exit(1 if failures else 0)


main()
