"""Bodies of any bytes: what is raised for them is what the page promises, and the client goes on."""

from __future__ import annotations

import asyncio
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin

# From 3.12 on Python reads arrays that are nested some times deeper.
TOO_DEEP = 1_500 if sys.version_info < (3, 12) else 15_000
BODIES = {
    "no text": b"\xff",
    "cut": b'{"a": [1,',
    "nested deeper than Python reads": b"[" * TOO_DEEP + b"]" * TOO_DEEP,
    "nested deeper than the daemon reads": b"[" * 30_000 + b"]" * 30_000,
    "a number of too many digits": b"9" * 5_000,
    "UTF-16, cut": b"\xff\xfe[\x00\x00",
    "empty": b"",
}


def raised(call: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_not_json_raises_what_the_page_says(
    client: carpool.Client, origin: ScriptedOrigin, body: bytes
) -> None:
    url = origin.on("/body", lambda exchange: exchange.reply(body=body))
    response = client.get(url)
    assert isinstance(raised(response.json), json.JSONDecodeError)
    if body:
        assert isinstance(raised(lambda: client.get(url, serialize="json")), carpool.SerializationError)
        with client.get(url, stream=True) as stream:
            assert isinstance(raised(lambda: list(stream.iter_json())), carpool.DecodingError)
    assert client.get(url).content == body


PROGRAM = """
import concurrent.futures, multiprocessing, pickle, sys
import carpool

def fail(socket, url):
    with carpool.Client(socket) as client:
        client.get(url).raise_for_status()

with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    sys.stdout.buffer.write(pickle.dumps(pool.submit(fail, *sys.argv[1:]).exception(60)))
"""


@pytest.mark.parametrize("size", [3, 100_000])
def test_an_error_with_any_body_crosses_a_process_pool(daemon: Daemon, origin: ScriptedOrigin, size: int) -> None:
    body, field = bytes(range(253, 256)) * (size // 3), "\xff\xfe"
    url = origin.on("/body", lambda exchange: exchange.reply(404, body, [("X-Bytes", field)]))
    program = [sys.executable, "-c", PROGRAM, str(daemon.socket), url]
    done = subprocess.run(program, check=True, stdout=-1, timeout=60)
    error: Any = pickle.loads(done.stdout)
    assert type(error) is carpool.HTTPStatusError
    for each in (error, type(error)(*error.args)):
        assert (each.response.content, each.response.headers["x-bytes"]) == (body, field)
        assert str(each) == f"{url} answered 404 (http_status)"


NAME, FIELD = "X-\xe4", ("X-\xe4", "v")


def test_a_field_whose_name_is_not_utf_8_is_latin_1(
    client: carpool.Client, daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    fields = [FIELD, ("Set-Cookie", "a=1"), ("Link", "</next>; rel=next"), ("Content-Type", "text/plain")]
    url = origin.on("/name", lambda exchange: exchange.reply(404, b"text", fields))
    response = client.get(url)
    assert (response.text, response.encoding, response.headers[NAME]) == ("text", "utf-8", "v")
    assert (dict(response.headers)[NAME.lower()], FIELD in response.headers.pairs) == ("v", True)
    assert (response.cookies["a"], response.links["next"]["url"]) == ("1", f"{origin.url}/next")
    error: Any = raised(response.raise_for_status)
    assert (type(error), error.response.headers[NAME]) == (carpool.HTTPStatusError, "v")
    with client.get(url, stream=True) as stream:
        assert (stream.headers[NAME], list(stream.iter_text())) == ("v", ["text"])
    assert client.download(url, tmp_path / "file").headers[NAME] == "v"
    with client.events("task.did_receive_response", timeout=60) as events:
        client.get(url)
        event = next(iter(events))
    assert carpool.Headers(event.data["response"]["headers"])[NAME] == "v"
    with carpool.Client(daemon.socket, cookies=True) as other:
        assert other.get(url).headers[NAME] == "v"
        assert other.cookies["a"] == "1"


def test_an_asynchronous_client_reads_a_name_that_is_not_utf_8(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/name", lambda exchange: exchange.reply(200, b"text", [FIELD]))

    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            response = await client.get(url)
            assert (response.text, response.headers[NAME]) == ("text", "v")
            async with client.stream("GET", url) as stream:
                assert (stream.headers[NAME], [text async for text in stream.iter_text()]) == ("v", ["text"])

    asyncio.run(main())
