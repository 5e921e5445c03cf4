"""Compiles the usage examples in the comments of src/**/*.h, which keeps them correct.

An example is a block of the comment above '#pragma once' that is indented by three spaces and contains a statement.
tests/header_examples/MODULE_HEADER.inc declares names that the example of a header does not declare.

Usage: header_examples.py BUILD_FOLDER [HEADER...]"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/header_examples"
# An example that defines a function is compiled as it is; any other is the body of one that returns a Result.
DEFINITION = re.compile(r"[\w:<>]+ \w+\(.*\) \{")
# A line that only names a member: its semicolon may be omitted.
MEMBER = re.compile(r"^(\w+(?:->|\.)\w+)(?=\s*(?://|$))")


def example(header):
    """[(line number, code)] of the header's example; empty if it has none."""
    lines, block = [], []

    def end_block():
        statements = [re.sub(r"\s*//.*", "", code).rstrip() for _, code in block]
        if any(code.endswith((";", "};")) for code in statements):
            lines.extend(block)
        block.clear()

    for number, line in enumerate(header.read_text().split("\n"), 1):
        if line.startswith("#pragma once"):
            break
        if line.startswith("//   "):
            block.append((number, line[5:]))
        else:
            end_block()
    end_block()
    return lines


def source(headers):
    """One file that compiles the examples of several headers, each in a function in a separate namespace."""
    text = ['#include "base/result.h"'] + [f'#include "{header.relative_to(ROOT / "src")}"' for header in headers]
    for index, header in enumerate(headers):
        name = header.relative_to(ROOT / "src")
        module = re.search(r"namespace (rightsize[\w:]*)", header.read_text()).group(1)
        declarations = FOLDER / (str(name.with_suffix("")).replace("/", "_") + ".inc")
        declared = declarations.read_text().split("\n") if declarations.exists() else []
        text += [line for line in declared if line.startswith(("#include", 'extern "C"'))]
        text.append(f"namespace {module} {{ namespace example{index} {{")
        text += [line for line in declared if not line.startswith(("#include", 'extern "C"'))]
        lines = example(header)
        defines = DEFINITION.match(lines[0][1])
        text.append("" if defines else "Result<> example() {")
        for number, code in lines:
            text += [f'#line {number} "{header}"', MEMBER.sub(r"\1;", code)]
        text.append("}}" if defines else "return {};\n}\n}}")
    return "\n".join(text) + "\n"


def compile_commands(build):
    """{module: the compiler's command line of one of its files, without input and output}."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"], ROOT)
        # A file of the module, or the file that a unity build generates from several.
        match = re.match(r"src/(\w+)/", path) or re.search(r"rightsize_module_(\w+)\.dir/Unity/", path)
        if not match or path.endswith("_test.cc") or match.group(1) in commands:
            continue
        words = shlex.split(entry["command"])
        kept, skip = [], False
        for word in words:
            if skip or word in ("-c", "-MD", entry["file"]) or word.endswith("ccache"):
                skip = False
            elif word in ("-o", "-MF", "-MT"):
                skip = True
            else:
                kept.append(word)
        commands[match.group(1)] = kept + ["-w", "-fsyntax-only"]
    return commands


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    chosen = [ROOT / name for name in sys.argv[2:]] or sorted((ROOT / "src").rglob("*.h"))
    modules = {}
    for header in chosen:
        if example(header):
            modules.setdefault(header.relative_to(ROOT / "src").parts[0], []).append(header)
    commands = compile_commands(build)
    failed, output = set(), []
    for module, headers in sorted(modules.items()):
        with tempfile.NamedTemporaryFile("w", suffix=".cc", delete=False) as file:
            file.write(source(headers))
        run = subprocess.run(commands[module] + [file.name], cwd=build, capture_output=True, text=True)
        os.unlink(file.name)
        if run.returncode == 0:
            continue
        broken = {str(h.relative_to(ROOT)) for h in headers if re.search(re.escape(str(h)) + r":\d+:\d+: (?:fatal )?error", run.stderr)}
        failed |= broken or {str(h.relative_to(ROOT)) for h in headers}
        output.append(run.stderr)
    if failed:
        print("\n".join(line for text in output for line in text.split("\n") if "error" in line))
    for name in sorted(failed):
        print(f"{name}: its example does not compile")
    return 1 if failed else 0


sys.exit(main())
