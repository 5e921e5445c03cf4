"""Searches documents, help texts, and the strings and comments of all sources for wording that we avoid (docs/style.md).

Usage: words_test.py PROGRAM"""
import glob
import os
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Words that are not terms of the field, or that sound translated.
PHRASES = [
    r"answer becomes another", r"falls? out by", r"fell out", r"in the words of", r"nobody there", r"homeless", r"habits?",
    r"levers?", r"cures?", r"answer tokens", r"instead of 1 GPU", r"in no format we know", r"dear(?:er|est)?", r"1 GPUs(?!=)",
    r"1 replicas", r"1 machines", r"of what the replicas take", r"promise on", r"stricter promise", r"a GPU-hour costs", r"% sure",
    r"odds of running out", r"come near by a closed-form", r"in the middle", r"To be surer", r"utilisation",
    # Counts and amounts.
    r"so many", r"so much of", r"so long that", r"as many of them", r"more than nothing", r"less than nothing", r"of nothing",
    r"an? \S+ of no \w+", r"what it comes to", r"comes? to exactly", r"nothing to gain", r"as it were",
    # Refusals.
    r"(?<!there )is no (?:flag|range|objective|number|length|rate|date|time|GPU|model|format|file|name|setting|price|duration|share|percentile|profile|"
    r"way|list|day|table|trace|command|unit|size|option|provider|machine|service|region|instance|column|key|word|value|layout|policy|port|token)\b",
    r"has no place in", r"known are", r"there is not\b(?! )", r"is not to be had", r"of which nothing is known",
    # Verbs.
    r"keeps? (?:to )?every (?:limit|SLO)", r"keeps? to", r"kept to", r"keeping to", r"is told", r"are told", r"being told", r"tells? no",
    r"hear(?:s|d)? out", r"wherever it stands?", r"stands? behind", r"stands? there", r"stands? beside", r"spoken of", r"speaks? of",
    r"let them in", r"gone on with", r"goes on with", r"is said to", r"by whom", r"from whom(?! on)",
    r"held by somebody", r"whoever", r"somebody", r"nobody", r"everybody",
    r"looked at until", r"is looked at", r"are looked at", r"worth a look", r"is asked of", r"asked wrongly", r"what was asked",
    r"that one may", r"one's own", r"of its own(?= accord)?", r"of their own", r"of our own", r"of his own",
    r"bought nothing", r"what bought", r"its like\b", r"of their like", r"not so\b(?=[.;])", r"for long\b(?=[.;\"])", r"for ever",
    # "Room" is not a word for a module.
    r"rooms", r"(?:this|its|their|each|every|other|which|own|lower|upper|another) room(?! (?:for|to|left)\b)", r"room of (?:src|its)",
]
AVOIDED = re.compile(r"(?<![\w-])(?:" + "|".join(PHRASES) + r")(?![\w-])", re.I)
# Cost over time is written in one form: $6,979/month, $2.60/h, $2.29/GPU-h.
MONEY = re.compile(r"\$[\d,.]+[kMB]? (?:an? (?:month|hour|day|week|year|run|GPU|GPU-hour)|more a month|less a month)\b")
# The style guide quotes what it replaces, and the article quotes its source.
SPARED = {"docs/article.md", "docs/article.template.md", "tests/words_test.py"}
# The old spelling of a flag still works.
KEPT = re.compile(r"--levers|\"levers\"|,options levers,")

SOURCES = ("src", "apps", "include", "library", "python", "tools", "tests", "bench", "web/src", "packaging", "cmake")
C_LIKE = (".cc", ".h", ".ts", ".tsx", ".mjs", ".js")
# Comments, and string literals: raw, double, single (longer than one character) and template ones.
SPOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){3,}\'|`(?:[^`\\]|\\.)*`', re.S)


def files():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True).stdout.split("\n")
    for name in sorted(set(listed)):
        path = os.path.join(ROOT, name)
        if name in SPARED or not os.path.isfile(path):
            continue
        if name.startswith(SOURCES) or name in ("CMakeLists.txt", "Makefile"):
            if "/fixtures/" in name or "/corpus/" in name:
                continue
            if name.endswith(C_LIKE + (".py", ".case", ".txt", ".cmake", ".sh", ".html", ".md")) or "." not in os.path.basename(name):
                yield name, path
        elif name in ("data/settings.csv", "data/commands.csv") or name.endswith(".md") and not name.startswith("data/") or name.startswith("examples/") and name.endswith((".yaml", ".yml")):
            yield name, path


def findings(name, text):
    """(line, phrase) for each finding in the parts of a source that people read."""
    if name.endswith(C_LIKE):
        parts = [(text.count("\n", 0, found.start()) + 1, found.group(0)) for found in SPOKEN.finditer(text)]
        parts = [(line, re.sub(r'\n\s*//', ' ', part)) for line, part in joined(parts)]
    else:
        parts = enumerate(text.splitlines(), 1)
    for number, part in parts:
        for pattern in (AVOIDED, MONEY):
            for found in pattern.finditer(KEPT.sub("", part)):
                yield number + part.count("\n", 0, found.start()), found.group(0)


def joined(parts):
    """Joins consecutive comment lines, because a phrase may span two lines."""
    out = []
    for line, part in parts:
        if part.startswith("//") and out and out[-1][1].startswith("//") and out[-1][0] + out[-1][1].count("\n") + 1 == line:
            out[-1] = (out[-1][0], out[-1][1] + "\n" + part)
        else:
            out.append((line, part))
    return out


def main():
    failures = []
    for name, path in files():
        try:
            text = open(path, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        failures += [f"{name}:{number}: '{what}'" for number, what in findings(name, text)]

    overview = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
    helps = {"--help": overview} | {
        f"help {command}": subprocess.run([PROGRAM, "help", command, "--all"], capture_output=True, text=True).stdout
        for command in re.findall(r"^.{9}([a-z]+) ", overview.split("Commands:")[1].split("\n\n")[0], re.M)}
    failures += [f"{name}: '{what}'" for name, text in helps.items() for _, what in findings(name, text)]
    print("\n".join(failures) or "no wording to avoid")
    sys.exit(1 if failures else 0)


main()
