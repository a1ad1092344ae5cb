"""Passwords of a call by value, by the path of a file and by a descriptor."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.users import NOBODY, as_root, wire_as
from harness.wire import RemoteError, Wire
from origins.proxies import PASSWORD as PROXY_PASSWORD
from origins.proxies import USER as PROXY_USER
from origins.proxies import Squid
from origins.scripted import Exchange, ScriptedOrigin

USER, PASSWORD = "ada", "päss-of-a-file"
FIELD = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def guarded(exchange: Exchange) -> None:
    if exchange.request.values("authorization") == [FIELD]:
        return exchange.reply(200, b"in")
    return exchange.reply(401, b"out", [("WWW-Authenticate", 'Basic realm="r"')])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text(PASSWORD + "\n")
    return path


def call(wire: Wire, method: str, *descriptors: int, **params: Any) -> Any:
    """Call a method; descriptors are passed with its line."""
    message = {"jsonrpc": "2.0", "id": "x", "method": method, "params": params}
    wire.send(message, descriptors)
    answer = wire.receive()
    assert PASSWORD not in json.dumps(answer, ensure_ascii=False)
    return answer["result"] if "result" in answer else answer["error"]


# The calls that take a password, given its form and the URL of an origin. Each performs a request that needs it.
CALLS: dict[str, Callable[[Any, str], list[tuple[str, dict[str, Any]]]]] = {
    "credential": lambda password, url: [
        ("request.perform", {"url": url, "credential": {"username": USER, "password": password}})
    ],
    "credentials": lambda password, url: [
        (
            "request.perform",
            {"url": url, "credentials": [{"host": "127.0.0.1", "username": USER, "password": password}]},
        )
    ],
    "credentials.set": lambda password, url: [
        ("credentials.set", {"host": "127.0.0.1", "username": USER, "password": password}),
        ("request.perform", {"url": url}),
    ],
    "session.create": lambda password, url: [
        (
            "session.create",
            {
                "name": "s",
                "configuration": {"credentials": [{"host": "127.0.0.1", "username": USER, "password": password}]},
            },
        ),
        ("request.perform", {"url": url, "session": "s"}),
    ],
}


@pytest.mark.parametrize("form", ["value", "file", "fd", "memfd"])
@pytest.mark.parametrize("place", list(CALLS))
def test_a_password_in_every_form(wire: Wire, origin: ScriptedOrigin, file: Path, place: str, form: str) -> None:
    url = origin.on("/p", guarded)
    memory = os.memfd_create("password")
    os.write(memory, PASSWORD.encode() + b"\r\n")
    with file.open("rb") as opened:
        opened.seek(3)
        password: Any = {"value": PASSWORD, "file": {"file": str(file)}}.get(form, {"fd": 1})
        descriptors = {"fd": [memory, opened.fileno()], "memfd": [opened.fileno(), memory]}.get(form, [])
        for number, (method, params) in enumerate(CALLS[place](password, url)):
            answer = call(wire, method, *(descriptors if number == 0 else []), **params)
        assert opened.tell() == 3
    os.close(memory)
    assert answer["response"]["status"] == 200


@pytest.mark.parametrize("form", ["value", "file"])
def test_the_password_of_a_proxy(wire: Wire, squid: Squid, origin: ScriptedOrigin, tmp_path: Path, form: str) -> None:
    (tmp_path / "proxy").write_text(PROXY_PASSWORD)
    password = PROXY_PASSWORD if form == "value" else {"file": str(tmp_path / "proxy")}
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": PROXY_USER, "password": password}
    url = origin.on("/proxied", lambda exchange: exchange.reply(200, b"in"))
    assert call(wire, "request.perform", url=url, proxy={"http": server})["response"]["status"] == 200
    call(wire, "session.create", name="s", configuration={"proxy": {"all": server}})
    assert call(wire, "request.perform", url=url, session="s")["response"]["status"] == 200


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a" * 4_097, "4097 bytes"),
        (b"a\nb", "control character"),
        (b"\xff", "UTF-8"),
        (None, "No such file"),
    ],
)
@pytest.mark.parametrize("place", list(CALLS))
def test_a_file_that_is_no_password(
    wire: Wire, origin: ScriptedOrigin, tmp_path: Path, place: str, content: bytes | None, words: str
) -> None:
    path = tmp_path / "wrong"
    if content is not None:
        path.write_bytes(content)
    method, params = CALLS[place]({"file": str(path)}, origin.url)[0]
    error = call(wire, method, **params)
    assert words in error["message"]
    assert error["data"]["path"] == (str(path) if content is None else error["data"]["path"])
    assert content is None or error["data"]["path"].endswith(".password")
    assert origin.requests == []


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ({"file": "relative"}, "absolute"),
        ({"fd": 3}, "descriptor 3"),
        ({"fd": 16}, "0 to 15"),
        ({"path": "/x"}, "password"),
        ({"file": "/x", "fd": 0}, "fd"),
        ({}, "password"),
        (7, "a number"),
    ],
)
def test_a_form_that_is_none(wire: Wire, origin: ScriptedOrigin, password: Any, words: str) -> None:
    credential = {"username": USER, "password": password}
    error = call(wire, "request.perform", url=origin.url, credential=credential)
    assert error["data"]["name"] == "invalid_params" and "params.credential.password" in error["message"], error
    assert words in json.dumps(error)
    error = call(wire, "credentials.set", host="a.test", **credential)
    assert "params.password" in error["message"]


def test_4_kib_are_a_password(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("p" * 4_096 + "\n")
    field = "Basic " + base64.b64encode(b"ada:" + b"p" * 4_096).decode()
    credential = {
        "username": "ada",
        "password": {"file": str(tmp_path / "long")},
        "schemes": ["basic"],
        "preemptive": True,
    }
    call(wire, "request.perform", url=origin.url, credential=credential)
    assert origin.requests[0].values("authorization") == [field]


def test_a_session_with_a_changed_password_is_another(wire: Wire, file: Path) -> None:
    entry = {"host": "a.test", "username": USER, "password": {"file": str(file)}}
    proxy = {"all": {"url": "http://127.0.0.1:1", "username": "u", "password": {"file": str(file)}}}
    for number, configuration in enumerate([{"credentials": [entry]}, {"proxy": proxy}]):
        file.write_text("one")
        name = f"s{number}"
        assert call(wire, "session.create", name=name, configuration=configuration)["changed"] is True
        assert call(wire, "session.create", name=name, configuration=configuration)["changed"] is False
        file.write_text("two")
        error = call(wire, "session.create", name=name, configuration=configuration)
        assert error["data"]["name"] == "session.exists"


@as_root
def test_other_users_pass_descriptors(start: StartDaemon, origin: ScriptedOrigin, file: Path) -> None:
    """The daemon opens no file for another user than its own."""
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    url = origin.on("/p", guarded)
    with wire_as(NOBODY, daemon.socket) as theirs, file.open("rb") as opened:
        for place in CALLS:
            method, params = CALLS[place]({"file": str(file)}, url)[0]
            with pytest.raises(RemoteError) as caught:
                theirs.call(method, **params)
            assert caught.value.name == "file.not_owner", place
        assert origin.requests == []
        for method, params in CALLS["credential"]({"fd": 0}, url):
            assert call(theirs, method, opened.fileno(), **params)["response"]["status"] == 200
