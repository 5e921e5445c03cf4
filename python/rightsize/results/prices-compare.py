# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class PricesCompareThreeYears(Record):
    instance: str
    region: str
    zone: None
    listed_usd_per_gpu_hour: float
    low: float
    likely: float
    high: float
    may_lead: bool
    age_days: float


@dataclasses.dataclass(frozen=True)
class PricesCompareOneYear(Record):
    instance: str
    region: str
    zone: None
    listed_usd_per_gpu_hour: float
    low: float
    likely: float
    high: float
    may_lead: bool
    age_days: float


@dataclasses.dataclass(frozen=True)
class PricesCompareSpot(Record):
    instance: str
    region: str
    zone: str | None
    listed_usd_per_gpu_hour: float
    low: float
    likely: float
    high: float
    may_lead: bool
    age_days: float


@dataclasses.dataclass(frozen=True)
class PricesCompareOnDemand(Record):
    instance: str
    region: str
    zone: None
    listed_usd_per_gpu_hour: float
    low: float
    likely: float
    high: float
    may_lead: bool
    age_days: float


@dataclasses.dataclass(frozen=True)
class PricesCompareWay(Record):
    gpu: str
    provider: str
    gpus: int
    on_demand: PricesCompareOnDemand
    spot: PricesCompareSpot | None
    one_year: PricesCompareOneYear | None
    three_years: PricesCompareThreeYears | None
    interconnect: str
    network_bytes_per_second: float | None
    egress_usd_per_gb: float | None


@dataclasses.dataclass(frozen=True, repr=False)
class PricesCompare(Result):
    """What 'rightsize prices-compare' answers."""
    schema: str
    ways: list[PricesCompareWay]


PricesCompareWay._fields_of = {'on_demand': PricesCompareOnDemand, 'spot': PricesCompareSpot, 'one_year': PricesCompareOneYear, 'three_years': PricesCompareThreeYears}
PricesCompare._fields_of = {'ways': PricesCompareWay}
