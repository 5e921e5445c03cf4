"""The base classes of all results."""
from __future__ import annotations

import copy
import dataclasses
import html
import json
from typing import Any

# Height of a report in a notebook, in pixels; it scrolls.
_HEIGHT = 420


def plain(value):
    """The value as dictionaries and lists."""
    if isinstance(value, Record):
        return {name: plain(field) for name, field in vars(value).items() if not name.startswith('_')}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


@dataclasses.dataclass(frozen=True)
class Record:
    """A part of a result. Fields that the document does not have are None."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as dictionaries, lists, strings and numbers, with the fields that are present."""
        return plain(self)


# The classes of objects in fields and in lists (_fields_of), and of the values of objects with data as keys (_maps_of).
# Subclasses override them. They are not fields, so they are set outside the dataclass.
Record._fields_of = {}
Record._maps_of = {}


class _Rendered:
    """The report of an unpickled result: the text of every format, because the report itself cannot leave its process."""

    def __init__(self, answer):
        self.exit_code = answer.exit_code
        self._texts = {name: answer.render(name) for name in ('text', 'json', 'csv', 'md', 'html')}
        self._quiet = answer.render('text', quiet=True)

    def render(self, format, width=100, quiet=False):
        return self._quiet if quiet else self._texts[format]


@dataclasses.dataclass(frozen=True)
class Result(Record):
    """The result of a command. Its fields are those of `--format json`; `print` shows the report, notebooks show its HTML."""

    def _report(self):
        return self.__dict__['_answer']

    def __getstate__(self):
        state = dict(self.__dict__)
        if '_asked' in state:
            state.pop('_answer', None)  # recreated when needed
        elif '_answer' in state and not isinstance(state['_answer'], _Rendered):
            state['_answer'] = _Rendered(state['_answer'])
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __deepcopy__(self, memo):
        made = object.__new__(type(self))
        for name, value in self.__dict__.items():
            made.__dict__[name] = value if name == '_answer' else copy.deepcopy(value, memo)
        return made

    def to_json(self, indent: int | None = 2) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def to_markdown(self) -> str:
        return self._report().render('md')

    def to_csv(self) -> str:
        return self._report().render('csv')

    def to_html(self) -> str:
        """A complete HTML page."""
        return self._report().render('html')

    def to_frame(self) -> Any:
        """The rows of the result as a pandas DataFrame: plans, prices, GPUs; otherwise one row of the fields."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError('to_frame() needs pandas: pip install pandas, or use to_dict()') from missing
        rows = self.to_dict()
        if type(self)._rows:
            return pandas.json_normalize(rows.get(type(self)._rows) or [])
        return pandas.json_normalize([rows])

    @property
    def exit_code(self) -> int:
        """The exit code of the program: 0, or 2 if there is no feasible answer."""
        return self._report().exit_code

    def __str__(self):
        return self._report().render('text').rstrip('\n')

    def __repr__(self):
        return f"<{type(self).__name__}: {self._report().render('text', quiet=True).strip()}>"

    def _repr_html_(self):
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{_HEIGHT}px;border:0" title="rightsize"></iframe>'

    def _repr_markdown_(self):
        return self.to_markdown()


Result._rows = None  # the field that to_frame() shows as rows


class LazyEstimate(Result):
    """An estimate that holds only numbers; its lists and its report are computed on first use, to keep loops fast."""

    def _report(self):
        if '_answer' not in self.__dict__:
            self.__dict__['_answer'] = estimate_report(self.__dict__['_asked'])
        return self.__dict__['_answer']

    def to_dict(self):
        if '_asked' in self.__dict__:
            return self._report().document()
        return super().to_dict()


class _Lazy:
    """A field computed on first use from the details. `warnings` comes from the report, because checking whether a training job
    fits takes longer than estimating its speed."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return None  # the default of the field, for dataclasses
        fields = instance.__dict__
        if '_asked' not in fields:
            return None
        source = instance._report().document(owner).__dict__ if self.name == 'warnings' else estimate_details(fields['_asked'])
        fields[self.name] = source.get(self.name)
        return fields[self.name]


def make_lazy(estimate, names):
    for name in names:
        setattr(estimate, name, _Lazy(name))


estimate_details = estimate_report = None  # commands.py sets them
