"""The parameter `proxy`, from the argument `proxies` and from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ._environment import variable

_KEYS: Final = {"http", "https", "all", "no_proxy"}


def given(proxies: Mapping[str, str | None]) -> dict[str, Any] | None:
    """Return `proxy` for the argument `proxies`; None if it is empty. `no_proxy` of the environment applies too."""
    if unknown := set(proxies) - _KEYS:
        raise ValueError(f"a key of proxies, {min(unknown)!r}, is not one of {', '.join(sorted(_KEYS))}")
    if not proxies:
        return None
    if set(proxies) == {"no_proxy"}:
        # As in requests: of the proxies that apply otherwise, and here also of those of the session.
        exceptions = {"no_proxy": proxies["no_proxy"] or "", "no_proxy_in_session": True}
        return {**(of_environment() or {}), **exceptions, "environment": True}
    return _with_exceptions({name: url or "" for name, url in proxies.items()})


def of_environment() -> dict[str, Any] | None:
    """Return `proxy` for the variables of this process, by curl's rules; None if there are none.

    `HTTP_PROXY` is ignored: in a CGI program its value is a header field of the client.
    """
    anything = variable("all_proxy", "ALL_PROXY")
    found = {
        "http": variable("http_proxy") or anything,
        "https": variable("https_proxy", "HTTPS_PROXY") or anything,
    }
    proxy: dict[str, Any] = {name: url for name, url in found.items() if url}
    return _with_exceptions({**proxy, "environment": True}) if proxy else None


def _with_exceptions(proxy: dict[str, Any]) -> dict[str, Any]:
    if "no_proxy" not in proxy and (exceptions := variable("no_proxy", "NO_PROXY")):
        proxy["no_proxy"] = exceptions
    return proxy
