"""Calls and origins of the tests of cookies."""

from __future__ import annotations

from typing import Any

from origins.scripted import ScriptedOrigin

from harness.wire import RemoteError, Wire

SECRET = "c00kie-value"


def setting(origin: ScriptedOrigin, path: str, *cookies: str, status: int = 200, location: str = "") -> str:
    """Answer a path with these Set-Cookie fields; return its URL."""
    headers = [("Set-Cookie", cookie) for cookie in cookies] + ([("Location", location)] if location else [])
    return origin.on(path, lambda exchange: exchange.reply(status, headers=headers))


def jar(wire: Wire, name: str = "jar", **settings: Any) -> str:
    wire.call("session.create", name=name, configuration={"cookies": settings})
    return name


def perform(wire: Wire, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = wire.call("request.perform", url=url, **params)
    assert record["outcome"]["ok"], record
    return record


def sent(origin: ScriptedOrigin) -> str:
    """The cookies of the last request."""
    fields = origin.requests[-1].values("Cookie")
    assert len(fields) < 2, fields
    return fields[0] if fields else ""


def exported(wire: Wire, session: str = "jar") -> list[dict[str, Any]]:
    cookies: list[dict[str, Any]] = wire.call("cookies.export", session=session, format="json", limit=3_000)["list"]
    return cookies


def place(error: RemoteError) -> Any:
    return error.error["data"]["path"]
