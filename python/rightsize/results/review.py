# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class ReviewAlert(Record):
    kind: str
    id: str
    workload: str
    team: str
    words: str
    per: str
    saving_usd: float | None


@dataclasses.dataclass(frozen=True, repr=False)
class Review(Result):
    """What 'rightsize review' answers."""
    schema: str
    at: str
    reviewed: int
    alerts: list[ReviewAlert]
    not_asked_again: list[Any]


Review._fields_of = {'alerts': ReviewAlert}
