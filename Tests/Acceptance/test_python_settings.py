"""What a Python client adds to its requests and can be changed: `headers`, `params`, `auth`, `hooks`; and its repr."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
import requests.auth
from harness.bothclients import KINDS, opened
from harness.daemon import Daemon
from origins.scripted import Received, ScriptedOrigin

# Makes a client of the kind of the test.
Open = Callable[..., Any]
TOKEN = "secret-token"


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, daemon: Daemon, origin: ScriptedOrigin) -> Open:
    return functools.partial(opened, request.param, daemon, base_url=origin.url)


def last(origin: ScriptedOrigin) -> Received:
    return origin.requests[-1]


# MARK: Header fields and the query


def test_header_fields_are_changed(make: Open, origin: ScriptedOrigin) -> None:
    with make(headers={"X-One": "1", "X-Two": "2"}) as client:
        client.headers["x-ONE"] = "changed"
        client.headers.update({"X-Three": "3"})
        del client.headers["X-TWO"]
        client.get("/")
        assert [last(origin).values(f"x-{name}") for name in ("one", "two", "three")] == [["changed"], [], ["3"]]
        assert (client.headers["X-One"], "X-TWO" in client.headers, len(client.headers)) == ("changed", False, 2)
        assert list(client.headers) == ["x-ONE", "X-Three"]
        client.headers["X-Three"] = None
        client.get("/", headers={"X-One": None})
        assert (last(origin).values("x-one"), last(origin).values("x-three")) == ([], [])
        with pytest.raises(KeyError):
            del client.headers["X-Three"]
        with pytest.raises(TypeError, match="headers: the value of 'A' is str or None, not int"):
            client.headers["A"] = 1
        client.headers = [("X-Many", "1"), ("X-Many", "2")]
        client.get("/")
        assert last(origin).values("x-many") == ["1", "2"]
        assert client.headers["x-many"] == "1, 2"
        client.headers.clear()
        client.get("/")
        assert last(origin).values("x-many") == []
        client.headers["Authorization"] = TOKEN
        assert TOKEN not in repr(client.headers) + repr(client)


def test_the_query_is_changed(make: Open, origin: ScriptedOrigin) -> None:
    with make(params={"key": "k", "page": 1}) as client:
        client.params["page"] = 2
        client.params.update(tag=["b", "a"])
        client.get("/")
        assert last(origin).target == "/?key=k&page=2&tag=b&tag=a"
        assert dict(client.params) == {"key": "k", "page": "2", "tag": ["b", "a"]}
        del client.params["key"]
        client.params["tag"] = None
        client.get("/", params={"more": True})
        assert last(origin).target == "/?page=2&more=true"
        client.params = {"only": 1}
        client.get("/")
        assert last(origin).target == "/?only=1"
        with pytest.raises(TypeError, match="params: the value of 'a' is of type object"):
            client.params["a"] = object()
        client.params = None
        client.get("/")
        assert last(origin).target == "/"


# MARK: Users and functions


def basic(user: str, password: str) -> list[str]:
    return ["Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()]


def test_the_user_is_changed(make: Open, origin: ScriptedOrigin) -> None:
    with make() as client:
        assert client.auth is None
        client.auth = ("ada", "pw")
        client.get("/")
        assert last(origin).values("authorization") == basic("ada", "pw")
        client.get("/", auth=None)
        assert last(origin).values("authorization") == []
        client.auth = None
        client.get("/")
        assert last(origin).values("authorization") == []
        with pytest.raises(
            TypeError, match="auth: expected a pair of user and password, a DigestAuth, a NetrcAuth or a"
        ):
            client.auth = "ada"


def test_a_function_changes_the_request(make: Open, origin: ScriptedOrigin) -> None:
    seen: list[tuple[str, str, str | None, bytes | str | None]] = []

    def sign(request: carpool.PreparedRequest) -> carpool.PreparedRequest:
        seen.append((request.method, request.url, request.headers.get("Content-Type"), request.body))
        request.headers["X-Signature"] = "s"
        request.url += "&signed=1" if "?" in request.url else "?signed=1"
        return request

    with make(auth=sign, params={"a": "b"}) as client:
        client.post("/x", json={"n": 1})
        assert seen == [("POST", f"{origin.url}/x?a=b", "application/json", b'{"n":1}')]
        assert (last(origin).target, last(origin).body) == ("/x?a=b&signed=1", b'{"n":1}')
        assert last(origin).values("x-signature") == ["s"]
        client.get("/y", auth=None)
        assert (last(origin).target, last(origin).values("x-signature")) == ("/y?a=b", [])
        client.get("/z", auth=("ada", "pw"))
        assert last(origin).values("authorization") == basic("ada", "pw")
        client.head_of_stream("/stream")
        assert last(origin).target == "/stream?a=b&signed=1"
        client.wait(client.submit("PUT", "/submitted", data=[b"in ", b"pieces"]))
        assert (seen[-1][3], last(origin).body) == (None, b"in pieces")
        assert last(origin).target == "/submitted?a=b&signed=1"


def test_a_function_may_replace_the_body(make: Open, origin: ScriptedOrigin) -> None:
    large = b"x" * 700_000

    def sign(request: carpool.PreparedRequest) -> carpool.PreparedRequest:
        request.body = large if request.body == b"small" else b"small" if request.body == large else None
        return request

    with make(auth=sign) as client:
        client.post("/", data=b"small")
        assert last(origin).body == large
        client.post("/", data=large)
        assert last(origin).body == b"small"
        client.post("/", data="other", kind="upload")
        assert last(origin).body == b""


class Key(requests.auth.AuthBase):
    """As the documentation of requests writes one."""

    def __init__(self, username: str) -> None:
        self.username = username

    def __call__(self, r: Any) -> Any:
        r.headers["X-Pizza"] = self.username
        return r


def test_classes_of_requests_are_functions(make: Open, origin: ScriptedOrigin) -> None:
    with make() as client:
        client.get("/", auth=Key("kenneth"))
        assert last(origin).values("x-pizza") == ["kenneth"]
        client.get("/", auth=requests.auth.HTTPBasicAuth("ada", "pw"))
        assert last(origin).values("authorization") == basic("ada", "pw")
        with pytest.raises(AttributeError, match=r"register_hook.*auth=carpool\.DigestAuth"):
            client.get("/", auth=requests.auth.HTTPDigestAuth("ada", "pw"))


def test_what_a_function_returns_is_checked(make: Open, origin: ScriptedOrigin) -> None:
    async def later(request: carpool.PreparedRequest) -> carpool.PreparedRequest:
        return request

    def fail(request: carpool.PreparedRequest) -> None:
        raise LookupError("no key")

    with make() as client:
        for auth, error, text in (
            (lambda _: 5, TypeError, "auth: the function returned int, expected the request"),
            (later, TypeError, "auth: the function is asynchronous"),
            (fail, LookupError, "no key"),
        ):
            with pytest.raises(error, match=text):
                client.get("/", auth=auth)
        assert origin.requests == []


def test_a_function_is_called_once_for_retries_and_redirects(make: Open, origin: ScriptedOrigin) -> None:
    calls: list[str] = []

    def sign(request: carpool.PreparedRequest) -> None:
        calls.append(request.url)
        request.headers["X-Key"] = "k"

    origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", "/end")]))
    with make(auth=sign) as client:
        assert client.get("/away").url == f"{origin.url}/end"
    assert calls == [f"{origin.url}/away"]
    assert [each.values("x-key") for each in origin.requests] == [["k"], ["k"]]


# MARK: Hooks


def test_hooks_are_called_with_each_response(make: Open, origin: ScriptedOrigin, tmp_path: Path) -> None:
    seen: list[str] = []

    def note(response: carpool.Response, *_: object, **__: object) -> None:
        seen.append(f"{response.status_code} {response.url.removeprefix(origin.url)}")

    origin.on("/lost", lambda exchange: exchange.reply(404))
    with make(hooks={"response": note}) as client:
        client.get("/lost")
        client.upload("/up", b"body")
        client.download("/down", tmp_path / "file")
        client.post("/pieces", data=[b"in ", b"pieces"])
        client.head_of_stream("/stream")
        assert seen == ["404 /lost", "200 /up", "200 /down", "200 /pieces", "200 /stream"]
        client.wait(client.submit("GET", "/submitted"))
        client.get("/none", hooks=None)
        client.get("/own", hooks={"response": []})
        assert len(seen) == 5
        client.hooks["response"].clear() if isinstance(client.hooks["response"], list) else client.hooks.clear()
        client.get("/cleared")
        assert len(seen) == 5
        client.hooks = {"response": [note, note]}
        client.get("/twice")
        assert seen[5:] == ["200 /twice"] * 2


def test_a_hook_replaces_the_response_and_may_fail(make: Open, origin: ScriptedOrigin) -> None:
    other = carpool.Response({"request": "r", "response": {"status": 299, "url": "u:", "headers": []}})

    def fail(response: carpool.Response) -> None:
        response.raise_for_status()

    origin.on("/lost", lambda exchange: exchange.reply(404))
    with make() as client:
        seen: list[int] = []
        hooks: list[Callable[[carpool.Response], Any]] = [lambda _: other, lambda found: seen.append(found.status_code)]
        assert client.get("/", hooks={"response": hooks}).status_code == 299
        assert seen == [299]
        for ask in (client.get, client.head_of_stream):
            with pytest.raises(carpool.HTTPStatusError):
                ask("/lost", hooks={"response": fail})
        client.hooks["response"].append(fail)
        with pytest.raises(carpool.HTTPStatusError):
            client.get("/lost")


@pytest.mark.parametrize(
    ("hooks", "error", "text"),
    [
        ([print], TypeError, "expected {.response.: FUNCTION}, not list"),
        ({"request": print}, ValueError, "the only hook is 'response', not 'request'; auth=FUNCTION"),
        ({"response": 5}, TypeError, "the hook 'response' is a function or a list, not int"),
        ({"response": ["print"]}, TypeError, "the hook 'response' is a function or a list, not str"),
    ],
)
def test_what_are_no_hooks_is_refused(
    make: Open, origin: ScriptedOrigin, hooks: Any, error: type[Exception], text: str
) -> None:
    with make() as client:
        with pytest.raises(error, match=text):
            client.get("/", hooks=hooks)
        with pytest.raises(error, match=text):
            client.hooks = hooks
        with pytest.raises(TypeError, match="hooks: not an argument of submit"):
            client.submit("GET", "/", hooks={"response": print})
    assert origin.requests == []


# MARK: The text of a client


def test_the_text_of_a_client_says_where_it_is_connected(make: Open, daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.url.replace("http://", "http://ada:hidden@")
    settings: dict[str, Any] = {
        "base_url": f"{url}/api", "session": "shop", "headers": {"Authorization": TOKEN}, "params": {"key": TOKEN},
        "auth": ("ada", TOKEN), "timeout": (1, 2), "cookies": {"sid": TOKEN}, "verify": False,
        "proxies": {"all": f"http://ada:{TOKEN}@127.0.0.1:1"},
    }  # fmt: skip
    with make(**settings) as client:
        text = repr(client)
        kind = type(client.client).__name__
        assert text.startswith(
            f"<{kind} not connected to {daemon.socket}, session='shop', base_url='{origin.url}/api/', "
        )
        for part in ("headers=['Authorization']", "params=['key']", "cookies=1", "timeout=(1, 2)", "verify=False"):
            assert part in text
        assert "auth=..." in text
        assert "proxies=..." in text
        assert TOKEN not in text
        assert "hidden" not in text
        client.call("daemon.ping")
        assert repr(client).startswith(f"<{kind} connected to {daemon.socket}, ")


def test_the_text_of_a_client_without_a_socket_has_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", "/tmp/else.sock")
    assert repr(carpool.Client()) == "<Client not connected to /tmp/else.sock>"
    monkeypatch.delenv("CARPOOL_SOCKET")
    assert repr(carpool.AsyncClient()).endswith("carpool.sock>")
