"""What the functions raise. The text is what the program prints."""


class Error(Exception):
    """Everything that was wrong. `errors` holds one dictionary for each mistake: message, hints, file, line, column."""

    def __init__(self, text, errors=()):
        super().__init__(text.rstrip('\n'))
        self.errors = list(errors)


class InputError(Error, ValueError):
    """A setting, a model or a file that cannot be as given."""


class SourceError(Error):
    """A file, server or device that could not be read."""


class Bug(Error):
    """A mistake of rightsize itself. Please report it, with the call."""
