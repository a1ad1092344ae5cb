"""Cookies: the jar of a session, and the jar of a request (RFC 6265bis; SE-02, SE-04, SE-26, SE-27, CU-03)."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.command import OK, Run
from harness.cookies import SECRET, exported, jar, perform, place, sent, setting
from harness.daemon import Daemon
from harness.declared import refused
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import join
from harness.wire import Wire
from origins.httpbin import Httpbin
from origins.scripted import Exchange, ScriptedOrigin

# MARK: The jar of a session


def test_se_02_a_session_with_cookies_sends_what_it_was_sent(wire: Wire, httpbin: Httpbin) -> None:
    """Through a redirect, as httpbin sets them; other sessions have nothing of it."""
    session, other = jar(wire), jar(wire, "other")
    record = perform(wire, f"{httpbin.url}/cookies/set?a=1&b=2", session=session)
    assert json.loads(record["body"]["text"]) == {"cookies": {"a": "1", "b": "2"}}
    hops = record["attempts"][0]["metrics"]
    assert ("cookies" not in hops[0], hops[1]["cookies"]) == (True, ["a", "b"])
    perform(wire, f"{httpbin.url}/cookies/delete?a=", session=session)
    for name, expected in ((session, {"b": "2"}), (other, {}), ("default", {})):
        body = perform(wire, f"{httpbin.url}/cookies", session=name)["body"]["text"]
        assert json.loads(body) == {"cookies": expected}


def test_se_26_default_keeps_no_cookies(wire: Wire, origin: ScriptedOrigin) -> None:
    perform(wire, setting(origin, "/set", "a=1"))
    perform(wire, origin.url)
    assert sent(origin) == ""
    error = refused(wire, "cookies.list", session="default")
    assert error.name == "wrong_state"
    assert "cookies" in error.error["data"]["expected"]


def test_se_27_the_settings_are_returned_as_they_were_given(wire: Wire) -> None:
    jar(wire, accept="same_site", send=False)
    configuration = wire.call("session.get", session="jar")["configuration"]
    assert configuration["cookies"] == {"accept": "same_site", "send": False}


def test_se_04_an_ephemeral_session_keeps_cookies_in_memory(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    error = refused(
        wire, "session.create", name="x", configuration={"ephemeral": True, "cookies": {"persistent": True}}
    )
    assert place(error) == "params.configuration.cookies.persistent"
    for _ in range(2):
        wire.call("session.create", name="x", configuration={"ephemeral": True, "cookies": {}})
        perform(wire, origin.url, session="x")
        assert sent(origin) == ""
        perform(wire, setting(origin, "/set", f"a={SECRET}; Max-Age=1000; Path=/"), session="x")
        perform(wire, origin.url, session="x")
        assert sent(origin) == f"a={SECRET}"
        wire.call("session.invalidate", session="x")
    daemon.stop()
    for path in daemon.directory.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(("accept", "expected"), [("always", "a=1; b=2"), ("same_site", "a=1"), ("never", "")])
def test_the_accept_policy(wire: Wire, origin: ScriptedOrigin, accept: str, expected: str) -> None:
    """Another site is reached by a redirect, and sets a cookie too."""
    session = jar(wire, accept=accept)
    addresses = {"resolve": [f"*:{origin.port}:127.0.0.1"]}
    setting(origin, "/there", "b=2; Path=/")
    other = f"http://www.other.test:{origin.port}"
    setting(origin, "/here", "a=1; Path=/", status=302, location=f"{other}/there")
    perform(wire, f"http://www.example.test:{origin.port}/here", session=session, addresses=addresses)
    cookies = []
    for host in ("www.example.test", "www.other.test"):
        perform(wire, f"http://{host}:{origin.port}/", session=session, addresses=addresses)
        cookies.append(sent(origin))
    assert "; ".join(filter(None, cookies)) == expected


def test_a_session_may_store_cookies_and_not_send_them(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire, send=False)
    perform(wire, setting(origin, "/set", "a=1; Path=/"), session=session)
    perform(wire, origin.url, session=session)
    assert sent(origin) == ""
    assert [cookie["name"] for cookie in exported(wire)] == ["a"]


def test_a_cookie_field_of_the_request_is_sent_in_place_of_the_jar_s(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire)
    url = setting(origin, "/set", "a=1; Path=/")
    perform(wire, url, session=session)
    perform(wire, origin.url, session=session, headers={"Cookie": "own=2"})
    assert sent(origin) == "own=2"
    perform(wire, origin.url, session=session)
    assert sent(origin) == "a=1"


def test_a_challenge_and_an_error_set_cookies_too(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire)
    for status in (401, 404, 500):
        perform(wire, setting(origin, f"/{status}", f"c{status}=1; Path=/", status=status), session=session)
    perform(wire, origin.url, session=session)
    assert sent(origin) == "c401=1; c404=1; c500=1"


def test_cookies_do_not_cross_users_or_sessions(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    jar(wire)
    perform(wire, setting(origin, "/set", f"a={SECRET}; Path=/"), session="jar")
    jar(wire, "second")
    perform(wire, origin.url, session="second")
    assert sent(origin) == ""


@as_root
def test_a_session_of_the_same_name_of_another_user_has_a_jar_of_its_own(
    start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o711)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for user in (owner, other):
            jar(user)
        perform(owner, setting(origin, "/set", f"a={SECRET}; Path=/"), session="jar")
        perform(other, origin.url, session="jar")
        assert sent(origin) == ""
        assert exported(other) == []
        assert len(exported(owner)) == 1


# MARK: The jar of a request


def test_a_request_s_own_jar_is_for_it_and_its_redirects(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire)
    perform(wire, setting(origin, "/session", "theirs=1; Path=/"), session=session)
    setting(origin, "/second", "c=3")
    url = setting(origin, "/first", "b=2; Max-Age=60", status=302, location="/second")
    cookies = {"set": [{"name": "a", "value": "1"}], "export": "json"}
    record = perform(wire, url, session=session, cookies=cookies)
    assert [request.values("Cookie") for request in origin.requests[-2:]] == [["a=1"], ["a=1; b=2"]]
    kept = {cookie["name"]: cookie for cookie in record["cookies"]["list"]}
    assert sorted(kept) == ["b", "c"]
    assert kept["b"]["expires"] == pytest.approx(time.time() + 60, abs=30)
    assert [cookie["name"] for cookie in exported(wire)] == ["theirs"]
    perform(wire, origin.url, session=session, cookies={})
    assert sent(origin) == ""
    perform(wire, origin.url, session=session)
    assert sent(origin) == "theirs=1"


def test_a_cookie_without_a_domain_does_not_leave_the_origin(
    wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    url = setting(origin, "/away", status=302, location=other.url + "/back")
    setting(other, "/back", status=302, location=origin.url + "/home")
    perform(wire, url, cookies={"set": [{"name": "a", "value": SECRET}]})
    assert [request.values("Cookie") for request in origin.requests] == [[f"a={SECRET}"]] * 2
    assert other.requests[0].values("Cookie") == []


def test_a_text_is_imported_and_exported(wire: Wire, origin: ScriptedOrigin) -> None:
    text = (
        "# Netscape HTTP Cookie File\n"
        "127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tlasting\t1\n"
        "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tshort\t2\n"
        "other.test\tFALSE\t/\tFALSE\t4000000000\tother\t3\n"
        "Set-Cookie: field=4; Path=/\n"
        "nonsense\n"
    )
    record = perform(wire, origin.url, cookies={"import": text, "export": True})
    assert sent(origin) == "lasting=1; short=2; field=4"
    assert record["cookies"]["text"].splitlines() == [
        "# Netscape HTTP Cookie File",
        "127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tlasting\t1",
        "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tshort\t2",
        "other.test\tFALSE\t/\tFALSE\t4000000000\tother\t3",
        "127.0.0.1\tFALSE\t/\tFALSE\t0\tfield\t4",
    ]
    perform(wire, origin.url, cookies={"import": text, "drop_session_cookies": True})
    assert sent(origin) == "lasting=1"


def test_a_long_export_ends_early_and_is_complete_in_pages(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    text = "".join(f"h{number}.test\tFALSE\t/\tFALSE\t0\tn\t{'x' * 100}\n" for number in range(1_000))
    cookies = {"import": text, "export": "netscape"}
    request = wire.call("request.submit", url=origin.url, cookies=cookies)["request"]
    record = wire.call("request.wait", request=request)
    first = record["cookies"]
    assert first["left_out"] > 0
    assert first["text"].count("\n") + first["left_out"] == 1_001
    whole, params = "", {"request": record["request"], "limit": 3_000}
    while True:
        page = wire.call("cookies.export", **params)
        whole += page["text"]
        if page["next"] is None:
            break
        params["next"] = page["next"]
    assert sorted(whole.splitlines()[1:]) == sorted(text.splitlines())
    with wire_of_another_client(daemon) as second:
        error = refused(second, "cookies.export", request=record["request"])
        assert error.name == "wrong_state"


def wire_of_another_client(daemon: Daemon) -> Wire:
    second = daemon.wire()
    second.call("client.hello", name="another")
    return second


def test_the_values_of_a_jar_are_in_no_event_and_no_record(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """But for `cookies` of the record, which its client alone sees, and the fields of the response."""
    session = jar(wire)
    url = setting(origin, "/plain")
    since = wire.call("events.next", types=["*"], timeout_ms=0)["cursor"]
    names = [("a", SECRET), ("", SECRET + "2")]
    cookies = [{"name": name, "value": value, "domain": "127.0.0.1"} for name, value in names]
    wire.call("cookies.set", session=session, cookies=cookies)
    request = wire.call("request.submit", url=url, session=session)["request"]
    record = wire.call("request.wait", request=request)
    assert sent(origin) == f"a={SECRET}; {SECRET}2"
    assert record["attempts"][0]["metrics"][0]["cookies"] == ["a", ""]
    assert SECRET not in wire.call("request.curl", request=request)["curl"]
    whole = wire.call("request.get", request=request)
    events = wire.call("events.next", types=["*"], since=since, timeout_ms=0)
    for shown in (record, whole, events, wire.call("cookies.list", session=session)):
        assert SECRET not in json.dumps(shown)
    own = {"set": [{"name": "a", "value": SECRET}], "export": "json"}
    request = wire.call("request.submit", url=url, cookies=own)["request"]
    wire.call("request.wait", request=request)
    with wire_of_another_client(daemon) as second:
        assert "cookies" not in second.call("request.get", request=request)
    assert SECRET not in daemon.log.read_text()


def test_cu_03_the_curl_line_has_the_cookies_of_the_jar(wire: Wire, origin: ScriptedOrigin) -> None:
    cookies = {"set": [{"name": "a", "value": SECRET}, {"name": "b", "value": "2"}]}
    request = wire.call("request.submit", url=origin.url, cookies=cookies)["request"]
    wire.call("request.wait", request=request)
    line = wire.call("request.curl", request=request)["curl"]
    assert "-b 'a=(hidden); b=(hidden)'" in line
    line = wire.call("request.curl", request=request, reveal=True)["curl"]
    assert f"-b 'a={SECRET}; b=2'" in line


def test_explain_names_the_cookies(wire: Wire, origin: ScriptedOrigin) -> None:
    session = jar(wire)
    wire.call("cookies.set", session=session, cookies=[{"name": "a", "value": SECRET, "domain": "127.0.0.1"}])

    def cookies(**params: Any) -> Any:
        return wire.call("request.explain", url=origin.url, **params)["cookies"]

    assert cookies() == {"source": "default", "names": []}
    assert cookies(session=session) == {"source": "session", "names": ["a"]}
    own = {"set": [{"name": "b", "value": "1"}]}
    assert cookies(session=session, cookies=own) == {"source": "request", "names": ["b"]}
    assert cookies(session=session, headers={"Cookie": "c=1"})["own_field"] is True


def test_doctor_names_the_cookies(wire: Wire, origin: ScriptedOrigin, run: Run) -> None:
    session = jar(wire)
    wire.call("cookies.set", session=session, cookies=[{"name": "a", "value": SECRET, "domain": "127.0.0.1"}])
    done = run("doctor", "--session", session, origin.url)
    assert done.returncode == OK, done.stderr
    assert b"cookies      a (session)" in done.stdout
    assert b"cookies      none: no jar (default)" in run("doctor", origin.url).stdout


def test_a_hostile_origin_costs_its_own_jar_alone(wire: Wire, origin: ScriptedOrigin) -> None:
    """Hundreds of cookies in a response: 50 of them are stored."""
    session = jar(wire)

    def many(exchange: Exchange) -> None:
        exchange.reply(headers=[("Set-Cookie", f"n{number}={'x' * 40}; Path=/") for number in range(240)])

    for number in range(5):
        perform(wire, origin.on(f"/many{number}", many), session=session)
    assert len(exported(wire)) == 50


def test_a_secure_cookie_of_this_machine_is_sent_to_no_proxy(
    wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    """`localhost` is this machine only if the connection goes there."""
    session = jar(wire)
    perform(wire, setting(origin, "/set", "a=1; Secure; Path=/", "b=2; Path=/"), session=session)
    perform(wire, origin.url, session=session)
    assert sent(origin) == "a=1; b=2"
    perform(wire, origin.url, session=session, proxy=other.url)
    assert sent(other) == "b=2"
    perform(wire, origin.url, session=session, addresses={"connect_to": [f"::127.0.0.1:{other.port}"]})
    assert sent(other) == "b=2"


def test_a_session_s_jar_is_not_used_over_unix_sockets(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """Different servers have the same host there."""
    session = jar(wire)
    wire.call("cookies.set", session=session, cookies=[{"name": "a", "value": "1", "domain": "localhost"}])
    with answering_on(tmp_path / "service") as heads:
        addresses = {"unix_socket": str(tmp_path / "service")}
        own = {"set": [{"name": "own", "value": "2"}]}
        perform(wire, "http://localhost/", session=session, addresses=addresses)
        perform(wire, "http://localhost/", session=session, addresses=addresses, cookies=own)
    assert ["Cookie" in head for head in heads] == [False, True]
    assert [cookie["name"] for cookie in exported(wire)] == ["a"]
    plan = wire.call("request.explain", url="http://localhost/", session=session, addresses=addresses)
    assert plan["cookies"]["names"] == []


@contextlib.contextmanager
def answering_on(path: Path) -> Iterator[list[str]]:
    """Set a cookie in each answer on a Unix socket; the heads of the requests are in the list."""
    heads: list[str] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as stream:
                    heads.append("".join(iter(lambda: stream.readline().decode(), "\r\n")))
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\nSet-Cookie: theirs=1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                    )

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield heads
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        join([thread])
