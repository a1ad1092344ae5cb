"""An authorization server, and a resource that accepts only its tokens."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import parse_qs

from origins.scripted import Exchange, ScriptedOrigin


class Tokens:
    """`url` answers with the bearer token that came, or with 401; `token_url` issues v1, v2 ... in turn.

    The two may lie on one origin or on two.
    """

    def __init__(self, resource: ScriptedOrigin, server: ScriptedOrigin | None = None) -> None:
        self._origin = resource
        self.url = resource.on("/resource", self._resource)
        self.token_url = (server or resource).on("/token", self.answer)
        self.gate = threading.Event()
        """Token requests wait for it; open at first."""
        self.gate.set()
        self.forms: list[dict[str, str]] = []
        """The requests that the token endpoint has received."""
        self.authorizations: list[str] = []
        """What these had in `Authorization`."""
        self.refusal: tuple[int, dict[str, Any] | str] | None = None
        """What the token endpoint answers instead of a token."""
        self.takes_none = False
        """Whether the resource refuses every token."""
        self.expires_in: Any = 3600
        self.name = "v"
        """How the tokens begin."""
        self.good = "v1"
        """The token that the resource takes."""

    @property
    def refreshes(self) -> int:
        """How many requests the token endpoint has received."""
        return len(self.forms)

    @property
    def seen(self) -> list[str]:
        """The tokens that came to the resource, in order."""
        came = [request for request in self._origin.requests if request.target == "/resource"]
        return ["".join(request.values("Authorization")).removeprefix("Bearer ") for request in came]

    def oauth2(self, token: str | None = "v0", **options: Any) -> Any:
        """Make the interceptor, at first with this token, which is valid for `expires_in_ms`."""
        credential = None
        if token is not None:
            credential = {"access_token": token, "refresh_token": "r0"}
            if "expires_in_ms" in options:
                credential["expires_in_ms"] = options.pop("expires_in_ms")
        return {"oauth2": {"token_url": self.token_url, "credential": credential, **options}}

    def quiet(self, number: int = 0) -> str:
        """Return the URL of a resource whose responses do not repeat the token."""

        def reply(exchange: Exchange) -> None:
            exchange.reply(200 if exchange.request.values("Authorization") == [f"Bearer {self.good}"] else 401)

        return self._origin.on(f"/quiet{number}", reply)

    def any(self) -> str:
        """Return the URL of a resource that takes every token."""
        return self._origin.on("/any", lambda exchange: exchange.reply(200))

    def grant(self, grant: str = "client_credentials", **options: Any) -> Any:
        """Make the interceptor that obtains its tokens."""
        return {"oauth2": {"token_url": self.token_url, "grant": grant, **options}}

    def session(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Make the configuration of a session that validates."""
        return {"interceptor": [self.oauth2(*arguments, **options)], "validate": True}

    def _resource(self, exchange: Exchange) -> None:
        token = "".join(exchange.request.values("Authorization")).removeprefix("Bearer ")
        exchange.reply(401 if self.takes_none or token != self.good else 200, token.encode())

    def answer(self, exchange: Exchange) -> None:
        """Answer a token request."""
        self.forms.append({name: value[0] for name, value in parse_qs(exchange.request.body.decode()).items()})
        self.authorizations.append("".join(exchange.request.values("Authorization")))
        number = self.refreshes
        self.gate.wait(60)
        if self.refusal is not None:
            status, answer = self.refusal
        else:
            self.good = f"{self.name}{number}"
            status, answer = 200, {"access_token": self.good, "token_type": "Bearer", "expires_in": self.expires_in}
        text = answer if isinstance(answer, str) else json.dumps(answer)
        exchange.reply(status, text.encode(), [("Content-Type", "application/json")])
