"""Parameters in the query or the body, as origins see them: byte for byte, and as a framework reads them."""

from __future__ import annotations

import base64
import datetime
import json
import plistlib
from typing import Any

import carpool
import pytest
from harness.vectors import rows
from origins.httpbin import Httpbin
from origins.scripted import Received, ScriptedOrigin

FORM = "application/x-www-form-urlencoded; charset=utf-8"


def send(client: carpool.Client, origin: ScriptedOrigin, method: str, target: str = "/", **params: Any) -> Received:
    """Send parameters and return the request as it came."""
    record = client.call("request.perform", method=method, url=origin.url + target, **params)
    assert record["outcome"] == {"ok": True}
    return origin.requests[-1]


def told(httpbin: Httpbin, client: carpool.Client, method: str, target: str = "/anything", **params: Any) -> Any:
    """Send parameters and return the request as httpbin parses it."""
    options = {"serialize": "json", **params}
    return client.call("request.perform", method=method, url=httpbin.url + target, **options)["outcome"]["value"]


def test_golden_vectors_arrive_byte_for_byte(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for row in rows("encoding"):
        seen = len(origin.requests)
        params = {name: row[name] for name in ("method", "headers", "parameters", "encoding")}
        url = row["url"].replace("http://h", origin.url)
        record = client.call("request.perform", url=url, **params)
        expected = row["result"]
        if "error" in expected:
            error = record["outcome"]["error"]
            assert (error["name"], error["details"]["underlying"]["name"]) == (
                expected["error"],
                expected["underlying"],
            )
        elif row["method"] == "GET" and expected["body"] is not None:
            assert record["outcome"]["error"]["name"] == "url_request_validation_failed.body_data_in_get_request"
        else:
            came = origin.received(seen + 1)[seen]
            assert record["attempts"][0]["request"]["url"] == expected["url"].replace("http://h", origin.url), row
            assert came.target == expected["url"].removeprefix("http://h").partition("#")[0], row
            assert came.body == (expected["body"] or "").encode(), row
            assert came.values("Content-Type") == [kind for kind in [expected["content_type"]] if kind], row
            continue
        assert len(origin.requests) == seen, row


def test_pe_01_the_method_decides_between_query_and_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for method in ("GET", "HEAD", "DELETE"):
        came = send(client, origin, method, "/p", parameters={"a": 1})
        assert (came.method, came.target, came.body, came.values("Content-Type")) == (method, "/p?a=1", b"", [])
    for method in ("POST", "PUT", "PATCH", "QUERY"):
        came = send(client, origin, method, "/p", parameters={"a": 1})
        assert (came.method, came.target, came.body, came.values("Content-Type")) == (method, "/p", b"a=1", [FORM])


def test_pe_01_the_destination_may_be_forced(client: carpool.Client, origin: ScriptedOrigin) -> None:
    into = {kind: {"form": {"destination": kind}} for kind in ("query", "body")}
    came = send(client, origin, "POST", "/p", parameters={"a": 1}, encoding=into["query"])
    assert (came.target, came.body, came.values("Content-Type")) == ("/p?a=1", b"", [])
    came = send(client, origin, "DELETE", "/p", parameters={"a": 1}, encoding=into["body"])
    assert (came.target, came.body, came.values("Content-Type")) == ("/p", b"a=1", [FORM])


def test_pe_01_httpbin_reads_the_same_parameters_in_both_places(client: carpool.Client, httpbin: Httpbin) -> None:
    parameters = {"q": "car pool & Söhne", "tag": ["a", "b"], "x": {"y": "?/+%"}}
    expected = {"q": "car pool & Söhne", "tag[]": ["a", "b"], "x[y]": "?/+%"}
    for method in ("GET", "DELETE"):
        seen = told(httpbin, client, method, parameters=parameters)
        assert (seen["method"], seen["args"], seen["form"]) == (method, expected, {})
    for method in ("POST", "PUT", "PATCH"):
        seen = told(httpbin, client, method, parameters=parameters)
        assert (seen["method"], seen["args"], seen["form"]) == (method, {}, expected)


@pytest.mark.parametrize("params", [{}, {"parameters": None}, {"parameters": None, "encoding": "json"}])
def test_pe_02_no_parameters_change_nothing(
    client: carpool.Client, origin: ScriptedOrigin, params: dict[str, Any]
) -> None:
    for method in ("GET", "POST"):
        came = send(client, origin, method, "/p?a=b", **params)
        assert (came.target, came.body, came.values("Content-Type")) == ("/p?a=b", b"", [])


def test_pe_03_empty_parameters_leave_the_url_and_make_an_empty_body(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    came = send(client, origin, "GET", "/p", parameters={})
    assert (came.target, came.values("Content-Type"), came.values("Content-Length")) == ("/p", [], [])
    came = send(client, origin, "POST", "/p", parameters={})
    assert (came.body, came.values("Content-Type"), came.values("Content-Length")) == (b"", [FORM], ["0"])


def test_pe_04_a_content_type_of_the_caller_s_own_stays(client: carpool.Client, origin: ScriptedOrigin) -> None:
    own = {"content-TYPE": "application/x-www-form-urlencoded"}
    came = send(client, origin, "POST", headers=own, parameters={"a": 1})
    assert (came.body, came.values("Content-Type")) == (b"a=1", ["application/x-www-form-urlencoded"])


def test_pe_05_a_query_is_added_to_before_the_fragment(client: carpool.Client, origin: ScriptedOrigin) -> None:
    target = "/get?a=b%20c&d#frag"
    record = client.call("request.perform", url=origin.url + target, parameters={"foo": "bar"})
    assert origin.received(1)[0].target == "/get?a=b%20c&d&foo=bar"
    assert record["attempts"][0]["request"]["url"] == f"{origin.url}/get?a=b%20c&d&foo=bar#frag"


def test_pe_05_httpbin_reads_both_queries(client: carpool.Client, httpbin: Httpbin) -> None:
    seen = told(httpbin, client, "GET", "/anything?a=b#frag", parameters={"foo": "bar", "a": "c"})
    assert seen["args"] == {"a": ["b", "c"], "foo": "bar"}


def test_pe_06_names_are_sorted_and_arrays_and_inner_objects_are_not(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    parameters = {"z": 1, "a": {"y": 2, "b": 3}, "m": [3, 1, 2]}
    came = send(client, origin, "POST", parameters=parameters, encoding={"form": {"sort": "keys"}})
    assert came.body == b"a%5By%5D=2&a%5Bb%5D=3&m%5B%5D=3&m%5B%5D=1&m%5B%5D=2&z=1"
    came = send(client, origin, "POST", parameters=parameters, encoding={"form": {"sort": "given"}})
    assert came.body == b"z=1&a%5By%5D=2&a%5Bb%5D=3&m%5B%5D=3&m%5B%5D=1&m%5B%5D=2"


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (None, b"k%5B%5D=1&k%5B%5D=2"),
        ("brackets", b"k%5B%5D=1&k%5B%5D=2"),
        ("no_brackets", b"k=1&k=2"),
        ("index_in_brackets", b"k%5B0%5D=1&k%5B1%5D=2"),
        ("comma", b"k=1,2"),
    ],
)
def test_pe_07_arrays(client: carpool.Client, origin: ScriptedOrigin, array: str | None, expected: bytes) -> None:
    encoding = {"form": {"sort": "keys", **({"array": array} if array else {})}}
    assert send(client, origin, "PUT", parameters={"k": [1, 2]}, encoding=encoding).body == expected


def test_pe_08_objects_inside_objects(client: carpool.Client, origin: ScriptedOrigin) -> None:
    parameters = {"a": {"b": {"c": [{"d": 1}]}}}
    assert send(client, origin, "POST", parameters=parameters).body == b"a%5Bb%5D%5Bc%5D%5B%5D%5Bd%5D=1"


def test_pe_09_truth_is_a_number_or_a_word_and_numbers_are_never_truth(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    parameters = {"a": True, "b": 1, "c": False, "d": 0}
    assert send(client, origin, "POST", parameters=parameters).body == b"a=1&b=1&c=0&d=0"
    literal = {"form": {"bool": "literal"}}
    came = send(client, origin, "POST", parameters=parameters, encoding=literal)
    assert came.body == b"a=true&b=1&c=false&d=0"


def test_pe_10_integers_have_no_fraction_and_reals_keep_theirs(client: carpool.Client, origin: ScriptedOrigin) -> None:
    parameters = {"a": 1, "b": 1.0, "c": 1.5, "d": 1e21, "e": -0.0}
    assert send(client, origin, "POST", parameters=parameters).body == b"a=1&b=1.0&c=1.5&d=1e%2B21&e=-0.0"


def test_pe_11_everything_is_escaped_but_the_unreserved_and_two_more(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    printable = "".join(map(chr, range(0x20, 0x7F)))
    kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~?/"
    escaped = "".join(character if character in kept else f"%{ord(character):02X}" for character in printable)
    assert send(client, origin, "GET", parameters={printable: printable}).target == f"/?{escaped}={escaped}"
    assert send(client, origin, "GET", parameters={"": "é漢👍"}).target == "/?=%C3%A9%E6%BC%A2%F0%9F%91%8D"


def test_pe_11_httpbin_reads_every_character_back(client: carpool.Client, httpbin: Httpbin) -> None:
    text = "".join(map(chr, range(0x20, 0x7F))) + "\r\n\t é漢👍🏻"
    for method, place in (("GET", "args"), ("POST", "form")):
        assert told(httpbin, client, method, parameters={text: text})[place] == {text: text}


def test_pe_12_json_of_any_kind_with_its_content_type(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for parameters, expected in [
        ({"z": 1, "a": [True, 1.5, None]}, '{"z":1,"a":[true,1.5,null]}'),
        ([1, "a"], '[1,"a"]'),
        ("text", '"text"'),
        ({}, "{}"),
        ({"slash": "http://a/b", "é": "漢"}, '{"slash":"http://a/b","é":"漢"}'),
    ]:
        came = send(client, origin, "POST", parameters=parameters, encoding="json")
        assert (came.body.decode(), came.values("Content-Type")) == (expected, ["application/json"])


def test_pe_12_httpbin_reads_json(client: carpool.Client, httpbin: Httpbin) -> None:
    value = {"a": [1, 2.5, None, True, "é漢👍"], "b": {"c": {}}}
    for pretty in (False, True):
        seen = told(httpbin, client, "POST", parameters=value, encoding={"json": {"pretty": pretty}})
        assert seen["json"] == value
        assert ("\n" in seen["data"]) == pretty


@pytest.mark.parametrize("encoding", ["form", "json", "plist"])
def test_pe_13_headers_come_before_the_encoding(client: carpool.Client, origin: ScriptedOrigin, encoding: str) -> None:
    own = [("Content-Type", "text/plain")]
    came = send(client, origin, "POST", headers=own, parameters={"a": "b"}, encoding=encoding)
    assert came.values("Content-Type") == ["text/plain"]


PROPERTIES = {
    "text": "é<&>漢👍",
    "numbers": [0, -1, 1 << 62, 1.5, True, False],
    "bytes": b"\x00\xff",
    "when": datetime.datetime(2001, 1, 1, 0, 2, 3),
    "empty": [{}, [], ""],
}


@pytest.mark.parametrize(
    ("encoding", "form"), [("plist", plistlib.FMT_XML), ({"plist": {"format": "binary"}}, plistlib.FMT_BINARY)]
)
def test_pe_14_property_lists_are_read_by_python(
    client: carpool.Client, origin: ScriptedOrigin, encoding: Any, form: plistlib.PlistFormat
) -> None:
    when = PROPERTIES["when"]
    assert isinstance(when, datetime.datetime)
    seconds = when.replace(tzinfo=datetime.UTC).timestamp()
    parameters = {
        **PROPERTIES,
        "bytes": {"$data": base64.b64encode(b"\x00\xff").decode()},
        "when": {"$date": seconds},
    }
    came = send(client, origin, "POST", parameters=parameters, encoding=encoding)
    assert came.values("Content-Type") == ["application/x-plist"]
    assert came.body.startswith(b"bplist00") == (form is plistlib.FMT_BINARY)
    assert plistlib.loads(came.body) == PROPERTIES


def test_the_python_client_sends_bytes_and_dates(client: carpool.Client, origin: ScriptedOrigin) -> None:
    when = datetime.datetime(2001, 1, 1, 0, 2, 3, tzinfo=datetime.UTC)
    client.get(origin.url, params={"data": b"data", "date": when}, encoding="form")
    assert origin.received(1)[0].target == "/?data=ZGF0YQ%3D%3D&date=123.0"


@pytest.mark.parametrize(
    ("parameters", "encoding", "name", "underlying"),
    [
        ([1], "form", "parameter_encoder_failed.encoder_failed", "invalid_root_object"),
        ("x", "form", "parameter_encoder_failed.encoder_failed", "invalid_root_object"),
        (
            {"d": {"$date": 1e18}},
            {"form": {"date": "iso8601"}},
            "parameter_encoder_failed.encoder_failed",
            "invalid_date",
        ),
        (
            {"a": None},
            "plist",
            "parameter_encoding_failed.property_list_encoding_failed",
            "invalid_property_list",
        ),
        ({"a": {"$date": 1e300}}, "plist", "parameter_encoding_failed.property_list_encoding_failed", "invalid_date"),
    ],
)
def test_what_cannot_be_encoded_fails_with_its_cause_and_is_not_sent(
    client: carpool.Client, origin: ScriptedOrigin, parameters: Any, encoding: Any, name: str, underlying: str
) -> None:
    record = client.call("request.perform", method="POST", url=origin.url, parameters=parameters, encoding=encoding)
    error = record["outcome"]["error"]
    assert (error["name"], error["retryable"]) == (name, False)
    assert error["details"]["underlying"]["name"] == underlying
    assert error["details"]["underlying"]["message"] in error["message"]
    assert (record["response"], record["metrics"], origin.requests) == (None, None, [])


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"parameters": {"a": [1, {"$data": "!"}]}}, "params.parameters.a[1].$data"),
        ({"parameters": {"a": {"$date": "today"}}}, "params.parameters.a.$date"),
        ({"parameters": {}, "body": {"text": "a"}}, "params.parameters"),
        ({"parameters": {}, "encoding": {"form": {"sorted": "keys"}}}, "params.encoding.form.sorted"),
        ({"parameters": {}, "encoding": {"form": {"allowed_characters": "é"}}}, "params.encoding.form.allowed_chara"),
        (
            {"parameters": {}, "encoding": {"form": {"date": {"formatted": "%Q"}}}},
            "params.encoding.form.date.formatted",
        ),
        ({"parameters": {}, "encoding": "xml"}, "params.encoding"),
    ],
)
def test_what_says_nothing_is_refused_by_its_place(
    client: carpool.Client, origin: ScriptedOrigin, params: dict[str, Any], path: str
) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("request.perform", method="POST", url=origin.url, **params)
    assert caught.value.data["path"].startswith(path), caught.value.data
    assert origin.requests == []


def test_large_parameters_arrive_whole(client: carpool.Client, origin: ScriptedOrigin) -> None:
    values = {f"name{index}": "x" * 1_000 for index in range(500)}
    came = send(client, origin, "POST", parameters=values, encoding="json")
    assert json.loads(came.body) == values
    record = client.call("request.perform", url=origin.url, parameters=values)
    assert record["outcome"]["error"]["name"] == "invalid_url"
