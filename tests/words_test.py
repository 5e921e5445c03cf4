"""Words we no longer use (docs/style.md), searched for in expected outputs, help texts and documents."""
import glob
import os
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GONE = re.compile(
    r"\b(answer becomes another|first answer\b|falls out by|in the words of|nobody there|homeless|habits?|"
    r"levers?\b(?!\")|cures?\b|answer tokens|instead of 1 GPU|in no format we know|dearer|1 GPUs|1 replicas|1 machines|"
    r"of what the replicas take|promise on|stricter promise|fell out|falls out|\bdear\b|a GPU-hour costs|% sure\b|odds of running out|kv_cache  |"
    r"come near by a closed-form|utilisation|in the middle\b|To be surer)",
    re.I)
# Money by the time has one form: $6,979/month, $2.60/h, $2.29/GPU-h.
MONEY = re.compile(r"\$[\d,.]+[kMB]? (?:an? (?:month|hour|day|week|year|run|GPU|GPU-hour)|more a month|less a month)\b")
# What the article says, and the style page itself, quote the old words.
SPARED = {"docs/style.md", "docs/article.md", "docs/article.template.md"}
# Old spellings of flags are still accepted for a while.
KEPT = re.compile(r"--levers")

failures = []


def search(where, text):
    for number, line in enumerate(text.splitlines(), 1):
        for found in GONE.finditer(KEPT.sub("", line)):
            failures.append(f"{where}:{number}: '{found.group(0)}' in {line.strip()[:100]!r}")
        for found in MONEY.finditer(line):
            failures.append(f"{where}:{number}: '{found.group(0)}': write it with a slash (docs/style.md)")


for pattern in ("tests/cli/*.case", "README.md", "CHANGELOG.md", "docs/*.md", "examples/**/*.md", "examples/**/*.yaml"):
    for path in glob.glob(os.path.join(ROOT, pattern), recursive=True):
        name = os.path.relpath(path, ROOT)
        if name not in SPARED:
            search(name, open(path, encoding="utf-8").read())

overview = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
search("--help", overview)
for command in re.findall(r"^  ([a-z]+) ", overview.split("Commands:")[1].split("Options:")[0], re.M):
    search(f"help {command}", subprocess.run([PROGRAM, "help", command], capture_output=True, text=True).stdout)

print("\n".join(failures) or "no word that we no longer use")
sys.exit(1 if failures else 0)
