"""Which evaluator belongs to a host, callbacks, sharing, events, authorities, and bad input (TR)."""

from __future__ import annotations

import base64
import ssl
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import Run
from harness.daemon import Daemon
from harness.story import BEGINNING, METRICS, Story, ending
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.chains import Signer, pin
from origins.nginx import Nginx
from origins.trustworld import HOST, World, failure, logs, perform

# MARK: Which evaluator belongs to a host


@pytest.mark.parametrize(
    ("patterns", "host", "chosen"),
    [
        (["server.example", "*.example"], "server.example", "server.example"),
        (["SERVER.Example"], "server.example", "SERVER.Example"),
        (["server.example"], "SERVER.EXAMPLE", "server.example"),
        (["*.example", "*"], "other.example", "*.example"),
        (["*.example", "*"], "a.other.example", "*"),
        (["*.example"], "a.other.example", None),
        (["*.example"], "example", None),
        (["server.example:1"], "server.example", None),
        (["server.example:PORT", "server.example"], "server.example", "server.example:PORT"),
        (["*.example:PORT", "server.example"], "server.example", "server.example"),
        (["*:PORT", "*"], "server.example", "*:PORT"),
        (["127.0.0.1"], "127.0.0.1", "127.0.0.1"),
        (["localhost"], "127.0.0.1", None),
        (["bücher.example"], "xn--bcher-kva.example", "bücher.example"),
        # The dot at the end of a name changes nothing: it is the same host.
        (["server.example", "*"], "server.example.", "server.example"),
        (["server.example."], "server.example", "server.example."),
        (["*.example", "*"], "server.example.", "*.example"),
        (["*.example.", "*"], "server.example", "*.example."),
        (["*.zone1", "*"], "server.zone1", "*.zone1"),
    ],
)
def test_tr_01_the_evaluator_of_a_host(
    client: carpool.Client, world: World, patterns: list[str], host: str, chosen: str | None
) -> None:
    port = world.servers["good"].port
    key = pin(world.servers["good"].certificate.chain)
    # The chosen evaluator accepts; every other one would refuse.
    accepting = {"public_keys": {"pins": [key], "perform_default_validation": False, "validate_host": False}}
    evaluators: dict[str, Any] = {
        pattern.replace("PORT", str(port)): accepting if pattern == chosen else {"public_keys": {}}
        for pattern in patterns
    }
    record = perform(client, port, {"evaluators": evaluators}, host)
    assert failure(record) == (None if chosen else "no_required_evaluator")


def test_tr_02_hosts_without_an_evaluator(client: carpool.Client, world: World) -> None:
    server = world.servers["good"]
    trust = {"ca_file": str(world.root.file), "evaluators": {"other.example": "disabled"}}
    refused = perform(client, server.port, trust)
    assert failure(refused) == "no_required_evaluator"
    assert refused["outcome"]["error"]["details"]["host"] == HOST
    assert failure(perform(client, server.port, {**trust, "all_hosts_must_be_evaluated": False})) is None
    expired = world.servers["expired"]
    record = perform(client, expired.port, {**trust, "all_hosts_must_be_evaluated": False})
    assert record["outcome"]["error"]["name"] == "session_task_failed.server_certificate_has_bad_date"


def test_tr_08_a_failure_names_pins_and_what_was_presented(client: carpool.Client, world: World) -> None:
    server = world.servers["intermediate"]
    trust = world.trust(server, {"public_keys": {"pins": [world.wrong_pin]}})
    error = perform(client, server.port, trust)["outcome"]["error"]
    details = error["details"]
    assert error["retryable"] is False
    assert details["host"] == HOST
    assert details["evaluator"] == "public_keys"
    assert details["pins"] == [world.wrong_pin]
    assert details["presented_keys"] == [pin(server.certificate.chain), pin(world.middle.file)]
    assert len(details["presented_certificates"]) == 2
    assert "pin" in error["hint"]


# MARK: Sessions, sharing, events


def test_se_13_evaluators_of_a_session_and_of_a_request(client: carpool.Client, world: World) -> None:
    server = world.servers["good"]
    trust = world.trust(server, {"public_keys": {"pins": [world.wrong_pin]}})
    more = {"addresses": {"resolve": [f"*:{server.port}:127.0.0.1"]}}
    client.call("session.create", name="pinned", configuration={"trust": trust, **more})
    url = f"https://{HOST}:{server.port}/"
    record = client.call("request.perform", url=url, session="pinned")
    assert failure(record) == "public_key_pinning_failed"
    # A request's own trust replaces the session's as a whole.
    own = {"ca_file": str(world.root.file)}
    assert failure(client.call("request.perform", url=url, session="pinned", trust=own)) is None
    assert client.call("session.get", session="pinned")["configuration"]["trust"] == trust
    again = client.call("session.create", name="pinned", configuration={"trust": trust, **more})
    assert again["changed"] is False
    with pytest.raises(carpool.RPCError) as caught:
        client.call("session.create", name="pinned", configuration={"trust": own, **more})
    assert caught.value.name == "session.exists"


