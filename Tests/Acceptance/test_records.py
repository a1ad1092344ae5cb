"""The record of a request: its shape, its body inline or as a file, its metrics."""

from __future__ import annotations

import base64
import json
import os
import stat
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

INLINE_BYTES = 45_056
LINE_BYTES = 65_536


def serve(origin: ScriptedOrigin, body: bytes, **headers: str) -> str:
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return origin.on("/body", lambda exchange: exchange.reply(body=body, headers=fields))


def test_the_record_has_everything(client: carpool.Client, nginx: Nginx) -> None:
    record = client.call("request.perform", url=f"{nginx.http}/hello.txt")
    assert set(record) == {"request", "state", "outcome", "response", "body", "metrics", "attempts", "cache"}
    assert record["request"].startswith("r_")
    assert record["state"] == "finished"
    assert record["outcome"] == {"ok": True}
    assert record["response"]["status"] == 200
    assert record["response"]["http_version"] == "http/1.1"
    assert record["response"]["url"] == f"{nginx.http}/hello.txt"
    assert ["Content-Type", "text/plain"] in record["response"]["headers"]
    assert record["body"] == {"text": "hello, world\n", "size_bytes": 13}
    (attempt,) = record["attempts"]
    assert attempt["request"] == {"method": "GET", "url": f"{nginx.http}/hello.txt"}


def test_a_failure_has_a_name_a_message_and_whether_to_try_again(client: carpool.Client) -> None:
    record = client.call("request.perform", url="http://127.0.0.1:1/")
    assert record["response"] is None
    assert record["outcome"]["ok"] is False
    error = record["outcome"]["error"]
    assert error["code"] == 2000
    assert error["name"] == "session_task_failed.cannot_connect_to_host"
    assert error["retryable"] is True
    assert error["hint"]
    assert error["curl"]["code"] == 7


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"plain", {"text": "plain"}),
        ('é"\\\n\u0001🚗'.encode(), {"text": 'é"\\\n\u0001🚗'}),
        (b"a\x00b", {"text": "a\x00b"}),
        (b"\xff\x00", {"base64": "/wA="}),
        (b"\xed\xa0\x80", {"base64": "7aCA"}),
        (b"", {"none": True}),
    ],
)
def test_a_small_body_is_in_the_record(
    client: carpool.Client, origin: ScriptedOrigin, body: bytes, form: dict[str, Any]
) -> None:
    record = client.call("request.perform", url=serve(origin, body))
    assert record["body"] == {**form, "size_bytes": len(body)}


