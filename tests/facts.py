"""The facts in the program's output: numbers to three digits, names, and table rows. Wording is not a fact.

    facts = Facts.of_text(printed)          # or .of(printed, csv=True)
    missing = list(expected.missing_in(facts))

A table row is compared cell by cell, in order, and rows may not be missing or added. All facts in sentences must occur, in
any order, and others may be added, so sentences can be reworded, split or moved. JSON is compared
value by value; strings of more than three words count as sentences, and of a list only the length and the first two values count."""
import csv as csv_module
import io
import json
import math
import os
import re
import textwrap

UNITS = ("% ms us µs ns s min h d W kW kWh GiB MiB KiB TiB GB MB kB TB GB/s TB/s GiB/s TFLOP/s tokens/s requests/s samples/s images/s "
         "/s /h /min /d /day /month /year /GPU-h /GPU x k M B T").split()
# Names without digits that distinguish rows or plans.
NAMES = set("""on-demand spot 1y 3y capacity-block aws gcp azure lambda runpod coreweave seeweb vast oci nebius crusoe vultr
    compute-bound memory-bound launch-bound input-bound transfer-bound underused bursty idle-held idle oversized
    train serve lora qlora full vllm sglang trtllm hf megatron torchtitan llm-foundry fits tight
    kept broken measured calibrated transferred specification""".split())
NUMBER = re.compile(r"([-+−]?)(\$?)(-?)(\d[\d,]*(?:\.\d+)?|\.\d+)(e[-+]?\d+)?(\D*)", re.I)
BARS = re.compile("[█▉▊▋▌▍▎▏▐░▒▓│┤├┼─·⠀-⣿]+")
EDGES = "()[]{},;:.!?\"'`…“”‘’"
LONGEST_LABEL = 3  # words; more are a sentence


