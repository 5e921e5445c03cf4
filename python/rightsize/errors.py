"""Exceptions. Their text is what the program prints."""


class Error(Exception):
    """`errors` has one dictionary per mistake: message, hints, file, line, column."""

    def __init__(self, text, errors=()):
        super().__init__(text.rstrip('\n'))
        self.errors = list(errors)


class InputError(Error, ValueError):
    """An invalid setting, model or file."""


class SourceError(Error):
    """A file, server or device that could not be read."""


class Bug(Error):
    """A bug in rightsize. Please report it with the call."""
