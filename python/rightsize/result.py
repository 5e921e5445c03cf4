"""What every result has in common."""
import dataclasses
import html
import json

# How tall a report stands in a notebook; it scrolls.
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
    """A part of a result. Fields a document does not have are None."""

    def to_dict(self):
        """The same as in the JSON document: dictionaries, lists, texts and numbers; only fields that are there."""
        return plain(self)


# The classes of objects in fields (also of lists of them), and of the values of objects whose keys are data. Subclasses
# say what differs; they are no fields, so they stand outside the dataclass.
Record._fields_of = {}
Record._maps_of = {}


@dataclasses.dataclass(frozen=True)
class Result(Record):
    """The answer of a command: what `--format json` prints, as fields; `print` shows the report, notebooks its HTML."""

    def _report(self):
        return self.__dict__['_answer']

    def to_json(self, indent=2):
        return json.dumps(self.to_dict(), indent=indent)

    def to_markdown(self):
        return self._report().render('md')

    def to_csv(self):
        return self._report().render('csv')

    def to_html(self):
        """A whole page."""
        return self._report().render('html')

    def to_frame(self):
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
    def exit_code(self):
        """What the program would end with: 0, or 2 where nothing feasible was found."""
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
    """An estimate made for a loop holds its numbers; the rest is made when someone looks."""

    def _report(self):
        if '_answer' not in self.__dict__:
            self.__dict__['_answer'] = estimate_report(self.__dict__['_asked'])
        return self.__dict__['_answer']

    def to_dict(self):
        if '_asked' in self.__dict__:
            return self._report().document()
        return super().to_dict()


class _Lazy:
    """A field that is not in the instance: taken from the details, or of `warnings` from the report, which also says whether a
    training job fits, and that takes longer than its speed."""

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
