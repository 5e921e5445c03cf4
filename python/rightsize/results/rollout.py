# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class RolloutCheck(Record):
    check: str
    state: str
    words: str
    samples_needed: None


@dataclasses.dataclass(frozen=True)
class RolloutStage(Record):
    stage: str
    state: str
    started_at: str
    ended_at: str | None
    by: str
    how: str
    note: str


@dataclasses.dataclass(frozen=True, repr=False)
class Rollout(Result):
    """What 'rightsize rollout' answers."""
    schema: str
    id: str
    workload: str
    status: str
    stages: list[RolloutStage]
    checks: list[RolloutCheck] | None = None
    rollback: str | None = None


Rollout._fields_of = {'stages': RolloutStage, 'checks': RolloutCheck}
