"""Names and values, as the query of a URL or as a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ._paths import encodable

# Names in order, each with a text; None for a name that is left out.
Fields = list[tuple[str, "str | bytes | None"]]


def is_form(data: object) -> bool:
    """Whether the argument `data` is a form: a mapping, or a list of pairs whose first elements are names."""
    if isinstance(data, Mapping):
        return True
    return isinstance(data, (list, tuple)) and all(_is_pair(element) for element in data)


def _is_pair(element: object) -> bool:
    return isinstance(element, (list, tuple)) and len(element) == 2 and isinstance(element[0], str)  # noqa: PLR2004


def fields(argument: str, given: Any) -> Fields:
    """Return the names and texts of a mapping or a list of pairs; a list of values repeats its name.

    Raises TypeError, which names the argument, for anything else.
    """
    if not is_form(given):
        raise TypeError(
            f"{argument}: expected a mapping of names to values, a list of pairs, or text, not {type(given).__name__}"
        )
    found: Fields = []
    for name, value in _pairs(given):
        if not isinstance(name, str):
            raise TypeError(f"{argument}: a name is str, not {type(name).__name__}: {name!r}")
        values = value if isinstance(value, (list, tuple)) else [value]
        found += [(encodable(_plain(name), argument), _text(argument, name, each)) for each in values]
    return found


def _pairs(given: Any) -> Iterable[tuple[Any, Any]]:
    """Return the pairs of a form; the query of httpx and of others is a mapping that may repeat a name."""
    if not isinstance(given, Mapping):
        return cast("Iterable[tuple[Any, Any]]", given)
    return given.multi_items() if hasattr(given, "multi_items") else given.items()


def _plain(text: str) -> str:
    """Return the text itself, also of a member of an enumeration whose `str()` is its name."""
    return str.__str__(text)


def _text(argument: str, name: str, value: object) -> str | bytes | None:
    if isinstance(value, str):
        return encodable(_plain(value), argument)
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    more = "; with encoding= the daemon also encodes mappings, bytes and times" if argument == "params" else ""
    raise TypeError(
        f"{argument}: the value of {name!r} is of type {type(value).__name__}: expected str, bytes, int, float, bool, "
        f"None or a list of these{more}"
    )


def encode(pairs: Fields) -> str:
    """Return the fields as `name=value` pairs, percent-encoded."""
    from urllib.parse import urlencode  # noqa: PLC0415, few requests have a form

    return urlencode([pair for pair in pairs if pair[1] is not None])


def merge(defaults: Fields, given: Fields) -> Fields:
    """Return the defaults whose names are not given, and then those that are given."""
    names = {name for name, _ in given}
    return [pair for pair in defaults if pair[0] not in names] + given


def add_query(url: str, query: str) -> str:
    """Append a query to a URL, before its fragment."""
    if not query:
        return url
    base, mark, fragment = url.partition("#")
    separator = "" if base.endswith(("?", "&")) else "&" if "?" in base else "?"
    return f"{base}{separator}{query}{mark}{fragment}"


def url_with(url: str, defaults: Fields, params: Any) -> str:
    """Return a URL with the default fields and the argument `params` in its query."""
    if isinstance(params, (str, bytes)):
        text = encodable(_plain(params), "params") if isinstance(params, str) else params.decode()
        return add_query(add_query(url, encode(defaults)), text)
    given = [] if params is None else fields("params", params)
    pairs = merge(defaults, given)
    return add_query(url, encode(pairs)) if pairs else url
