"""Where connections go: other addresses, hosts, interfaces and families than those of the URL, and another `Host`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import carpool
import pytest
from harness.command import Run
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


def port(url: str) -> int:
    return int(url.rstrip("/").rsplit(":", 1)[1])


def perform(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    return record


def failure(client: carpool.Client, url: str, **params: Any) -> str:
    return str(perform(client, url, **params)["outcome"]["error"]["name"])


def hop(record: dict[str, Any]) -> dict[str, Any]:
    metrics: dict[str, Any] = record["attempts"][-1]["metrics"][-1]
    return metrics


@pytest.fixture
def other() -> Iterator[ScriptedOrigin]:
    second = ScriptedOrigin()
    second.on("/", lambda exchange: exchange.reply(body=b"other"))
    yield second
    second.stop()


# MARK: resolve


def test_resolve_replaces_the_addresses_of_a_name(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = port(origin.url)
    record = perform(
        client, f"http://split.example:{number}/", addresses={"resolve": [f"split.example:{number}:127.0.0.1"]}
    )
    assert record["outcome"]["ok"]
    assert origin.received(1)[0].values("Host") == [f"split.example:{number}"]


def test_resolve_is_known_to_no_other_request(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = port(origin.url)
    url = f"http://split.example:{number}/"
    addresses = {"resolve": [f"split.example:{number}:127.0.0.1"]}
    for _ in range(3):
        assert perform(client, url, addresses=addresses)["outcome"]["ok"]
        assert failure(client, url) == "session_task_failed.cannot_find_host"


def test_resolve_of_every_host(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = port(origin.url)
    addresses = {"resolve": [f"*:{number}:127.0.0.1"]}
    assert perform(client, f"http://any.example:{number}/", addresses=addresses)["outcome"]["ok"]


def test_resolve_of_an_ipv6_address(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """An entry that libcurl cannot read must not be left out: the request would go to the real address."""
    number = port(origin.url)
    addresses = {"resolve": [f"[::1]:{number}:127.0.0.1"]}
    if client.call("daemon.info")["libcurl"]["profile"] == "multiplex":
        assert perform(client, f"http://[::1]:{number}/", addresses=addresses)["outcome"]["ok"]
    else:
        with pytest.raises(carpool.InvalidParamsError):
            perform(client, f"http://[::1]:{number}/", addresses=addresses)


def test_the_last_entry_of_a_host_counts(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = port(origin.url)
    url = f"http://split.example:{number}/"
    entries = [f"split.example:{number}:127.0.0.9", f"split.example:{number}:127.0.0.1"]
    assert perform(client, url, addresses={"resolve": entries})["outcome"]["ok"]
    assert not perform(client, url, addresses={"resolve": entries[::-1]})["outcome"]["ok"]


def test_resolve_tries_the_addresses_in_order(client: carpool.Client, origin: ScriptedOrigin) -> None:
    number = port(origin.url)
    addresses = {"resolve": [f"split.example:{number}:127.0.0.9,127.0.0.1"]}
    assert perform(client, f"http://split.example:{number}/", addresses=addresses)["outcome"]["ok"]


def test_the_certificate_is_checked_for_the_host_of_the_url(
    client: carpool.Client, authority: Authority, split: ScriptedOrigin
) -> None:
    number = split.port
    addresses = {"resolve": [f"split.example:{number}:127.0.0.1", f"wrong.example:{number}:127.0.0.1"]}
    trust = {"ca_file": str(authority.ca_file)}
    assert perform(client, f"https://split.example:{number}/", addresses=addresses, trust=trust)["outcome"]["ok"]
    name = failure(client, f"https://wrong.example:{number}/", addresses=addresses, trust=trust)
    assert name == "session_task_failed.server_certificate_untrusted"


# MARK: connect_to


def test_connect_to_goes_elsewhere_and_keeps_the_host(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    first, second = port(origin.url), port(other.url)
    addresses = {"connect_to": [f"127.0.0.1:{first}:127.0.0.1:{second}"]}
    for _ in range(5):
        assert perform(client, origin.url, addresses=addresses)["body"]["text"] == "other"
        assert perform(client, origin.url)["body"].get("text") != "other"
    assert all(request.values("Host") == [f"127.0.0.1:{first}"] for request in other.received(5))
    assert len(origin.received(5)) == 5


def test_connect_to_with_empty_parts_matches_every_host(client: carpool.Client, other: ScriptedOrigin) -> None:
    addresses = {"connect_to": [f"::127.0.0.1:{port(other.url)}"]}
    assert perform(client, "http://nowhere.example/", addresses=addresses)["body"]["text"] == "other"


# MARK: interfaces, local addresses, families


def test_a_local_address_is_used(client: carpool.Client, origin: ScriptedOrigin) -> None:
    record = perform(client, origin.url, addresses={"local_address": "127.0.0.2"})
    assert hop(record)["local"].startswith("127.0.0.2:")
    assert hop(perform(client, origin.url))["local"].startswith("127.0.0.1:")


def test_an_interface_is_used(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert perform(client, origin.url, addresses={"interface": "lo"})["outcome"]["ok"]
    name = failure(client, origin.url, addresses={"interface": "none0"})
    assert name == "session_task_failed.cannot_connect_to_host"


def test_one_family_alone(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert perform(client, origin.url, addresses={"family": "ipv4"})["outcome"]["ok"]
    assert not perform(client, origin.url, addresses={"family": "ipv6"})["outcome"]["ok"]


# MARK: sessions, and bad input


def test_a_request_s_own_addresses_replace_those_of_its_session(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    first, second = port(origin.url), port(other.url)
    addresses = {"connect_to": [f"127.0.0.1:{first}:127.0.0.1:{second}"]}
    client.call("session.create", name="split", configuration={"addresses": addresses})
    assert perform(client, origin.url, session="split")["body"]["text"] == "other"
    assert perform(client, origin.url, session="split", addresses={})["body"].get("text") != "other"
    shown = client.call("session.get", session="split")["configuration"]
    assert shown["addresses"] == addresses


@pytest.mark.parametrize(
    ("addresses", "path"),
    [
        ({"resolve": ["a.example:80"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a.example:80:b.example"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a.example:80:127.0.0.1", "a.example:0:127.0.0.1"]}, "params.addresses.resolve[1]"),
        ({"resolve": ["a.example:65536:127.0.0.1"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["-a.example:80"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a.example:80:127.0.0.1", "-a.example:80:127.0.0.1"]}, "params.addresses.resolve[1]"),
        ({"resolve": ["+a.example:80:127.0.0.1"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a b:80:127.0.0.1"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a\r\n.example:80:127.0.0.1"]}, "params.addresses.resolve[0]"),
        ({"resolve": ["a.example:80:" + ",".join(["127.0.0.1"] * 17)]}, "params.addresses.resolve[0]"),
        ({"resolve": ["x"] * 65}, "params.addresses.resolve"),
        ({"connect_to": ["a.example:80"]}, "params.addresses.connect_to[0]"),
        ({"connect_to": ["a:b:c:d"]}, "params.addresses.connect_to[0]"),
        ({"connect_to": ["a.example:80:b.example:80:x"]}, "params.addresses.connect_to[0]"),
        ({"connect_to": ["a.example:80:b/c:80"]}, "params.addresses.connect_to[0]"),
        ({"interface": ""}, "params.addresses.interface"),
        ({"interface": "a/b"}, "params.addresses.interface"),
        ({"interface": "eth0\n"}, "params.addresses.interface"),
        ({"interface": "a-name-of-more-than-15"}, "params.addresses.interface"),
        ({"local_address": "localhost"}, "params.addresses.local_address"),
        ({"local_address": "127.0.0.1", "interface": "lo"}, "params.addresses.local_address"),
        ({"family": "ipv5"}, "params.addresses.family"),
        ({"resolv": []}, "params.addresses.resolv"),
    ],
)
def test_bad_addresses_are_refused_by_name(client: carpool.Client, addresses: dict[str, Any], path: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        perform(client, "http://127.0.0.1:1/", addresses=addresses)
    assert caught.value.data["path"] == path


# MARK: Host


def test_another_host_is_sent_and_has_connections_of_its_own(client: carpool.Client, origin: ScriptedOrigin) -> None:
    hosts = [None, "a.example", "b.example", "A.example", "a.example", None, "b.example:8080"]
    for host in hosts:
        assert perform(client, origin.url, headers={"Host": host} if host else {})["outcome"]["ok"]
    received = origin.received(len(hosts))
    own = origin.url.removeprefix("http://")
    assert [request.values("Host") for request in received] == [[host or own] for host in hosts]
    connections: dict[str, set[int]] = {}
    for host, request in zip(hosts, received, strict=True):
        connections.setdefault((host or own).lower(), set()).add(request.connection)
    assert [len(numbers) for numbers in connections.values()] == [1] * 4
    assert len(set.union(*connections.values())) == 4


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_another_host_over_tls(client: carpool.Client, nginx: Nginx, authority: Authority, version: str) -> None:
    for host in ("a.example", "b.example", "a.example"):
        record = perform(
            client,
            f"{nginx.https}/host",
            headers={"Host": host},
            trust={"ca_file": str(authority.ca_file)},
            http_version=version,
        )
        assert record["body"]["text"] == host


def test_the_host_is_dropped_on_a_redirect(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/next")]))
    perform(client, f"{origin.url}/moved", headers={"Host": "a.example"})
    first, second = origin.received(2)
    assert first.values("Host") == ["a.example"]
    assert second.values("Host") == [origin.url.removeprefix("http://")]
    assert first.connection != second.connection


def test_two_hosts_are_refused(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        perform(client, origin.url, headers=[["Host", "a"], ["host", "b"]])
    assert caught.value.data["path"] == "params.headers"
    assert origin.requests == []


# MARK: the command and Python


def test_the_command_s_options(run: Run, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    first, second = port(origin.url), port(other.url)
    resolved = run("get", "--resolve", f"split.example:{second}:127.0.0.1", f"http://split.example:{second}/")
    assert resolved.stdout == b"other"
    moved = run("get", "--connect-to", f"127.0.0.1:{first}:127.0.0.1:{second}", "-4", origin.url)
    assert moved.stdout == b"other"
    assert run("get", "--interface", "127.0.0.2", other.url).stdout == b"other"
    assert run("get", "--interface", "if!lo", other.url).stdout == b"other"
    assert run("get", "-6", other.url).returncode != 0


def test_python_s_argument(client: carpool.Client, other: ScriptedOrigin) -> None:
    number = port(other.url)
    response = client.get(
        f"http://split.example:{number}/", addresses={"resolve": [f"split.example:{number}:127.0.0.1"]}
    )
    assert response.text == "other"


def test_the_curl_line_has_the_options(client: carpool.Client, other: ScriptedOrigin) -> None:
    number = port(other.url)
    addresses = {
        "resolve": [f"split.example:{number}:127.0.0.1"],
        "connect_to": ["a.example:80:b.example:80"],
        "local_address": "127.0.0.1",
        "family": "ipv4",
    }
    tls = {"min_version": "1.2", "max_version": "1.2", "ciphers": "ECDHE+AESGCM"}
    name = client.call("request.submit", url=f"http://split.example:{number}/", addresses=addresses, tls=tls)["request"]
    client.call("request.wait", request=name)
    text = client.call("request.curl", request=name)["curl"]
    for option in (
        f"--resolve 'split.example:{number}:127.0.0.1'",
        "--connect-to 'a.example:80:b.example:80'",
        "--interface '127.0.0.1'",
        "-4",
        "--tlsv1.2",
        "--tls-max 1.2",
        "--ciphers 'ECDHE+AESGCM'",
    ):
        assert option in text


# MARK: What was shared, and why not


@pytest.mark.own_daemon
def test_a_new_connection_says_why(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def reason(**params: Any) -> Any:
        return hop(perform(client, f"{origin.url}/", **params)).get("new_connection")

    assert reason() == "first"
    assert reason() is None
    assert reason(headers={"Host": "a.example"}) == "settings"
    assert reason(addresses={"local_address": "127.0.0.2"}) == "settings"
    assert reason() is None
    assert reason(kind="download") == "kind"
    gate = origin.hold("/held")
    held = client.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(6)
    assert reason() == "busy"
    gate.set()
    client.call("request.wait", request=held)
    rows = client.call("pool.stats")["origins"]
    assert sorted(row.get("settings", []) for row in rows) == [[], [], ["addresses"], ["host"]]


def test_the_partitions_of_a_user_are_limited(start: Any, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"partitions_per_user": 3}})
    with daemon.client() as client:
        for number in range(20):
            assert perform(client, origin.url, headers={"Host": f"h{number}.example"})["outcome"]["ok"]
            assert client.call("pool.stats")["partitions"] <= 3
        gate = origin.hold("/held")
        names = [
            client.call("request.submit", url=f"{origin.url}/held", headers={"Host": f"held{number}.example"})[
                "request"
            ]
            for number in range(3)
        ]
        origin.received(23)
        refused = perform(client, origin.url, headers={"Host": "one-more.example"})
        assert refused["outcome"]["error"]["name"] == "session_task_failed.resource_unavailable"
        # The common partition is never refused.
        assert perform(client, origin.url)["outcome"]["ok"]
        gate.set()
        for name in names:
            assert client.call("request.wait", request=name)["outcome"]["ok"]
        assert perform(client, origin.url, headers={"Host": "one-more.example"})["outcome"]["ok"]
