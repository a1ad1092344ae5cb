"""The files that declared sessions name: authorities and secrets; and attempts to use or delay the daemon with them."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.declared import declaring, refusal, refused, reload, sessions, write
from harness.gauge import bounded_turns
from harness.story import Story
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import eventually
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

SECRET = "s3cret-of-a-file"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file with a secret."""
    return write(tmp_path / "token", SECRET + "\n")


# Files


def test_the_authorities_of_a_file_are_trusted(start: StartDaemon, authority: Authority) -> None:
    secure = ScriptedOrigin(authority.issue("declared"))
    try:
        daemon = start(config=declaring(private={"trust": {"ca_file": str(authority.ca_file)}}))
        assert daemon.call("request.perform", url=secure.url, session="private")["outcome"]["ok"]
        assert not daemon.call("request.perform", url=secure.url)["outcome"]["ok"]
    finally:
        secure.stop()


def test_the_files_of_evaluators_are_those_of_the_configuration(
    start: StartDaemon, authority: Authority, tmp_path: Path
) -> None:
    """A reload reads pins again, and leaves a session as it is whose evaluators are the same, callbacks too."""
    pinned = authority.issue("declared-pin")
    secure = ScriptedOrigin(pinned)
    try:
        pin = write(tmp_path / "pin.pem", pinned.chain.read_bytes())

        def evaluated(**evaluator: Any) -> dict[str, Any]:
            return {"trust": {"ca_file": str(authority.ca_file), "evaluators": {"*": evaluator}}}

        config = declaring(
            pinned=evaluated(public_keys={"files": [str(pin)]}),
            asked=evaluated(callback={"name": "judge"}),
            system={"trust": {"evaluators": {"declared.test": "default"}, "all_hosts_must_be_evaluated": False}},
        )
        daemon = start(config=config)
        assert daemon.call("request.perform", url=secure.url, session="pinned")["outcome"]["ok"]
        assert reload(daemon, config) == []
        pin.chmod(0o666)
        message = refusal(daemon, config)
        assert "configuration.sessions.pinned.trust.evaluators" in message and "chmod go-w" in message
        write(pin, authority.issue("declared-other").chain.read_bytes())
        assert reload(daemon, config) == ["sessions.pinned"]
        record = daemon.call("request.perform", url=secure.url, session="pinned")
        assert record["outcome"]["error"]["name"] == "server_trust_evaluation_failed.public_key_pinning_failed"
        with daemon.wire() as judge, daemon.wire() as user:
            judge.call("client.hello", callbacks=["judge"])
            call = user.request("request.perform", url=secure.url, session="asked")
            judge.reply(judge.question("trust"), trusted=True)
            assert user.result(call)["outcome"]["ok"]
    finally:
        secure.stop()


def test_secrets_come_from_files_and_are_shown_to_nobody(
    start: StartDaemon, origin: ScriptedOrigin, secret: Path
) -> None:
    """Whatever the name of the field is, and to the client that makes the request neither."""
    file = {"file": str(secret)}
    daemon = start(
        config=declaring(
            all={
                "headers": [["X-Plain", file], ["X-Open", "open"]],
                "interceptor": [
                    {"set_header": {"name": "X-Set", "value": file}},
                    {"basic_auth": {"username": "ada", "password": file}},
                ],
            },
            bearer={"headers": {"X-List": [file, "open"]}, "interceptor": [{"bearer": {"token": file}}]},
            oauth={
                "interceptor": [
                    {
                        "oauth2": {
                            "token_url": f"{origin.url}/token",
                            "client_secret": file,
                            "headers": {"X-Client": file},
                            "credential": {"access_token": file, "refresh_token": file},
                        }
                    }
                ]
            },
        ),
    )
    # Without a body, because the origin's own repeats the request.
    url = origin.on("/quiet", lambda exchange: exchange.reply())
    told: list[Any] = [daemon.call("daemon.config"), daemon.call("session.list"), daemon.call("daemon.config_reload")]
    basic = base64.b64encode(f"ada:{SECRET}".encode()).decode()
    with daemon.wire() as wire:
        story = Story(wire, types=["*", "notification.*"])
        for name in ["all", "bearer", "oauth"]:
            told.append(story.call("session.get", session=name))
            request = story.submit(url, session=name)
            told.append(story.wait(request))
            told.append(story.call("request.response", request=request))
            told.append(story.call("request.curl", request=request, reveal=True))
        told += story.events
    sent = origin.requests
    assert [sent[0].values(name) for name in ["X-Plain", "X-Open", "X-Set", "Authorization"]] == [
        [SECRET], ["open"], [SECRET], [f"Basic {basic}"],
    ]  # fmt: skip
    assert sent[1].values("X-List") == [SECRET, "open"]
    assert [request.values("Authorization") for request in sent[1:]] == [[f"Bearer {SECRET}"]] * 2
    everything = json.dumps(told) + daemon.log.read_text()
    assert SECRET not in everything and basic not in everything
    assert str(secret) not in everything
    assert '["X-Plain", "(hidden)"]' in everything and '["X-Open", "open"]' in everything


