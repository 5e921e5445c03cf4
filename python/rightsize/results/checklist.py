# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class ChecklistStep(Record):
    name: str
    done: bool
    answer: str
    evidence: list[str]
    next: str | None


@dataclasses.dataclass(frozen=True, repr=False)
class Checklist(Result):
    """What 'rightsize checklist' answers."""
    schema: str
    steps: list[ChecklistStep]


Checklist._fields_of = {'steps': ChecklistStep}
Checklist._rows = 'steps'
