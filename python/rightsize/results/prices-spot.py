# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class PricesSpotUsd(Record):
    low: float
    mean: float
    high: float


@dataclasses.dataclass(frozen=True)
class PricesSpotUsdPerHour(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class PricesSpotOffer(Record):
    provider: str
    instance: str
    gpu: str
    gpus: int
    region: str
    zone: str | None
    listed_usd_per_hour: float
    usd_per_hour: PricesSpotUsdPerHour
    interruptions_per_hour: float
    interruptions_known: bool
    checkpoint_interval_seconds: float
    expected_seconds: float
    expected_interruptions: float
    usd: PricesSpotUsd
    on_demand_usd: float
    chance_cheaper: float
    leave_above_usd_per_hour: float
    may_lead: bool


@dataclasses.dataclass(frozen=True, repr=False)
class PricesSpot(Result):
    """What 'rightsize prices-spot' answers."""
    schema: str
    offers: list[PricesSpotOffer]


PricesSpotOffer._fields_of = {'usd_per_hour': PricesSpotUsdPerHour, 'usd': PricesSpotUsd}
PricesSpot._fields_of = {'offers': PricesSpotOffer}
