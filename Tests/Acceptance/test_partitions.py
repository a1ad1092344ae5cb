"""What makes connections unshareable: no request gets what other settings, or another user, have made."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.authority import Authority, Certificate
from origins.chains import pin
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin
from origins.trustworld import World, failure, perform

UNKNOWN_ROOT = "session_task_failed.server_certificate_has_unknown_root"
NO_HOST = "session_task_failed.cannot_find_host"
NO_CONNECTION = "session_task_failed.cannot_connect_to_host"
NUMBERS = itertools.count()


@pytest.fixture
def resumable(authority: Authority) -> Iterator[ScriptedOrigin]:
    """An origin whose TLS sessions can be resumed, whatever certificate it presents."""
    origin = ScriptedOrigin(authority.issue("resumable"))
    yield origin
    origin.stop()


def ask(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    return record


def files(certificate: Certificate) -> dict[str, str]:
    return {"file": str(certificate.chain), "key_file": str(certificate.key)}


def resumed(client: carpool.Client, mutual: MutualNginx, **params: Any) -> bool:
    """Whether a request on a new connection resumed a TLS session, by the origin's log."""
    target = f"/resumed-{next(NUMBERS)}"
    client.call("pool.flush")
    record = ask(client, mutual.optional + target, **params)
    assert record["outcome"]["ok"], record["outcome"]
    return bool(mutual.log(target, 1)[0]["resumed"] == "r")


# MARK: Trust


@pytest.mark.parametrize("session", ["default", "strict"])
@pytest.mark.parametrize("server", ["https", "https1"])
@pytest.mark.parametrize("accepting", ["ca", "default", "disabled", "unverified"])
def test_a_refusing_evaluator_gets_no_pooled_connection(
    client: carpool.Client, nginx: Nginx, authority: Authority, world: World, behind: ScriptedOrigin, server: str,
    session: str, accepting: str,
) -> None:  # fmt: skip
    ca = {"ca_file": str(authority.ca_file)}
    trust = {
        "ca": ca,
        "default": {**ca, "evaluators": {"*": "default"}},
        "disabled": {**ca, "evaluators": {"*": "disabled"}},
        "unverified": {"verify": False},
    }[accepting]
    wrong = {**ca, "evaluators": {"*": {"public_keys": {"pins": [world.wrong_pin]}}}}
    client.create_session("strict", {"trust": wrong})
    url = getattr(nginx, server)
    own = f"/hello.txt?{accepting}-{server}-{session}-accepted"
    refused = own.replace("accepted", "refused")
    # One connection is idle and one in use while the others are refused.
    gate = behind.hold(f"/held/{accepting}-{server}-{session}")
    held = client.call("request.submit", url=f"{url}/held/{accepting}-{server}-{session}", trust=trust)["request"]
    with contextlib.ExitStack() as stack:
        stack.callback(gate.set)
        behind.received(1, f"/held/{accepting}-{server}-{session}")
        for _ in range(3):
            assert ask(client, url + own, trust=trust)["outcome"]["ok"]
            given = {} if session == "strict" else {"trust": wrong}
            assert failure(ask(client, url + refused, session=session, **given)) == "public_key_pinning_failed"
            none = {"trust": {**ca, "evaluators": {"*": {"public_keys": {}}}}}
            assert failure(ask(client, url + refused, session=session, **none)) == "no_public_keys_found"
            assert failure(ask(client, url + refused)) == UNKNOWN_ROOT
    assert client.call("request.wait", request=held)["outcome"]["ok"]
    assert len(nginx.log(3, lambda line: line.target == own)) == 3
    assert nginx.log(0, lambda line: line.target == refused) == []


@pytest.mark.parametrize("version", ["1.2", "1.3"])
@pytest.mark.parametrize("accepting", [{"verify": False}, {"evaluators": {"*": "disabled"}}])
def test_no_tls_session_skips_a_verification(
    client: carpool.Client, mutual: MutualNginx, authority: Authority, world: World, accepting: dict[str, Any],
    version: str,
) -> None:  # fmt: skip
    ca = {"ca_file": str(authority.ca_file)}
    wrong = {**ca, "evaluators": {"*": {"public_keys": {"pins": [world.wrong_pin]}}}}
    tls = {"max_version": version}
    for url in (mutual.optional, mutual.optional2):
        for _ in range(3):
            # With unverified servers, the second session is a resumed one where libcurl keeps them.
            assert ask(client, url, trust=accepting, tls=tls)["outcome"]["ok"]
            client.call("pool.flush")
            assert failure(ask(client, url, tls=tls)) == UNKNOWN_ROOT
            assert failure(ask(client, url, trust=wrong, tls=tls)) == "public_key_pinning_failed"
            default = {"evaluators": {"*": "default"}}
            assert failure(ask(client, url, trust=default, tls=tls)) == "trust_evaluation_failed"


