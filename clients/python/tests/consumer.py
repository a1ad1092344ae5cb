"""A program that uses the package, for a type checker: `test_packaging` checks it against the installed wheel.

`assert_type` fails if the type is another one, also Any; a `type: ignore` fails if there is no such error.
"""

from __future__ import annotations

import asyncio
import hashlib
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import carpool

if TYPE_CHECKING:
    from typing_extensions import Unpack, assert_type
else:

    def assert_type(value: object, _: object) -> object:
        return value


def sign(call: carpool.AdaptCall) -> carpool.Changes:
    assert_type(call.request, carpool.URLRequest)
    digest = hashlib.sha256(call.request.content or b"").hexdigest()
    return carpool.Changes(set_headers={"X-Digest": digest})


def backoff(call: carpool.RetryCall) -> float | None:
    assert_type(call.error, carpool.RequestError)
    assert_type(call.response, carpool.ResponseHead | None)
    return 2.0**call.retry_count if call.error.retryable else None


def follow(call: carpool.RedirectCall) -> carpool.Changes | bool:
    return carpool.Changes(remove_headers=["Authorization"]) if call.response.status_code == 307 else False


def authenticate(call: carpool.AuthenticateCall) -> tuple[str, str] | carpool.DigestAuth | None:
    assert_type(call.realm, str | None)
    return None if call.previous_failure_count else ("ada", "secret")


def store(call: carpool.CacheCall) -> carpool.CacheChanges | bool:
    return carpool.CacheChanges(ttl=60, storage="memory") if call.size_bytes < 1_000 else False


def refresh(call: carpool.RefreshCall) -> carpool.Credential:
    return carpool.Credential("access", call.credential.refresh_token, expires_in=3_600)


def destination(call: carpool.DestinationCall) -> Path:
    return Path("/tmp") / call.suggested_name


def trust(call: carpool.TrustCall) -> bool:
    return hashlib.sha256(call.certificates[0]).hexdigest() == "00"


def validate(call: carpool.ValidateCall) -> bool:
    if call.response.headers.get("x-valid") is None:
        raise carpool.Refuse("not valid")
    return True


async def sign_later(call: carpool.AdaptCall) -> carpool.Changes:
    return await asyncio.to_thread(sign, call)


def fetch(client: carpool.Client, url: str, **options: Unpack[carpool.RequestOptions]) -> carpool.Response:
    return client.get(url, **options)


def blocking() -> None:
    with carpool.Client(base_url="https://example.com/", timeout=(1, None), retry=2) as client:
        client.register("all", adapt=sign, retry=backoff, redirect=follow, authenticate=authenticate)
        client.register("rest", cache=store, refresh=refresh, destination=destination, trust=trust, validate=validate)
        client.register("wrong", adapt=backoff)  # type: ignore[arg-type]
        client.register("wrong", adapt=sign_later)  # type: ignore[arg-type]
        response = client.get("page", interceptor=[{"callback": {"name": "all"}}], cache={"ttl_ms": 1_000})
        assert_type(response, carpool.Response)
        assert_type(response.status_code, int)
        assert_type(response.headers, carpool.Headers)
        assert_type(response.headers.get_list("via"), list[str])
        assert_type(response.elapsed, timedelta)
        assert_type(response.history, list[carpool.Response])
        assert_type(response.cache, carpool.CacheOutcome | None)
        assert_type(response.json(), Any)
        people: list[dict[str, str]] = response.json()
        assert people
        assert_type(fetch(client, "page", params={"q": "car pool"}).content, bytes)
        assert_type(client.get("page", stream=True), carpool.Stream)
        client.get("page", timout=1)  # type: ignore[arg-type]
        client.get("page", timeout="1")  # type: ignore[arg-type]
        carpool.Client(tiemout=1)  # type: ignore[call-arg]
        with client.stream("GET", "page") as stream:
            assert_type(stream, carpool.Stream)
            assert_type(stream.head, carpool.Response)
            for line in stream.iter_lines():
                assert_type(line, str)
        with client.events("request.*") as events:
            for event in events:
                assert_type(event, carpool.Event)
    assert_type(carpool.post("https://example.com/", json={"a": [1]}), carpool.Response)
    assert_type(carpool.NetrcAuth().path, Path)
    assert_type(carpool.__version__, str)


async def asynchronous() -> None:
    async with carpool.AsyncClient(session="api") as client:
        await client.register("all", adapt=sign_later, retry=backoff)
        assert_type(await client.get("https://example.com/"), carpool.Response)
        async with client.stream("GET", "https://example.com/") as stream:
            async for block in stream.iter_bytes():
                assert_type(block, bytes)
    try:
        await client.get("https://example.com/", validate=True)
    except carpool.ValidationError as error:
        assert_type(error.retryable, bool)
        assert_type((error.name, error.message), tuple[str, str])
        assert_type((error.data, error.record), tuple[dict[str, Any], dict[str, Any]])
    except carpool.RPCError as error:
        assert_type((error.code, error.data), tuple[int, dict[str, Any]])
