"""The log without a daemon: what it remembers is bounded, and the program configures the logger."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from both_clients import Connect, Start, result
from daemon import record

from carpool import _log, _secrets


def test_the_logger_has_one_handler_that_does_nothing_and_no_level() -> None:
    logger = logging.getLogger("carpool")
    for _ in range(2):
        _log._loggers.clear()
        assert _log.logger() is logger
    assert [type(handler) for handler in logger.handlers] == [logging.NullHandler]
    assert (logger.level, logger.propagate, logger.disabled) == (logging.NOTSET, True, False)


def test_what_is_remembered_is_bounded(
    start: Start, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "carpool")
    monkeypatch.setattr(_log, "MAX_REQUESTS", 3)
    _log._begun.clear()
    _log._written.clear()
    daemon = start(lambda message: result({"request": f"r_{message['id']}", "state": "resumed"})(message))
    client = connect(daemon.path)
    for number in range(1, 6):
        assert client.run("submit", "GET", f"http://a/{number}") == f"r_{number}"
    assert list(_log._begun) == ["r_3", "r_4", "r_5"]
    for number in (1, 2, 3, 4, 5, 5):
        sent: dict[str, Any] = {"method": "HEAD", "url": "http://b/"} if number == 1 else {}
        _log.ended(record(request=f"r_{number}", metrics={"duration_us": 1000}, **sent))
    assert (list(_log._begun), list(_log._written)) == ([], ["r_3", "r_4", "r_5"])
    assert [entry.getMessage() for entry in caplog.records] == [
        "HEAD http://b/ 200 (0 bytes in 1.0 ms)",
        "? ? 200 (0 bytes in 1.0 ms)",
        *(f"GET http://a/{number} 200 (0 bytes in 1.0 ms)" for number in (3, 4, 5)),
    ]


def test_a_masked_record_hides_the_values_of_names_that_are_not_utf_8() -> None:
    fields = [[{"base64": "WC1Ub2tlbi3k"}, "s3cret"], [{"base64": "WC3k"}, "a"]]
    assert _secrets.masked({"headers": fields}) == {"headers": [["X-Token-ä", "(hidden)"], ["X-ä", "a"]]}


def test_a_masked_record_has_no_body_and_no_secret() -> None:
    secret: dict[str, Any] = {"headers": [["Authorization", {"base64": "czNjcmV0"}], ["X", "a"], ["api-key", "s3cret"]]}
    full = record({"text": "s3cret", "size_bytes": 6}, resume_data="s3cret", cookies={"list": [{"value": "s3cret"}]})
    masked = _secrets.masked({**full, "attempts": [secret], "outcome": {"ok": True, "value": "s3cret"}})
    assert masked["attempts"] == [{"headers": [["Authorization", "(hidden)"], ["X", "a"], ["api-key", "(hidden)"]]}]
    assert "s3cret" not in str(masked)
    assert (masked["body"], masked["outcome"]) == ({"size_bytes": 6}, {"ok": True})
