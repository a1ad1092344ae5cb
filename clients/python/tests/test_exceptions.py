from __future__ import annotations

import copy
import inspect
import json
import pickle
import subprocess
import sys
import threading
import traceback
import typing
from typing import Any

import pytest

import carpool
from carpool import _exceptions


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32700, carpool.RPCError),
        (-32600, carpool.RPCError),
        (-32601, carpool.MethodNotFoundError),
        (-32602, carpool.InvalidParamsError),
        (-32603, carpool.RPCError),
        (-32800, carpool.CallCancelledError),
        (1005, carpool.AccessError),
        (1101, carpool.ObjectError),
        (1203, carpool.QuotaError),
        (1206, carpool.ObjectError),
        (1301, carpool.FileAccessError),
        (4711, carpool.RPCError),
        ("1", carpool.RPCError),
        (None, carpool.RPCError),
    ],
)
def test_each_code_has_its_class(code: Any, kind: type[carpool.RPCError]) -> None:
    error = _exceptions.rpc_error({"code": code, "message": "no"})
    assert type(error) is kind
    assert str(error).startswith("no")


def test_an_error_tells_name_hint_and_data() -> None:
    data = {"name": "invalid_params", "retryable": True, "hint": "look", "path": "params.url"}
    error = _exceptions.rpc_error({"code": -32602, "message": "bad url", "data": data})
    assert (error.name, error.retryable, error.hint, error.data["path"]) == (
        "invalid_params",
        True,
        "look",
        "params.url",
    )
    assert str(error) == "bad url (invalid_params); look"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("session_task_failed.timed_out", carpool.RequestTimeoutError),
        ("session_task_failed.cannot_find_host", carpool.ConnectError),
        ("session_task_failed.cannot_connect_to_host", carpool.ConnectError),
        ("session_task_failed.network_connection_lost", carpool.TransferError),
        ("session_task_failed.server_certificate_untrusted", carpool.CertificateError),
        ("session_task_failed.secure_connection_failed", carpool.CertificateError),
        ("session_task_failed.cannot_decode_content_data", carpool.DecodingError),
        ("session_task_failed.data_length_exceeds_maximum", carpool.DecodingError),
        ("session_task_failed.a_later_name", carpool.TransferError),
        ("explicitly_cancelled", carpool.RequestCancelledError),
        ("session_invalidated", carpool.RequestCancelledError),
        ("response_validation_failed.unacceptable_status_code", carpool.ValidationError),
        ("response_serialization_failed.json_serialization_failed", carpool.SerializationError),
        ("request_adaptation_failed", carpool.AdaptationError),
        ("request_retry_failed", carpool.RetryError),
        ("parameter_encoder_failed.encoder_failed", carpool.RequestError),
        ("", carpool.RequestError),
    ],
)
def test_each_outcome_has_its_class(name: str, kind: type[carpool.RequestError]) -> None:
    record = {"request": "r_1", "outcome": {"ok": False, "error": {"name": name, "message": "it broke"}}}
    error = _exceptions.request_error(record)
    assert type(error) is kind
    assert (error.name, error.message, error.request_id, error.record) == (name, "it broke", "r_1", record)


def test_the_text_of_a_failure_has_its_hint() -> None:
    failure = {"name": "session_task_failed.cannot_find_host", "message": "no host", "hint": "check it"}
    error = _exceptions.request_error({"request": "r_1", "outcome": {"ok": False, "error": failure}})
    assert str(error) == "no host (session_task_failed.cannot_find_host); check it"