@pytest.mark.own_daemon
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_tls_sessions_are_resumed_with_equal_settings_alone(
    client: carpool.Client, mutual: MutualNginx, authority: Authority, version: str
) -> None:
    ca = {"ca_file": str(authority.ca_file)}
    tls = {"max_version": version}
    settings: list[dict[str, Any]] = [
        {"trust": ca, "tls": tls},
        {"trust": {**ca, "ca_in_addition": True}, "tls": tls},
        {"trust": {"verify": False}, "tls": tls},
        {"trust": ca, "tls": {**tls, "ciphers": "ECDHE+AESGCM"}},
        {"trust": ca, "tls": tls, "addresses": {"local_address": "127.0.0.1"}},
        {"trust": ca, "tls": tls, "client_certificate": files(authority.issue("resuming"))},
        {"trust": ca, "tls": tls, "headers": {"Host": "other.example"}},
    ]
    for params in settings:
        assert not resumed(client, mutual, **params), params
    # libcurl 7.88.1 resumes none; 8.14.1 does with equal settings, so that the lines above show something.
    again = [resumed(client, mutual, **params) for params in settings]
    assert len(set(again)) == 1, again
    for _ in range(3):
        assert not resumed(client, mutual, trust={**ca, "evaluators": {"*": "default"}}, tls=tls)