def test_a_signing_callback_does_not_see_the_secret_of_a_file(
    start: StartDaemon, origin: ScriptedOrigin, secret: Path
) -> None:
    sign = {"callback": {"name": "sign", "handles": ["adapt"]}}
    daemon = start(config=declaring(api={"headers": {"X-Plain": {"file": str(secret)}}, "interceptor": [sign]}))
    with daemon.wire() as wire:
        wire.call("client.hello", callbacks=["sign"])
        call = wire.request("request.perform", url=origin.url, session="api")
        question = wire.question("adapt")
        assert ["X-Plain", "(hidden)"] in question["params"]["url_request"]["headers"]
        wire.reply(question, set_headers={"X-Signature": "1"})
        assert wire.result(call)["outcome"]["ok"]
    assert origin.requests[0].values("X-Plain") == [SECRET]
    assert origin.requests[0].values("X-Signature") == ["1"]


def test_a_field_with_a_secret_of_a_file_stays_with_its_origin(
    start: StartDaemon, origin: ScriptedOrigin, other: ScriptedOrigin, secret: Path
) -> None:
    """Whatever its name is, unless the request names it in `keep_headers`."""
    daemon = start(config=declaring(api={"headers": {"X-Plain": {"file": str(secret)}, "X-Open": "open"}}))
    url = origin.on("/from", lambda exchange: exchange.reply(302, headers=[("Location", f"{other.url}/to")]))
    for redirect, values in [({}, []), ({"keep_headers": ["x-plain"]}, [SECRET])]:
        daemon.call("request.perform", url=url, session="api", redirect=redirect)
        assert other.requests[-1].values("X-Plain") == values
        assert other.requests[-1].values("X-Open") == ["open"]
    origin.on("/from", lambda exchange: exchange.reply(302, headers=[("Location", "/to")]))
    daemon.call("request.perform", url=url, session="api")
    assert origin.requests[-1].values("X-Plain") == [SECRET]


def test_what_is_hidden_confirms_no_guess(start: StartDaemon, origin: ScriptedOrigin, secret: Path) -> None:
    """A field is hidden by its name in the requests of the session, whether or not its value is the secret."""
    daemon = start(config=declaring(api={"headers": {"X-Plain": {"file": str(secret)}}}))

    def shown(session: str, name: str, value: str) -> str:
        with daemon.client() as client:
            made = client.call("request.submit", url=origin.url, session=session, headers={name: value})["request"]
            client.call("request.wait", request=made)
            return json.dumps(client.call("request.curl", request=made, reveal=True))

    for guess in [SECRET, "wrong"]:
        assert f"x-plain: {guess}" not in shown("api", "x-plain", guess)
        assert f"X-Other: {guess}" in shown("api", "X-Other", guess)
        assert f"X-Plain: {guess}" in shown("default", "X-Plain", guess)


def faults(folder: Path, authority: Authority) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """Configurations of the session `api` with a wrong file, and the words of the refusal."""
    os.mkfifo(folder / "pipe", 0o600)
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/proc/self/fd/0")
    write(folder / "open", SECRET, 0o640)
    write(folder / "shared", SECRET, 0o622)
    write(folder / "empty", "\n")
    write(folder / "lines", f"{SECRET}\n{SECRET}\n")
    write(folder / "returned", f"{SECRET}\r\n")
    write(folder / "binary", b"\xff\xfe" + SECRET.encode())
    write(folder / "large", "x" * 8_193)
    write(folder / "text.pem", "nothing")
    write(folder / "shared.pem", authority.ca_file.read_bytes(), 0o666)

    def header(name: str) -> dict[str, Any]:
        return {"headers": {"Authorization": {"file": str(folder / name)}}}

    def trust(path: str) -> dict[str, Any]:
        return {"trust": {"ca_file": path}}

    field, file = "headers.Authorization.file", "trust.ca_file"
    return {
        "missing": (header("missing"), [field, "No such file"]),
        "pipe": (header("pipe"), [field, "no regular file"]),
        "folder": (header("folder"), [field, "no regular file"]),
        "process": (header("link"), [field, "cannot open"]),
        "readable": (header("open"), [field, "may be read by others (mode 640)", "chmod 600"]),
        "writable": (header("shared"), [field, "may be written by others (mode 622)", "chmod go-w"]),
        "empty": (header("empty"), [field, "is empty"]),
        "lines": (header("lines"), [field, "line break", "only line"]),
        "returned": (header("returned"), [field, "line break", "only line"]),
        "binary": (header("binary"), [field, "UTF-8"]),
        "large": (header("large"), [field, "8193 bytes", "8192"]),
        "relative": ({"headers": {"A": {"file": "token"}}}, ["headers.A.file", "absolute"]),
        "no file": ({"headers": {"A": {"fil": "/x"}}}, ["headers.A", '{"file": PATH}']),
        "more": ({"headers": {"A": {"file": "/x", "mode": 1}}}, ["headers.A", '{"file": PATH}']),
        "elsewhere": ({"timeout_ms": {"file": "/x"}}, ["timeout_ms", "expected"]),
        "missing authorities": (trust(str(folder / "none.pem")), [file, "No such file"]),
        "writable authorities": (trust(str(folder / "shared.pem")), [file, "chmod go-w"]),
        "no authorities": (trust(str(folder / "text.pem")), [file, "no certificate", "PEM"]),
        "relative authorities": (trust("ca.pem"), [file, "absolute"]),
        "unknown": ({"timeout": 1}, ["timeout", "did you mean timeout_ms?"]),
        "framing": ({"headers": {"Content-Length": "1"}}, ["headers.Content-Length", "expected"]),
    }


