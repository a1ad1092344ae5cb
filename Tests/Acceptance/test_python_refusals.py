"""Arguments of the Python client that are refused before anything is sent, and its types."""

from __future__ import annotations

import io
import ssl
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import carpool
import pytest
from harness.checker import checked
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin

WRONG_NAMES: list[tuple[str, str, Any]] = [
    ("header", "no argument 'header'; did you mean headers?", {}),
    ("headres", "no argument 'headres'; did you mean headers?", {}),
    ("jsn", "did you mean json?", None),
    ("time_out", "did you mean timeout?", 5),
    ("parameters", "takes params, not parameters", {}),
    ("multipart", "takes files, not multipart", {}),
    ("content", "takes data, not content", b""),
    ("form", """no argument 'form': use data={"NAME": "VALUE"}""", {}),
    ("text", "no argument 'text': use data= for text", ""),
    ("max_retries", "takes retry, not max_retries", 2),
    ("transport", "use retry= or proxies=, or addresses= of a request", None),
    ("mounts", "use proxies=, or addresses= of a request", {}),
    ("uds", """use addresses={"unix_socket": PATH} of a request""", "/a"),
    ("app", "use addresses= of a request for another server", None),
    ("event_hooks", "no argument 'event_hooks': use hooks=", {}),
    ("trust_env", "no argument 'trust_env': the proxies and authorities of the environment apply", False),
    ("extensions", "no argument 'extensions': timeout= and the other", {}),
    ("nonsense_of_mine", "no argument 'nonsense_of_mine'", 1),
]
WRONG_TYPES = [
    ("headers", "A: b", "headers: expected a mapping of names to str, or a list of pairs, not str"),
    ("headers", [("a",)], r"headers: expected .*: \('a',\) is no pair"),
    ("headers", {"a": 1}, "headers: the value of 'a' is str or None, not int"),
    ("headers", {1: "a"}, "headers: a name is str, not int: 1"),
    ("headers", 5, "headers: expected a mapping .*, not int"),
    ("params", 5, "params: expected a mapping of names to values, a list of pairs, or text, not int"),
    ("params", [("a",)], "params: expected a mapping"),
    ("params", {"a": {"b": 1}}, "params: the value of 'a' is of type dict: expected str.*encoding="),
    ("params", {"a": object()}, "params: the value of 'a' is of type object"),
    ("json", object(), "json: expected a value that JSON can represent: .*object is not JSON serializable"),
    ("data", 5, "data: expected a mapping or a list of pairs .*, not int; a value that is sent as JSON is json="),
    ("data", [1], "data: a list has pairs .*, or pieces of bytes, not int"),
    ("data", {"a": object()}, "data: the value of 'a' is of type object"),
    ("data", io.StringIO("a"), 'data: the file is open for text: open it for bytes, with "rb"'),
    ("files", 5, "files: expected a mapping of names to files, a list of pairs, or a list of parts .*, not int"),
    ("files", {"a": 5}, "files: the content of 'a' is of type int: expected a file open for reading bytes"),
    ("files", {"a": ("b",)}, r"files: the tuple of 'a' is \(file name, content"),
    ("files", {"a": [b"1"]}, "files: the tuple of 'a' .*; several files of a name are a list of pairs"),
    ("files", {"a": [b"1", b"2"]}, "files: the file name of 'a' is str or None, not bytes: .* a list of pairs"),
    ("files", {"a": io.StringIO("a")}, "files: the file of 'a' is open for text"),
    ("files", {"a": ("b", b"c", 5)}, "files: the type of 'a' is str, not int"),
    ("auth", "user", "auth: expected a pair of user and password, a DigestAuth, a NetrcAuth or a function, not str"),
    ("auth", ("user", 5), "auth: the user and the password are str"),
    ("timeout", "5", r"timeout: expected a number of seconds, a pair \(connect, read\) or None, not str"),
    ("timeout", True, "timeout: expected a number of seconds, .*, not bool"),
    ("timeout", (1, 2, 3), "timeout: expected a number of seconds or a pair .*, not 3 numbers"),
    ("timeout", (1, "2"), "timeout: expected a number of seconds, .*, not str"),
    ("timeout", SimpleNamespace(connect=1, read=2), r"of httpx pass \(timeout.connect, timeout.read\)"),
    ("total", "5", "total: expected a number of seconds or None, not str"),
    ("follow_redirects", "no", "follow_redirects: expected True or False, not str"),
    ("allow_redirects", 0, "allow_redirects: expected True or False, not int"),
    ("verify", ssl.create_default_context(), "verify: expected True, False or the path .*, not SSLContext"),
    ("cert", 5, "cert: expected a path or a pair of paths, not int"),
    ("cookies", "a=b", "cookies: expected a mapping of names to values, .*, not str"),
    ("cookies", {"a": 1}, "cookies: the value of 'a' is str, not int"),
    ("cookies", {"a": None}, "cookies: the value of 'a' is str, not NoneType"),
    ("cookies", {1: "a"}, "cookies: the name is str, not int"),
    ("cookies", SimpleCookie("a=b"), "value of 'a' is str, not Morsel; of a SimpleCookie pass {name: morsel.value}"),
    ("cookies", [("a", "b")], "cookies: a list has dicts with name, value and other members, not tuple"),
    ("cookies", [{"name": "a"}], "cookies: the value of 'a' is str, not NoneType"),
    ("proxies", "http://a:1", "proxies: expected a mapping of schemes to URLs, not str"),
    ("retry", "2", "retry: expected a number of retries, .*, not str"),
    ("response_body", {"fd": 0}, 'response_body: expected "auto", "inline" or "file"; .* use stream=True'),
    ("session", 5, "session: expected str, not int"),
    ("tags", {"a": object()}, "not JSON serializable"),
]
WRONG_VALUES = [
    ({"timeout": 0}, "timeout: expected more than 0 seconds, or None for no limit, not 0"),
    ({"timeout": (1, -1)}, "timeout: expected more than 0 seconds"),
    ({"retry": -1}, "retry: expected a number of retries of 0 or more"),
    ({"json": float("nan")}, "json: expected a value that JSON can represent"),
    ({"allow_redirects": True, "follow_redirects": False}, "are the same argument, and differ"),
    ({"json": 1, "data": {"a": "b"}}, "one body"),
    ({"json": 1, "files": {"a": "b"}}, "one body"),
    ({"data": "a", "files": {"a": "b"}}, "one body"),
    ({"files": {"a": ("b", b"c", None, {"X": "y"})}}, "no header field but Content-Type: remove 'X' of 'a'"),
]


