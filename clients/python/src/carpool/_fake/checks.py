"""What a fake daemon refuses, because it does not do it, and how it validates, retries and redirects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .._adapters import HEAD_EVENT
from .._operations import RETRIED
from .records import Hop, RefusedError, errors, failure

# Parameters of requests with an effect that a fake does not have. It accepts all others, and ignores most of them.
_REFUSED: Final = (
    "encoding",
    "parameters",
    "authenticate",
    "resume_data",
    "expect_continue",
)
_IDEMPOTENT: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER: Final = frozenset({301, 302, 303})
_SERIALIZERS: Final = frozenset({"none", "data", "string", "json"})


def not_done(path: str, what: str) -> RefusedError:
    """Return the error for a parameter that a fake does not do."""
    message = f"Invalid params: {path}: carpool.testing does not do {what}; test it with a daemon"
    return errors(-32602, "invalid_params", message, path=path, expected="what docs/python-testing.md lists")


def check(params: Mapping[str, Any]) -> None:
    """Raise RefusedError for parameters with an effect that a fake does not have."""
    if not isinstance(params.get("url"), str):
        message = "Invalid params: params.url: " + ("is missing" if "url" not in params else "expected a string")
        raise errors(-32602, "invalid_params", message, path="params.url", expected="a string")
    for name in _REFUSED:
        if params.get(name):
            raise not_done(f"params.{name}", name)
    _check_events(params)
    _check_rules(params)


def _check_events(params: Mapping[str, Any]) -> None:
    """Raise RefusedError for events but that of the head, which the adapters for requests and httpx ask for."""
    events = params.get("events")
    if events and (events != {"types": [HEAD_EVENT]} or params.get("hold_for_headers")):
        raise not_done("params.events", f"events but {HEAD_EVENT} of a request.perform that is not held")


def _check_rules(params: Mapping[str, Any]) -> None:
    """Raise RefusedError for rules that a fake does not apply."""
    for policy in params.get("interceptor") or []:
        if not isinstance(policy, dict) or set(policy) != {"retry_policy"} or "codes" in policy["retry_policy"]:
            raise not_done("params.interceptor", "interceptors but retry_policy without codes")
    validators = params.get("validate")
    for validator in validators if isinstance(validators, list) else []:
        if set(validator) - {"status", "content_type"}:
            raise not_done("params.validate", "validators but status and content_type")
    serializer = params.get("serialize")
    if serializer is not None and not (isinstance(serializer, str) and serializer in _SERIALIZERS):
        raise not_done("params.serialize", 'serializers but "json", "string", "data" and "none"')
    redirect = params.get("redirect")
    if redirect not in (None, "follow", "do_not_follow"):
        raise not_done("params.redirect", "rules of redirects")
    if isinstance(params.get("cache"), dict) and "handler" in params["cache"]:
        raise not_done("params.cache", "callbacks")


def validated(params: Mapping[str, Any], hop: Hop) -> dict[str, Any] | None:
    """Return the error of a response that `validate` does not accept."""
    validators = params.get("validate")
    if validators is True:
        accept = hop.request.headers.get("accept")
        types = [] if accept is None else [kind.partition(";")[0].strip() for kind in accept.split(",")]
        validators = [{"status": ["200-299"]}, *([{"content_type": types}] if types else [])]
    for validator in validators or []:
        if "status" in validator and not _has_status(validator["status"], hop.reply.status_code):
            return _status_error(hop.reply.status_code)
        if hop.body and "content_type" in validator and (error := _type_error(validator["content_type"], hop)):
            return error
    return None


def _has_status(accepted: list[int | str], status: int) -> bool:
    for each in accepted:
        first, _, last = str(each).partition("-")
        if int(first) <= status <= int(last or first):
            return True
    return False


def _type_error(accepted: list[str], hop: Hop) -> dict[str, Any] | None:
    given = next((value for name, value in hop.reply.headers if name.lower() == "content-type"), None)
    kind = None if given is None else given.partition(";")[0].strip().lower()
    if "*/*" in accepted or (kind and any(_is_kind(each.lower(), kind) for each in accepted)):
        return None
    details: dict[str, Any] = {"acceptable_content_types": sorted(accepted)}
    if kind is None:
        return failure("response_validation_failed.missing_content_type", "the type is missing", details=details)
    details["response_content_type"] = kind
    name = "response_validation_failed.unacceptable_content_type"
    return failure(name, f"the type {kind} is not acceptable", details=details)


def _is_kind(pattern: str, kind: str) -> bool:
    pairs = zip(pattern.split("/"), kind.split("/"), strict=False)
    return all(wanted in {"*", found} for wanted, found in pairs)


def refused_by_retry(params: Mapping[str, Any], hop: Hop) -> dict[str, Any] | None:
    """Return the error of a response that a retry policy refuses, although it is valid."""
    policy = _policy(params)
    if policy and policy.get("without_validation") and hop.reply.status_code in _statuses(policy):
        return _status_error(hop.reply.status_code)
    return None


def is_retried(params: Mapping[str, Any], hop: Hop, error: dict[str, Any], count: int) -> bool:
    """Whether an attempt is repeated; `count` is the number of attempts. There is no delay."""
    policy = _policy(params)
    if policy is None or count > policy.get("limit", 2) or hop.request.method not in policy.get("methods", _IDEMPOTENT):
        return False
    return bool(error["retryable"]) or (hop.reply.error is None and hop.reply.status_code in _statuses(policy))


def _statuses(policy: Mapping[str, Any]) -> frozenset[int]:
    """Return the statuses of a policy: 429 is one by default if its Retry-After counts."""
    default = RETRIED if policy.get("respect_retry_after") else RETRIED - {429}
    statuses = frozenset(policy.get("statuses", default))
    return statuses | frozenset(range(400, 600)) if policy.get("all_failures") else statuses


def _policy(params: Mapping[str, Any]) -> dict[str, Any] | None:
    return next((each["retry_policy"] for each in params.get("interceptor") or []), None)


def _status_error(status: int) -> dict[str, Any]:
    name = "response_validation_failed.unacceptable_status_code"
    return failure(name, f"the status {status} is not acceptable", details={"code": status})


def redirect(params: Mapping[str, Any], hop: Hop) -> tuple[str, str] | None:
    """Return the method and the reference of the next hop; None if there is none."""
    status = hop.reply.status_code
    if (
        not hop.reply.has_head
        or hop.reply.error
        or status not in _REDIRECTS
        or params.get("redirect") == "do_not_follow"
    ):
        return None
    place = next((value for name, value in hop.reply.headers if name.lower() == "location"), None)
    if place is None:
        return None
    method = hop.request.method
    is_other = status in _SEE_OTHER and method not in {"GET", "HEAD"} and (status == 303 or method == "POST")  # noqa: PLR2004
    return ("GET" if is_other else method), place
