"""An adapter of the package requests: sessions send through carpoold, and are otherwise unchanged.

session = requests.Session()
session.mount("https://", CarpoolAdapter())
session.mount("http://", CarpoolAdapter())
"""

from __future__ import annotations

import os
import ssl
import weakref
from typing import Any
from urllib.parse import urlsplit

try:
    import requests
    import urllib3.connectionpool
    from requests.adapters import DEFAULT_POOLBLOCK, DEFAULT_POOLSIZE, DEFAULT_RETRIES, HTTPAdapter
    from requests.utils import prepend_scheme_if_needed, select_proxy
    from urllib3 import exceptions
except ImportError as error:
    raise ImportError("carpool.requests needs the package requests: pip install requests") from error

from . import _adapters as adapters
from ._paths import AnyPath, trust_of_path
from ._sync.exchange import Exchange
from ._urllib3 import Origin, RefusedError, URLRefusedError

__all__ = ["CarpoolAdapter", "InvalidParameter"]


# What a pool of urllib3 verifies instead of the host's name, and the daemon cannot.
_UNVERIFIED = ("assert_fingerprint", "assert_hostname", "server_hostname")
_ANY_NAME = {"evaluators": {"*": {"default": {"validate_host": False}}}}


class InvalidParameter(requests.exceptions.RequestException, ValueError):  # noqa: N818, named as those of requests
    """The daemon does not accept a part of the request, such as its method; it was not sent."""


class CarpoolAdapter(HTTPAdapter):
    """Sends the requests of a `requests.Session` through carpoold; threads may share it.

    The arguments are those of `HTTPAdapter`. `max_retries` is honoured as there; the sizes of pools have no meaning,
    because the daemon has the connections. With `CARPOOL=off` in the environment it is an `HTTPAdapter`, and while a
    library for tests, such as vcrpy, has replaced the connections of urllib3.
    """

    def __init__(
        self,
        pool_connections: int = DEFAULT_POOLSIZE,
        pool_maxsize: int = DEFAULT_POOLSIZE,
        max_retries: Any = DEFAULT_RETRIES,
        pool_block: bool = DEFAULT_POOLBLOCK,
    ) -> None:
        super().__init__(pool_connections, pool_maxsize, max_retries, pool_block)
        self._begin()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]
        self._begin()

    def _begin(self) -> None:
        self._idle: adapters.Idle[Exchange] = adapters.Idle()
        weakref.finalize(self, _close, self._idle)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request; raises the exceptions of requests."""
        position = "_body_position"
        if hasattr(request.body, "__next__") and getattr(request, position) is None:
            # As requests marks a file without a position: a redirect that has to send the body again raises.
            setattr(request, position, object())
        try:
            return super().send(request, *args, **kwargs)
        except exceptions.UnrewindableBodyError as error:
            raise requests.exceptions.UnrewindableBodyError(str(error), request=request) from error
        except URLRefusedError as error:
            raise requests.exceptions.InvalidURL(str(error), request=request) from error
        except RefusedError as error:
            raise InvalidParameter(str(error), request=request) from error

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: bool | str | None,
        proxies: Any = None,
        cert: Any = None,
    ) -> Any:
        """Return what sends the request, in the place of a connection pool."""
        proxy = select_proxy(request.url or "", proxies) if proxies else None
        pool = None
        if not (proxy and proxy.lower().startswith("socks")):
            # It refuses URLs and proxies that are not valid. urllib3 connects only when it sends.
            pool = super().get_connection_with_tls_context(request, verify, proxies=proxies, cert=cert)
        if adapters.is_off() or _is_replaced():
            return pool or super().get_connection_with_tls_context(request, verify, proxies=proxies, cert=cert)
        settings, configuration = self._settings(request, verify, cert, pool)
        if proxy:
            settings["proxy"] = adapters.proxy(str(prepend_scheme_if_needed(proxy, "http")))  # type: ignore[no-untyped-call]
        parts = urlsplit(request.url or "")
        base = f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2]}"
        return Origin(base, settings, configuration, self._idle)

    def close(self) -> None:
        """Close the connections to the daemon that no response uses."""
        super().close()
        _close(self._idle)

    def _settings(
        self, request: requests.PreparedRequest, verify: bool | AnyPath | None, cert: Any, pool: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters of a connection, and the configuration of the session."""
        configuration = dict(adapters.BASE_CONFIGURATION)
        settings = dict(adapters.BASE_PARAMS) | {"http_version": "1.1"}
        # What a subclass passes to urllib3; for a SOCKS proxy there is no pool.
        given = self.poolmanager.connection_pool_kw if pool is None else pool.conn_kw
        if (request.url or "").lower().startswith("https"):
            names = {name: getattr(pool, name, None) or given.get(name) for name in _UNVERIFIED}
            for name, value in names.items():
                if value:
                    raise InvalidParameter(
                        f"{name}: the daemon cannot verify it, and the request was not sent; mount an adapter that is "
                        "no CarpoolAdapter for this host",
                        request=request,
                    )
            if not verify:
                settings["trust"] = {"verify": False}
            elif isinstance(verify, (str, bytes, os.PathLike)):
                settings["trust"] = trust_of_path(verify)
            elif context := given.get("ssl_context"):
                configuration["trust"] = _trust_of_context(context, request)
            if verify and False in (getattr(pool, "assert_hostname", None), given.get("assert_hostname")):
                trust = settings.get("trust") or configuration.pop("trust", {})
                settings["trust"] = {**(trust if isinstance(trust, dict) else {}), **_ANY_NAME}
            if cert:
                settings["client_certificate"] = adapters.certificate(cert)
        if source := given.get("source_address"):
            settings["addresses"] = {"local_address": source[0]}
        settings["session"] = adapters.session_name(configuration)
        return settings, configuration


def _trust_of_context(context: ssl.SSLContext, request: requests.PreparedRequest) -> dict[str, Any] | str:
    try:
        return adapters.trust_of_context(context)
    except ValueError as error:
        raise InvalidParameter(f"ssl_context: {error}", request=request) from None


def _is_replaced() -> bool:
    """Whether a mock has replaced what sends the requests of urllib3; `send` of adapters is that of requests anyway."""
    pool = urllib3.connectionpool.HTTPConnectionPool
    return not pool.ConnectionCls.__module__.startswith("urllib3.") or adapters.is_replaced(pool, "urlopen")


def _close(idle: adapters.Idle[Exchange]) -> None:
    for exchange in idle.drain():
        exchange.channel.close()