@pytest.mark.parametrize("kind", ["pin", "certificate", "chain"])
def test_a_server_that_comes_back_with_another_key_is_refused(
    client: carpool.Client, authority: Authority, resumable: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    first = authority.issue("resumable")
    other = Authority(tmp_path / "other", "Another authority") if kind == "chain" else authority
    evaluator: Any = {
        "pin": {"public_keys": {"pins": [pin(first.chain)]}},
        "certificate": {"pinned_certificates": {"files": [str(first.chain)]}},
        "chain": "default",
    }[kind]
    resumable.present(first)
    trust = {"ca_file": str(authority.ca_file), "evaluators": {"*": evaluator}}
    for _ in range(2):
        assert ask(client, resumable.url, trust=trust)["outcome"]["ok"]
        client.call("pool.flush")
        resumable.close_connections()
    resumable.present(other.issue("changed"))
    reason = {"pin": "public_key_pinning_failed", "certificate": "certificate_pinning_failed"}
    for _ in range(2):
        assert failure(ask(client, resumable.url, trust=trust)) == reason.get(kind, "trust_evaluation_failed")
    assert len(resumable.requests) == 2


@pytest.mark.parametrize("evaluators", [{}, {"evaluators": {"*": "default"}}])
def test_an_added_authority_is_not_trusted_by_the_next_request(
    client: carpool.Client, world: World, evaluators: dict[str, Any]
) -> None:
    """Also the other way: an addition after a request without it is not lost."""
    server = world.servers["good"]
    added = {"ca_file": str(world.root.file), "ca_in_addition": True, **evaluators}
    resolve = {"resolve": [f"*:{server.port}:127.0.0.1"]}
    for _ in range(3):
        assert failure(perform(client, server.port, added)) is None
        plain = ask(client, f"https://{server.url_host}:{server.port}/", addresses=resolve)
        assert failure(plain) == UNKNOWN_ROOT
        assert failure(perform(client, server.port, {"evaluators": {"*": "default"}})) == "trust_evaluation_failed"
        assert failure(perform(client, server.port, {"ca_file": str(world.root.file)})) is None


# MARK: Client certificates


@pytest.mark.parametrize("server", ["optional", "optional2"])
@pytest.mark.parametrize("flushed", [False, True])
def test_certificates_of_one_name_are_told_apart(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, server: str, flushed: bool
) -> None:
    """By connection, and by TLS session once the connections are closed: nginx resumes those of its cache."""
    target = f"/one-name-{server}-{flushed}"
    first = files(authority.issue("twin"))
    twins = [{name: Path(path).read_text() for name, path in first.items()}]
    second = files(authority.issue("twin"))
    twins.append({name: Path(path).read_text() for name, path in second.items()})
    given: list[dict[str, Any]] = [{"pem": twin["file"], "key_pem": twin["key_file"]} for twin in twins]
    for _ in range(4):
        for index, params in enumerate([{"client_certificate": given[0]}, {}, {"client_certificate": given[1]}]):
            record = ask(
                client, getattr(mutual, server) + target, trust={"ca_file": str(authority.ca_file)},
                headers={"X-Session": str(index)}, **params,
            )  # fmt: skip
            assert record["outcome"]["ok"], record["outcome"]
            if flushed:
                client.call("pool.flush")
    entries = mutual.log(target, 12)
    serials: dict[str, set[str]] = {}
    for entry in entries:
        serials.setdefault(entry["session"], set()).add(entry["serial"])
    assert [len(serials[name]) for name in "012"] == [1, 1, 1]
    assert serials["1"] == {""}
    assert len(set.union(*serials.values())) == 3
    assert shared_connections(entries) == {}


def shared_connections(entries: list[dict[str, Any]]) -> dict[int, set[str]]:
    """The connections in an origin's log with requests of several sessions."""
    users: dict[int, set[str]] = {}
    for entry in entries:
        users.setdefault(entry["connection"], set()).add(entry["session"])
    return {connection: sessions for connection, sessions in users.items() if len(sessions) > 1}


# MARK: 1,000 requests of two sessions


@pytest.mark.parametrize("version", ["1.1", "2"])
@pytest.mark.parametrize("differing", ["everything", "trust", "certificate", "tls", "addresses", "host"])
def test_1000_interleaved_requests_of_two_sessions(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, differing: str, version: str
) -> None:
    ca = {"ca_file": str(authority.ca_file)}
    alternatives: dict[str, tuple[Any, Any]] = {
        "trust": (ca, {**ca, "evaluators": {"127.0.0.1": "default"}}),
        "client_certificate": (files(authority.issue("one")), files(authority.issue("two"))),
        "tls": ({"max_version": "1.2"}, {"min_version": "1.3"}),
        "addresses": ({"local_address": "127.0.0.2"}, {"local_address": "127.0.0.3"}),
        "host": ("one.example", "two.example"),
    }
    name = {"certificate": "client_certificate"}.get(differing, differing)
    target = f"/crowd-{differing}-{version}"
    url = (mutual.optional2 if version == "2" else mutual.optional) + target
    expected: dict[str, dict[str, str]] = {}
    for index, session in enumerate(("one", "two")):
        chosen = {key: pair[index if name in {key, "everything"} else 0] for key, pair in alternatives.items()}
        headers = {"Host": chosen.pop("host"), "X-Session": session}
        client.create_session(session, {"http_version": version, "headers": headers, **chosen})
        expected[session] = {
            "host": headers["Host"],
            "certificate": "CN=" + Path(chosen["client_certificate"]["file"]).stem,
            "tls": "TLSv1.2" if "max_version" in chosen["tls"] else "TLSv1.3",
            "address": chosen["addresses"]["local_address"],
        }
    count = 1_000 if differing == "everything" else 200
    made = [
        client.call("request.submit", url=url, session=session)["request"]
        for _ in range(count // 2)
        for session in expected
    ]
    for request in made:
        record = client.call("request.wait", request=request)
        assert record["outcome"]["ok"], record["outcome"]
    entries = mutual.log(target, count)
    assert len(entries) == count
    assert shared_connections(entries) == {}
    for entry in entries:
        assert expected[entry["session"]].items() <= entry.items()
    # They were not separate only because each request had a connection of its own.
    assert len({entry["connection"] for entry in entries}) <= 12


# MARK: Addresses


def test_resolve_reaches_no_other_session_over_tls(
    client: carpool.Client, authority: Authority, split: ScriptedOrigin
) -> None:
    number = split.port
    url = f"https://split.example:{number}/"
    trust = {"ca_file": str(authority.ca_file)}
    known = {"resolve": [f"split.example:{number}:127.0.0.1"]}
    elsewhere = {"resolve": [f"split.example:{number}:127.0.0.9"]}
    client.create_session("known", {"trust": trust, "addresses": known})
    client.create_session("plain", {"trust": trust})
    client.create_session("elsewhere", {"trust": trust, "addresses": elsewhere})
    for count in range(1, 4):
        assert failure(ask(client, url, session="known")) is None
        for session in ("plain", "default"):
            assert failure(ask(client, url, session=session)) == NO_HOST
        assert failure(ask(client, url, session="known", addresses={})) == NO_HOST
        assert failure(ask(client, url, session="elsewhere")) == NO_CONNECTION
        client.call("pool.flush")
        assert failure(ask(client, url, trust=trust)) == NO_HOST
        assert len(split.requests) == count
