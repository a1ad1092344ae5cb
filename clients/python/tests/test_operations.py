from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import pytest
from daemon import record

import carpool
from carpool import _operations as operations
from carpool import _sources
from carpool._bodies import MAX_INLINE_BODY_BYTES
from carpool._defaults import Defaults


def params(session: str | None = None, **options: Any) -> dict[str, Any]:
    given = cast("carpool.RequestOptions", options)
    made, large = operations.request_params("GET", "http://a/", given, Defaults(session))
    assert large == []
    return made


COMMAND_POLICY = {"without_validation": True, "respect_retry_after": True}


def test_only_what_was_asked_for_is_sent() -> None:
    nothing = dict.fromkeys(("headers", "data", "session", "retry", "params", "tags", "validate", "json", "files"))
    assert params() == params(**nothing) == params(verify=True, retry=False) == {"url": "http://a/", "method": "GET"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"headers": {"A": "1"}}, {"headers": [["A", "1"]]}),
        ({"headers": [("A", "1"), ("a", "2")]}, {"headers": [["A", "1"], ["a", "2"]]}),
        ({"timeout": 1.5}, {"timeout_ms": 1500, "connect_timeout_ms": 1500}),
        ({"timeout": 0.0001}, {"timeout_ms": 1, "connect_timeout_ms": 1}),
        ({"timeout": (1, 2)}, {"timeout_ms": 2000, "connect_timeout_ms": 1000}),
        ({"timeout": (None, 2)}, {"timeout_ms": 2000, "connect_timeout_ms": operations.MAX_MS}),
        ({"timeout": None}, {"timeout_ms": operations.MAX_MS, "connect_timeout_ms": operations.MAX_MS}),
        ({"timeout": 1, "connect_timeout_ms": 5}, {"timeout_ms": 1000, "connect_timeout_ms": 5}),
        ({"total": 3}, {"resource_timeout_ms": 3000}),
        ({"total": None}, {"resource_timeout_ms": operations.MAX_MS}),
        ({"follow_redirects": False}, {"redirect": "do_not_follow"}),
        ({"allow_redirects": False}, {"redirect": "do_not_follow"}),
        ({"allow_redirects": True, "follow_redirects": True}, {"redirect": "follow"}),
        ({"session": "api"}, {"session": "api"}),
        ({"verify": False}, {"trust": {"verify": False}}),
        ({"verify": "/ca.pem"}, {"trust": {"ca_file": "/ca.pem"}}),
        ({"max_ratio": 5}, {"max_ratio": 5}),
        ({"params": {"a": [1, "x"]}, "encoding": "json"}, {"parameters": {"a": [1, "x"]}, "encoding": "json"}),
        ({"retry": True}, {"interceptor": [{"retry_policy": COMMAND_POLICY}]}),
        ({"retry": 0}, {}),
        (
            {"retry": 5, "interceptor": ["compress"]},
            {"interceptor": ["compress", {"retry_policy": {"limit": 5, **COMMAND_POLICY}}]},
        ),
        ({"retry": {"jitter": 0.5}}, {"interceptor": [{"retry_policy": {"jitter": 0.5}}]}),
        (
            {"validate": True, "serialize": ["json", {"as": "string"}]},
            {"validate": True, "serialize": ["json", {"as": "string"}]},
        ),
        ({"redirect": {"max_hops": 1}, "start": "manual"}, {"redirect": {"max_hops": 1}, "start": "manual"}),
        ({"setup": "eager", "hold_for_headers": True}, {"setup": "eager", "hold_for_headers": True}),
        ({"cache": "no_store"}, {"cache": "no_store"}),
        ({"cache": {"policy": "use_protocol", "ttl_ms": 5}}, {"cache": {"policy": "use_protocol", "ttl_ms": 5}}),
        ({"tags": {"a": "b"}, "key": "k"}, {"tags": {"a": "b"}, "key": "k"}),
        ({"detail": "full"}, {"detail": "full"}),
    ],
)
def test_arguments_become_params(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    assert params(**arguments) == {"url": "http://a/", "method": "GET", **expected}


def test_a_request_names_its_session_itself() -> None:
    assert params("api")["session"] == "api"
    made, _ = operations.request_params("GET", "http://a/", {"session": "other"}, Defaults("api"))
    assert made["session"] == "other"


def test_bytes_and_times_inside_parameters_have_their_forms() -> None:
    time = datetime(2001, 1, 1, tzinfo=timezone.utc)
    sent = params(params={"a": [b"\x00", (time, {"b": bytearray(b"\xff")})], "c": None}, encoding="form")
    assert sent["parameters"] == {
        "a": [{"$data": "AA=="}, [{"$date": 978307200.0}, {"b": {"$data": "/w=="}}]],
        "c": None,
    }


def test_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert params(verify="ca.pem")["trust"] == {"ca_file": str(tmp_path / "ca.pem")}
    assert params(data=Path("body"))["body"] == {"file": os.fspath(tmp_path / "body")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"verify": ""}, "verify is empty"),
        ({"verify": "/ca.pem", "trust": "system"}, "both set trust"),
        ({"trust": "system", "verify": False}, "both set trust"),
        ({"cert": "/a.pem", "client_certificate": "none"}, "both set client_certificate"),
        ({"timeout": (1, 2), "connect_timeout_ms": 5}, "both set connect_timeout_ms"),
        ({"total": 1, "resource_timeout_ms": 5}, "both set resource_timeout_ms"),
        ({"follow_redirects": True, "redirect": "follow"}, "both set redirect"),
        ({"allow_redirects": True, "follow_redirects": False}, "the same argument, and differ"),
        ({"data": "a", "body": {"text": "b"}}, "both set the body"),
        ({"cert": ("/a.pem", "/a.key", "secret")}, "a pair of paths"),
        ({"cert": ("/a.pem", "")}, "a pair of paths"),
        ({"cert": ""}, "cert is empty"),
        ({"timeout": 1, "timeout_ms": 5}, "both set timeout_ms"),
        ({"detail": "standard"}, 'detail: expected "short" or "full", not \'standard\''),
        ({"detail": ["full"]}, r"detail: expected .* not \['full'\]"),
    ],
)
def test_arguments_that_would_be_ignored_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        params(**arguments)