def test_connections_are_shared_only_with_equal_evaluators(
    client: carpool.Client, nginx: Nginx, authority: Authority
) -> None:
    # Two distinct evaluators that accept the server, one that refuses it, and the standard check, in turn.
    refusing = {"ca_file": str(authority.ca_file), "evaluators": {"*": {"public_keys": {}}}}
    policies: list[Any] = [
        {"ca_file": str(authority.ca_file)},
        {"ca_file": str(authority.ca_file), "evaluators": {"*": "default"}},
        {"evaluators": {"*": "disabled"}},
        refusing,
    ]
    connections: list[set[int]] = [set() for _ in policies]
    for _ in range(5):
        for index, trust in enumerate(policies):
            record = client.call("request.perform", url=f"{nginx.https}/hello.txt", trust=trust)
            assert record["outcome"]["ok"] == (trust is not refusing)
            if record["outcome"]["ok"]:
                connections[index].add(record["attempts"][-1]["metrics"][-1]["connection"])
    assert [len(numbers) for numbers in connections] == [1, 1, 1, 0]
    assert len(set.union(*connections)) == 3


def test_2_11_tr_04_the_order_of_events(story: Story, world: World) -> None:
    server = world.servers["wrong_host"]
    story.perform(
        f"https://{HOST}:{server.port}/",
        trust=world.trust(server, "default"),
        addresses={"resolve": [f"*:{server.port}:127.0.0.1"]},
    )
    name = "server_trust_evaluation_failed.host_validation_failed"
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(ServerTrust, 0)", f"request.did_fail_task_early({name})",
        *METRICS, "task.did_complete(server_trust_evaluation_failed)",
        "request.did_complete_task(server_trust_evaluation_failed)", *ending(name),
    ]  # fmt: skip


def test_tr_10_the_record_and_the_log_say_that_a_server_was_not_verified(
    daemon: Daemon, client: carpool.Client, world: World
) -> None:
    server = world.servers["expired"]
    for trust in (world.trust(server, "disabled"), {"verify": False}):
        record = perform(client, server.port, trust)
        assert record["attempts"][-1]["metrics"][-1]["tls"]["verified"] is False
        line = f"request={record['request']} "
        eventually(partial(logs, daemon, "not verified", line))
    good = world.servers["good"]
    verified = perform(client, good.port, world.trust(good, "default"))
    assert "verified" not in verified["attempts"][-1]["metrics"][-1]["tls"]


# MARK: Authorities


def test_authorities_in_addition_to_the_system_s(client: carpool.Client, world: World) -> None:
    server = world.servers["good"]
    trust = {"ca_file": str(world.root.file), "ca_in_addition": True}
    assert failure(perform(client, server.port, trust)) is None
    text = {"ca_pem": world.root.file.read_text()}
    assert failure(perform(client, server.port, text)) is None
    unknown = perform(client, server.port, {"evaluators": {"*": "default"}})
    assert failure(unknown) == "trust_evaluation_failed"


def test_a_directory_of_authorities(client: carpool.Client, world: World, tmp_path: Path) -> None:
    server = world.servers["good"]
    (tmp_path / "one.pem").write_bytes(world.root.file.read_bytes())
    (tmp_path / "README").write_text("not a certificate")
    assert failure(perform(client, server.port, {"ca_path": str(tmp_path)})) is None
    other = Signer(tmp_path / "others", "other")
    assert failure(perform(client, server.port, {"ca_file": str(other.file)})) is not None
    for others in ({"ca_file": str(other.file)}, {"ca_pem": other.file.read_text()}):
        assert failure(perform(client, server.port, {**others, "ca_path": str(tmp_path)})) is None
    folders = [str(other.file.parent), str(tmp_path)]
    assert failure(perform(client, server.port, {"ca_path": folders})) is None
    with pytest.raises(carpool.RPCError) as caught:
        client.call("request.perform", url="https://127.0.0.1:1/", trust={"ca_path": [str(tmp_path), "relative"]})
    assert caught.value.data["path"] == "params.trust.ca_path[1]"
    with pytest.raises(carpool.CarpoolError):
        perform(client, server.port, {"ca_path": str(tmp_path / "none")})


# MARK: callback.trust


