# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True, repr=False)
class PricesHistory(Result):
    """What 'rightsize prices-history' answers."""
    schema: str
    offers: list[Any]