@pytest.mark.parametrize(
    ("body", "is_inline"),
    [
        (b"a" * (INLINE_BYTES - 2), True),
        (b"a" * (INLINE_BYTES + 1), False),
        (b'"' * (INLINE_BYTES // 2 - 1), True),
        (b'"' * (INLINE_BYTES // 2 + 1), False),
        (b"\xff" * (INLINE_BYTES * 3 // 4 - 3), True),
        (b"\xff" * (INLINE_BYTES * 3 // 4 + 3), False),
    ],
)
def test_the_encoded_size_decides_between_inline_and_file(
    wire: Wire, origin: ScriptedOrigin, body: bytes, is_inline: bool
) -> None:
    wire.request("request.perform", url=serve(origin, body))
    line = wire.receive_bytes()
    assert len(line) < LINE_BYTES
    record = json.loads(line)["result"]
    assert ("file" not in record["body"]) == is_inline
    assert record["body"]["size_bytes"] == len(body)
    if not is_inline:
        path = Path(record["body"]["file"])
        assert path.read_bytes() == body
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert record["body"]["expires"].endswith("Z")


def test_a_file_can_be_asked_for_and_read_in_pieces_and_released(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    body = os.urandom(100_000)
    record = client.call("request.perform", url=serve(origin, body), response_body="file")
    request = record["request"]
    assert daemon.spooled() == [Path(record["body"]["file"])]
    pieces = b""
    while True:
        piece = client.call("body.read", request=request, offset=len(pieces), length_bytes=30_000)
        pieces += base64.b64decode(piece["base64"])
        assert piece["size_bytes"] == len(body)
        if piece["eof"]:
            break
    assert pieces == body
    assert client.call("body.release", request=request)["changed"] is True
    eventually(lambda: daemon.spooled() == [])
    with pytest.raises(carpool.ObjectError):
        client.call("body.read", request=request, offset=0, length_bytes=10)


def test_a_small_body_is_a_file_when_asked_for(client: carpool.Client, origin: ScriptedOrigin) -> None:
    record = client.call("request.perform", url=serve(origin, b"small"), response_body="file")
    assert Path(record["body"]["file"]).read_bytes() == b"small"
    client.call("body.release", request=record["request"])


def test_the_python_client_reads_and_releases_a_large_body(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    body = os.urandom(3_000_000)
    assert client.get(serve(origin, body)).content == body
    eventually(lambda: daemon.spooled() == [])


def test_a_client_that_raised_its_line_gets_larger_bodies_inline(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("client.hello", name="wide", max_line_bytes=1_000_000)
    record = wire.call("request.perform", url=serve(origin, b"a" * 500_000))
    assert len(record["body"]["text"]) == 500_000


def test_header_values_that_are_not_utf_8_keep_their_bytes(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = serve(origin, b"", X_Latin="caf\xe9", X_Fine="fine")
    response = client.get(url)
    assert response.headers["x-latin"] == "caf\xe9"
    assert ["X-Latin", {"base64": base64.b64encode(b"caf\xe9").decode()}] in response.record["response"]["headers"]
    assert ["X-Fine", "fine"] in response.record["response"]["headers"]


def test_answer_headers_keep_order_case_and_duplicates(client: carpool.Client, origin: ScriptedOrigin) -> None:
    fields = [("Set-Cookie", "a=1"), ("X-B", "1"), ("set-cookie", "b=2"), ("X-B", " 2 ")]
    response = client.get(origin.on("/h", lambda exchange: exchange.reply(headers=fields)))
    kept = [pair for pair in response.headers.pairs if pair[0] != "Content-Length"]
    assert kept == [("Set-Cookie", "a=1"), ("X-B", "1"), ("set-cookie", "b=2"), ("X-B", "2")]


def test_many_headers_are_all_there(client: carpool.Client, origin: ScriptedOrigin) -> None:
    fields = [(f"X-Field-{number}", "v" * 50) for number in range(200)]
    response = client.get(origin.on("/h", lambda exchange: exchange.reply(headers=fields)))
    assert len([pair for pair in response.headers.pairs if pair[0].startswith("X-Field")]) == 200


def test_a_line_stays_under_its_limit_whatever_the_headers(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = [(f"X-Field-{number}", "v" * 1000) for number in range(60)]
    body = b"a" * 40_000
    url = origin.on("/h", lambda exchange: exchange.reply(headers=fields, body=body))
    wire.request("request.perform", url=url)
    line = wire.receive_bytes()
    assert len(line) < LINE_BYTES


def test_metrics_tell_of_a_new_connection_and_of_its_reuse(
    client: carpool.Client, nginx: Nginx, authority: Authority
) -> None:
    given: dict[str, Any] = {"data": b"12345", "verify": authority.ca_file, "headers": {"X-A": "b"}, "detail": "full"}
    first, second = (client.post(f"{nginx.https1}/nothing", **given).metrics for _ in range(2))
    (new,), (old,) = first, second
    assert (new["reused"], old["reused"]) == (False, True)
    assert new["connection"] == old["connection"]
    assert 0 <= new["connect_us"] <= new["tls_us"] <= new["request_us"] <= new["first_byte_us"] <= new["end_us"]
    assert old["tls_us"] is None or old["tls_us"] == 0
    assert new["tls"]["version"] == "TLSv1.3"
    assert new["remote"] == nginx.https1.removeprefix("https://")
    assert new["local"].startswith("127.0.0.1:")
    assert new["http_version"] == "http/1.1"
    assert new["request_body_bytes"] == 5
    assert new["request_header_bytes"] > 40
    assert new["response_header_bytes"] > 20
    assert new["response_body_bytes"] == 0
    assert new["fetch_start"].endswith("Z")


def test_metrics_count_what_was_received_and_what_it_decoded_to(client: carpool.Client, nginx: Nginx) -> None:
    response = client.get(f"{nginx.http}/gzip/words.txt", detail="full")
    (hop,) = response.metrics
    assert hop["decoded_body_bytes"] == len(response.content)
    assert 0 < hop["response_body_bytes"] < len(response.content) / 2


def test_every_hop_of_a_redirect_has_its_metrics(client: carpool.Client, nginx: Nginx) -> None:
    hops = client.get(f"{nginx.http}/moved", detail="full").metrics
    assert [(hop["url"], hop["status"]) for hop in hops] == [
        (f"{nginx.http}/moved", 302),
        (f"{nginx.http}/hello.txt", 200),
    ]
    assert hops[1]["reused"] is True


def test_http_2_is_spoken_where_the_library_is_fit_for_it(
    client: carpool.Client, nginx: Nginx, authority: Authority
) -> None:
    profile = client.call("daemon.info")["libcurl"]["profile"]
    url, trusted = f"{nginx.https}/hello.txt", authority.ca_file
    response = client.get(url, verify=trusted)
    assert response.http_version == ("h2" if profile == "multiplex" else "http/1.1")
    assert client.get(url, verify=trusted, http_version="1.1").http_version == "http/1.1"
    assert client.get(url, verify=trusted, http_version="2").http_version == "h2"
