"""Help, manual pages and completions: every line fits the terminal, every example runs, every command completes."""
import os
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
failures = []


def run(arguments, columns=None, **others):
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "RIGHTSIZE_CATALOG")}
    if columns:
        environment["COLUMNS"] = str(columns)
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, cwd=ROOT, **others)


def check(condition, what):
    if not condition:
        failures.append(what)


overview = run([PROGRAM, "--help"]).stdout
commands = re.findall(r"^.{9}([a-z]+) ", overview.split("Commands:")[1].split("\n\n")[0], re.M)
check(len(commands) >= 16, f"--help lists {commands}")

for command in commands:
    for columns in (60, 80, 200):
        text = run([PROGRAM, "help", command], columns).stdout
        for line in text.splitlines():
            words = line.split()
            check(len(line) <= columns or len(words) <= 2, f"help {command} at {columns} columns: {line!r}")
    check(text == run([PROGRAM, command, "--help"], 200).stdout, f"'{command} --help' and 'help {command}' differ")
    for example in re.findall(r"^  rightsize (.*)$", text.split("Examples:")[1].split("\n\n")[0] if "Examples:" in text else "", re.M):
        done = run(["bash", "-c", f'exec "$0" {example}', PROGRAM])
        check(done.returncode == 0, f"the example 'rightsize {example}' exits {done.returncode}: {done.stderr[:300]}")
    page = run([PROGRAM, "manual", command]).stdout
    check(page.startswith(f".TH rightsize\\-{command} 1"), f"manual {command} begins {page[:40]!r}")


def complete(*words):
    """The completions that bash offers for the last word."""
    script = run([PROGRAM, "completion", "bash"]).stdout
    line = " ".join(f"'{word}'" for word in words)
    probe = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _rightsize; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return run(["bash", "-c", probe]).stdout.split()


check("memory" in complete("rightsize", "mem"), "bash completes a command")
check("--deadline" in complete("rightsize", "recommend", "--dea"), "bash completes a flag")
check("h100-sxm" in complete("rightsize", "memory", "--gpu", "h100"), "bash completes a GPU")
check("llama-3.1-8b" in complete("rightsize", "memory", "llama-3.1"), "bash completes a model without its flag")
for flag in ("--provider", "--providers"):
    check("aws" in complete("rightsize", "recommend", flag, "a"), f"bash completes a provider after {flag}")
check("json" in complete("rightsize", "gpus", "--format", "j"), "bash completes a format")
for shell in ("zsh", "fish"):
    check(all(command in run([PROGRAM, "completion", shell]).stdout for command in commands), f"{shell} knows every command")
check(run([PROGRAM, "completion", "tcsh"]).returncode == 1, "an unknown shell is refused")
check(run([PROGRAM, "-V"]).stdout == run([PROGRAM, "--version"]).stdout != "", "-V and --version")
full = run(["bash", "-c", f"'{PROGRAM}' --help > /dev/full"])
check(full.returncode == 3, f"--help into a full disk exits {full.returncode}")

print("\n".join(failures) or f"{len(commands)} commands: help, examples, manual pages and completions in order")
sys.exit(1 if failures else 0)
