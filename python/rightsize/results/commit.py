# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class CommitCommittedSpend(Record):
    account: str
    provider: str
    drawn_usd: float
    left_usd: float
    until: str


@dataclasses.dataclass(frozen=True)
class CommitProvider(Record):
    provider: str
    one_year_gpus: float
    three_year_gpus: float
    total_usd: float
    uncommitted_usd: float
    new_money_usd: float | None = None


@dataclasses.dataclass(frozen=True)
class CommitPayment(Record):
    term: str
    payment: str
    usd_per_gpu_hour: float
    monthly_usd_per_gpu_hour: float
    upfront_usd: float
    cheapest: bool


@dataclasses.dataclass(frozen=True)
class CommitFuture(Record):
    name: str
    weight: float
    usd: float
    uncommitted_usd: float
    regret_usd: float
    laddered_usd: float


@dataclasses.dataclass(frozen=True)
class CommitTerm(Record):
    term: str
    gpus: float
    usd_per_gpu_hour: float
    break_even_utilization: float
    usd_per_year: float
    total_usd: float


@dataclasses.dataclass(frozen=True, repr=False)
class Commit(Result):
    """What 'rightsize commit' answers."""
    schema: str
    provider: str
    gpu: str
    usage: str
    one_year_gpus: float
    three_year_gpus: float
    on_demand_usd_per_gpu_hour: float
    spot_usd_per_gpu_hour: float | None
    total_usd: float
    uncommitted_usd: float
    saving_usd: float
    first_year_usd: float
    coverage: float
    utilization: float
    terms: list[CommitTerm]
    futures: list[CommitFuture] | None = None
    payments: list[CommitPayment] | None = None
    providers: list[CommitProvider] | None = None
    committed_spend: list[CommitCommittedSpend] | None = None
    new_money_usd: float | None = None


Commit._fields_of = {'terms': CommitTerm, 'futures': CommitFuture, 'payments': CommitPayment, 'providers': CommitProvider, 'committed_spend': CommitCommittedSpend}
