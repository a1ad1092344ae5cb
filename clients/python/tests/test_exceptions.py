from __future__ import annotations

import copy
import inspect
import pickle
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
    b"no",
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


def pickled(error: Exception) -> Any:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_keeps_its_attributes_when_it_is_pickled_or_copied(kind: type[Exception], again: Any) -> None:
    error = example(kind)
    found: Any = again(error)
    assert type(found) is kind
    assert (str(found), found.args, vars(found)) == (str(error), error.args, vars(error))
    assert repr(found.__cause__) == repr(error.__cause__)
    if isinstance(error, carpool.RequestError) and not isinstance(error, carpool.HTTPStatusError):
        assert isinstance(found.__cause__, carpool.RequestError)
        assert [getattr(found, name) for name in ("request_id", "retryable", "hint")] == ["r_1", True, "wait"]
