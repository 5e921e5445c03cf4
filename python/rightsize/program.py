"""Runs the program `rightsize` that the wheel contains."""
import os
import pathlib
import sys


def path():
    """The path where a wheel installs the program, next to the module."""
    return os.fspath(pathlib.Path(__file__).parent / '_program/bin/rightsize')


def main():
    program = path()
    if not os.path.exists(program):
        sys.exit('rightsize: this copy of the Python package has no program; install the wheel or the Debian package')
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == '__main__':
    main()
