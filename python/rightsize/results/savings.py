# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class SavingsTeam(Record):
    team: str
    decisions: int
    measured_usd: float
    predicted_usd: float


@dataclasses.dataclass(frozen=True)
class SavingsDecision(Record):
    id: str
    workload: str
    team: str
    status: str
    verdict: str
    per: str
    share_months_or_runs: float
    measured_usd: float
    predicted_usd: None
    method: str


@dataclasses.dataclass(frozen=True, repr=False)
class Savings(Result):
    """What 'rightsize savings' answers."""
    schema: str
    until: str
    measured_usd: float
    predicted_usd: float
    decisions: list[SavingsDecision]
    teams: list[SavingsTeam]


Savings._fields_of = {'decisions': SavingsDecision, 'teams': SavingsTeam}