def test_tr_11_tr_12_a_client_decides_once_for_each_connection(wire: Wire, nginx: Nginx, authority: Authority) -> None:
    wire.call("client.hello", callbacks=["judge"])
    wire.call(
        "session.create", name="judged", configuration={"trust": {"evaluators": {"*": {"callback": {"name": "judge"}}}}}
    )
    call = wire.request("request.perform", url=f"{nginx.https1}/hello.txt", session="judged")
    question = wire.question("trust")
    host, port = nginx.https1.removeprefix("https://").split(":")
    assert (question["params"]["host"], question["params"]["port"]) == (host, int(port))
    first = base64.b64decode(question["params"]["certificates"][0])
    assert first == ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port))))
    wire.reply(question, trusted=True)
    assert wire.result(call)["outcome"]["ok"]
    # The connection is used again, without a question.
    again = wire.result(wire.request("request.perform", url=f"{nginx.https1}/hello.txt", session="judged"))
    assert again["outcome"]["ok"]
    assert again["attempts"][-1]["metrics"][-1]["reused"] is True


@pytest.mark.parametrize("answer", ["no", "error", "invalid"])
def test_tr_11_a_client_that_does_not_trust(wire: Wire, nginx: Nginx, answer: str) -> None:
    trust = {"evaluators": {"*": {"callback": {"name": "judge"}}}}
    call = wire.request("request.perform", url=f"{nginx.https1}/hello.txt", trust=trust)
    question = wire.question("trust")
    if answer == "no":
        wire.reply(question, trusted=False, message="not on my list")
    elif answer == "error":
        wire.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": 1, "message": "I fell over"}})
    else:
        wire.reply(question, trusted="yes")
    error = wire.result(call)["outcome"]["error"]
    assert error["name"] == "server_trust_evaluation_failed.custom_evaluation_failed"
    if answer == "no":
        assert error["details"]["output"] == "not on my list"


def test_tr_11_a_client_that_is_late(wire: Wire, nginx: Nginx) -> None:
    trust = {"evaluators": {"*": {"callback": {"name": "judge", "deadline_ms": 50}}}}
    record = wire.result(wire.request("request.perform", url=f"{nginx.https1}/hello.txt", trust=trust))
    assert failure(record) == "custom_evaluation_failed"
    assert "deadline_ms" in record["outcome"]["error"]["hint"]


# MARK: Bad input


