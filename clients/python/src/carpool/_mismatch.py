"""Types that no argument has: with them a type checker names a wrong argument, and not all that there are.

mypy prints every overload of a method, with its 80 arguments, if an argument has none of their types. If one of the
overloads accepts the argument when type arguments are left out, mypy reports what is wrong with that one. Any object is
an `OtherType` in that sense, because each has a size, and none is an `OtherType[NoReturn]`.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class OtherType(Protocol[T_co]):
    """What an argument with a wrong type is."""

    def __sizeof__(self) -> T_co: ...  # type: ignore[override]


class NoSuchArgument(Protocol[T_co]):
    """What an argument with a name that does not exist is."""

    def __sizeof__(self) -> T_co: ...  # type: ignore[override]