def test_an_error_tells_its_causes() -> None:
    refused = {
        "name": "response_validation_failed.unacceptable_status_code",
        "message": "401",
        "details": {"code": 401},
    }
    gone = {"name": "client_refused", "message": "no token", "retryable": True, "hint": "log in"}
    failed = {"name": "request_retry_failed", "details": {"retry_error": gone, "original_error": refused}}
    error = _exceptions.request_error({"request": "r_1", "outcome": {"ok": False, "error": failed}})
    assert isinstance(error, carpool.RetryError)
    assert isinstance(error.original_error, carpool.ValidationError)
    assert error.original_error.details == {"code": 401}
    assert error.retry_error is not None
    assert (error.retry_error.message, error.retry_error.retryable, error.retry_error.hint) == (
        "no token",
        True,
        "log in",
    )
    assert error.underlying is None
    assert isinstance(error.__cause__, carpool.RequestError)
    assert error.__cause__.name == "client_refused"
    adapted = {"name": "request_adaptation_failed", "message": "", "details": {"underlying": gone}}
    cause = _exceptions.request_error({"outcome": {"error": adapted}}).underlying
    assert cause is not None
    assert (cause.name, cause.request_id, cause.__cause__) == ("client_refused", "", None)


def test_a_timeout_is_a_timeout_error_too() -> None:
    assert issubclass(carpool.RequestTimeoutError, TimeoutError)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    classes = [value for value in vars(_exceptions).values() if inspect.isclass(value) and issubclass(value, Exception)]
    assert {name for name in classes if name.__name__ not in (_exceptions.__doc__ or "")} == set()


FAILURE = {
    "name": "request_retry_failed",
    "message": "no",
    "retryable": True,
    "hint": "wait",
    "data": {"details": {"retry_error": {"name": "callback_failed", "message": "why"}}},
    "details": {"retry_error": {"name": "callback_failed", "message": "why"}},
}
RESPONSE = carpool.Response(
    {
        "request": "r_1",
        "state": "finished",
        "response": {"status": 404, "url": "http://a/", "headers": [["A", "1"]]},
        "attempts": [{"request": {"method": "GET", "url": "http://a/"}}],
        "body": {"text": "no", "size_bytes": 2},
    },
)


def example(kind: type[Exception]) -> Exception:
    """An exception of a class, as this package makes it."""
    if kind is carpool.HTTPStatusError:
        return carpool.HTTPStatusError(RESPONSE)
    if issubclass(kind, carpool.RequestError):
        return kind("request_retry_failed", "no", {"request": "r_1", "resume_data": "t"}, FAILURE)
    if issubclass(kind, carpool.RPCError):
        return kind(1101, "no", {"name": "request.not_found", "retryable": True, "hint": "look"})
    return kind("no", 2)


KINDS = [kind for _, kind in inspect.getmembers(_exceptions, inspect.isclass) if issubclass(kind, Exception)]


def pickled_by(protocol: int) -> Any:
    return lambda error: pickle.loads(pickle.dumps(error, protocol))


def made_of_args(error: Exception) -> Any:
    return type(error)(*error.args)


def made_of_json(error: Exception) -> Any:
    """As task queues do it: the module and the name of the class, and the arguments as JSON."""
    kind, text = type(error), json.dumps(error.args)
    return getattr(sys.modules[kind.__module__], kind.__name__)(*json.loads(text))


WAYS = [made_of_args, made_of_json, copy.copy, copy.deepcopy, *map(pickled_by, range(pickle.HIGHEST_PROTOCOL + 1))]


