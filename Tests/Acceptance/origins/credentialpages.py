"""An origin, and an HTTP proxy that gets requests as they are, that ask for credentials as the path says."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter

from origins.scripted import Exchange, ScriptedOrigin

USER, PASSWORD = "ada", "secret"
PROXY_USER, PROXY_PASSWORD = "bob", "hidden"
_REALM = "r"
_ALGORITHMS = {"digest": "MD5", "sha256": "SHA-256", "sha512": "SHA-512-256"}
_HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}


class CredentialPages(ScriptedOrigin):
    """Paths are `/ORIGIN/PROXY/EVENT`: what either demands (`none`, `basic`, `digest`, `both`, `refuse` ...), and what
    happens to the first request that is let in (`plain`, `moved`, `busy`). Behind a proxy the target is a whole URL."""

    def __init__(self) -> None:
        super().__init__()
        self.handler = self._page
        self._seen: Counter[str] = Counter()

    def forget(self) -> None:
        """Forget the requests, and which were the first."""
        super().forget()
        self._seen.clear()

    def _page(self, exchange: Exchange) -> None:
        path = re.sub(r"^http://[^/]*", "", exchange.request.target)
        origin, proxy, event = [*path.strip("/").split("/"), "none", "none", "plain"][:3]
        if exchange.request.target.startswith("http://"):
            user, name = (PROXY_USER, PROXY_PASSWORD), "Proxy-Authorization"
            if not _is_let_in(exchange, proxy, name, *user):
                return _ask(exchange, 407, "Proxy-Authenticate", proxy)
        if not _is_let_in(exchange, origin, "Authorization", USER, PASSWORD):
            return _ask(exchange, 401, "WWW-Authenticate", origin)
        self._seen[path] += 1
        if event == "moved":
            return exchange.reply(307, b"moved\n", [("Location", f"/{origin}/{proxy}/plain")])
        if event == "busy" and self._seen[path] == 1:
            return exchange.reply(503, b"busy\n")
        return exchange.reply(200, f"got {len(exchange.request.body)}\n".encode())


def _ask(exchange: Exchange, status: int, name: str, demand: str) -> None:
    schemes = {"both": ["digest", "basic"], "refuse": ["digest"]}.get(demand, [demand])
    fields = [(name, _challenge(scheme)) for scheme in schemes]
    exchange.reply(status, b"who?\n", fields)


def _challenge(scheme: str) -> str:
    if scheme == "basic":
        return f'Basic realm="{_REALM}"'
    return f'Digest realm="{_REALM}", nonce="n0", qop="auth", algorithm={_ALGORITHMS[scheme]}, opaque="o"'


def _is_let_in(exchange: Exchange, demand: str, name: str, user: str, password: str) -> bool:
    given = (exchange.request.values(name) or [""])[0]
    if demand == "none":
        return True
    if given.startswith("Basic "):
        wanted = base64.b64encode(f"{user}:{password}".encode()).decode()
        return demand in ("basic", "both") and given == f"Basic {wanted}"
    if not given.startswith("Digest ") or demand in ("basic", "refuse"):
        return False
    values = {key: quoted or plain for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^,\s]*))', given)}
    kind = _HASHES[values.get("algorithm", "MD5")]

    def digest(text: str) -> str:
        return hashlib.new(kind, text.encode()).hexdigest()

    parts = [values.get(key, "") for key in ("nonce", "nc", "cnonce", "qop")]
    second = digest(f"{exchange.request.method}:{values.get('uri', '')}")
    return values.get("response") == digest(":".join([digest(f"{user}:{_REALM}:{password}"), *parts, second]))
