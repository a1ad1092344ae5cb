"""Raw streams share nothing that their own settings would not have made: neither authorities nor looked-up names."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.peer import StartPeer


def opens(wire: Wire, **params: Any) -> bool:
    """Open a stream and close it; returns whether there was a connection."""
    try:
        stream = wire.call("stream.open", **params)["stream"]
    except RemoteError as error:
        assert error.name == "stream.failed", error
        return False
    wire.call("stream.close", stream=stream)
    return True


def test_a_stream_trusts_its_own_authorities_alone(wire: Wire, peer: StartPeer, authority: Authority) -> None:
    server = peer(tls=True)
    own = {"ca_file": str(authority.ca_file)}
    added = {**own, "ca_in_addition": True}
    evaluated = {**own, "evaluators": {"*": "default"}}
    for trust in (own, "system", own, added, "system", added, evaluated, "system", own):
        assert opens(wire, **{**server, "trust": trust}) == (trust != "system"), trust


def test_what_the_first_stream_trusts_is_not_kept(wire: Wire, peer: StartPeer, authority: Authority) -> None:
    server = peer(tls=True)
    assert not opens(wire, **{**server, "trust": "system"})
    assert opens(wire, **{**server, "trust": {"ca_file": str(authority.ca_file)}})


@pytest.mark.parametrize("pattern", ["name.example:{port}", "*:{port}"])
def test_resolve_reaches_no_other_stream(client: carpool.Client, wire: Wire, peer: StartPeer, pattern: str) -> None:
    port = peer()["port"]
    elsewhere = peer()["port"]
    entry = pattern.format(port=port)
    for name, addresses in {
        "here": {"resolve": [f"{entry}:127.0.0.1"]},
        "nowhere": {"resolve": [f"{entry}:127.0.0.2"]},
        "plain": {},
    }.items():
        client.call("session.create", name=name, configuration={"addresses": addresses})
    stream = {"host": "name.example", "port": port, "tls": False}
    for _ in range(3):
        assert opens(wire, **stream, session="here")
        assert not opens(wire, **stream, session="plain")
        assert not opens(wire, **stream, session="nowhere")
    # An open stream keeps what it needs.
    held = wire.call("stream.open", **stream, session="here")["stream"]
    client.call("session.create", name="other", configuration={"addresses": {"resolve": [f"*:{elsewhere}:127.0.0.1"]}})
    assert opens(wire, host="x.example", port=elsewhere, tls=False, session="other")
    wire.call("stream.write", stream=held, text="hello")
    assert wire.call("stream.read", stream=held)["size_bytes"] == 5
