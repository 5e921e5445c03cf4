"""Compiles the usage examples in the comments of src/**/*.h, so that they stay correct.

An example is a block of the comment above '#pragma once' that is indented by three spaces and contains a statement.
tests/header_examples/MODULE_HEADER.inc declares names that the example of a header does not declare. A header
whose example does not compile yet is listed in tests/header_examples/pending.txt; all others must compile.

Usage: header_examples.py BUILD_FOLDER [--update] [HEADER...]; --update rewrites the list."""
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
PENDING = FOLDER / "pending.txt"


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
    text = [f'#include "{header.relative_to(ROOT / "src")}"' for header in headers]
    for index, header in enumerate(headers):
        name = header.relative_to(ROOT / "src")
        module = re.search(r"namespace rightsize(?:::(\w+))?", header.read_text()).group(1)
        declarations = FOLDER / (str(name.with_suffix("")).replace("/", "_") + ".inc")
        declared = declarations.read_text().split("\n") if declarations.exists() else []
        text += [line for line in declared if line.startswith(("#include", 'extern "C"'))]
        text.append(f"namespace rightsize{'::' + module if module else ''} {{ namespace example{index} {{")
        text += [line for line in declared if not line.startswith(("#include", 'extern "C"'))]
        text.append("void example() {")
        for number, code in example(header):
            text.append(f'#line {number} "{header}"\n{code}')
        text.append("}\n}}")
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
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    build = pathlib.Path(arguments[0]).resolve()
    chosen = [ROOT / name for name in arguments[1:]] or sorted((ROOT / "src").rglob("*.h"))
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
    pending = set(PENDING.read_text().split()) if PENDING.exists() else set()
    if "--update" in sys.argv:
        PENDING.write_text("".join(f"{name}\n" for name in sorted(failed)))
        return 0
    named = {str(header.relative_to(ROOT)) for header in chosen}
    wrong, stale = sorted(failed - pending), sorted((pending & named) - failed)
    if wrong:
        print("\n".join(line for text in output for line in text.split("\n") if "error" in line))
    for name in wrong:
        print(f"{name}: its example does not compile")
    for name in stale:
        print(f"{name}: its example compiles; take it off {PENDING.relative_to(ROOT)}")
    return 1 if wrong or stale else 0


sys.exit(main())
