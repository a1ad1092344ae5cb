"""The variables of this process that its requests read, at each request: proxies and certificate authorities."""

from __future__ import annotations

import os
import stat
from typing import Any, Final

from ._paths import absolute, trust_of_path

# The first two are those of requests, the second also of curl, the others of httpx, curl and OpenSSL, in their order.
_AUTHORITIES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES: Final = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
_BYTES: Final = {name: name.encode() for name in (*_AUTHORITIES, *_PROXIES, "CARPOOL")}
# The longest file that is sent as text: some ten certificates. The daemon opens others, which takes longer than to
# receive a short text, and which it does not do for programs of other users and containers.
_TEXT_BYTES: Final = 16_384
# The most directories that the daemon takes.
_FOLDERS: Final = 16


def variable(*names: str) -> str:
    """Return the first value that is not empty."""
    # The look-up of os.environ raises and catches two exceptions for a name that is not set; a test may replace it.
    found: dict[bytes, bytes] | None = getattr(os.environ, "_data", None)
    if found is None:
        return next((value for name in names if (value := os.environ.get(name))), "")
    for name in names:
        if content := found.get(_BYTES[name]):
            return os.fsdecode(content)
    return ""


def authorities() -> dict[str, Any] | None:
    """Return `trust` for the variables of certificate authorities; None if there are none."""
    place = variable(*_AUTHORITIES)
    if not place:
        return None
    name = next(name for name in _AUTHORITIES if variable(name))
    if name == "SSL_CERT_DIR":
        return trust_of_folders(place)
    text = _text(place)
    return trust_of_variable(name, place) if text is None else {"ca_pem": text, "environment": name}


def trust_of_variable(name: str, path: str) -> dict[str, Any]:
    """Return `trust` for the path of a variable, which an error of the daemon names."""
    return {**trust_of_path(path, name), "environment": name}


def trust_of_folders(places: str) -> dict[str, Any]:
    """Return `trust` for the folders that exist of a list with colons, which is `SSL_CERT_DIR`, as OpenSSL reads it."""
    folders = [folder for folder in places.split(os.pathsep) if folder] or [places]
    found = [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]  # noqa: PTH112, without pathlib
    if len(found) <= 1:
        return trust_of_variable("SSL_CERT_DIR", (found or folders)[0])
    paths = [absolute("SSL_CERT_DIR", folder) for folder in found[:_FOLDERS]]
    return {"ca_path": paths, "environment": "SSL_CERT_DIR"}


def _text(path: str) -> str | None:
    """Return the content of a short file; None for a path that the daemon is to open."""
    try:
        status = os.stat(path)  # noqa: PTH116, without importing pathlib
        if not stat.S_ISREG(status.st_mode) or status.st_size > _TEXT_BYTES:
            return None
        with open(path, encoding="utf-8") as file:  # noqa: PTH123, as above
            return file.read(2 * _TEXT_BYTES)
    except (OSError, UnicodeDecodeError):
        return None
