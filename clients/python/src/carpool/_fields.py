"""What a client adds to its requests, as mappings that can be changed."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from . import _checks, _forms


class ClientHeaders(MutableMapping[str, str]):
    """Header fields in order; names are case-insensitive. None as a value removes a field.

    The fields are an attribute of their holder, which is replaced by each change: another thread may read it.
    """

    def __init__(self, holder: object, attribute: str) -> None:
        self._holder = holder
        self._attribute = attribute

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        pairs = getattr(self._holder, self._attribute)
        return [(name, value) for name, value in pairs if value is not None]

    def __getitem__(self, name: str) -> str:
        if values := self.get_list(name):
            return ", ".join(values)
        raise KeyError(name)

    def __setitem__(self, name: str, value: str | None) -> None:
        pairs = self._pairs
        given = [pair for pair in _checks.header_pairs([(name, value)]) if pair[1] is not None]
        place = next((index for index, pair in enumerate(pairs) if _is(pair, name)), len(pairs))
        rest = [pair for pair in pairs[place:] if not _is(pair, name)]
        setattr(self._holder, self._attribute, [*pairs[:place], *given, *rest])

    def __delitem__(self, name: str) -> None:
        self[name]
        setattr(self._holder, self._attribute, [pair for pair in self._pairs if not _is(pair, name)])

    def __iter__(self) -> Iterator[str]:
        spelled: dict[str, str] = {}
        for name, _ in self._pairs:
            spelled.setdefault(name.lower(), name)
        return iter(spelled.values())

    def __len__(self) -> int:
        return len({name.lower() for name, _ in self._pairs})

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.get_list(name))

    def __repr__(self) -> str:
        # Without the values, which may be secrets.
        return f"ClientHeaders({list(self)!r})"

    def get_list(self, name: str) -> list[str]:
        """Return all values of a field, in order."""
        return [value for field, value in self._pairs if field.lower() == name.lower()]


def _is(pair: tuple[str, str | None], name: str) -> bool:
    return pair[0].lower() == name.lower()


class ClientParams(MutableMapping[str, Any]):
    """Names and values of the query; a value is text, or a list of texts if the name is repeated."""

    def __init__(self, holder: object, attribute: str) -> None:
        self._holder = holder
        self._attribute = attribute

    @property
    def _fields(self) -> _forms.Fields:
        fields: _forms.Fields = getattr(self._holder, self._attribute)
        return [pair for pair in fields if pair[1] is not None]

    def __getitem__(self, name: str) -> Any:
        values = [value for field, value in self._fields if field == name]
        if not values:
            raise KeyError(name)
        return values if len(values) > 1 else values[0]

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._holder, self._attribute, _forms.merge(self._fields, _forms.fields("params", {name: value})))

    def __delitem__(self, name: str) -> None:
        self[name]
        setattr(self._holder, self._attribute, [pair for pair in self._fields if pair[0] != name])

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self._fields))

    def __len__(self) -> int:
        return len(dict.fromkeys(name for name, _ in self._fields))

    def __repr__(self) -> str:
        # Without the values, which may be secrets.
        return f"ClientParams({list(self)!r})"
