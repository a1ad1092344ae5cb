"""Credentials of a session by protection space: which request uses which, and who sees them (§1.18)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import OK, Run
from harness.declared import declaring, reload, write
from harness.story import BEGINNING, COMPLETING, Story, ending
from harness.users import NOBODY, as_root, wire_as
from origins.scripted import Exchange, ScriptedOrigin

USER, PASSWORD = "ada", "pass-of-the-session"
CREDENTIAL = {"username": USER, "password": PASSWORD}


def space(origin: ScriptedOrigin, **more: Any) -> dict[str, Any]:
    """Return an entry for an origin."""
    port = int(origin.url.rpartition(":")[2])
    return {"host": "127.0.0.1", "port": port, **CREDENTIAL, **more}


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def asking(realm: str, accepts: str = "", scheme: str = "Basic") -> Any:
    """Reply 401 for a realm unless `Authorization` is this text, or, without it, anything."""
    digest = ', nonce="n", qop="auth", algorithm=SHA-256' if scheme == "Digest" else ""

    def reply(exchange: Exchange) -> None:
        sent = exchange.request.values("authorization")
        if sent and sent[0] in (accepts or sent):
            return exchange.reply(200, b"in")
        return exchange.reply(401, b"out", [("WWW-Authenticate", f'{scheme} realm="{realm}"{digest}')])

    return reply


def perform(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    assert PASSWORD not in json.dumps(record)
    return record


def status(client: carpool.Client, url: str, **params: Any) -> int:
    found: int = perform(client, url, **params)["response"]["status"]
    return found


def sent(origin: ScriptedOrigin) -> list[str]:
    return [next(iter(request.values("authorization")), "") for request in origin.requests]


@pytest.mark.parametrize("scheme", ["Basic", "Digest"])
def test_ha_01_ha_04_rl_26_a_session_answers_for_its_requests(
    client: carpool.Client, origin: ScriptedOrigin, scheme: str
) -> None:
    url = origin.on("/vault/a", asking("vault", scheme=scheme))
    client.call("session.create", name="s", configuration={"credentials": [space(origin)]})
    assert [status(client, url, session="s") for _ in range(3)] == [200] * 3
    assert [text.partition(" ")[0] for text in sent(origin)] == ["", scheme, scheme, scheme]
    # Another session does not have it, nor what the first has learned.
    assert status(client, url) == 401
    assert sent(origin)[-1] == ""


@pytest.mark.parametrize("place", ["configuration", "credentials.set"])
def test_the_most_specific_space_counts(client: carpool.Client, origin: ScriptedOrigin, place: str) -> None:
    entries = [
        {"host": "127.0.0.1", "username": "any", "password": PASSWORD},
        {"host": "127.0.0.1", "scheme": "http", "username": "scheme", "password": PASSWORD},
        space(origin, username="port"),
        {"host": "127.0.0.1", "realm": "gold", "username": "gold", "password": PASSWORD},
        {"host": "127.0.0.1", "port": 1, "realm": "gold", "username": "no", "password": PASSWORD},
        {"host": "127.0.0.1", "scheme": "https", "realm": "gold", "username": "no", "password": PASSWORD},
        {"host": "localhost", "username": "no", "password": PASSWORD},
    ]
    if place == "configuration":
        client.call("session.create", name="s", configuration={"credentials": entries})
    else:
        client.call("session.create", name="s")
        for entry in entries:
            assert client.call("credentials.set", session="s", **entry) == {"changed": True, "state": "present"}
    gold = origin.on("/gold/a", asking("gold", basic("gold", PASSWORD)))
    other = origin.on("/other/a", asking("other", basic("port", PASSWORD)))
    assert [status(client, url, session="s") for url in [gold, other, gold, other]] == [200] * 4
    assert len(origin.requests) == 6
    listed = client.call("credentials.list", session="s")["credentials"]
    assert len(listed) == 7 and {listed[0]["username"], listed[1]["username"]} == {"no"}
    assert PASSWORD not in json.dumps(listed)
    assert {entry["set_by"] for entry in listed} == {place}
    assert PASSWORD not in json.dumps([client.call("session.get", session="s"), client.call("session.list")])
    # The realm is not known before the challenge; with the ones that have none the next best is used.
    for realm in ["port", "scheme", "any"]:
        url = origin.on(f"/{realm}/a", asking("another", basic(realm, PASSWORD)))
        assert status(client, url, session="s") == 200
        removed = {"port": space(origin), "scheme": {"host": "127.0.0.1", "scheme": "http"}}.get(
            realm, {"host": "127.0.0.1"}
        )
        removed = {name: value for name, value in removed.items() if name in ("host", "port", "scheme")}
        assert client.call("credentials.remove", session="s", **removed)["changed"]
        assert not client.call("credentials.remove", session="s", **removed)["changed"]


def test_the_credential_of_a_request_takes_precedence(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.call("session.create", name="s", configuration={"credentials": [space(origin)]})
    url = origin.on("/own", asking("r", basic("own", "x")))
    own = {"username": "own", "password": "x"}
    assert status(client, url, session="s", credential=own) == 200
    # A wrong one is not replaced by the session's.
    assert status(client, url, session="s", credential={**own, "password": "wrong"}) == 401
    assert [basic(USER, PASSWORD) in sent(origin)] == [False]
    assert status(client, url, session="s", headers={"Authorization": "Bearer x"}) == 401
    assert sent(origin)[-1] == "Bearer x"


def test_a_redirect_uses_the_credential_of_its_target_alone(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    client.call(
        "session.create",
        name="s",
        configuration={"credentials": [space(origin, username="here"), space(other, username="there")]},
    )
    ask = asking("r", basic("here", PASSWORD))

    def first(exchange: Exchange) -> None:
        if basic("here", PASSWORD) in exchange.request.values("authorization"):
            exchange.reply(302, headers=[("Location", f"{other.url}/in")])
        else:
            ask(exchange)

    origin.on("/away", first)
    other.on("/in", asking("r", basic("there", PASSWORD)))
    for own in [{}, {"credential": {"username": "here", "password": PASSWORD}}]:
        assert status(client, f"{origin.url}/away", session="s", **own) == 200
    assert set(sent(origin)) == {"", basic("here", PASSWORD)}
    assert set(sent(other)) == {"", basic("there", PASSWORD)}


def test_a_realm_that_changes_gets_its_own_credential(client: carpool.Client, origin: ScriptedOrigin) -> None:
    entries = [space(origin, realm="one", username="one"), space(origin, realm="two", username="two")]
    client.call("session.create", name="s", configuration={"credentials": entries})
    for realm in ["one", "two"]:
        url = origin.on("/a/b", asking(realm, basic(realm, PASSWORD)))
        assert status(client, url, session="s") == 200
    assert sent(origin) == ["", basic("one", PASSWORD), basic("one", PASSWORD), basic("two", PASSWORD)]
    # A server that goes back and forth is given up.
    turn = iter(range(100))
    url = origin.on(
        "/endless",
        lambda e: e.reply(401, b"", [("WWW-Authenticate", f'Basic realm="{["one", "two"][next(turn) % 2]}"')]),
    )
    count = len(origin.requests)
    assert status(client, url, session="s") == 401
    assert len(origin.requests) - count <= 6


def test_ha_02_a_refused_credential_of_a_session_is_sent_once(
    story: Story, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    url = origin.on("/vault", asking("r", "never"))
    client.call("session.create", name="s", configuration={"credentials": [space(origin)]})
    story.perform(url, session="s")
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(HTTPBasic, 0)", "task.did_receive_challenge(HTTPBasic, 1)",
        "task.did_receive_response(401)", "task.did_receive_data", *COMPLETING, *ending(),
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(story.events)


def test_preemptive_goes_with_the_first_request(client: carpool.Client, origin: ScriptedOrigin) -> None:
    entry = space(origin, schemes=["basic"], preemptive=True)
    client.call("session.create", name="s", configuration={"credentials": [entry]})
    assert status(client, origin.on("/p", asking("r")), session="s") == 200
    assert sent(origin) == [basic(USER, PASSWORD)]


def test_a_credential_is_replaced_and_removed(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/r", asking("r"))
    client.call("session.create", name="s")
    assert client.call("credentials.set", session="s", **space(origin))["changed"]
    assert not client.call("credentials.set", session="s", **space(origin))["changed"]
    assert status(client, url, session="s") == 200
    assert client.call("credentials.set", session="s", **space(origin, password="other"))["changed"]
    assert status(client, url, session="s") == 200
    place = {name: space(origin)[name] for name in ("host", "port")}
    assert client.call("credentials.remove", session="s", **place) == {"changed": True, "state": "absent"}
    assert status(client, url, session="s") == 401
    assert sent(origin) == ["", basic(USER, PASSWORD), "", basic(USER, "other"), ""]


def test_a_session_has_at_most_64(client: carpool.Client) -> None:
    client.call("session.create", name="s")
    for number in range(64):
        client.call("credentials.set", session="s", host=f"h{number}.test", **CREDENTIAL)
    with pytest.raises(carpool.CarpoolError, match="64"):
        client.call("credentials.set", session="s", host="h64.test", **CREDENTIAL)
    assert client.call("credentials.set", session="s", host="H63.test.", **CREDENTIAL)["changed"] is False
    names = []
    following = None
    while True:
        page = client.call("credentials.list", session="s", limit=10, **({"next": following} if following else {}))
        names += [entry["host"] for entry in page["credentials"]]
        following = page["next"]
        if following is None:
            break
    assert names == [f"h{number}.test" for number in range(64)]


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"host": "a:80"}, "host"),
        ({"host": "*.a"}, "host"),
        ({"host": "a/b"}, "host"),
        ({"host": ""}, "host"),
        ({"host": "a", "port": 0}, "port"),
        ({"host": "a", "scheme": "ftp"}, "scheme"),
        ({"host": "a", "username": "a:b"}, "username"),
        ({"host": "a", "preemptive": True}, "preemptive"),
        ({"host": "a", "realm": "r", "schemes": ["basic"], "preemptive": True}, "preemptive"),
        ({"host": "a", "user": "a"}, "user"),
    ],
)
def test_what_is_no_entry_is_refused(client: carpool.Client, entry: dict[str, Any], place: str) -> None:
    with pytest.raises(carpool.InvalidParamsError, match=rf"params\.{place}"):
        client.call("credentials.set", **CREDENTIAL | entry)
    with pytest.raises(carpool.InvalidParamsError, match=rf"params\.configuration\.credentials\[0\]\.{place}"):
        client.call("session.create", name="s", configuration={"credentials": [CREDENTIAL | entry]})


def test_a_space_is_there_once(client: carpool.Client) -> None:
    entries = [{"host": "a.test", **CREDENTIAL}, {"host": "A.test", "username": "b", "password": "c"}]
    with pytest.raises(carpool.InvalidParamsError, match=r"credentials\[1\]"):
        client.call("session.create", name="s", configuration={"credentials": entries})


@as_root
def test_credentials_belong_to_their_user(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    url = origin.on("/mine", asking("r"))
    with daemon.wire() as mine:
        mine.call("credentials.set", **space(origin))
        assert mine.call("request.perform", url=url)["response"]["status"] == 200
        with wire_as(NOBODY, daemon.socket) as theirs:
            assert theirs.call("credentials.list")["credentials"] == []
            assert theirs.call("request.perform", url=url)["response"]["status"] == 401
            assert not theirs.call("credentials.remove", host="127.0.0.1", port=space(origin)["port"])["changed"]
        assert len(mine.call("credentials.list")["credentials"]) == 1
    assert [bool(text) for text in sent(origin)] == [False, True, False]


def test_declared_sessions_have_passwords_of_files(start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    file = write(tmp_path / "password", PASSWORD + "\n")
    config = declaring(default={"credentials": [space(origin, password={"file": str(file)})]})
    daemon = start(config=config)
    url = origin.on("/declared", asking("r", basic(USER, PASSWORD)))
    assert daemon.call("request.perform", url=url)["response"]["status"] == 200
    assert reload(daemon, config) == []
    shown = [daemon.call("session.get"), daemon.call("credentials.list"), daemon.call("daemon.config")]
    assert PASSWORD not in json.dumps(shown)
    assert shown[1]["credentials"][0]["username"] == USER
    write(file, "changed\n")
    assert reload(daemon, config) == ["sessions.default"]
    assert daemon.call("request.perform", url=url)["response"]["status"] == 401


def test_explain_and_doctor_show_the_credential(run: Run, client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.call("session.create", name="s", configuration={"credentials": [space(origin)]})
    client.call("credentials.set", session="s", host="127.0.0.1", realm="gold", username="grace", password=PASSWORD)
    plan = client.call("request.explain", url=origin.url, session="s")
    assert PASSWORD not in json.dumps(plan)
    assert (plan["credential"]["source"], plan["credential"]["user"]) == ("session", "grace")
    assert [entry["set_by"] for entry in plan["credential"]["spaces"]] == ["credentials.set", "configuration"]
    own = client.call("request.explain", url=origin.url, session="s", credential=CREDENTIAL)
    assert own["credential"]["source"] == "request" and "spaces" not in own["credential"]
    done = run("doctor", "--session", "s", origin.url)
    text = done.stdout.decode()
    assert done.returncode == OK, done.stderr
    assert (
        'user grace for 127.0.0.1, realm "gold", basic, digest, when the server asks (session, credentials.set)' in text
    )
    assert f"user {USER} for {origin.url.removeprefix('http://')}, every realm" in text and PASSWORD not in text
