"""`request.curl`: its lines are run by shells, and send what the request sent (CU)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import PASSWORD, USER, Socks, Squid
from origins.scripted import Exchange, Received, ScriptedOrigin

SHELLS = ["sh", "bash"]
NASTY = "it's \"quoted\" $HOME $(id) `id` \\n \\' !! {a,b} [1-3] * ? # % & ; | < > ~ \t@ é🚗"
BODIES: list[tuple[str, dict[str, Any]]] = [
    ("text", {"text": NASTY}),
    ("lines", {"text": "a\nb\r\n\nc\n"}),
    ("dash", {"text": "-n -e \\c %s %% \\x41 \\0101"}),
    ("file_sign", {"text": "@/etc/passwd"}),
    ("form", {"text": "a=1&b=%20&@c"}),
    ("empty", {"text": ""}),
    ("json", {"json": {"a": 'b"c', "d": "\\", "e": "'"}}),
    ("bytes", {"base64": "AAEnIlwlJC1g/4A="}),
    ("long", {"text": "it's $long\n" * 10_000}),
]


def run(line: str, shell: str, place: Path) -> None:
    """Run a line in a shell with a hostile environment."""
    (place / ".curlrc").write_text('user-agent = "spoiled"\nheader = "X-Spoiled: yes"\n')
    # As a script: a long body does not fit an argument.
    script = place / "line"
    script.write_text(line)
    variables = {
        **os.environ,
        "HOME": str(place),
        "http_proxy": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }
    # curl is the system's, with its own libcurl.
    variables.pop("LD_LIBRARY_PATH", None)
    done = subprocess.run(
        [shell, str(script)], check=False, capture_output=True, cwd=place, env=variables, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, f"{line[:4000]}\n{done.stderr.decode(errors='replace')[-2000:]}"


def sent(request: Received) -> tuple[Any, ...]:
    return (request.method, request.target, request.headers, request.body)


def compare(wire: Wire, origin: ScriptedOrigin, place: Path, shell: str, **params: Any) -> str:
    """Send a request, run its line, and compare every hop of the two. Returns the line."""
    before = len(origin.requests)
    # Read before the request is sent, and with a larger line limit, so that any body fits.
    wire.call("client.hello", max_line_bytes=1_000_000)
    request = wire.call("request.submit", start="manual", setup="eager", **params)["request"]
    # A body of files is made in the background.
    line = str(eventually(lambda: wire.call("request.curl", request=request, reveal=True)["curl"]))
    wire.call("request.resume", request=request)
    assert wire.call("request.wait", request=request)["outcome"]["ok"]
    ours = origin.requests[before:]
    run(line, shell, place)
    theirs = origin.requests[before + len(ours) :]
    assert [sent(hop) for hop in theirs] == [sent(hop) for hop in ours]
    return line


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", [name for name, _ in BODIES])
def test_cu_05_and_cu_08_bodies(wire: Wire, origin: ScriptedOrigin, tmp_path: Path, name: str, shell: str) -> None:
    line = compare(
        wire, origin, tmp_path, shell, url=f"{origin.url}/post", method="POST", body=dict(BODIES)[name],
        headers={"Content-Type": "text/x-mine"},
    )  # fmt: skip
    assert origin.requests[0].body or name == "empty"
    assert "spoiled" not in line


@pytest.mark.parametrize("shell", SHELLS)
def test_cu_04_headers(wire: Wire, origin: ScriptedOrigin, tmp_path: Path, shell: str) -> None:
    headers = [
        ["X-Nasty", NASTY], ["x-twice", "1"], ["X-Twice", "2"], ["X-Empty", ""], ["Accept", "text/x;q=0.1"],
        ["User-Agent", "it's me"], ["Cookie", "a=b; c=$d"], ["Authorization", "Bearer 'x'"],
    ]  # fmt: skip
    compare(wire, origin, tmp_path, shell, url=f"{origin.url}/h", headers=headers)
    (ours, theirs) = origin.requests
    assert theirs.values("x-twice") == ["1", "2"]
    assert theirs.values("x-empty") == [""]
    assert ours.head.split(b"\r\n")[1:] == theirs.head.split(b"\r\n")[1:]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "target",
    [
        "/p%20q?a=$HOME&b=`id`&c=(d)&e='f'",
        "/{a,b}/[1-3]",
        "/a;b?x=!y#part",
        "/%C3%A9?*",
        '/"quoted"\\n',
        "//a/./b/../c",
    ],
)
def test_cu_01_targets(wire: Wire, origin: ScriptedOrigin, tmp_path: Path, target: str, shell: str) -> None:
    compare(wire, origin, tmp_path, shell, url=origin.url + target)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "x'$y"])
def test_cu_01_methods(wire: Wire, origin: ScriptedOrigin, tmp_path: Path, method: str) -> None:
    compare(wire, origin, tmp_path, "sh", url=origin.url, method=method)
    if method not in {"GET", "HEAD"}:
        compare(wire, origin, tmp_path, "sh", url=origin.url, method=method, body={"text": "b"})


def test_cu_01_one_option_a_line(wire: Wire, origin: ScriptedOrigin) -> None:
    request = wire.call("request.submit", url=f"{origin.url}/a", method="PUT", body={"text": "b"})["request"]
    wire.call("request.wait", request=request)
    lines = wire.call("request.curl", request=request)["curl"].split(" \\\n\t")
    assert lines[0] == "curl -q -v -g"
    assert "-X PUT" in lines
    assert lines[-2:] == ["--data-binary 'b'", f"'{origin.url}/a'"]


def test_cu_02_cu_03_secrets_are_masked(wire: Wire, origin: ScriptedOrigin) -> None:
    secrets = {"Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "X-Api-Key": "s3cret", "X-Auth-Token": "s3cret"}
    url = origin.url.replace("http://", "http://me:s3cret@")
    for parameters in ({"url": origin.url, "headers": secrets}, {"url": url}):
        request = wire.call("request.submit", **parameters)["request"]
        wire.call("request.wait", request=request)
        assert "s3cret" not in wire.call("request.curl", request=request)["curl"]
        revealed = wire.call("request.curl", request=request, reveal=True)["curl"]
        assert "s3cret" in revealed or "bWU6czNjcmV0" in revealed


def test_cu_02_credentials_of_the_url_and_of_interceptors(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    interceptor = [
        {"basic_auth": {"username": "me", "password": "it's $"}},
        {"set_header": {"name": "X-A", "value": "b"}},
    ]
    compare(wire, origin, tmp_path, "sh", url=origin.url, interceptor=interceptor)
    assert origin.requests[1].values("authorization") == ["Basic bWU6aXQncyAk"]
    assert origin.requests[1].values("x-a") == ["b"]


@pytest.mark.parametrize("kind", ["http", "tunnel", "digest", "any", "socks5h", "socks4a", "https"])
def test_a_line_uses_the_proxy_of_its_request(
    wire: Wire, origin: ScriptedOrigin, squid: Squid, socks: Socks, authority: Authority, tmp_path: Path, kind: str
) -> None:
    basic = {"url": f"http://127.0.0.1:{squid.basic}", "username": USER, "password": PASSWORD}
    proxy: Any = {
        "http": {"all": basic},
        "tunnel": {"all": {**basic, "tunnel": True}},
        "socks5h": f"socks5h://{USER}:{PASSWORD}@127.0.0.1:{socks.basic}",
        "socks4a": f"socks4a://127.0.0.1:{socks.four}",
        "digest": {"all": {**basic, "schemes": ["digest"]}},
        "any": {"all": {**basic, "schemes": ["basic", "digest"], "tunnel": True}},
        "https": f"https://localhost:{squid.secure}",
    }[kind]
    params: dict[str, Any] = {"trust": {"ca_file": str(authority.ca_file)}} if kind == "https" else {}
    line = compare(wire, origin, tmp_path, "sh", url=f"{origin.url}/line-{kind}", proxy=proxy, **params)
    if kind in {"http", "digest"}:
        users = [line[3] for line in squid.log(f"/line-{kind}", 2 if kind == "http" else 4)]
        assert users == ([USER, USER] if kind == "http" else ["-", USER] * 2)
    assert {"digest": "--proxy-digest", "any": "--proxy-anyauth"}.get(kind, "--proxy") in line


@pytest.mark.parametrize(
    "schemes", [{"schemes": ["basic"], "preemptive": True}, {"schemes": ["digest"]}, {}], ids=["basic", "digest", "any"]
)
def test_a_line_has_the_credential_of_its_request(
    wire: Wire, origin: ScriptedOrigin, tmp_path: Path, schemes: dict[str, Any]
) -> None:
    def asks(exchange: Exchange) -> None:
        if exchange.request.values("authorization"):
            return exchange.reply(body=b"in")
        return exchange.reply(401, headers=[("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')])

    url = origin.on("/asks", asks)
    credential = {"username": "ada", "password": "it's $", **schemes}
    request = wire.call("request.submit", url=url, credential=credential)["request"]
    wire.call("request.wait", request=request)
    assert "it's" not in wire.call("request.curl", request=request)["curl"]
    count = len(origin.requests)
    run(wire.call("request.curl", request=request, reveal=True)["curl"], "sh", tmp_path)
    assert len(origin.requests) == 2 * count
    fields = [next(iter(each.values("authorization")), "").partition(" ")[0] for each in origin.requests]
    assert fields[:count] == fields[count:]


def test_cu_06_no_line_before_there_is_a_request(wire: Wire, origin: ScriptedOrigin) -> None:
    request = wire.call("request.submit", url=origin.url, start="manual")["request"]
    answer = wire.call("request.curl", request=request)
    assert answer["curl"] is None
    assert "resumed" in answer["reason"]
    wire.call("request.cancel", request=request)
    failed = wire.call("request.submit", url="")["request"]
    answer = wire.call("request.curl", request=failed)
    assert answer["curl"] is None
    assert answer["reason"]


def test_cu_07_the_line_is_there_before_the_request_is_sent(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """The final request, after the adapters, without sending it."""
    request = wire.call("request.submit", url=f"{origin.url}/a", start="manual", setup="eager", headers={"X-A": "b"})
    line = wire.call("request.curl", request=request["request"])["curl"]
    assert origin.requests == []
    run(line, "sh", tmp_path)
    wire.call("request.resume", request=request["request"])
    theirs, ours = origin.received(2)
    assert sent(theirs) == sent(ours)


@pytest.mark.parametrize("part", [{}, {"offset": 3}, {"offset": 2, "length_bytes": 9}])
def test_cu_08_files(wire: Wire, origin: ScriptedOrigin, tmp_path: Path, part: dict[str, int]) -> None:
    path = tmp_path / "it's $a file"
    path.write_bytes(bytes(range(256)) * 9)
    body = {"file": str(path), **part}
    line = compare(wire, origin, tmp_path, "sh", url=origin.url, method="PUT", body=body)
    assert len(line) < 2_000


def test_cu_08_forms(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    path = tmp_path / "it's $a file"
    path.write_bytes(bytes(range(256)) * 9)
    file = {"name": "f", "file": str(path), "content_type": "a/b"}
    parts = [{"name": "t", "text": NASTY}, {"name": "j", "json": {"a": "'"}}, file]
    compare(wire, origin, tmp_path, "sh", url=origin.url, method="POST", body={"multipart": parts})


def test_cu_08_parameters_and_compressed_bodies(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    compare(
        wire, origin, tmp_path, "bash", url=origin.url, method="POST", parameters={"k": [NASTY, 1]},
        interceptor=[{"compress": {"min_bytes": 0}}],
    )  # fmt: skip
    assert origin.requests[1].values("content-encoding") == ["deflate"]


def test_redirects_are_followed_by_the_line_too(wire: Wire, origin: ScriptedOrigin, tmp_path: Path) -> None:
    def redirect(exchange: Exchange) -> None:
        status = int(exchange.request.target[1:])
        exchange.reply(status, headers=[("Location", "/to")])

    for status in (301, 302, 303, 307, 308):
        url = origin.on(f"/{status}", redirect)
        for method in ("GET", "POST", "PUT"):
            if (status, method) == (303, "PUT"):
                continue  # curl repeats the method, as the page documents
            body = {} if method == "GET" else {"body": {"text": "b"}}
            compare(wire, origin, tmp_path, "sh", url=url, method=method, **body)


def test_a_line_for_tls_and_limits(wire: Wire, nginx: Nginx, authority: Authority, tmp_path: Path) -> None:
    request = wire.call(
        "request.submit", url=f"{nginx.https}/hello.txt", trust={"ca_file": str(authority.ca_file)}, http_version="1.1",
        resource_timeout_ms=15_500, connect_timeout_ms=5_000, headers={"User-Agent": "lines"},
    )["request"]  # fmt: skip
    wire.call("request.wait", request=request)
    line = wire.call("request.curl", request=request)["curl"]
    run(line, "sh", tmp_path)
    ours, theirs = nginx.log(2, lambda line: line.agent == "lines")[-2:]
    assert (ours.method, ours.target, ours.protocol) == (theirs.method, theirs.target, theirs.protocol)
    assert "--max-time 15.500" in line
    assert "--connect-timeout 5" in line
    insecure = wire.call("request.submit", url=f"{nginx.https}/hello.txt", trust={"verify": False})["request"]
    wire.call("request.wait", request=insecure)
    run(wire.call("request.curl", request=insecure)["curl"], "sh", tmp_path)


def test_a_body_too_long_for_the_line_of_a_connection_has_none(wire: Wire, origin: ScriptedOrigin) -> None:
    request = wire.call(
        "request.submit", url=origin.url, method="POST", body={"text": "é" * 40_000}, start="manual", setup="eager"
    )["request"]
    answer = wire.call("request.curl", request=request)
    assert answer["curl"] is None
    assert "too long" in answer["reason"]
    wire.call("client.hello", name="wide", max_line_bytes=1_000_000)
    assert wire.call("request.curl", request=request)["curl"]
    wire.call("request.resume", request=request)
    wire.call("request.wait", request=request)
    # A large body is not kept after it was sent.
    answer = wire.call("request.curl", request=request)
    assert answer["curl"] is None
    assert "before the request has finished" in answer["reason"]


@pytest.mark.parametrize("is_own", [True, False])
def test_the_password_of_a_proxy_is_shown_only_if_the_request_has_brought_it(wire: Wire, is_own: bool) -> None:
    proxy = {"all": {"url": "http://127.0.0.1:1", "username": "ada", "password": "of-a-proxy"}}
    wire.call("session.create", name="proxied", configuration={"proxy": proxy})
    own = {"proxy": proxy} if is_own else {}
    request = wire.call("request.submit", url="http://h.test/", session="proxied", **own)["request"]
    wire.call("request.wait", request=request)
    line = wire.call("request.curl", request=request, reveal=True)["curl"]
    assert ("ada:of-a-proxy" in line, "ada:(hidden)" in line) == (is_own, not is_own)
