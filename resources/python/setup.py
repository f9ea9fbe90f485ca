"""The version: that of the program, from its CMakeLists.txt; within a source distribution, the one
that it was made with."""

import re
from pathlib import Path

from setuptools import setup

_PLACES = (("../../CMakeLists.txt", r"project\(halftone VERSION ([0-9.]+)"),
           ("PKG-INFO", r"^Version: (\S+)$"))


def _version() -> str:
    for name, pattern in _PLACES:
        file = Path(__file__).resolve().parent / name
        found = file.is_file() and re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1)
    raise SystemExit("halftone-watch: neither CMakeLists.txt nor PKG-INFO tells the version")


setup(version=_version())
