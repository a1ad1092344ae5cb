"""Digest with values of a server that are not UTF-8."""

from __future__ import annotations

import hashlib
import re

import carpool
from origins.apache import PASSWORD
from origins.scripted import Exchange, ScriptedOrigin
from test_credentials import CREDENTIAL, perform


def test_what_a_server_sends_goes_back_as_it_came(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """A realm in ISO 8859-1, and a nonce that is no text at all."""
    challenge = b'Digest realm="Zug\xe4nge", nonce="\xff\x80n", opaque="\xfe", qop="auth"'

    def reply(exchange: Exchange) -> None:
        sent = exchange.request.values("authorization")
        if not sent:
            head = b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nWWW-Authenticate: " + challenge + b"\r\n\r\n"
            return exchange.send(head)
        field = sent[0].encode("latin-1")
        parts = dict(re.findall(rb'(\w+)="?((?:[^",\\]|\\.)*)"?', field))
        assert (parts[b"realm"], parts[b"nonce"], parts[b"opaque"]) == (b"Zug\xe4nge", b"\xff\x80n", b"\xfe")
        first = hashlib.md5(b"ada:Zug\xe4nge:" + PASSWORD.encode()).hexdigest().encode()
        second = hashlib.md5(b"GET:/l").hexdigest().encode()
        whole = b":".join([first, parts[b"nonce"], parts[b"nc"], parts[b"cnonce"], b"auth", second])
        right = hashlib.md5(whole).hexdigest().encode() == parts[b"response"]
        return exchange.reply(200 if right else 403, b"in")

    url = origin.on("/l", reply)
    for _ in range(2):
        record = perform(client, url, credential=CREDENTIAL)
        assert record["response"]["status"] == 200
    assert len(origin.requests) == 3
    client.call("credentials.set", host="127.0.0.1", realm="Zugänge", **CREDENTIAL)
    assert perform(client, url)["response"]["status"] == 200
