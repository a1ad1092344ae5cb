"""The header field `Link` (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urljoin

# A target, up to the next one; a parameter with its value, quoted or not. Each part begins with another character, but
# for a value in single quotes, which some servers send.
_TARGET: Final = re.compile(r"[\s,]*<([^>]*)>")
_PARAMETER: Final = re.compile(
    r"\s*;\s*(?:([^\s;,=\"]+)\s*(?:=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'(?=[\s;,]|$)|([^\s;,\"]*)))?)?"
)
_PAIR: Final = re.compile(r"\\(.)")
# More links, or longer fields, are no use of a response.
_MAX_LINKS: Final = 1_000


def parse(fields: Sequence[str], url: str) -> dict[str, dict[str, str]]:
    """Return the links by their relation types, in lower case, and those without one by their URLs.

    Each has `url`, which is absolute, and the parameters of the field as they were received. Of links with the same
    relation type the last one is valid, as in requests. What cannot be parsed is left out.
    """
    found: dict[str, dict[str, str]] = {}
    for link in _links(fields):
        link["url"] = _absolute(url, link["url"])
        for name in link.get("rel", "").lower().split() or [link["url"]]:
            found[name] = link
    return found


def _links(fields: Sequence[str]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for field in fields:
        place = 0
        while (target := _TARGET.match(field, place)) and len(found) < _MAX_LINKS:
            link = {"url": target[1].strip()}
            place = target.end()
            while parameter := _PARAMETER.match(field, place):
                place = parameter.end()
                name, quoted, single, plain = parameter.groups()
                if name:
                    # The first `rel` is valid (section 3.3).
                    value = single or plain or "" if quoted is None else _PAIR.sub(r"\1", quoted)
                    link.setdefault(name.lower(), value)
            found.append(link)
            # What is no parameter belongs to no link.
            place = field.find("<", place) if field.find("<", place) >= 0 else len(field)
    return found


def _absolute(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
