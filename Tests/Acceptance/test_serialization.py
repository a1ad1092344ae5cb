"""Serializers: bytes, text, JSON, property lists, and a client's own values."""

from __future__ import annotations

import base64
import datetime
import plistlib
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.vectors import rows
from harness.wire import Wire
from origins.httpbin import Httpbin
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

PREFIX = b")]}',\n"


def serve(origin: ScriptedOrigin, body: bytes, kind: str | None = None, status: int = 200) -> str:
    """Serve this response, and return its URL."""

    def handler(exchange: Exchange) -> None:
        length = "" if status in {204, 304} else f"Content-Length: {len(body)}\r\n"
        field = f"Content-Type: {kind}\r\n" if kind else ""
        head = f"HTTP/1.1 {status} Reason\r\n{field}{length}\r\n".encode()
        exchange.send(head if exchange.request.method == "HEAD" else head + body)

    return origin.on("/served", handler)


def made(client: carpool.Client, url: str, serialize: Any, **params: Any) -> Any:
    """Return the value of a response; fails if there is none."""
    outcome = client.call("request.perform", url=url, serialize=serialize, **params)["outcome"]
    assert outcome["ok"], outcome
    return outcome["value"]


def failed(client: carpool.Client, url: str, serialize: Any, **params: Any) -> tuple[str, dict[str, Any]]:
    """Return why there is no value: the reason and its details."""
    outcome = client.call("request.perform", url=url, serialize=serialize, **params)["outcome"]
    assert (outcome["ok"], "value" in outcome) == (False, False)
    case, _, reason = outcome["error"]["name"].partition(".")
    assert case == "response_serialization_failed"
    return reason, outcome["error"].get("details", {})


KINDS = ["data", "string", "json", "plist"]


