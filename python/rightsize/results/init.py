# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True, repr=False)
class Init(Result):
    """What 'rightsize init' answers."""
    schema: str
    file: str | None
    text: str