def three_digits(value):
    """The number as text, rounded to three significant digits; counts below 10,000 stay as they are."""
    if value == int(value) and abs(value) < 10000:
        return str(int(value))
    if not math.isfinite(value):
        return str(value)
    if 1e-5 < abs(value) < 1e15:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{float(f'{value:.3g}'):.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def close(want, got):
    """Whether the first three digits are equal. RIGHTSIZE_NEAR=1 allows 5 %, for a compiler that rounds differently."""
    if want == got:
        return True
    if not (math.isfinite(want) and math.isfinite(got)) or want == 0:
        return False
    if os.environ.get("RIGHTSIZE_NEAR"):
        return abs(want - got) <= 0.05 * abs(want)
    return abs(want - got) <= 0.505 * 10.0 ** (math.floor(math.log10(abs(want))) - 2)


def number_of(token):
    """(value, prefix and unit) of '$1,460/month', '46', '8.3x'; None if the token is something else."""
    found = NUMBER.fullmatch(token)
    if not found:
        return None
    sign, dollar, sign_after, digits, exponent, unit = found.groups()
    if unit and unit not in UNITS:
        return None
    if "," in digits and not re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        return None
    value = float(digits.replace(",", "") + (exponent or ""))
    return (-value if "-" in (sign, sign_after) or sign == "−" else value), dollar + unit


def tokens(text):
    """The token of `text`: ('number', value, unit), ('name', text) or ('word', text)."""
    out = []
    words = [word for word in (raw.strip() for raw in text.split()) if word]
    at = 0
    while at < len(words):
        raw = words[at]
        at += 1
        token = raw.strip(EDGES)
        if raw.endswith("%") and not token.endswith("%"):
            token += "%"
        number = number_of(token)
        if number:
            value, unit = number
            following = words[at].strip(EDGES) if at < len(words) else ""
            if not unit.strip("$") and raw.rstrip(")]\"'")[-1:] not in tuple(",;:") and following in UNITS:
                unit += following
                at += 1
            out.append(("number", value, unit))
        elif token.startswith("--") and len(token) > 3 or any(c.isdigit() for c in token) or "_" in token or token in NAMES:
            out.append(("name", token))
        elif token and raw[0] in "'\"" and raw.rstrip(".,;:?!)")[-1] in "'\"":
            out.append(("name", token))
        elif token and any(c.isalnum() for c in token):
            out.append(("word", token.lower()))
    return out


def shown(token):
    if token[0] != "number":
        return token[1]
    unit = token[2]
    dollar = "$" if unit.startswith("$") else ""
    unit = unit.removeprefix("$")
    glued = unit.startswith("/") or unit in ("x", "k", "M", "B", "T")
    return dollar + three_digits(token[1]) + (("" if glued else " ") + unit if unit else "")


def same_token(want, got):
    if want[0] == got[0] == "number":
        return want[2] == got[2] and close(want[1], got[1])
    # A quoted name is stored without quotes and then reads like a word.
    return "number" not in (want[0], got[0]) and want[1].lower() == got[1].lower()


def same_cell(want, got):
    return len(want) == len(got) and all(map(same_token, want, got))


def cell_of(text):
    """The tokens of one table cell; the words of a long cell count as a sentence."""
    found = tokens(BARS.sub(" ", text))
    words = sum(token[0] == "word" for token in found)
    return found if words <= LONGEST_LABEL else [token for token in found if token[0] != "word"]


def row_of(line):
    """The cells of a table row (columns two spaces apart, or Markdown), or None."""
    line = line.strip()
    if line.startswith("|") and line.endswith("|") and len(line) > 1:
        cells = line.strip("|").split(" | ")
    else:
        cells = re.split(r" {2,}", BARS.sub("  ", line).strip(" |"))
        if len(cells) < 2:
            return None
    if all(set(cell.strip()) <= set("-:|") for cell in cells):
        return []
    cells = [cell for cell in map(cell_of, cells) if cell]
    return cells if any(token[0] != "word" for cell in cells for token in cell) else []


def reduced(value):
    """A JSON value without wording: long strings become '...', lists are reduced to two values and their length."""
    if isinstance(value, dict):
        return {name: reduced(inner) for name, inner in value.items()}
    if isinstance(value, list):
        kept = [reduced(inner) for inner in value[:2]]
        return kept + [f"+{len(value) - 2}"] if len(value) > 2 else kept
    if isinstance(value, str):
        return "..." if len(value.split()) > LONGEST_LABEL or "\n" in value else value
    if isinstance(value, float):
        return float(three_digits(value))
    return value


def json_differences(want, got, where="document"):
    """Compares JSON values. `want` is reduced; `got` may have more names."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name, inner in want.items():
            if name not in got:
                yield f"{where} has no '{name}'"
            else:
                yield from json_differences(inner, got[name], f"{where}.{name}")
    elif isinstance(want, list) and isinstance(got, list):
        count = 2 + int(want[2]) if len(want) > 2 else len(want)
        if count != len(got):
            yield f"{where} has {len(got)} values, expected {count}"
        for at, (a, b) in enumerate(zip(want[:2], got)):
            yield from json_differences(a, b, f"{where}[{at}]")
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)) and not isinstance(want, bool) and not isinstance(got, bool):
        if not close(float(want), float(got)):
            yield f"{where} is {got}, expected {want}"
    elif want == "..." and isinstance(got, str):
        return
    elif want != got:
        yield f"{where} is {got!r}, expected {want!r}"


class Facts:
    def __init__(self):
        self.rows = []      # each a list of cells, each a list of tokens
        self.loose = []     # facts in sentences
        self.document = None

    @staticmethod
    def of(text, csv=False):
        """The facts in the output of a command."""
        facts = Facts()
        if text.lstrip()[:1] in ("{", "["):
            try:
                facts.document = json.loads(text)
                return facts
            except ValueError:
                pass
        sentences = []
        for line in text.splitlines():
            if csv:
                cells = next(csv_module.reader([line]), [])
                row = [[token] if (token := Facts.csv_cell(cell)) else [] for cell in cells]
            else:
                row = row_of(line)
            if row is None:
                sentences.append(BARS.sub(" ", line))
            elif row:
                facts.rows.append(row)
        for token in tokens(" ".join(sentences)):
            if token[0] != "word" and not any(same_token(token, other) for other in facts.loose):
                facts.loose.append(token)
        return facts

    @staticmethod
    def csv_cell(cell):
        number = number_of(cell)
        if number and not number[1]:
            return ("number", *number)
        if len(cell.split()) > LONGEST_LABEL:
            return ("name", "...")
        return ("name", cell) if cell else None

    @staticmethod
    def read(lines):
        """Facts from a case file, as written by `lines()`."""
        facts = Facts()
        if lines and lines[0].startswith("json "):
            facts.document = json.loads(" ".join([lines[0][5:], *lines[1:]]))
            return facts
        for line in lines:
            if line.startswith("csv "):
                facts.rows.append([[token] if (token := Facts.csv_cell(cell)) else [] for cell in next(csv_module.reader([line[4:]]))])
            elif line.startswith("row "):
                facts.rows.append([tokens(cell) for cell in line[4:].split(" | ")])
            else:
                facts.loose += [token for fact in line.split(" | ") for token in tokens(fact)]
        return facts

    def lines(self, csv=False):
        """The lines for a case file."""
        if self.document is not None:
            text = json.dumps(reduced(self.document), ensure_ascii=False)
            return textwrap.wrap("json " + text, 130, break_long_words=False, break_on_hyphens=False)
        out = []
        for row in self.rows:
            if csv:
                written = io.StringIO()
                csv_module.writer(written, lineterminator="").writerow([shown(cell[0]) if cell else "" for cell in row])
                out.append("csv " + written.getvalue())
            else:
                out.append("row " + " | ".join(" ".join(map(shown, cell)) for cell in row))
        line = ""
        for text in map(shown, self.loose):
            if line and len(line) + len(text) > 125:
                out.append(line)
                line = ""
            line += (" | " if line else "") + text
        return out + ([line] if line else [])

    def missing_in(self, got):
        """The differences between these expected facts and `got`, the printed ones."""
        if self.document is not None:
            if got.document is None:
                yield "not a JSON document"
            else:
                yield from json_differences(self.document, got.document)
            return
        for at, (want, row) in enumerate(zip(self.rows, got.rows)):
            if len(want) != len(row) or not all(map(same_cell, want, row)):
                show = lambda cells: " | ".join(" ".join(map(shown, cell)) for cell in cells)
                yield f"row {at + 1}:\n      expected: {show(want)}\n      printed:  {show(row)}"
                return
        if len(self.rows) != len(got.rows):
            yield f"{len(got.rows)} table rows, expected {len(self.rows)}"
        printed = got.loose + [token for row in got.rows for cell in row for token in cell]
        for want in self.loose:
            if not any(same_token(want, token) for token in printed):
                yield f"'{shown(want)}' is not printed any more"

