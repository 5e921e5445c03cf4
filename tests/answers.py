"""Checks for text that no answer of any command may contain: shared by the tests of random command lines and random API requests."""
import csv
import io
import json
import re

# Amounts; differences of amounts (savings, errors, changes) may be negative.
AMOUNT = re.compile(r'(^|_)(seconds|hours|bytes|gib|gpus|replicas|watts|joules|tokens|rate|share|price|usd|hour|month|year|capacity|power|load|utilization|p50|p95|p99)$')
DIFFERENCE = re.compile(r'sav|change|delta|differ|regret|effect|error|bias|gain|less|more|extra|versus|vs_|net_|realized|margin|headroom|growth|categories')  # a bill's categories contain credits
NUMBER = re.compile(r'[-+]?[\d.,]+([eE][-+]?\d+)?%?')
# Sentences and tables: NaN, or a negative number for a quantity that cannot be negative.
NOT_A_NUMBER = re.compile(r'(?<![\w./-])[-+]?(nan|inf)(?![\w/-])', re.IGNORECASE)
NEGATIVE_SIZE = re.compile(r'(?<![\w.,-])-\d[\d.,]* (GiB|TiB|MiB|GB|GPUs?|W|kW|replicas?|machines?)\b')


def negative_in(value, path=''):
    """The paths of negative amounts in an answer."""
    if isinstance(value, dict):
        return [found for name, each in value.items() for found in negative_in(each, f'{path}.{name}')]
    if isinstance(value, list):
        return [found for each in value for found in negative_in(each, path)]
    amount = isinstance(value, (int, float)) and AMOUNT.search(path.split('.')[-1]) and not DIFFERENCE.search(path)
    return [f'{path} = {value}'] if amount and value < 0 else []


def wrong_in_json(text):
    odd = []
    try:
        answer = json.loads(text, parse_constant=odd.append)
    except ValueError as error:
        return [f'not JSON: {error}']
    return [f'{each} in the answer' for each in odd] + negative_in(answer)


def wrong_in_csv(text):
    """A table with a header and rows of equal length, and no cell that a spreadsheet takes for a formula."""
    if not text.strip():
        return ['empty CSV']
    rows = list(csv.reader(io.StringIO(text)))  # tables are separated by blank lines
    wrong = [f'cell that begins a formula: {cell[:40]!r}' for row in rows for cell in row
             if cell[:1] in ('=', '+', '-', '@', '\t', '\r') and cell != '-' and not NUMBER.fullmatch(cell)]
    before = []
    for row in rows:
        if row and before and len(row) != len(before):
            wrong.append(f'{len(row)} cells after {len(before)}: {row}')
        before = row
    return wrong[:3]


def wrong_in_text(text):
    wrong = [f'{found.group()!r} in {line.strip()[:100]!r}' for line in text.splitlines()
             for found in [NOT_A_NUMBER.search(line) or NEGATIVE_SIZE.search(line)] if found]
    return wrong[:3] + (['control characters'] if '\x1b' in text else [])


def wrong_in(text, form):
    if form == 'json':
        return wrong_in_json(text)
    if form == 'csv':
        return wrong_in_csv(text)
    return ([] if text.strip() else ['empty output']) + wrong_in_text(text)
