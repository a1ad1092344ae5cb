"""`no_proxy`: the hosts that are reached without a proxy, with the real curl beside it."""

from __future__ import annotations

import random
import subprocess

import carpool
import pytest
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin
from test_netrc import newest_curl

HOSTS = [
    "example.com", "www.example.com", "a.www.example.com", "example.org", "xexample.com", "com", "localhost",
    "example.com.", "EXAMPLE.com", "ex-ample.com", "1.example.com", "a_b.example.com", "10.0.0.1", "10.1.2.3",
    "127.0.0.1", "192.168.1.77", "192.168.1.1", "[::1]", "[2001:db8::1]",
]  # fmt: skip
ENTRIES = [
    *HOSTS[:12], ".example.com", "..example.com", ".example.com.", ".com", "*.example.com", "*", ".", "", "10.0.0.1",
    "10.0.0.1/32", "10.0.0.0/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.1/", "10/8", "10.0.0.0/08", "10.0.0.0/8x",
    "10.0.0.1/32/1", "10.0.0.0/-1", "192.168.1.0/24", "192.168.0.0/16", "192.168.1.77/25", "::1", "2001:db8::1",
    "127.0.0.0/8", "127", "10.", "10.0.0.", "10.0.0", "http://example.com", "example.com/", "example", "le.com",
    "ple.com", ".org", "-", "/8", "1/2/3", "x", "*.*", "com.", "::ffff:10.0.0.1", ";", "|",
]  # fmt: skip

# What curl 8.14.1 decides otherwise: docs/proxies.md has the reasons. The text, the URL, and whether a proxy is used.
DIFFERENCES = [
    ("a example.com", "http://example.com/", False),
    ("a\texample.com", "http://example.com/", False),
    ("a\nexample.com", "http://example.com/", False),
    ("example.com:8080", "http://example.com:8080/", False),
    ("10.0.0.1:80", "http://10.0.0.1/", False),
    ("2001:db8::/32", "http://[2001:db8::1]/", False),
    ("fe80::/10", "http://[fe80::1]/", False),
    ("2001:db8:0::1", "http://[2001:db8::1]/", False),
    ("[::1]", "http://[::1]/", False),
    ("[2001:db8::]/32", "http://[2001:db8::1]/", False),
    ("0.0.0.0/0", "http://10.0.0.1/", False),
    ("::/0", "http://[::1]/", False),
    ("0x7f.0.0.1", "http://127.0.0.1/", False),
    ("10.0.0.1.", "http://10.0.0.1/", False),
]


def uses_proxy(client: carpool.Client, text: str, url: str) -> bool:
    proxy = {"all": "http://proxy.test:3128", "no_proxy": text}
    return "server" in client.call("request.explain", url=url, proxy=proxy)["proxy"]


def curl_uses_proxy(proxy: ScriptedOrigin, text: str, url: str) -> bool:
    """Whether the real curl connects to the proxy, and not to the host, for which another one stands."""
    done = subprocess.run(
        ["curl", "-q", "-s", "-o", "/dev/null", "-w", "%{http_connect}", "-x", proxy.url, "--noproxy", text,
         "--connect-to", "::127.0.0.1:1", url],
        capture_output=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    return done.stdout != b"000"


def test_no_proxy_is_that_of_curl(client: carpool.Client, origin: ScriptedOrigin) -> None:
    if not newest_curl():
        pytest.skip("the installed curl has other rules than 8.14.1")
    generator = random.Random(7)
    cases = [
        (
            ",".join(generator.choice(ENTRIES) for _ in range(generator.choice([1, 1, 1, 2, 3]))),
            f"http://{generator.choice(HOSTS)}{generator.choice(['', ':8080'])}/",
        )
        for _ in range(400)
    ]
    # Where most entries apply, and with blanks around the commas.
    cases += [(entry, f"http://{host}/") for entry in ENTRIES for host in ["www.example.com", "10.0.0.1"]]
    cases += [(f" a ,{entry}\t, b ", "http://example.com/") for entry in ENTRIES]
    decisions = {case: (curl_uses_proxy(origin, *case), uses_proxy(client, *case)) for case in dict.fromkeys(cases)}
    assert {case: found for case, found in decisions.items() if found[0] != found[1]} == {}
    # Both decisions are made often.
    assert 50 < sum(ours for _, ours in decisions.values()) < len(decisions) - 50


@pytest.mark.parametrize(("text", "url", "is_proxied"), DIFFERENCES)
def test_where_no_proxy_differs_from_curl(
    client: carpool.Client, origin: ScriptedOrigin, text: str, url: str, is_proxied: bool
) -> None:
    assert uses_proxy(client, text, url) is is_proxied
    if newest_curl():
        assert curl_uses_proxy(origin, text, url) is not is_proxied