@pytest.mark.parametrize("proxies", ["http://h:1", b"http://h:1", ["http://h:1"]])
def test_proxies_that_are_no_mapping_are_refused(proxies: Any) -> None:
    with pytest.raises(TypeError, match=r'pass proxies=\{"all": "http://HOST:PORT"\}'):
        params(proxies=proxies)


@pytest.mark.parametrize("name", ["authenticate", "destination", "redirect", "serialize", "trust", "validate"])
def test_a_function_must_be_registered(name: str) -> None:
    with pytest.raises(ValueError, match=rf'client.register\("NAME", {name}=...\), and pass {name}=.*"callback"'):
        params(**dict[str, Any]({name: print}))


def test_the_function_of_a_cache_handler_must_be_registered() -> None:
    for cache in (print, {"handler": print}):
        with pytest.raises(ValueError, match=r'client.register\("NAME", cache=...\), and pass cache=.*"callback"'):
            params(cache=cache)


def test_a_default_beside_trust_sets_nothing() -> None:
    assert params(verify=True, trust="system")["trust"] == "system"


def test_each_kind_of_body_has_its_form() -> None:
    assert params(data="é")["body"] == {"text": "é"}
    assert params(data=b"\xff")["body"] == {"base64": "/w=="}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, [["Content-Type", "application/json"]]),
        ({"X": "1"}, [["X", "1"], ["Content-Type", "application/json"]]),
        ({"content-type": "application/ld+json"}, [["content-type", "application/ld+json"]]),
    ],
)
def test_json_says_that_it_is_json(headers: dict[str, str] | None, expected: list[list[str]]) -> None:
    sent = params(headers=headers, json={"a": [None, "é"]})
    assert sent["body"] == {"text": '{"a":[null,"é"]}'}
    assert sent["headers"] == expected


def test_no_json_is_no_body() -> None:
    assert "body" not in params(json=None)
    assert params(json=0)["body"] == {"text": "0"}


def test_a_request_has_one_body() -> None:
    with pytest.raises(ValueError, match="one body"):
        params(json=1, data="a")


def test_a_large_body_is_given_back() -> None:
    fits = bytes(MAX_INLINE_BODY_BYTES)
    assert base64.b64decode(params(data=fits)["body"]["base64"]) == fits
    made, large = operations.request_params("PUT", "http://a/", {"data": fits + b"1"}, Defaults())
    [(place, content)] = large
    assert content == fits + b"1"
    assert made["body"] is place


def test_the_polls_of_a_wait_end_with_it() -> None:
    assert operations.deadline(None) is None
    assert operations.poll_ms(None) == operations.MAX_POLL_MS
    assert operations.poll_ms(operations.deadline(1_000)) == operations.MAX_POLL_MS
    assert 0 < operations.poll_ms(operations.deadline(1)) <= 1_000
    assert operations.poll_ms(operations.deadline(-1)) == 0


def test_the_spool_file_is_found() -> None:
    assert operations.spool_path(record({"file": "/spool/1"})) == "/spool/1"
    assert operations.spool_path(record()) is None
    assert operations.spool_path({}) is None


def test_small_blocks_that_come_fast_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("carpool._sources.time.monotonic", lambda: now[0])

    def blocks() -> Iterator[bytes]:
        yield b"a"
        yield b"b" * _sources.PIECE_BYTES
        now[0] += 1
        yield b"slow"
        yield b"c"

    size = _sources.PIECE_BYTES
    assert list(_sources.pieces(blocks())) == [b"a" + b"b" * (size - 1), b"bslow", b"c"]
    assert list(_sources.pieces(io.BytesIO(bytes(size + 1)))) == [bytes(size), bytes(1)]
    assert list(_sources.pieces([])) == []


PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("variables", "arguments", "proxy"),
    [
        ({}, {}, None),
        ({"http_proxy": PROXY}, {}, {"http": PROXY, "environment": True}),
        ({"all_proxy": PROXY}, {}, {"http": PROXY, "https": PROXY, "environment": True}),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "a,b"}, {}, {"https": PROXY, "no_proxy": "a,b", "environment": True}),
        ({"HTTP_PROXY": PROXY}, {}, None),
        ({"http_proxy": "", "no_proxy": "a"}, {}, None),
        ({"http_proxy": "other"}, {"proxies": {"all": PROXY}}, {"all": PROXY}),
        ({"no_proxy": "a"}, {"proxies": {"https": PROXY, "http": None}}, {"https": PROXY, "http": "", "no_proxy": "a"}),
        ({"no_proxy": "a"}, {"proxies": {"all": PROXY, "no_proxy": "b"}}, {"all": PROXY, "no_proxy": "b"}),
        ({"http_proxy": PROXY}, {"proxies": {}}, {"http": PROXY, "environment": True}),
        ({"http_proxy": PROXY}, {"proxy": {}}, {}),
    ],
)
def test_proxies_are_those_of_the_argument_or_of_the_environment(
    variables: dict[str, str], arguments: dict[str, Any], proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert params(**arguments).get("proxy") == proxy


def test_an_unknown_key_of_proxies_is_refused() -> None:
    with pytest.raises(ValueError, match="'http://a', is not one of"):
        params(proxies={"http://a": PROXY})
