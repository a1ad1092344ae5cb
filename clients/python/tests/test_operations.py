from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from daemon import record

import carpool
from carpool import _operations as operations
from carpool._operations import UNSET


def params(**arguments: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = {"headers": None, "timeout": None, "session": None, "verify": True, "options": {}}
    return operations.perform_params("GET", "http://a/", **{**defaults, **arguments})


def test_only_what_was_asked_for_is_sent() -> None:
    assert params() == {"url": "http://a/", "method": "GET"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"headers": {"A": "1"}}, {"headers": [["A", "1"]]}),
        ({"headers": [("A", "1"), ("a", "2")]}, {"headers": [["A", "1"], ["a", "2"]]}),
        ({"timeout": 1.5}, {"timeout_ms": 1500}),
        ({"timeout": 0.0001}, {"timeout_ms": 1}),
        ({"session": "api"}, {"session": "api"}),
        ({"verify": False}, {"trust": {"verify": False}}),
        ({"verify": "/ca.pem"}, {"trust": {"ca_file": "/ca.pem"}}),
        ({"options": {"max_ratio": 5}}, {"max_ratio": 5}),
    ],
)
def test_arguments_become_params(arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    assert params(**arguments) == {"url": "http://a/", "method": "GET", **expected}


def test_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert params(verify="ca.pem")["trust"] == {"ca_file": str(tmp_path / "ca.pem")}
    sent: dict[str, Any] = {}
    assert operations.encode_body(sent, UNSET, Path("body")) is None
    assert sent["body"] == {"file": os.fspath(tmp_path / "body")}


def test_each_kind_of_body_has_its_form() -> None:
    sent: dict[str, Any] = {}
    assert operations.encode_body(sent, UNSET, None) is None
    assert sent == {}
    operations.encode_body(sent, UNSET, "é")
    assert sent == {"body": {"text": "é"}}
    operations.encode_body(sent, UNSET, b"\xff")
    assert sent == {"body": {"base64": "/w=="}}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, [["Content-Type", "application/json"]]),
        ({"X": "1"}, [["X", "1"], ["Content-Type", "application/json"]]),
        ({"content-type": "application/ld+json"}, [["content-type", "application/ld+json"]]),
    ],
)
def test_json_says_that_it_is_json(headers: dict[str, str] | None, expected: list[list[str]]) -> None:
    sent = params(headers=headers)
    operations.encode_body(sent, {"a": [None, "é"]}, None)
    assert sent["body"] == {"text": '{"a":[null,"é"]}'}
    assert sent["headers"] == expected


def test_null_is_a_json_body() -> None:
    sent: dict[str, Any] = {}
    operations.encode_body(sent, None, None)
    assert sent["body"] == {"text": "null"}


def test_a_request_has_one_body() -> None:
    with pytest.raises(ValueError, match="one body"):
        operations.encode_body({}, 1, "a")


def test_a_large_body_is_given_back() -> None:
    sent: dict[str, Any] = {}
    fits = bytes(operations.MAX_INLINE_BODY_BYTES)
    assert operations.encode_body(sent, UNSET, fits) is None
    assert base64.b64decode(sent["body"]["base64"]) == fits
    assert operations.encode_body({}, UNSET, fits + b"1") == fits + b"1"


def test_a_failed_outcome_is_raised() -> None:
    failed = {"ok": False, "error": {"name": "session_task_failed.timed_out", "message": "too slow"}}
    with pytest.raises(carpool.RequestTimeoutError, match="too slow"):
        operations.response(record(outcome=failed), None)


def test_the_spool_file_is_found() -> None:
    assert operations.spool_path(record({"file": "/spool/1"})) == "/spool/1"
    assert operations.spool_path(record()) is None
    assert operations.spool_path({}) is None
