"""The orders of events around challenges (§2.10, §2.11): certificates, and responses with a 401 or 407."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.story import BEGINNING, COMPLETING, METRICS, Story, ending, failing
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
RECEIVING = ["task.did_receive_response(200)", "task.did_receive_data"]
REFUSING = [
    "task.did_receive_response(401)", "task.did_receive_data", *METRICS, "task.did_complete(None)",
    f"request.did_validate(status, {UNACCEPTABLE})", "request.did_complete_task(None)",
]  # fmt: skip


@pytest.mark.parametrize(("headers", "failures"), [({}, 0), ({"Authorization": "Basic eDp5"}, 1)])
def test_2_10_em_02_a_response_that_asks_who_it_is(
    story: Story, origin: ScriptedOrigin, headers: dict[str, str], failures: int
) -> None:
    """Credentials are sent with the request, so that a challenge is its end, not its beginning."""
    asks = [("WWW-Authenticate", 'Basic realm="the vault"')]
    url = origin.on("/vault", lambda exchange: exchange.reply(401, b"no", asks))
    story.perform(url, headers=headers, validate=True)
    assert story.words() == [
        *BEGINNING, f"task.did_receive_challenge(HTTPBasic, {failures})", *REFUSING,
        *ending(UNACCEPTABLE),
    ]  # fmt: skip
    challenge = next(event["data"] for event in story.events if "challenge" in event["type"])
    port = int(origin.url.rpartition(":")[2])
    assert (challenge["host"], challenge["port"], challenge["realm"]) == ("127.0.0.1", port, "the vault")


def test_2_10_em_02_a_certificate_is_judged_once_for_each_connection(
    story: Story, nginx: Nginx, authority: Authority
) -> None:
    url, trust = f"{nginx.https}/hello.txt", {"ca_file": str(authority.ca_file)}
    story.perform(url, trust=trust)
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(ServerTrust, 0)", *RECEIVING, *COMPLETING, *ending(),
    ]  # fmt: skip
    story.forget()
    story.perform(url, trust=trust)
    assert story.words() == [*BEGINNING, *RECEIVING, *COMPLETING, *ending()]


@pytest.mark.parametrize("configured", [False, True])
def test_2_11_em_22_a_certificate_that_nobody_vouches_for(
    story: Story, nginx: Nginx, tmp_path: Path, configured: bool
) -> None:
    """With `trust` the task fails early as a failure of trust; with the system's store as a failure of the network."""
    trust = {"ca_file": str(Authority(tmp_path / "other", "Somebody else").ca_file)} if configured else "system"
    story.perform(f"{nginx.https}/hello.txt", trust=trust, validate=True)
    words = story.words()
    code = words[-1].partition("session_task_failed.")[2].removesuffix(")")
    early = [f"request.did_fail_task_early(session_task_failed.{code})"] if configured else []
    assert words == [
        *BEGINNING, "task.did_receive_challenge(ServerTrust, 0)", *early, *failing(code),
        *ending(f"session_task_failed.{code}"),
    ]  # fmt: skip
    assert code.startswith("server_certificate_")


@pytest.mark.parametrize(
    ("fields", "method", "realm"),
    [
        ([r'Basic realm="the \"inner\" vault"'], "HTTPBasic", 'the "inner" vault'),
        ([r'Basic realm="back\\slash, a=b"'], "HTTPBasic", "back\\slash, a=b"),
        ([r'Basic charset="a, realm=no\"", realm="yes"'], "HTTPBasic", "yes"),
        (["Basic realm=vault"], "HTTPBasic", "vault"),
        (['basic REALM = "vault"'], "HTTPBasic", "vault"),
        (['Bearer error="invalid_token", realm="no", Digest nonce="x", realm="yes"'], "HTTPDigest", "yes"),
        (["Bearer", 'Basic realm="second"'], "HTTPBasic", "second"),
        (["Negotiate YWJj=, Basic realm=no"], "HTTPNegotiate", None),
        (["Negotiate", 'Basic realm="no"'], "HTTPNegotiate", None),
        ([', , Basic realm="vault",'], "HTTPBasic", "vault"),
        (['Basic realm="no end'], "HTTPBasic", "no end"),
        (['Basic realm=""'], "HTTPBasic", ""),
    ],
)
def test_f18_the_challenge_is_read_as_the_standard_writes_it(
    story: Story, origin: ScriptedOrigin, fields: list[str], method: str, realm: str | None
) -> None:
    asks = [("WWW-Authenticate", field) for field in fields]
    story.perform(origin.on("/vault", lambda exchange: exchange.reply(401, b"no", asks)))
    (challenge,) = [event["data"] for event in story.events if "challenge" in event["type"]]
    assert (challenge["method"], challenge.get("realm")) == (method, realm)


@pytest.mark.parametrize("field", ["", ",", "=", "Bearer", 'Mutual realm="Basic realm=no"', '"Basic"'])
def test_f18_an_unknown_challenge_is_none(story: Story, origin: ScriptedOrigin, field: str) -> None:
    asks = [("WWW-Authenticate", field)]
    story.perform(origin.on("/vault", lambda exchange: exchange.reply(401, b"no", asks)))
    assert not [event for event in story.events if "challenge" in event["type"]]