def refuse(client: carpool.Client, origin: ScriptedOrigin, error: type[Exception], words: str, given: Any) -> None:
    """Check that each way to send a request refuses the arguments, and that the client can be used afterwards."""
    for call in (client.post, lambda url, **options: client.submit("POST", url, **options)):
        with pytest.raises(error, match=words):
            call(origin.url, **given)
    assert client.get(origin.url).ok
    assert len(origin.requests) == 1


@pytest.mark.parametrize(("name", "words", "value"), WRONG_NAMES, ids=[name for name, _, _ in WRONG_NAMES])
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(
    client: carpool.Client, origin: ScriptedOrigin, name: str, words: str, value: Any
) -> None:
    refuse(client, origin, TypeError, words.replace("?", r"\?").replace("()", r"\(\)"), {name: value})


@pytest.mark.parametrize(("name", "value", "words"), WRONG_TYPES)
def test_a_wrong_type_is_refused_with_what_is_expected(
    client: carpool.Client, origin: ScriptedOrigin, name: str, value: Any, words: str
) -> None:
    refuse(client, origin, TypeError, words, {name: value})


@pytest.mark.parametrize(("given", "words"), WRONG_VALUES)
def test_a_wrong_value_is_refused(
    client: carpool.Client, origin: ScriptedOrigin, given: dict[str, Any], words: str
) -> None:
    refuse(client, origin, ValueError, words, given)


def test_a_url_is_text(client: carpool.Client) -> None:
    untyped: Any = client
    with pytest.raises(TypeError, match=r"url: expected str, not int; pass str\(url\)"):
        untyped.get(5)
    with pytest.raises(TypeError, match="method: expected str, not int"):
        untyped.request(5, "http://127.0.0.1/")


