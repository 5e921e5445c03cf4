"""Tests the comparison of facts (tests/facts.py, tests/run_cases.py): new wording passes; a wrong number, name, row or exit
code fails.

Changes the complete screens of tests/cli in every place, one at a time."""
import os
import pathlib
import random
import re
import unittest

import facts
import run_cases
from facts import Facts

os.environ.pop("RIGHTSIZE_NEAR", None)  # the looser comparison of the sanitizer builds
HERE = pathlib.Path(__file__).resolve().parent
SCREENS = {f"{path.stem}: {case['NAME']}": "\n".join(case.get("STDOUT", []) + case.get("STDERR", []))
           for path in sorted((HERE / "cli").glob("*.case")) for case in run_cases.parse(path) if "STDOUT" in case or "STDERR" in case}
WORDS = re.compile(r"(?<!\S)[a-z]{4,}(?=[ ,;]|\.(?!\w)|$)", re.M)
NUMBERS = re.compile(r"(?<![\w.,/:=-])\$?(\d[\d,]*(?:\.\d+)?)(?= |$|[,.;)]|/h|/month)")


def differences(before, after, csv=False):
    """The differences that a test would find: the expected facts are written to a case file and read back."""
    stored = Facts.read(Facts.of(before, csv).lines(csv))
    return list(stored.missing_in(Facts.of(after, csv)))


class Screens(unittest.TestCase):
    def test_there_are_several_screens(self):
        self.assertTrue(8 <= len(SCREENS) <= 16, len(SCREENS))

    def test_the_same_screen_passes(self):
        for name, text in SCREENS.items():
            self.assertEqual(differences(text, text), [], name)

    def test_other_wording_passes(self):
        for name, text in SCREENS.items():
            lines = [line if facts.row_of(line) else WORDS.sub(lambda word: word.group(0) if word.group(0) in facts.NAMES
                     or word.group(0) in facts.UNITS else "reworded", line) for line in text.splitlines()]
            self.assertEqual(differences(text, "\n".join(lines)), [], name)

    def test_sentences_may_be_wrapped_and_moved(self):
        text = "Rent 2 x h100-sxm from aws for $61.25.\nDone in 12 h\n49 min."
        self.assertEqual(differences(text, "In 12 h 49 min it is done.\nThat costs $61.25: aws rents 2 x\nh100-sxm."), [])

    def test_every_wrong_number_fails(self):
        for name, text in SCREENS.items():
            everywhere = [token for token in facts.tokens(text) if token[0] == "number"]
            for found in NUMBERS.finditer(text):
                value = float(found.group(1).replace(",", ""))
                wrong = f"{value * 1.37 + 17.3:.1f}"
                changed = text[:found.start(1)] + wrong + text[found.end(1):]
                # A number that also occurs elsewhere in a sentence is not missed.
                if sum(facts.close(value, token[1]) for token in everywhere) == 1:
                    self.assertNotEqual(differences(text, changed), [], f"{name}: {found.group(0)} -> {wrong}")

    def test_every_missing_or_duplicate_row_fails(self):
        rows = 0
        for name, text in SCREENS.items():
            lines = text.splitlines()
            for at, line in enumerate(lines):
                if facts.row_of(line):
                    rows += 1
                    self.assertNotEqual(differences(text, "\n".join(lines[:at] + lines[at + 1:])), [], f"{name}: {line}")
                    self.assertNotEqual(differences(text, "\n".join(lines[:at] + [line] + lines[at:])), [], f"{name}: {line}")
        self.assertGreater(rows, 50)

    def test_swapped_rows_and_names_fail(self):
        before = "1  2 x h100-sxm  aws     $7.58\n2  4 x l40s      lambda  $9.10"
        self.assertNotEqual(differences(before, "\n".join(reversed(before.splitlines()))), [])
        self.assertNotEqual(differences(before, before.replace("lambda", "azure")), [])
        self.assertNotEqual(differences("Rent 2 x h100-sxm from aws", "Rent 2 x h200-sxm from aws"), [])
        self.assertNotEqual(differences("Use --zero 3", "Use --tp 3"), [])