def test_a_wrong_file_is_refused_by_its_place_and_changes_nothing(
    start: StartDaemon, authority: Authority, secret: Path, tmp_path: Path
) -> None:
    kept = {"headers": {"X-Kept": {"file": str(secret)}}}
    daemon = start(config=declaring(api=kept))
    for name, (configuration, words) in faults(tmp_path, authority).items():
        message = refusal(daemon, declaring(api=configuration, new={}) | {"drain_ms": 1})
        for word in ["config.json", "configuration.sessions.api.", *words]:
            assert word in message, (name, message)
        assert SECRET not in message and "\n" not in message
    assert daemon.call("daemon.config")["drain_ms"] == 30_000
    assert list(sessions(daemon)) == ["api", "default"]
    assert sessions(daemon)["api"]["configuration"]["headers"] == [["X-Kept", "(hidden)"]]
    assert SECRET not in daemon.log.read_text()


@pytest.mark.parametrize(
    "fault", ["missing", "pipe", "readable", "missing authorities", "no authorities", "unknown", "framing"]
)
def test_a_wrong_file_is_an_error_at_the_start(
    start: StartDaemon, authority: Authority, tmp_path: Path, fault: str
) -> None:
    configuration, words = faults(tmp_path, authority)[fault]
    daemon = start(config=declaring(api=configuration))
    assert daemon.process.returncode == 1
    for word in ["config.json", "configuration.sessions.api.", *words]:
        assert word in daemon.launch_status
    assert not daemon.socket.exists()


@as_root
def test_a_file_of_another_user_is_refused(start: StartDaemon, secret: Path) -> None:
    daemon = start()
    os.chown(secret, NOBODY, NOBODY)
    config = declaring(api={"headers": {"A": {"file": str(secret)}}})
    message = refusal(daemon, config)
    assert f"belongs to user {NOBODY}" in message and "chown 0" in message
    os.chown(secret, 0, 0)
    assert reload(daemon, config) == ["sessions.api"]


@pytest.mark.parametrize(
    ("name", "word"), [("a b", "letters"), ("", "letters"), ("x" * 65, "letters"), ("a/b", "letters")]
)
def test_a_name_follows_the_rule_of_created_sessions(daemon: Daemon, name: str, word: str) -> None:
    message = refusal(daemon, declaring(**{name: {}}))
    assert "configuration.sessions" in message and word in message


# Attacks


@as_root
def test_another_user_neither_sees_nor_uses_them(start: StartDaemon, origin: ScriptedOrigin, secret: Path) -> None:
    access = {"access": {"uids": {str(NOBODY): "submit"}}}
    config = access | declaring(private={"headers": {"A": {"file": str(secret)}}}, default={"headers": {"B": "owner"}})
    daemon = start(config=config)
    daemon.directory.chmod(0o755)
    with wire_as(NOBODY, daemon.socket) as other:
        for method, params in [
            ("request.perform", {"url": origin.url, "session": "private"}),
            ("session.get", {"session": "private"}),
            ("session.cancel_requests", {"session": "private"}),
            ("session.invalidate", {"session": "private"}),
        ]:
            assert refused(other, method, **params).name == "session.not_found"
        listed = other.call("session.list")["sessions"]
        assert [(session["session"], session["declared"]) for session in listed] == [("default", False)]
        other.call("request.perform", url=origin.url)
        assert origin.requests[-1].values("B") == []
        assert other.call("session.create", name="private", configuration={"headers": {"A": "other"}})["changed"]
        other.call("events.subscribe", types=["daemon.*", "session.*"], scope="all")
        assert reload(daemon, access) == ["sessions.default", "sessions.private"]
        assert other.event("daemon.config_reloaded")["data"]["changed"] == []
        assert other.is_silent()
        assert other.call("session.get", session="private")["configuration"]["headers"] == [["A", "other"]]