def test_rs_01_a_response_that_is_refused_has_no_value_and_keeps_its_body(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("events.subscribe", types=["request.did_parse_response"])
    call = wire.request("request.perform", url=serve(origin, b"{}", status=500), validate=True, serialize="json")
    told = wire.event("request.did_parse_response")["data"]
    record = wire.result(call)
    refusal = "response_validation_failed.unacceptable_status_code"
    assert (record["outcome"]["error"]["name"], record["body"]["text"]) == (refusal, "{}")
    assert "value" not in record["outcome"]
    assert (told["serializer"], told["ok"], told["duration_us"], told["error"]["name"]) == ("json", False, 0, refusal)


@pytest.mark.parametrize(("kind", "empty"), [("data", {"$data": ""}), ("string", ""), ("json", None), ("plist", None)])
def test_rs_02_an_empty_body_needs_a_method_or_a_status_that_allows_it(
    client: carpool.Client, origin: ScriptedOrigin, kind: str, empty: Any
) -> None:
    reason: tuple[str, dict[str, Any]] = ("input_data_nil_or_zero_length", {})
    assert made(client, serve(origin, b"", status=204), kind) == empty
    assert made(client, serve(origin, b"", status=205), kind) == empty
    assert made(client, serve(origin, b"unseen"), kind, method="HEAD") == empty
    assert failed(client, serve(origin, b""), kind) == reason
    assert made(client, serve(origin, b""), {"as": kind, "empty_statuses": [200]}) == empty
    assert made(client, serve(origin, b""), {"as": kind, "empty_methods": ["GET"]}) == empty
    neither = {"as": kind, "empty_statuses": [], "empty_methods": []}
    assert failed(client, serve(origin, b"", status=204), neither) == reason
    assert failed(client, serve(origin, b""), neither, method="HEAD") == reason


def test_rs_03_data_is_the_bytes_and_empty_where_there_is_no_body(
    client: carpool.Client, origin: ScriptedOrigin, httpbin: Httpbin
) -> None:
    body = bytes(range(256))
    assert made(client, serve(origin, body), "data") == {"$data": base64.b64encode(body).decode()}
    record = client.call("request.perform", url=f"{httpbin.url}/status/204", serialize="data")
    assert record["outcome"] == {"ok": True, "value": {"$data": ""}}
    assert record["body"] == {"none": True, "size_bytes": 0}
    image = client.get(f"{httpbin.url}/image/png", serialize="data")
    assert image.value == {"$data": base64.b64encode(image.content).decode()}
    assert image.content.startswith(b"\x89PNG")


def test_rs_04_the_charset_decides_and_else_it_is_latin_1(
    client: carpool.Client, origin: ScriptedOrigin, httpbin: Httpbin
) -> None:
    for kind, body, text in [
        (None, b"h\xc3\xa9", "hÃ©"),
        ("text/plain", b"h\xc3\xa9", "hÃ©"),
        ("text/plain; charset=koi8-r", b"h\xc3\xa9", "hÃ©"),
        ("text/plain; charset=utf-8", b"h\xc3\xa9", "hé"),
        ('text/plain; Charset="UTF-8"', b"h\xc3\xa9", "hé"),
        ("text/plain; charset=ISO-8859-1", b"h\xe9", "hé"),
        ("text/plain; charset=utf-16", "hé".encode("utf-16"), "hé"),
        ("text/plain; charset=utf-16le", "hé".encode("utf-16le"), "hé"),
        ("text/plain; charset=iso-10646-ucs-2", "hé".encode("utf-16be"), "hé"),
        ("text/plain; charset=utf-32be", "hé".encode("utf-32be"), "hé"),
    ]:
        assert made(client, serve(origin, body, kind), "string") == text, kind
    assert "⡌⠁⠧⠑" in made(client, f"{httpbin.url}/encoding/utf8", "string", response_body="file")


def test_rs_04_automatic_reads_what_the_origin_most_likely_meant(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    automatic = {"as": "string", "encoding": "auto"}
    for kind, body, text in [
        (None, b"h\xc3\xa9", "hé"),
        (None, b"h\xe9", "hé"),
        (None, "hé".encode("utf-16"), "hé"),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbfh\xc3\xa9", "hé"),
        ("text/plain; charset=windows-1252", b"\x80", "€"),
    ]:
        assert made(client, serve(origin, body, kind), automatic) == text, kind


def test_rs_04_every_encoding_by_the_vectors(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """The encoding that the caller names takes precedence over the origin's."""
    for row in rows("charsets"):
        url = serve(origin, base64.b64decode(row["base64"]), "text/plain; charset=utf-8")
        serialize = {"as": "string", "encoding": row["encoding"], "empty_statuses": [200]}
        if row["text"] is None:
            reason, details = failed(client, url, serialize)
            assert reason == "string_serialization_failed", row
            assert details["encoding"].startswith(row["encoding"]), row
        else:
            assert made(client, url, serialize) == row["text"], row


def test_rs_05_json_of_any_kind(client: carpool.Client, origin: ScriptedOrigin, httpbin: Httpbin) -> None:
    for body, value in [(b'{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}), (b'"text"', "text"), (b" 1\n", 1)]:
        assert made(client, serve(origin, body), "json") == value
    assert client.call("request.perform", url=serve(origin, b"null"), serialize="json")["outcome"]["value"] is None
    for encoding in ("utf-8-sig", "utf-16", "utf-16be", "utf-32le"):
        assert made(client, serve(origin, '{"é": "漢"}'.encode(encoding)), "json") == {"é": "漢"}, encoding
    assert made(client, f"{httpbin.url}/json", "json")["slideshow"]["author"] == "Yours Truly"


def test_rs_05_numbers_keep_every_digit(wire: Wire, origin: ScriptedOrigin) -> None:
    text = b"[123456789012345678901234567890,0.1,1e400,-0.0]"
    wire.request("request.perform", url=serve(origin, text), serialize="json")
    assert b'"value":' + text in wire.receive_bytes()


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [(b"{", 1, 2), (b'[1,\n 2,\n  "\xff"]', 3, 4), (b"[1] 2", 1, 6)],
)
def test_rs_05_what_is_no_json_is_told_with_its_place(
    client: carpool.Client, origin: ScriptedOrigin, body: bytes, line: int, column: int
) -> None:
    reason, details = failed(client, serve(origin, body, "application/json"), "json")
    assert (reason, details["underlying"]["name"]) == ("json_serialization_failed", "invalid_json")
    place = details["underlying"]["details"]
    assert (place["line"], place["column"]) == (line, column)


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_rs_06_property_lists_that_python_wrote(
    client: carpool.Client, origin: ScriptedOrigin, form: plistlib.PlistFormat
) -> None:
    value = {
        "text": "é<&>漢👍",
        "numbers": [0, -1, 1 << 62, 1.5, True, False],
        "bytes": b"\x00\xff",
        "when": datetime.datetime(2001, 1, 1, 0, 2, 3),
        "empty": [{}, [], ""],
    }
    expected = {**value, "bytes": {"$data": "AP8="}, "when": {"$date": 978_307_323.0}}
    assert made(client, serve(origin, plistlib.dumps(value, fmt=form)), "plist") == expected


@pytest.mark.parametrize("body", [b"{}", b"bplist00", b"<plist><dict></plist>", b"\x00" * 40])
def test_rs_06_what_is_no_property_list(client: carpool.Client, origin: ScriptedOrigin, body: bytes) -> None:
    reason, details = failed(client, serve(origin, body), "plist")
    assert (reason, details["underlying"]["name"]) == ("decoding_failed", "invalid_property_list")


@pytest.mark.parametrize("kind", KINDS)
def test_rs_08_a_body_s_file_that_cannot_be_read(client: carpool.Client, origin: ScriptedOrigin, kind: str) -> None:
    request = client.submit("GET", serve(origin, b"[1]"), response_body="file")
    file = client.wait(request).record["body"]["file"]
    Path(file).unlink()
    outcome = client.call("request.response", request=request, serialize=kind)["outcome"]
    assert outcome["error"]["name"] == "response_serialization_failed.input_file_read_failed"
    assert outcome["error"]["details"] == {"path": file}


@pytest.mark.parametrize("kind", KINDS)
def test_rs_08_a_body_that_was_released(client: carpool.Client, origin: ScriptedOrigin, kind: str) -> None:
    request = client.submit("GET", serve(origin, b"[1]"), response_body="file")
    client.wait(request)
    client.call("body.release", request=request)
    error = client.call("request.response", request=request, serialize=kind)["outcome"]["error"]
    assert error["name"] == "response_serialization_failed.input_file_nil"


def test_rs_09_the_prefix_against_script_inclusion(client: carpool.Client, origin: ScriptedOrigin) -> None:
    serialize = {"as": "json", "preprocess": "google_xssi"}
    assert made(client, serve(origin, PREFIX + b'{"a":1}'), serialize) == {"a": 1}
    assert made(client, serve(origin, b'{"a":1}'), serialize) == {"a": 1}
    assert failed(client, serve(origin, PREFIX + b'{"a":1}'), "json")[0] == "json_serialization_failed"
    assert (
        made(client, serve(origin, PREFIX + PREFIX), {"as": "string", "preprocess": "google_xssi"}) == PREFIX.decode()
    )


def test_rs_09_a_client_s_own_preprocessor(client: carpool.Client, origin: ScriptedOrigin) -> None:
    asked: list[bytes | None] = []

    def preprocess(call: carpool.PreprocessCall) -> bytes:
        asked.append(call.content)
        if call.content == b"no":
            raise carpool.Refuse("not mine")
        return (call.content or b"").removeprefix(b"while(1);")

    client.register("strip", preprocess=preprocess)
    serialize = {"as": "json", "preprocess": {"callback": {"name": "strip"}}}
    assert made(client, serve(origin, b"while(1);[1]"), serialize) == [1]
    assert made(client, serve(origin, b"", status=204), serialize) is None
    reason, details = failed(client, serve(origin, b"no"), serialize)
    assert (reason, details["underlying"]["message"]) == ("custom_serialization_failed", "not mine")
    assert asked == [b"while(1);[1]", b"no"]


def test_rs_10_a_client_s_own_serializer(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def add(call: carpool.SerializeCall) -> Any:
        if call.content is None or not call.content.strip():
            raise carpool.Refuse("nothing to add")
        return {"sum": sum(int(word) for word in call.content.split())}

    client.register("add", serialize=add)
    serialize = {"callback": {"name": "add"}}
    assert made(client, serve(origin, b"1 2 3"), serialize) == {"sum": 6}
    reason, details = failed(client, serve(origin, b" "), serialize)
    assert (reason, details["underlying"]["name"]) == ("custom_serialization_failed", "client_refused")
    assert details["underlying"]["message"] == "nothing to add"


def test_rs_10_a_serializer_that_breaks_or_is_not_there(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def broken(_: carpool.SerializeCall) -> Any:
        raise RuntimeError("broken")

    client.register("broken", serialize=broken)
    for name in ("broken", "nobody"):
        url = serve(origin, b"1")
        outcome = client.call("request.perform", url=url, serialize={"callback": {"name": name}})["outcome"]
        assert outcome["error"]["name"] == "callback_failed"
        none = {"callback": {"name": name, "on_failure": "none"}}
        assert client.call("request.perform", url=url, serialize=none)["outcome"] == {"ok": True}


def test_rs_11_a_body_of_which_nothing_is_left_is_not_an_empty_one(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    url = serve(origin, PREFIX)
    assert failed(client, url, {"as": "json", "preprocess": "google_xssi"})[0] == "json_serialization_failed"
    assert failed(client, url, {"as": "plist", "preprocess": "google_xssi"})[0] == "decoding_failed"
    assert made(client, url, {"as": "string", "preprocess": "google_xssi"}) == ""


def test_several_values_of_one_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    record = client.call("request.perform", url=serve(origin, b"[1]"), serialize=["string", "json", "none", "data"])
    assert (record["outcome"]["ok"], record["outcome"]["value"]) == (True, "[1]")
    values = record["outcome"]["values"]
    assert [(value["serializer"], value.get("value")) for value in values] == [
        ("string", "[1]"),
        ("json", [1]),
        ("none", None),
        ("data", {"$data": "WzFd"}),
    ]
    record = client.call("request.perform", url=serve(origin, b"text"), serialize=["string", "json"])
    assert (record["outcome"]["ok"], record["outcome"]["value"]) == (False, "text")
    assert [value["ok"] for value in record["outcome"]["values"]] == [True, False]


def test_a_body_is_sent_once_and_read_by_several_clients_in_several_ways(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    request = client.submit("GET", serve(origin, b'["h\xc3\xa9"]'))
    assert client.response(request, "json").value == ["hé"]
    assert client.response(request, {"as": "string", "encoding": "utf-8"}).value == '["hé"]'
    with daemon.client() as other:
        assert [value["value"] for value in other.response(request, ["data", "json"]).values] == [
            {"$data": base64.b64encode(b'["h\xc3\xa9"]').decode()},
            ["hé"],
        ]
    refused = client.response(request, "plist").record["outcome"]
    assert refused["error"]["name"] == "response_serialization_failed.decoding_failed"
    assert client.wait(request).record["outcome"] == {"ok": True}
    assert len(origin.requests) == 1


def test_a_value_that_does_not_fit_the_line_is_in_the_body_s_file(client: carpool.Client, nginx: Nginx) -> None:
    record = client.call("request.perform", url=f"{nginx.http}/words.txt", serialize="string")
    assert record["outcome"] == {"ok": True, "truncated": True}
    assert Path(record["body"]["file"]).read_bytes() == (nginx.directory / "files" / "words.txt").read_bytes()


def test_a_body_of_more_than_16_mib_has_no_value(client: carpool.Client, origin: ScriptedOrigin) -> None:
    limit = 16 << 20
    reason, details = failed(client, serve(origin, b"x" * (limit + 1)), "string")
    assert (reason, details) == ("input_too_large", {"size_bytes": limit + 1, "limit_bytes": limit})


@pytest.mark.parametrize(
    ("serialize", "path"),
    [
        ("jsn", "params.serialize"),
        ([], "params.serialize"),
        (["json"] * 9, "params.serialize"),
        ({"as": "json", "encoding": "utf-8"}, "params.serialize.encoding"),
        ({"as": "none", "preprocess": "google_xssi"}, "params.serialize"),
        (["data", {"as": "string", "encoding": "latin9"}], "params.serialize[1].encoding"),
        ({"as": "json", "empty_methods": ["G T"]}, "params.serialize.empty_methods[0]"),
        ({"as": "json", "empty_statuses": [20]}, "params.serialize.empty_statuses[0]"),
        ({"as": "json", "preproces": "google_xssi"}, "params.serialize.preproces"),
    ],
)
def test_what_says_nothing_is_refused_by_its_place(
    client: carpool.Client, origin: ScriptedOrigin, serialize: Any, path: str
) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("request.perform", url=origin.url, serialize=serialize)
    assert caught.value.data["path"] == path
    assert origin.requests == []


def test_the_python_client_raises_what_has_no_value(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.SerializationError) as caught:
        client.get(serve(origin, b"{"), serialize="json")
    assert caught.value.name == "response_serialization_failed.json_serialization_failed"
    assert caught.value.underlying is not None
    assert caught.value.record["body"]["text"] == "{"
