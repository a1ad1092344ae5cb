"""Basic and Digest authentication with a user and a password: challenges are answered, once (§1.18, §2.10)."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import OK, Run
from harness.process import persistently
from harness.story import BEGINNING, COMPLETING, Story, ending
from harness.waiting import eventually
from harness.wire import Wire
from origins.apache import PASSWORD, USER, Apache
from origins.httpbin import Httpbin
from origins.scripted import Exchange, ScriptedOrigin

CREDENTIAL = {"username": USER, "password": PASSWORD}
DIGEST = 'Digest realm="r", nonce="{}", qop="auth", algorithm=SHA-256'


@contextlib.contextmanager
def running_apache(lifetime: int = 300) -> Iterator[Apache]:
    with tempfile.TemporaryDirectory(prefix="apache-") as place:
        Path(place).chmod(0o755)
        origin = persistently(lambda number: Apache(Path(place) / str(number), lifetime))
        try:
            yield origin
        finally:
            origin.stop()


@pytest.fixture(scope="module")
def apache() -> Iterator[Apache]:
    with running_apache() as origin:
        yield origin


def perform(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    return record


def statuses(record: dict[str, Any]) -> list[int]:
    return [hop["status"] for hop in record["attempts"][-1]["metrics"]]


# MARK: Real origins


@pytest.mark.parametrize("space", ["basic", "digest"])
def test_ha_01_ha_04_a_challenge_is_answered_once_for_the_session(
    client: carpool.Client, apache: Apache, space: str
) -> None:
    records = [
        perform(client, f"{apache.url}/{space}/{path}", credential=CREDENTIAL)
        for path in ["hello.txt", "hello.txt?a=b%20c", "below/hello.txt"]
    ]
    assert [record["body"]["text"] for record in records] == ["hello\n"] * 3
    assert [statuses(record) for record in records] == [[401, 200], [200], [200]]
    head = perform(client, f"{apache.url}/{space}/hello.txt", method="HEAD", credential=CREDENTIAL)
    assert statuses(head) == [200]
    assert PASSWORD not in json.dumps(records)


@pytest.mark.parametrize("space", ["basic", "digest"])
@pytest.mark.parametrize("credential", [None, {**CREDENTIAL, "password": "wrong"}], ids=["none", "wrong"])
def test_ha_02_ha_03_a_refused_credential_is_sent_once(
    client: carpool.Client, apache: Apache, space: str, credential: Any
) -> None:
    for _ in range(2):
        params = {"credential": credential} if credential else {}
        record = perform(client, f"{apache.url}/{space}/hello.txt", **params)
        assert record["outcome"]["ok"]
        assert record["response"]["status"] == 401
        assert statuses(record) == ([401, 401] if credential else [401])
    # Another credential is not hindered by that.
    assert statuses(perform(client, f"{apache.url}/{space}/hello.txt", credential=CREDENTIAL)) == [401, 200]


def test_nonces_that_end_are_replaced(client: carpool.Client) -> None:
    """apache names the next nonce before one ends, and says so of one that has ended."""
    with running_apache(lifetime=1) as apache:
        url = f"{apache.url}/digest/hello.txt"
        assert statuses(perform(client, url, credential=CREDENTIAL)) == [401, 200]
        challenged = time.monotonic()

        def outlives_a_nonce() -> bool:
            nonlocal challenged
            found = statuses(perform(client, url, credential=CREDENTIAL))
            # Only if a nonce has ended between two requests.
            if found == [401, 200]:
                challenged = time.monotonic()
            return found == [200] and time.monotonic() > challenged + 1.5

        eventually(outlives_a_nonce)
        # Longer than a nonce lives.
        time.sleep(1.5)
        assert statuses(perform(client, url, credential=CREDENTIAL)) == [401, 200]


@pytest.mark.own_daemon
@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
@pytest.mark.parametrize("qop", ["auth", "auth-int"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_ha_01_digest_against_httpbin(
    client: carpool.Client, httpbin: Httpbin, algorithm: str, qop: str, method: str
) -> None:
    # It compares the decoded path with `uri`, so that it accepts no other characters in a password.
    url = f"{httpbin.url}/digest-auth/{qop}/ada/secret/{algorithm}"
    credential = {"username": "ada", "password": "secret", "schemes": ["digest"]}
    body = {} if method == "GET" else {"body": {"text": "the body"}}
    record = perform(client, url, method=method, credential=credential, **body)
    # httpbin has this path for GET alone; other methods are 405, also with the right credential.
    assert statuses(record) == ([401, 200] if method == "GET" else [405])
    if method == "GET":
        assert json.loads(record["body"]["text"])["authenticated"] is True
        wrong = perform(client, url, credential={**credential, "password": "x"})
        assert statuses(wrong) == [401, 401]


def test_ha_01_basic_against_httpbin(client: carpool.Client, httpbin: Httpbin) -> None:
    record = perform(
        client, f"{httpbin.url}/basic-auth/%C3%A4da/p%C3%A4ss", credential={"username": "äda", "password": "päss"}
    )
    assert statuses(record) == [401, 200]


# MARK: Challenges


def challenging(*challenges: str, accepts: str = "", headers: Any = ()) -> Any:
    """Reply 401 with these fields unless the field `Authorization` has the text."""

    def reply(exchange: Exchange) -> None:
        sent = exchange.request.values("authorization")
        if accepts and sent and accepts in sent[0]:
            return exchange.reply(200, b"in", list(headers))
        return exchange.reply(401, b"out", [("WWW-Authenticate", challenge) for challenge in challenges])

    return reply


def sent(origin: ScriptedOrigin) -> list[str]:
    return [next(iter(request.values("authorization")), "") for request in origin.requests]


@pytest.mark.parametrize(
    ("challenges", "schemes", "begins"),
    [
        (['Basic realm="r"', DIGEST.format(1)], None, "Digest "),
        ([f'{DIGEST.format(1)}, Basic realm="r"'], None, "Digest "),
        (['Basic realm="r"', DIGEST.format(1)], ["basic"], "Basic "),
        ([f'Negotiate, Basic realm="r", {DIGEST.format(1)}'], ["digest"], "Digest "),
        (['Digest realm="r", nonce="1"', DIGEST.format(2)], None, 'Digest username="ada", realm="r", nonce="2"'),
        ([DIGEST.format(2), 'Digest realm="r", nonce="1"'], None, 'Digest username="ada", realm="r", nonce="2"'),
        (['Digest realm="r", nonce="1", algorithm=SHA-384', 'Basic realm="r"'], None, "Basic "),
        (['Digest realm="r", nonce="1", qop="auth-conf"', 'Basic realm="r"'], None, "Basic "),
        (["NTLM", "Negotiate"], None, None),
        (['Basic realm="r"'], ["digest"], None),
        (['Digest realm="r", algorithm=MD5'], None, None),
    ],
)
def test_ha_06_the_strongest_challenge_is_answered(
    client: carpool.Client, origin: ScriptedOrigin, challenges: list[str], schemes: Any, begins: str | None
) -> None:
    url = origin.on("/c", challenging(*challenges))
    credential = CREDENTIAL | ({"schemes": schemes} if schemes else {})
    assert perform(client, url, credential=credential)["response"]["status"] == 401
    assert len(origin.requests) == (1 if begins is None else 2)
    if begins is not None:
        assert sent(origin)[1].startswith(begins)


def test_digest_counts_the_uses_of_a_nonce(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/n", challenging(DIGEST.format("n"), accepts="Digest"))
    for _ in range(3):
        assert perform(client, url, credential=CREDENTIAL)["response"]["status"] == 200
    assert [re.findall(r"nc=(\w+)", text) for text in sent(origin)] == [[], ["00000001"], ["00000002"], ["00000003"]]
    assert len({re.findall(r'cnonce="(\w+)"', text)[0] for text in sent(origin)[1:]}) == 3


def test_digest_takes_the_next_nonce(client: carpool.Client, origin: ScriptedOrigin) -> None:
    headers = [("Authentication-Info", 'nextnonce="second", qop=auth')]
    url = origin.on("/n", challenging(DIGEST.format("first"), accepts="Digest", headers=headers))
    for _ in range(3):
        perform(client, url, credential=CREDENTIAL)
    assert [re.findall(r'nonce="(first|second)"', text) for text in sent(origin)[1:]] == [
        ["first"],
        ["second"],
        ["second"],
    ]
    assert [re.findall(r"nc=(\w+)", text)[0] for text in sent(origin)[1:]] == ["00000001", "00000001", "00000002"]


def test_a_server_whose_nonces_are_always_too_old_is_given_up(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/stale", challenging(DIGEST.format("n") + ", stale=true"))
    assert perform(client, url, credential=CREDENTIAL)["response"]["status"] == 401
    assert len(origin.requests) == 3


def test_another_realm_is_another_challenge(client: carpool.Client, origin: ScriptedOrigin) -> None:
    first = origin.on("/one", challenging(DIGEST.format("1").replace('"r"', '"one"'), accepts='realm="one"'))
    second = origin.on("/two", challenging(DIGEST.format("2").replace('"r"', '"two"'), accepts='realm="two"'))
    for url in [first, second, first, second]:
        assert perform(client, url, credential=CREDENTIAL)["response"]["status"] == 200


def test_basic_is_known_below_its_path(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for path in ["/a/b/c", "/a/b/d", "/a/x", "/a/bb"]:
        origin.on(path, challenging('Basic realm="r"', accepts="Basic"))
        perform(client, f"{origin.url}{path}", credential=CREDENTIAL)
    assert [bool(text) for text in sent(origin)] == [False, True, True, False, True, True]


# MARK: Whose it is


def test_a_credential_is_for_the_origin_of_the_url(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", f"{other.url}/there")]))
    other.on("/there", challenging('Basic realm="r"', DIGEST.format(1)))
    for preemptive in [True, False]:
        credential = CREDENTIAL | ({"schemes": ["basic"], "preemptive": True} if preemptive else {})
        assert perform(client, f"{origin.url}/away", credential=credential)["response"]["status"] == 401
    assert sent(other) == ["", ""]
    assert [bool(text) for text in sent(origin)] == [True, False]


def test_a_redirect_to_the_same_origin_is_authenticated_for_its_target(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    origin.on("/one", lambda exchange: exchange.reply(307, headers=[("Location", "/two?x=1")]))
    origin.on("/two", challenging(DIGEST.format("n"), accepts='uri="/two?x=1"'))
    assert perform(client, f"{origin.url}/one", credential=CREDENTIAL)["response"]["status"] == 200
    assert perform(client, f"{origin.url}/one", credential=CREDENTIAL)["response"]["status"] == 200
    assert [re.findall(r'uri="([^"]*)"', text) for text in sent(origin)] == [
        [],
        [],
        ["/two?x=1"],
        ["/one"],
        ["/two?x=1"],
    ]


def test_a_credential_is_not_used_by_other_requests(wire: Wire, client: carpool.Client, origin: ScriptedOrigin) -> None:
    """Programs share the session `default`, and not their identities."""
    url = origin.on("/mine", challenging('Basic realm="r"', accepts="Basic"))
    assert wire.call("request.perform", url=url, credential=CREDENTIAL)["response"]["status"] == 200
    assert perform(client, url)["response"]["status"] == 401
    other = {**CREDENTIAL, "password": "other"}
    assert perform(client, url, credential=other)["response"]["status"] == 200
    assert [bool(text) for text in sent(origin)] == [False, True, False, False, True]


def test_a_field_of_the_caller_is_sent_as_it_is(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/own", challenging('Basic realm="r"'))
    perform(client, url, headers={"Authorization": "Bearer x"}, credential=CREDENTIAL)
    assert sent(origin) == ["Bearer x"]


def test_a_body_is_sent_again(client: carpool.Client, origin: ScriptedOrigin, folder: Path) -> None:
    url = origin.on("/body", challenging(DIGEST.format("n"), accepts="Digest"))
    (folder / "file").write_bytes(b"f" * 100_000)
    bodies: list[dict[str, Any]] = [
        {"text": "text"}, {"file": str(folder / "file")}, {"multipart": [{"name": "a", "text": "b"}]}
    ]  # fmt: skip
    for number, body in enumerate(bodies):
        credential = {**CREDENTIAL, "password": str(number)}
        assert perform(client, url, method="POST", body=body, credential=credential)["response"]["status"] == 200
        first, second = origin.requests[-2:]
        assert len(first.body) == len(second.body) > 3


def test_a_retry_is_another_task(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/retry", challenging('Basic realm="r"'))
    retrier = [{"retry_policy": {"limit": 1, "statuses": [401], "scale_ms": 1}}]
    record = perform(client, url, credential=CREDENTIAL, validate=True, interceptor=retrier)
    assert [len(attempt["metrics"]) for attempt in record["attempts"]] == [2, 2]


# MARK: Events and records


def test_2_10_the_order_of_a_challenge_that_is_answered(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/vault", challenging('Basic realm="r"', accepts="Basic"))
    story.perform(url, credential=CREDENTIAL)
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(HTTPBasic, 0)", "task.did_receive_response(200)",
        "task.did_receive_data", *COMPLETING, *ending(),
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(story.events)


def test_2_10_the_order_of_a_wrong_password(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/vault", challenging(DIGEST.format(1)))
    story.perform(url, credential=CREDENTIAL)
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(HTTPDigest, 0)", "task.did_receive_challenge(HTTPDigest, 1)",
        "task.did_receive_response(401)", "task.did_receive_data", *COMPLETING, *ending(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("credential", "place"),
    [
        ({"username": "a:b", "password": ""}, "credential.username"),
        ({"username": "a\n", "password": ""}, "credential.username"),
        ({"username": "a", "password": "\0"}, "credential.password"),
        ({"username": "a", "password": "b", "preemptive": True}, "credential.preemptive"),
        ({"username": "a", "password": "b", "schemes": []}, "credential.schemes"),
        ({"username": "a", "password": "b", "schemes": ["ntlm"]}, "credential.schemes[0]"),
        ({"username": "a"}, "credential"),
        ("a:b", "credential"),
    ],
)
def test_what_is_no_credential_is_refused(client: carpool.Client, credential: Any, place: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        perform(client, "http://127.0.0.1:1/", credential=credential)
    assert f"params.{place}" in str(caught.value)


# MARK: The command and Python


@pytest.mark.parametrize(
    ("options", "count"),
    [([], 1), (["--basic"], 1), (["--digest"], 2), (["--anyauth"], 2), (["--digest", "--basic"], 1)],
)
def test_the_command(run: Run, origin: ScriptedOrigin, options: list[str], count: int) -> None:
    url = origin.on("/c", challenging('Basic realm="r"', DIGEST.format(1), accepts=USER if count == 2 else "Basic"))
    done = run("get", "-u", f"{USER}:{PASSWORD}", *options, url)
    assert (done.returncode, done.stdout) == (OK, b"in"), done.stderr
    assert len(origin.requests) == count
    doctor = run("doctor", "-u", f"{USER}:{PASSWORD}", *options, url).stdout.decode()
    assert f"user {USER}" in doctor and PASSWORD not in doctor


def test_python(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/p", challenging('Basic realm="r"', DIGEST.format(1), accepts=" "))
    assert client.get(url, auth=(USER, PASSWORD)).status_code == 200
    assert client.get(url, auth=carpool.DigestAuth(USER, PASSWORD)).status_code == 200
    assert [text.partition(" ")[0] for text in sent(origin)] == ["Basic", "", "Digest"]
    assert PASSWORD not in repr(carpool.DigestAuth(USER, PASSWORD))