def test_a_thousand_sessions(start: StartDaemon, origin: ScriptedOrigin, authority: Authority, tmp_path: Path) -> None:
    """All with a secret and authorities of a file; a reload that changes all of them takes no long turn."""

    def config(round_: int) -> dict[str, Any]:
        return declaring(
            **{
                f"session-{number:04}": {
                    "headers": {"X": {"file": str(tmp_path / f"{number}")}, "Round": str(round_)},
                    "trust": {"ca_file": str(authority.ca_file)},
                }
                for number in range(1_000)
            }
        )

    for number in range(1_000):
        write(tmp_path / f"{number}", f"secret-{number}")
    daemon = start(config=config(0))
    with daemon.wire() as wire:
        wire.call("request.perform", url=origin.url, session="session-0999")
        assert origin.requests[0].values("X") == ["secret-999"]
        names, following = [], None
        while True:
            page = wire.call("session.list", limit=1_000, **({"next": following} if following else {}))
            names += [session["session"] for session in page["sessions"]]
            if (following := page["next"]) is None:
                break
        assert len(names) == 1_001
        assert "secret-" not in json.dumps(page)
        memory = daemon.memory_kib()
        for round_ in range(1, 6):
            with bounded_turns(daemon):
                assert reload(daemon, config(round_)) == ["sessions"]
        assert daemon.memory_kib() < memory + 16_384
        assert reload(daemon, config(5)) == []
    assert "declares 1001 sessions" in refusal(daemon, declaring(**{f"s{number}": {} for number in range(1_001)}))


def test_too_many_bytes_of_files_are_refused(daemon: Daemon, authority: Authority, tmp_path: Path) -> None:
    text = authority.ca_file.read_text() * 50
    many = {f"s{number}": {"trust": {"ca_file": str(write(tmp_path / f"{number}.pem", text))}} for number in range(4)}
    limits = {"limits": {"declared_session_file_bytes": 3 * len(text)}}
    assert "declared_session_file_bytes" in refusal(daemon, declaring(**many) | limits)
    del many["s3"]
    assert len(reload(daemon, declaring(**many) | limits)) == 4


def test_a_storm_of_reloads_loses_no_request(start: StartDaemon, origin: ScriptedOrigin, secret: Path) -> None:
    """Each replaces the session and its secret while requests run; each request has one whole configuration."""

    def config(round_: int) -> dict[str, Any]:
        return declaring(api={"headers": {"Secret": {"file": str(secret)}, "Round": str(round_)}})

    daemon = start(config=config(0))
    with daemon.wire() as wire, daemon.wire() as reloader:
        calls = []
        for round_ in range(1, 101):
            fresh = write(secret.with_name("fresh"), f"secret-{round_}\n")
            daemon.configure(config(round_))
            fresh.rename(secret)
            reloads = [reloader.request("daemon.config_reload") for _ in range(3)]
            calls += [wire.request("request.perform", url=origin.url, session="api") for _ in range(10)]
            for call in reloads:
                reloader.answer(call)
        records = [wire.result(call) for call in calls]
        assert all(record["outcome"]["ok"] for record in records)
        wire.call("request.perform", url=origin.url, session="api")
    assert origin.requests[-1].values("Secret") == ["secret-100"]
    pairs = {(*request.values("Round"), *request.values("Secret")) for request in origin.requests}
    assert pairs <= {("0", SECRET), *((str(round_), f"secret-{round_}") for round_ in range(1, 101))}
    assert len(origin.requests) == 1_001


def test_a_pipe_in_place_of_a_secret_delays_nobody(start: StartDaemon, secret: Path, tmp_path: Path) -> None:
    config = declaring(api={"headers": {"A": {"file": str(secret)}}})
    daemon = start(config=config)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    kept = shutil.copy2(secret, tmp_path / "kept")
    with daemon.wire() as wire:
        for _ in range(20):
            os.link(pipe, tmp_path / "next")
            (tmp_path / "next").rename(secret)
            assert "no regular file" in refusal(daemon, config)
            shutil.copy2(kept, tmp_path / "next")
            (tmp_path / "next").rename(secret)
            assert reload(daemon, config) == []
        assert wire.call("session.get", session="api")["state"] == "valid"
    eventually(daemon.is_idle)
