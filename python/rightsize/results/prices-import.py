# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class PricesImportCorrected(Record):
    reason: str
    count: float
    examples: list[str]


@dataclasses.dataclass(frozen=True)
class PricesImportSuspicious(Record):
    reason: str
    count: float
    examples: list[str]


@dataclasses.dataclass(frozen=True)
class PricesImportRefused(Record):
    reason: str
    count: float
    examples: list[str]


@dataclasses.dataclass(frozen=True)
class PricesImportImport(Record):
    rows_taken: float
    rows_refused: float
    rows_passed: float
    withdrawn: float
    refused: list[PricesImportRefused]
    suspicious: list[PricesImportSuspicious]
    corrected: list[PricesImportCorrected]
    file: str
    feed: str
    date: str
    prices: float
    new_machines: float
    kept: str | None


@dataclasses.dataclass(frozen=True, repr=False)
class PricesImport(Result):
    """What 'rightsize prices-import' answers."""
    schema: str
    imports: list[PricesImportImport]


PricesImportImport._fields_of = {'refused': PricesImportRefused, 'suspicious': PricesImportSuspicious, 'corrected': PricesImportCorrected}
PricesImport._fields_of = {'imports': PricesImportImport}