class Numbers(unittest.TestCase):
    def test_three_digits_count(self):
        generator = random.Random(1)
        for _ in range(2000):
            value = 10 ** generator.uniform(-4, 12)
            stored = float(facts.three_digits(value))
            self.assertTrue(facts.close(stored, value), (stored, value))
            self.assertFalse(facts.close(stored, value * 1.012), (stored, value))
            self.assertFalse(facts.close(stored, value * 0.988), (stored, value))

    def test_units_count(self):
        self.assertNotEqual(differences("takes 12 ms", "takes 12 s"), [])
        self.assertNotEqual(differences("costs $12", "costs 12"), [])
        self.assertNotEqual(differences("costs $12/month", "costs $12/h"), [])
        self.assertEqual(differences("costs $12,001/month", "at $12,004/month"), [])


class Documents(unittest.TestCase):
    BEFORE = '{"plans": [{"gpu": "h100-sxm", "usd": 61.2512}, {"gpu": "l4", "usd": 7.25}, {"gpu": "t4", "usd": 8}], "why": "it is the cheapest one"}'

    def test_json(self):
        self.assertEqual(differences(self.BEFORE, self.BEFORE.replace("61.2512", "61.2498")), [])
        self.assertEqual(differences(self.BEFORE, self.BEFORE.replace("it is the cheapest one", "cheapest plan that meets your limits")), [])
        self.assertEqual(differences(self.BEFORE, self.BEFORE.replace('"why"', '"added": 1, "why"')), [])
        for old, new in (("61.2512", "61.4"), ("h100", "h200"), ('"usd": 7.25', '"eur": 7.25'), ('{"gpu": "t4", "usd": 8}', "1, 2"),
                         (', {"gpu": "t4", "usd": 8}', ""), ("7.25", "null"), ('"why"', '"because"')):
            self.assertNotEqual(differences(self.BEFORE, self.BEFORE.replace(old, new)), [], (old, new))

    def test_csv(self):
        before = "rank,gpu,usd\n1,h100-sxm,16.964227161\n2,l40s,26.73297\n"
        self.assertEqual(differences(before, before.replace("16.964227161", "16.96"), csv=True), [])
        for old, new in (("16.96", "17.96"), ("l40s", "l4"), ("2,l40s,26.73297\n", ""), ("usd", "eur"), (",26.73297", ",")):
            self.assertNotEqual(differences(before, before.replace(old, new), csv=True), [], (old, new))


class Cases(unittest.TestCase):
    CASE = {"RUN": "rightsize gpus", "EXIT": "0", "FACTS": ["row h100-sxm | 80 GiB"], "ERROR": ["--gpu"]}

    def found(self, code=0, out="h100-sxm  80 GiB", err="hint: try --gpu", **case):
        return list(run_cases.differences(self.CASE | case, code, out, err))

    def test_exit_codes_and_streams(self):
        self.assertEqual(self.found(), [])
        self.assertNotEqual(self.found(code=1), [])
        self.assertNotEqual(self.found(out=""), [])
        self.assertNotEqual(self.found(err=""), [])
        self.assertNotEqual(self.found(err="hint: try --model"), [])
        quiet = {name: value for name, value in self.CASE.items() if name != "ERROR"}
        self.assertNotEqual(list(run_cases.differences(quiet, 0, "h100-sxm  80 GiB", "warning")), [])

    def test_screens_are_compared_word_for_word(self):
        self.assertNotEqual(self.found(STDOUT=["h100-sxm  80 GiB of it"]), [])
        self.assertEqual(self.found(STDOUT=["h100-sxm  80 GiB"]), [])

    def test_has(self):
        self.assertEqual(list(run_cases.has(['"usd":', "2 GPUs for $16.00"], '{\n  "usd": 3\n}\n$16.00 is what\n2 GPUs cost')), [])
        self.assertNotEqual(list(run_cases.has(['"eur":'], '  "usd": 3')), [])
        self.assertNotEqual(list(run_cases.has(["2 GPUs for $16.00"], "2 GPUs for $17.00")), [])


if __name__ == "__main__":
    unittest.main()
