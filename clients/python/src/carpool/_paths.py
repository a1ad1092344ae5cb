"""Paths of files as parameters."""

from __future__ import annotations

import os
from typing import Any


def trust_of_path(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the parameter `trust` for a file or a directory of authorities."""
    place = os.path.abspath(path)  # noqa: PTH100, resolve() would follow links
    return {"ca_path" if os.path.isdir(place) else "ca_file": place}  # noqa: PTH112, without importing pathlib