def test_a_piece_that_is_not_bytes_cancels_its_request(client: carpool.Client, origin: ScriptedOrigin) -> None:
    pieces: Any = iter(["text"])
    with pytest.raises(TypeError, match="data: an iterable yields bytes, not str"):
        client.post(origin.url, data=pieces)
    [entry] = client.call("request.list")["requests"]
    assert entry["state"] == "cancelled"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"header": {}}, r"a client has no argument 'header'; did you mean headers\?"),
        ({"parameters": {}}, "a client takes params, not parameters"),
        ({"limits": 1}, "a client has no argument 'limits': the daemon holds the connections"),
        (
            {"transport": 1},
            "a client has no argument 'transport': .*; use retry= or proxies=, or addresses= of a request",
        ),
        ({"max_retries": 2}, "a client takes retry, not max_retries"),
        ({"uds": "/a"}, "a client has no argument 'uds': use addresses=.* of a request"),
        ({"event_hooks": {}}, "a client has no argument 'event_hooks': use hooks="),
        ({"json": {}}, "a client has no argument 'json'"),
        ({"timeout": "5"}, "timeout: expected a number of seconds"),
        ({"headers": [("a",)]}, "headers: expected a mapping"),
        ({"params": 5}, "params: expected a mapping"),
        ({"auth": "user"}, "auth: expected a pair"),
        ({"cookies": 5}, "cookies: expected a mapping"),
        ({"base_url": 5}, "base_url: expected str"),
        ({"http2": "yes"}, "http2: expected True or False"),
    ],
)
def test_wrong_defaults_are_refused(daemon: Daemon, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        carpool.Client(daemon.socket, **given)


@pytest.mark.parametrize(
    ("base_url", "words"), [("example.com", "expected an absolute URL"), ("https://a/?b=c", "without a query")]
)
def test_a_base_that_is_no_base_is_refused(daemon: Daemon, base_url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        carpool.Client(daemon.socket, base_url=base_url)


PROGRAM = """
import asyncio
import io
from datetime import timedelta

import carpool

client = carpool.Client(
    base_url="https://example.com/", headers={"A": "1"}, params={"a": 1}, auth=("u", "p"), cookies={"a": "b"},
    proxies={"all": "http://proxy:1"}, cert=("a", "b"), verify=False, timeout=(1, 2.5), total=None,
    http2=False, retry=2,
)
response = client.get(
    "/", params=[("a", 1)], headers={"A": None}, auth=("u", "p"), timeout=None, total=3, allow_redirects=False,
    follow_redirects=False, cookies={"a": "b"}, proxies={"all": None}, verify="ca.pem", cert="cert.pem", retry=True,
)
status: int = response.status_code
reason: str = response.reason
elapsed: timedelta = response.elapsed
history: list[carpool.Response] = response.history
response.encoding = "utf-8"
lines: list[str] = list(response.iter_lines())
files = {"f": io.BytesIO(), "g": io.BytesIO()}
client.post("/", data={"a": ["b", "c"]}, files=files)
client.post("/", files={"f": io.BytesIO(), "g": ("name", b"", "text/plain"), "h": open("h", "rb")})
client.post("/", files=[("f", (None, "text"))])
client.put("/", data=iter([b"a"]))
client.patch("/", json={"a": 1})
with client.get("/", stream=True) as stream:
    pieces: list[bytes] = list(stream.iter_bytes(chunk_size=10))
text: str = carpool.get("https://example.com/", params={"a": None}).text
kept: carpool.Stream = carpool.request("POST", "https://example.com/", data="a", stream=True)


async def main() -> None:
    async with carpool.AsyncClient(base_url="https://example.com/", timeout=None) as client:
        ok: bool = (await client.get("/", timeout=5)).ok
        async with await client.options("/", stream=True) as stream:
            print(ok, [line async for line in stream.iter_lines()])


asyncio.run(main())
"""
WRONG_PROGRAM = """
import carpool

carpool.get("https://example.com/").status
carpool.get("https://example.com/", header={})
carpool.get("https://example.com/", timeout="5")
carpool.Client(bse_url="")
"""


def check_types(tmp_path: Path, program: str) -> list[str]:
    """Return the errors that mypy finds in a program."""
    return [line for line in checked(tmp_path, program).splitlines() if ": error: " in line]


def test_a_program_with_these_arguments_has_the_right_types(tmp_path: Path) -> None:
    assert check_types(tmp_path, PROGRAM) == []


def test_wrong_arguments_are_errors_of_types(tmp_path: Path) -> None:
    lines = {int(error.split(":")[1]) for error in check_types(tmp_path, WRONG_PROGRAM)}
    assert lines == {4, 5, 6, 7}


@pytest.mark.parametrize("make", [carpool.Client, carpool.AsyncClient])
@pytest.mark.parametrize(
    ("socket", "error", "words"),
    [
        ("https://example.com", ValueError, "expected the path .*, not a URL; .* pass base_url="),
        ("unix://run/carpool.sock", ValueError, "expected the path of the daemon's socket, not a URL"),
        ("", ValueError, "the path is empty: leave it out"),
        (5, TypeError, "expected the path of the daemon's socket or None, not int"),
        (b"/run/carpool.sock", TypeError, "not bytes"),
    ],
)
def test_the_socket_of_a_client_is_a_path(make: Any, socket: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"socket: .*{words}"):
        make(socket)


MISSPELLED = """
import carpool
from carpool import Session
from carpool.testing import FakeDeamon, Reply

carpool.gett("https://example.com/")
carpool.exceptions
carpool.AsyncClint()
client = carpool.Client()
client.gett("https://example.com/")
client.timeout
response = client.get("https://example.com/")
response.raise_for_statuses()
response.headers.getall("a")
response.cookies.jar
client.get("https://example.com/", stream=True).contents
carpool.AsyncClient().gett("https://example.com/")
client.cache.remove("https://example.com/")
carpool.testing.FakeDaemon().add("GET", "https://example.com/")
Reply().status
client.reachability().state
carpool.HTTPStatusError(response).status_code
"""


def test_misspelled_names_are_errors_of_types(tmp_path: Path) -> None:
    lines = [int(error.split(":")[1]) for error in check_types(tmp_path, MISSPELLED)]
    named = [number for number, line in enumerate(MISSPELLED.splitlines(), 1) if line and number not in {2, 9, 12}]
    assert lines == named
