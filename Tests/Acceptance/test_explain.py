"""The settings of the connection that a request would use, without sending it: request.explain and carpool doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import OK, Run
from harness.declared import declaring
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

SYSTEM = "/etc/ssl/certs/ca-certificates.crt"
URL = "https://api.example:8443/x"
PINS = {"public_keys": {"pins": ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}}


def explain(client: carpool.Client, url: str = URL, **params: Any) -> dict[str, Any]:
    plan: dict[str, Any] = client.call("request.explain", url=url, **params)
    return plan


def port(url: str) -> int:
    return int(url.rstrip("/").rsplit(":", 1)[1])


def shared(client: carpool.Client) -> str:
    """How ordinary requests share connections over TLS, with this libcurl."""
    return "multiplexed" if client.call("daemon.info")["libcurl"]["profile"] == "multiplex" else "sequential"


def test_the_defaults(client: carpool.Client) -> None:
    assert explain(client, "https://user:secret@api.example/x") == {
        "url": "https://api.example/x",
        "session": "default",
        "trust": {"source": "default", "authorities": [SYSTEM], "verified": True, "evaluator": None},
        "tls": {"source": "default", "min_version": "1.2", "max_version": "1.3"},
        "client_certificate": {"source": "default", "certificate": None},
        "host": {"source": "default", "value": "api.example"},
        "addresses": {"source": "default", "host": "api.example", "port": 443},
        "credential": {"source": "default", "in_url": True},
        "cookies": {"source": "default", "names": []},
        "proxy": {"source": "default"},
        "pool": {"settings": [], "sharing": shared(client), "connections": 0, "idle": 0},
    }


def test_without_tls_there_is_no_trust(client: carpool.Client) -> None:
    plan = explain(client, "http://api.example:81/", trust={"verify": False}, tls={"max_version": "1.2"})
    assert (plan["trust"], plan["tls"], plan["client_certificate"]) == (None, None, None)
    assert plan["host"]["value"] == "api.example:81"
    assert plan["pool"]["settings"] == []


def settings(authority: Authority) -> dict[str, Any]:
    """Every setting, with a value other than the default."""
    mine = authority.issue("explained")
    return {
        "trust": {"ca_file": str(authority.ca_file), "ca_in_addition": True, "evaluators": {"*.example": PINS}},
        "tls": {"min_version": "1.3", "tls13_ciphers": "TLS_AES_128_GCM_SHA256"},
        "client_certificate": {"file": str(mine.chain), "key_file": str(mine.key)},
        "headers": {"Host": "other.example"},
        "addresses": {"resolve": ["api.example:8443:127.0.0.1,::1"], "interface": "lo", "family": "ipv4"},
        "proxy": {"https": {"url": "proxy.example", "username": "ada", "password": "x", "preproxy": "socks5://[::1]"}},
    }


@pytest.mark.parametrize("source", ["request", "session", "declared"])
def test_each_setting_and_where_it_comes_from(source: str, start: StartDaemon, authority: Authority) -> None:
    given = settings(authority)
    daemon = start(config=declaring(work=given) if source == "declared" else {})
    with daemon.client() as client:
        if source == "session":
            client.call("session.create", name="work", configuration=given)
        plan = explain(client, **given) if source == "request" else explain(client, session="work")
        place = "request" if source == "request" else "session"
        certificate = plan["client_certificate"].pop("certificate")
        assert certificate["subject"] == "CN=explained"
        assert str(plan.get("declared_in", "")).endswith("config.json") is (source == "declared")
        plan.pop("declared_in", None)
        assert plan == {
            "url": URL,
            "session": "default" if source == "request" else "work",
            "trust": {
                "source": place,
                "authorities": [SYSTEM, str(authority.ca_file)],
                "verified": True,
                "evaluator": {"kind": "public_keys", "pattern": "*.example"},
            },
            "tls": {
                "source": place,
                "min_version": "1.3",
                "max_version": "1.3",
                "tls13_ciphers": "TLS_AES_128_GCM_SHA256",
            },
            "client_certificate": {"source": place},
            "host": {"source": place, "value": "other.example"},
            "addresses": {
                "source": place,
                "host": "api.example",
                "port": 8443,
                "resolve": ["127.0.0.1"],
                "interface": "lo",
                "family": "ipv4",
            },
            "credential": {"source": "default"},
            "cookies": {"source": "default", "names": []},
            "proxy": {
                "source": place,
                "server": "http://proxy.example:1080",
                "user": "ada",
                "schemes": ["basic"],
                "tunnel": True,
                "preproxy": "socks5://[::1]:1080",
            },
            "pool": {
                "settings": ["trust", "tls", "client_certificate", "addresses", "proxy", "host"],
                "sharing": shared(client),
                "connections": 0,
                "idle": 0,
            },
        }


def test_a_setting_of_the_request_replaces_that_of_the_session(client: carpool.Client) -> None:
    client.call(
        "session.create",
        name="work",
        configuration={"trust": {"verify": False}, "tls": {"max_version": "1.2"}, "headers": {"Host": "a.example"}},
    )
    plan = explain(client, session="work", trust="system", headers={"Host": "b.example"})
    assert (plan["trust"]["source"], plan["trust"]["verified"]) == ("request", True)
    assert (plan["tls"]["source"], plan["tls"]["max_version"]) == ("session", "1.2")
    assert plan["host"] == {"source": "request", "value": "b.example"}
    assert explain(client, session="work")["trust"]["verified"] is False
    without = explain(client, session="work", client_certificate="none")["client_certificate"]
    assert without == {"source": "request", "certificate": None}


@pytest.mark.parametrize(
    ("url", "evaluator", "verified"),
    [
        ("https://api.example/", {"kind": "public_keys", "pattern": "*.example"}, True),
        ("https://API.EXAMPLE:9/", {"kind": "default", "pattern": "api.example:9"}, True),
        ("https://10.0.0.1/", {"kind": "disabled", "pattern": "10.0.0.1"}, False),
        ("https://a.b.example/", {"kind": "missing"}, True),
    ],
)
def test_tr_01_the_evaluator_of_the_host(client: carpool.Client, url: str, evaluator: Any, verified: bool) -> None:
    evaluators = {"*.example": PINS, "api.example:9": "default", "10.0.0.1": "disabled"}
    trust = explain(client, url, trust={"evaluators": evaluators})["trust"]
    assert (trust["evaluator"], trust["verified"]) == (evaluator, verified)


ANY = {"revocation": {"perform_default_validation": False, "validate_host": False}}


@pytest.mark.parametrize(
    ("evaluator", "verified", "authorities"),
    [
        ({"composite": ["disabled"]}, False, []),
        ({"composite": ["disabled", ANY]}, False, []),
        (ANY, False, []),
        ({"revocation": {"perform_default_validation": False}}, True, []),
        ({"revocation": {**ANY["revocation"], "staple": "require"}}, True, []),
        ({"composite": ["disabled", "default"]}, True, [SYSTEM]),
        ({"public_keys": {**PINS["public_keys"], "perform_default_validation": False}}, True, []),
        (PINS, True, [SYSTEM]),
    ],
)
def test_tr_10_what_accepts_any_server_and_which_authorities_decide(
    client: carpool.Client, evaluator: Any, verified: bool, authorities: list[str]
) -> None:
    trust = explain(client, trust={"evaluators": {"*": evaluator}})["trust"]
    assert (trust["verified"], trust["authorities"]) == (verified, authorities)
    parts = [part if isinstance(part, str) else next(iter(part)) for part in evaluator.get("composite", [])]
    assert trust["evaluator"].get("parts", []) == parts


@pytest.mark.parametrize("evaluator", [{"composite": ["disabled"]}, ANY], ids=["composite", "revocation"])
def test_tr_10_the_record_says_that_any_server_was_accepted(
    client: carpool.Client, split: ScriptedOrigin, evaluator: Any
) -> None:
    record = client.call("request.perform", url=split.url, trust={"evaluators": {"*": evaluator}})
    assert record["outcome"]["ok"], record["outcome"]
    assert record["attempts"][0]["metrics"][0]["tls"]["verified"] is False


def test_tr_02_hosts_that_need_no_evaluator(client: carpool.Client) -> None:
    trust = {"evaluators": {"a.example": "disabled"}, "all_hosts_must_be_evaluated": False, "ca_pem": "PEM"}
    with pytest.raises(carpool.CarpoolError):
        explain(client, trust=trust)
    del trust["ca_pem"]
    assert explain(client, trust=trust)["trust"]["evaluator"] is None


@pytest.mark.parametrize(
    "addresses",
    [
        {"resolve": ["*:PORT:127.0.0.9", "api.example:PORT:127.0.0.9", "api.example:PORT:127.0.0.1"]},
        {"resolve": ["*:PORT:127.0.0.1"]},
        {"connect_to": ["api.example:PORT:127.0.0.1:"]},
        {"connect_to": ["api.example:PORT::", "::127.0.0.1:PORT"]},
        {
            "connect_to": ["other.example:PORT:127.0.0.9:", "api.example::name.example:"],
            "resolve": ["*:PORT:127.0.0.1"],
        },
        {"connect_to": ["api.example:1:127.0.0.9:", ":PORT:127.0.0.1:", "::127.0.0.9:"]},
    ],
)
def test_a_request_goes_where_its_explanation_says(
    client: carpool.Client, origin: ScriptedOrigin, addresses: dict[str, list[str]]
) -> None:
    number = port(origin.url)
    given = {name: [entry.replace("PORT", str(number)) for entry in entries] for name, entries in addresses.items()}
    url = f"http://api.example:{number}/"
    plan = explain(client, url, addresses=given)["addresses"]
    assert (plan.get("resolve", [plan["host"]]), plan["port"]) == (["127.0.0.1"], number)
    assert not origin.requests
    record = client.call("request.perform", url=url, addresses=given)
    assert record["outcome"]["ok"], record["outcome"]


def test_resolve_has_an_address_of_the_only_family(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = origin.port
    url = f"http://localhost:{number}/"
    for entries, family in [([f"localhost:{number}:::1"], "ipv4"), ([f"*:{number}:127.0.0.9"], "ipv6")]:
        with pytest.raises(carpool.InvalidParamsError) as caught:
            explain(client, url, addresses={"resolve": entries, "family": family})
        assert caught.value.data["path"] == "params.addresses.resolve[0]"
    both = {"resolve": [f"localhost:{number}:::1,127.0.0.1"], "family": "ipv4"}
    assert explain(client, url, addresses=both)["addresses"]["resolve"] == ["127.0.0.1"]
    assert client.call("request.perform", url=url, addresses=both)["outcome"]["ok"]


def test_a_body_that_is_sent_in_pieces_has_connections_of_its_own(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    assert client.call("request.perform", url=origin.url)["outcome"]["ok"]
    assert explain(client, origin.url, method="POST", body={"text": "x"})["pool"]["idle"] == 1
    assert explain(client, origin.url, method="POST", body={"stream": True})["pool"]["connections"] == 0
    assert explain(client, origin.url, kind="download")["pool"]["connections"] == 0


@pytest.mark.parametrize("options", [["-o", "file"], ["--stream"], ["--lines"], ["--sse"], []])
def test_the_doctor_explains_downloads_and_streams(run: Run, origin: ScriptedOrigin, options: list[str]) -> None:
    assert run("get", origin.url).returncode == OK
    done = run("doctor", *options, origin.url)
    # A body for a pipe shares the connections of HTTP/1.1.
    is_apart = options not in ([], ["--stream"])
    expected = b"0 open" if is_apart else b"1 open, 1 idle"
    assert expected in done.stdout, done.stdout + done.stderr
    assert (b"new" in run("get", "-v", *options, origin.url).stderr) is is_apart


@pytest.mark.parametrize("options", [["-C", "-"], ["--stream", "-o", "f"], ["-o", ""]])
def test_the_doctor_refuses_what_get_refuses(run: Run, origin: ScriptedOrigin, options: list[str]) -> None:
    doctor, get = run("doctor", *options, origin.url), run("get", *options, origin.url)
    assert (doctor.returncode, doctor.stderr.replace(b"help doctor", b"help get")) == (get.returncode, get.stderr)
    assert get.returncode != OK


def test_the_connections_that_it_could_share(client: carpool.Client, origin: ScriptedOrigin) -> None:
    own = {"resolve": ["unused.example:1:127.0.0.1"]}
    assert client.call("request.perform", url=origin.url, addresses=own)["outcome"]["ok"]
    assert explain(client, origin.url, addresses=own)["pool"] == {
        "settings": ["addresses"],
        "sharing": "sequential",
        "connections": 1,
        "idle": 1,
    }
    assert explain(client, origin.url)["pool"] == {
        "settings": [],
        "sharing": "sequential",
        "connections": 0,
        "idle": 0,
    }


@pytest.mark.own_daemon
def test_nothing_is_sent_or_kept(client: carpool.Client, origin: ScriptedOrigin) -> None:
    made = client.call("daemon.stats")["requests"]
    explain(client, origin.url, method="POST", body={"text": "x"}, key="k", tags={"a": "b"}, start="immediate")
    explain(client, origin.url, kind="download")
    assert client.call("daemon.stats")["requests"] == made
    assert client.call("pool.stats")["opened"] == 0
    assert not origin.requests
    assert client.call("request.list")["requests"] == []


@pytest.mark.parametrize(
    "params",
    [
        {"url": "ftp://api.example/"},
        {"url": URL, "trust": {"ca_file": "relative"}},
        {"url": URL, "trust": {"ca_file": "/nonexistent"}},
        {"url": URL, "trust": {"evaluators": {"*.*": "default"}}},
        {"url": URL, "tls": {"ciphers": "NONSENSE"}},
        {"url": URL, "client_certificate": {"pem": "nothing"}},
        {"url": URL, "addresses": {"resolve": ["a:b"]}},
        {"url": URL, "addresses": {"unix_socket": "relative"}},
        {"url": URL, "headers": [["Host", "a"], ["Host", "b"]]},
        {"url": URL, "session": "none"},
        {"url": URL, "unknown": 1},
    ],
    ids=lambda params: str(sorted(params)),
)
def test_bad_input_is_refused_as_request_perform_refuses_it(wire: Wire, params: dict[str, Any]) -> None:
    refusals: list[Any] = []
    for method in ("request.explain", "request.perform"):
        try:
            result = wire.call(method, **params)
            refusals.append(result["outcome"]["error"]["message"])
        except RemoteError as error:
            refusals.append(error.error)
    if params["url"] == URL:
        assert refusals[0] == refusals[1]
    else:
        # A URL that is not one is an error of the request, which is not made here.
        assert refusals[0]["data"]["path"] == "params.url"
        assert refusals[1] in refusals[0]["message"]


def test_the_doctor_prints_each_setting_and_its_source(run: Run, authority: Authority) -> None:
    mine = authority.issue("doctored")
    done = run(
        *("doctor", "--cacert", authority.ca_file, "--cert", mine.chain, "--key", mine.key, "--tls-max", "1.2", "-4"),
        *("--resolve", "api.example:8443:127.0.0.1", "-H", "Host: other.example", URL),
    )
    assert done.returncode == 0, done
    lines = done.stdout.decode().splitlines()
    assert lines[:4] == [
        f"url          {URL}",
        "session      default",
        f"trust        {authority.ca_file} (command line)",
        "tls          1.2 to 1.2 (command line)",
    ]
    assert lines[4].startswith("certificate  CN=doctored, valid until 20")
    assert lines[5:] == [
        "host         other.example (command line)",
        "address      api.example, port 8443, at 127.0.0.1, only ipv4 (command line)",
        "credential   none (default)",
        "cookies      none: no jar (default)",
        "proxy        none (default)",
        "connections  0 open, 0 idle; shared only by requests with the same "
        "trust, tls, client_certificate, addresses, host",
        "sharing      not with requests that HTTP/2 sends at once, because whatever reads the output may be slow; "
        "--whole shares them",
    ]
    assert b"nothing is verified (command line)" in run("doctor", "-k", URL).stdout
    wrong = run("doctor", "--session", "none", URL)
    assert (wrong.returncode, b"no such session: none" in wrong.stderr) == (1, True)


def test_the_doctor_takes_the_command_line_of_get(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """Pasted as it is, with `doctor` in place of `get`: it says the same of its input, and sends and writes nothing."""
    out = tmp_path / "out"
    line = ["-sf", "-o", out, "--retry", "2", "--timeout", "5", "--max-filesize", "100", "--http1.1", "-X", "PUT"]
    done = run("doctor", *line, "-4", origin.url)
    assert done.returncode == 0, done
    assert b"only ipv4 (command line)" in done.stdout
    assert not out.exists() and not origin.requests
    for command in ("get", "doctor"):
        assert b"no such file" in run(command, "--cacert", tmp_path / "none", "https://127.0.0.1:1/").stderr.lower()