@pytest.mark.parametrize(
    ("trust", "path"),
    [
        ({"evaluators": {"a b": "default"}}, "params.trust.evaluators.a b"),
        ({"evaluators": {"": "default"}}, "params.trust.evaluators."),
        ({"evaluators": {"*.127.0.0.1": "default"}}, "params.trust.evaluators.*.127.0.0.1"),
        ({"evaluators": {"a.*.b": "default"}}, "params.trust.evaluators.a.*.b"),
        ({"evaluators": {"a:0": "default"}}, "params.trust.evaluators.a:0"),
        ({"evaluators": {"a:x": "default"}}, "params.trust.evaluators.a:x"),
        ({"evaluators": {"https://a/": "default"}}, "params.trust.evaluators.https://a/"),
        ({"evaluators": {"a": "default", "A": "disabled"}}, "params.trust.evaluators.A"),
        ({"evaluators": {"a": "default", "a.": "disabled"}}, "params.trust.evaluators.a."),
        ({"evaluators": {"a": "defualt"}}, "params.trust.evaluators.a"),
        ({"evaluators": {"a": {"public_keys": {"pins": ["x"]}}}}, "params.trust.evaluators.a.public_keys.pins[0]"),
        (
            {"evaluators": {"a": {"public_keys": {"pins": ["sha256//AAAA"]}}}},
            "params.trust.evaluators.a.public_keys.pins[0]",
        ),
        ({"evaluators": {str(number): "default" for number in range(65)}}, "params.trust.evaluators"),
        ({"evaluators": {"a": {"composite": []}}}, "params.trust.evaluators.a.composite"),
        ({"evaluators": {"a": {"composite": ["default"] * 9}}}, "params.trust.evaluators.a.composite"),
        (
            {"evaluators": {"a": {"revocation": {"crl_pem": "nothing"}}}},
            "params.trust.evaluators.a.revocation.crl_pem",
        ),
        ({"ca_pem": "nothing"}, "params.trust.ca_pem"),
        ({"ca_pem": "x", "ca_file": "/x"}, "params.trust"),
        ({"ca_in_addition": True}, "params.trust.ca_in_addition"),
        ({"all_hosts_must_be_evaluated": False}, "params.trust.all_hosts_must_be_evaluated"),
        ({"verify": False, "evaluators": {}}, "params.trust"),
        ({"evaluator": {}}, "params.trust.evaluator"),
    ],
)
def test_bad_trust_is_refused_by_name(client: carpool.Client, trust: dict[str, Any], path: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("request.perform", url="https://127.0.0.1:1/", trust=trust)
    assert caught.value.data["path"] == path


@pytest.mark.parametrize("member", ["ca_file", "ca_path"])
def test_a_relative_path_is_refused(client: carpool.Client, member: str) -> None:
    with pytest.raises(carpool.RPCError) as caught:
        client.call("request.perform", url="https://127.0.0.1:1/", trust={member: "ca.pem"})
    assert caught.value.data["path"] == f"params.trust.{member}"


# MARK: The command


def test_the_command_s_trust_options(run: Run, world: World) -> None:
    server = world.servers["good"]
    url = f"https://{HOST}:{server.port}/"
    basic = ("get", "--resolve", f"*:{server.port}:127.0.0.1", "--cacert", world.root.file, url)
    assert run(*basic).returncode == 0
    assert run(*basic, "--pinnedpubkey", pin(server.certificate.chain)).returncode == 0
    wrong = run(*basic, "--pinnedpubkey", world.wrong_pin)
    assert wrong.returncode != 0
    assert b"public_key_pinning_failed" in wrong.stderr
    both = f"{world.wrong_pin};{pin(server.certificate.chain)}"
    assert run(*basic, "--pinnedpubkey", both).returncode == 0
    assert run(*basic, "--crlfile", world.crl).returncode == 0
    assert run(*basic, "--cert-status").returncode != 0
    stapled = world.servers["staple_good"]
    assert (
        run(
            "get", "--resolve", f"*:{stapled.port}:127.0.0.1", "--cacert", world.root.file, "--cert-status",
            f"https://{HOST}:{stapled.port}/",
        ).returncode
        == 0
    )  # fmt: skip
    revoked = world.servers["revoked"]
    refused = run(
        "get", "--resolve", f"*:{revoked.port}:127.0.0.1", "--cacert", world.root.file, "--crlfile", world.crl,
        f"https://{HOST}:{revoked.port}/",
    )  # fmt: skip
    assert b"revocation_check_failed" in refused.stderr
    insecure = ("get", "-k", "--resolve", f"*:{server.port}:127.0.0.1", url)
    assert run(*insecure, "--pinnedpubkey", pin(server.certificate.chain)).returncode == 0
    assert run(*insecure, "--pinnedpubkey", world.wrong_pin).returncode != 0


@pytest.mark.parametrize("form", ["public key", "DER of it", "certificate"])
def test_a_file_of_keys_is_pinned_as_by_curl(run: Run, world: World, tmp_path: Path, form: str) -> None:
    """curl takes public keys alone, and refuses a file of certificates."""

    def file(name: str, server: str) -> Path:
        command: list[str | Path] = [
            "openssl",
            "x509",
            "-in",
            world.servers[server].certificate.chain,
            "-noout",
            "-pubkey",
        ]
        made = tmp_path / name
        key = subprocess.run(command, check=True, capture_output=True).stdout
        if form == "DER of it":
            command = ["openssl", "pkey", "-pubin", "-pubout", "-outform", "DER"]
            key = subprocess.run(command, check=True, capture_output=True, input=key).stdout
        made.write_bytes(world.servers[server].certificate.chain.read_bytes() if form == "certificate" else key)
        return made

    port = world.servers["good"].port
    place: list[str | Path] = ["--resolve", f"*:{port}:127.0.0.1", "--cacert", world.root.file]
    for name, server, is_right in (("right", "good", True), ("wrong", "self_signed", False)):
        options = [*place, "--pinnedpubkey", file(name, server), f"https://{HOST}:{port}/"]
        done = run("get", *options)
        assert (done.returncode == 0) is is_right, done
        assert is_right or b"public_key_pinning_failed" in done.stderr
        if form != "certificate":
            curl = subprocess.run(["curl", "-q", "-sS", *map(str, options)], check=False, capture_output=True)
            assert (curl.returncode == 0) is is_right, curl


def test_the_pins_of_a_server(run: Run, world: World) -> None:
    server = world.servers["intermediate"]
    place = ("--resolve", f"*:{server.port}:127.0.0.1")
    done = run("pins", *place, f"{HOST}:{server.port}")
    assert done.stdout.decode().split() == [pin(server.certificate.chain), pin(world.middle.file)]
    first = done.stdout.decode().split()[0]
    url = f"https://{HOST}:{server.port}/"
    assert run("get", *place, "--cacert", world.root.file, "--pinnedpubkey", first, url).returncode == 0
    for wrong in ((), ("a", "b"), ("https://a/",)):
        assert run("pins", *wrong).returncode == 2
    assert run("pins", "127.0.0.1:1").returncode == 7
