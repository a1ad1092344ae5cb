"""Bodies of any bytes: what is raised for them is what the page promises, and the client goes on."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
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