@pytest.mark.parametrize("again", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_keeps_its_attributes_when_it_is_made_again(kind: type[Exception], again: Any) -> None:
    error: Any = example(kind)
    found: Any = again(error)
    assert kind is type(error) is type(again(error))
    assert (str(found), repr(found), found.args, vars(found)) == (str(error), repr(error), error.args, vars(error))
    assert repr(found.__cause__) == repr(error.__cause__)
    if isinstance(error, carpool.HTTPStatusError):
        assert (found.response.content, found.response.encoding) == (error.response.content, "utf-8")
    elif isinstance(error, carpool.RequestError):
        assert isinstance(found.__cause__, carpool.RequestError)
        assert [getattr(found, name) for name in ("request_id", "retryable", "hint")] == ["r_1", True, "wait"]


# JSON has no bytes; the packages that use it have a form of their own.
@pytest.mark.parametrize("again", [each for each in WAYS if each is not made_of_json])
def test_an_error_keeps_a_body_that_is_not_in_its_record(again: Any) -> None:
    response = carpool.Response({**RESPONSE.record, "body": {"file": "/nonexistent"}}, b"\xe9 large")
    response.encoding = "latin-1"
    error = carpool.HTTPStatusError(response)
    assert again(error).response.text == "é large"


def test_an_error_of_a_body_that_is_gone_can_be_pickled() -> None:
    error = carpool.HTTPStatusError(carpool.Response({**RESPONSE.record, "body": {"file": "/nonexistent/r_1"}}))
    found = pickled_by(2)(error)
    assert found.response.status_code == 404
    with pytest.raises(carpool.CarpoolError, match="cannot be read"):
        _ = found.response.content


class LockedError(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("locked", threading.Lock())


def chained(cause: BaseException) -> carpool.CarpoolError:
    error = carpool.ConnectionLostError("lost")
    error.__cause__, error.__context__ = cause, KeyError("k")
    error.__suppress_context__ = False
    error.__notes__ = ["at night"]  # type: ignore[attr-defined, unused-ignore]
    return error


@pytest.mark.parametrize("again", [each for each in WAYS if each not in {made_of_args, made_of_json}])
def test_an_exception_keeps_cause_context_and_notes(again: Any) -> None:
    for cause in (
        ConnectionResetError(104, "reset"),
        carpool.RPCError(1101, "\udcff\r\x1a\0", {}),
        chained(OSError(5)),
    ):
        found = again(chained(cause))
        assert (repr(found.__cause__), repr(found.__context__)) == (repr(cause), "KeyError('k')")
        assert (found.__suppress_context__, found.__notes__) == (False, ["at night"])
        assert repr(found.__cause__.__cause__) == repr(cause.__cause__)


def test_a_cause_that_cannot_be_pickled_becomes_its_text() -> None:
    found = pickled_by(5)(chained(LockedError()))
    assert str(found.__cause__).startswith("LockedError: ('locked', <unlocked")
    cause = LockedError()
    assert copy.copy(chained(cause)).__cause__ is cause


def test_a_cycle_of_causes_can_be_pickled() -> None:
    first, second = carpool.CarpoolError("1"), carpool.CarpoolError("2")
    first.__cause__, second.__cause__ = second, first
    found = pickled_by(4)(first)
    assert str(found.__cause__) == "2"
    assert found.__cause__.__cause__ is found


POOL = """
import concurrent.futures, multiprocessing
import carpool

def fail(record):
    carpool.Response(record).raise_for_status()

with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    error = pool.submit(fail, RECORD).exception(60)
assert type(error) is carpool.HTTPStatusError and error.__cause__ is not None
assert error.response.content == b"no"
"""


def test_exceptions_cross_a_process_pool() -> None:
    # In a process of its own, because the pool leaves another one.
    subprocess.run([sys.executable, "-c", POOL.replace("RECORD", repr(RESPONSE.record))], check=True, timeout=60)


def test_classes_are_shown_by_the_name_that_programs_use() -> None:
    assert {kind.__module__ for kind in KINDS} == {"carpool"}
    shown = traceback.format_exception_only(example(carpool.TransferError))
    assert shown == ["carpool.TransferError: no (request_retry_failed); wait\n"]

    class Own(carpool.CarpoolError):
        pass

    assert Own.__module__ == __name__
    for name in ("AsyncClient", "Client", "Cookies", "DigestAuth", "Headers", "NetrcAuth", "Response", "Stream"):
        assert getattr(carpool, name).__module__ == "carpool"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_values_can_be_pickled_with_every_protocol(protocol: int) -> None:
    jar = {"list": [{"name": "a", "value": "1"}], "left_out": 2}
    values = [
        RESPONSE,
        RESPONSE.headers,
        carpool.Cookies(jar),
        carpool.DigestAuth("u", "p"),
        carpool.Progress(1, 2, None),
    ]
    for value in values:
        found = pickled_by(protocol)(value)
        assert (type(found), found) == (type(value), value)
    assert pickled_by(protocol)(carpool.Cookies(jar)).left_out == 2


def test_the_types_of_a_response_can_be_looked_up() -> None:
    assert set(typing.get_type_hints(carpool.Response)) == {"record", "spooled", "_encoding"}
