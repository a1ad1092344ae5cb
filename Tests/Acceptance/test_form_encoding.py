"""The choices of a form, as origins see them, byte for byte."""

from __future__ import annotations

import itertools
import json
from typing import Any
from urllib.parse import unquote

import carpool
import pytest
from harness.daemon import Daemon
from harness.vectors import lines, rows, verbatim
from harness.wire import Wire
from origins.httpbin import Httpbin
from origins.scripted import ScriptedOrigin

MAXIMUM_TARGET_BYTES = 60_000


class Form:
    """Sends parameters as a form with the given method."""

    def __init__(self, client: carpool.Client, origin: ScriptedOrigin) -> None:
        self._client = client
        self._origin = origin

    def __call__(self, parameters: Any, **options: Any) -> str:
        """Return the received body."""
        params: dict[str, Any] = {"encoding": {"form": options}} if options else {}
        record = self._client.call(
            "request.perform", method="POST", url=self._origin.url, parameters=parameters, **params
        )
        assert record["outcome"] == {"ok": True}
        return self._origin.requests[-1].body.decode()

    def query(self, target: str, parameters: Any) -> str:
        """Return the received target."""
        self._client.call("request.perform", url=self._origin.url + target, parameters=parameters)
        return self._origin.requests[-1].target


@pytest.fixture
def form(client: carpool.Client, origin: ScriptedOrigin) -> Form:
    return Form(client, origin)


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_golden_vectors_arrive_byte_for_byte(daemon: Daemon, origin: ScriptedOrigin, method: str) -> None:
    """Sent as text from their file, since Python cannot write every number."""
    with daemon.wire() as wire:
        for number, line in enumerate(lines("form")):
            row = json.loads(line)
            if method == "GET" and len(row.get("output", "")) > MAXIMUM_TARGET_BYTES:
                continue
            seen = len(origin.requests)
            encoding = json.dumps({"form": row["options"]})
            wire.send_text(
                f'{{"jsonrpc": "2.0", "id": {number}, "method": "request.perform", "params": {{"url": "{origin.url}",'
                f' "method": "{method}", "parameters": {verbatim(line, "input")}, "encoding": {encoding}}}}}'
            )
            outcome = wire.result(number)["outcome"]
            if "error" in row:
                error = outcome["error"]
                assert error["name"] == "parameter_encoder_failed.encoder_failed", line
                assert error["details"]["underlying"]["name"] == row["error"], line
                assert len(origin.requests) == seen, line
                continue
            came = origin.received(seen + 1)[seen]
            if method == "POST":
                assert came.body.decode() == row["output"], line
            else:
                assert came.target == ("/?" if row["output"] else "/") + row["output"], line


@pytest.mark.parametrize("key", ["snake_case", "kebab_case", "capitalized", "uppercased", "lowercased"])
def test_fe_11_names_are_converted_as_in_the_vectors(wire: Wire, origin: ScriptedOrigin, key: str) -> None:
    table = list(rows("keys"))
    for row in table:
        encoding = {"form": {"key": key}}
        wire.call("request.perform", method="POST", url=origin.url, parameters={row["key"]: ""}, encoding=encoding)
    assert [unquote(came.body.decode()) for came in origin.received(len(table))] == [f"{row[key]}=" for row in table]


def test_fe_02_nothing_is_appended_for_empty_parameters(form: Form) -> None:
    """Alamofire leaves an ampersand at the end of the query."""
    nothing: list[dict[str, Any]] = [{}, {"a": []}, {"a": {}, "b": None}]
    for empty in nothing:
        assert form.query("/p?a=b", empty) == "/p?a=b"
        assert form.query("/p", empty) == "/p"


def test_fe_03_an_empty_form_is_an_empty_body_of_its_type(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, params={"a": []}, encoding="form")
    came = origin.received(1)[0]
    assert (came.body, came.values("Content-Length")) == (b"", ["0"])
    assert came.values("Content-Type") == ["application/x-www-form-urlencoded; charset=utf-8"]


def test_fe_04_a_failure_has_its_cause_inside(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.RequestError) as caught:
        client.get(origin.url, params=[1], encoding="form")
    assert caught.value.name == "parameter_encoder_failed.encoder_failed"
    assert caught.value.underlying is not None
    assert caught.value.underlying.name == "invalid_root_object"
    assert origin.requests == []


def test_fe_05_json_compact_pretty_and_sorted(client: carpool.Client, origin: ScriptedOrigin) -> None:
    value = {"property": "http://a/é", "a": 1}
    for encoding, expected in [
        ("json", '{"property":"http://a/é","a":1}'),
        ({"json": {"sorted_keys": True}}, '{"a":1,"property":"http://a/é"}'),
        ({"json": {"pretty": True}}, '{\n  "property" : "http://a/é",\n  "a" : 1\n}'),
        ({"json": {"pretty": True, "sorted_keys": True}}, '{\n  "a" : 1,\n  "property" : "http://a/é"\n}'),
    ]:
        client.call("request.perform", method="POST", url=origin.url, parameters=value, encoding=encoding)
        assert origin.requests[-1].body.decode() == expected


def test_fe_06_pairs_are_sorted_at_every_level_unless_the_order_counts(form: Form) -> None:
    value = {"k": [3, 1, 2, 10], "a": {"z": 1, "b": 2}}
    assert form(value) == "a%5Bb%5D=2&a%5Bz%5D=1&k%5B%5D=1&k%5B%5D=10&k%5B%5D=2&k%5B%5D=3"
    assert form(value, sort="given") == "k%5B%5D=3&k%5B%5D=1&k%5B%5D=2&k%5B%5D=10&a%5Bz%5D=1&a%5Bb%5D=2"


def test_fe_07_arrays(form: Form) -> None:
    value = {"a": ["x", "y"]}
    assert form(value) == form(value, array="brackets") == "a%5B%5D=x&a%5B%5D=y"
    assert form(value, array="no_brackets") == "a=x&a=y"
    assert form(value, array="index_in_brackets") == "a%5B0%5D=x&a%5B1%5D=y"
    assert form(value, array="comma") == "a=x,y"


def test_fe_08_truth(form: Form) -> None:
    assert form({"t": True, "f": False}) == form({"t": True, "f": False}, bool="numeric") == "f=0&t=1"
    assert form({"t": True, "f": False}, bool="literal") == "f=false&t=true"


def test_fe_09_bytes(form: Form) -> None:
    value = {"data": {"$data": "ZGF0YQ=="}}
    assert form(value) == form(value, data="base64") == "data=ZGF0YQ%3D%3D"
    assert form(value, data="deferred_to_data", sort="given") == "&".join(f"data%5B%5D={byte}" for byte in b"data")


def test_fe_10_dates(form: Form) -> None:
    value = {"date": {"$date": 978_307_323.456}}
    assert form(value) == form(value, date="deferred_to_date") == "date=123.456"
    assert form(value, date="seconds_since_1970") == "date=978307323.456"
    assert form(value, date="milliseconds_since_1970") == "date=978307323456.0"
    assert form(value, date="iso8601") == "date=2001-01-01T00%3A02%3A03Z"
    assert form(value, date={"formatted": "%d.%m.%Y %T,%L"}) == "date=01.01.2001%2000%3A02%3A03%2C456"


def test_fe_11_the_whole_composed_name_is_converted_at_once(form: Form) -> None:
    value = {"oneTwo": {"threeFour": "aB"}}
    assert form(value, key="snake_case") == "one_two%5Bthree_four%5D=aB"
    assert form(value, key="snake_case", key_path="dots") == "one_two.three_four=aB"
    assert form(value, key="kebab_case") == "one-two%5Bthree-four%5D=aB"
    assert form(value, key="capitalized") == "OneTwo%5BthreeFour%5D=aB"
    assert form(value, key="uppercased") == "ONETWO%5BTHREEFOUR%5D=aB"
    assert form(value, key="lowercased") == "onetwo%5Bthreefour%5D=aB"


def test_fe_12_paths_of_names(form: Form) -> None:
    assert form({"a": {"b": {"c": "d"}}}) == "a%5Bb%5D%5Bc%5D=d"
    assert form({"a": {"b": {"c": "d"}}}, key_path="dots") == "a.b.c=d"


def test_fe_13_null(form: Form) -> None:
    value = {"a": None, "k": ["a", None, "b"]}
    assert form(value) == form(value, nil="drop_key") == "k%5B%5D=a&k%5B%5D=b"
    assert form(value, nil="drop_value") == "a=&k%5B%5D=&k%5B%5D=a&k%5B%5D=b"
    assert form(value, nil="null") == "a=null&k%5B%5D=a&k%5B%5D=b&k%5B%5D=null"


def test_fe_14_blanks(form: Form) -> None:
    assert form({"a b": "c+d e"}) == "a%20b=c%2Bd%20e"
    assert form({"a b": "c+d e"}, space="plus_replaced") == "a+b=c%2Bd+e"


def test_fe_15_what_is_not_escaped(form: Form) -> None:
    assert form({"allowed": "?/:"}) == "allowed=?/%3A"
    assert form({"allowed": "?/:"}, allowed_characters="-._~:") == "allowed=%3F%2F:"


@pytest.mark.parametrize("root", [[1], [], "x", 1, 1.5, True, {"$data": ""}, {"$date": 0}])
def test_fe_16_the_root_must_be_an_object(client: carpool.Client, origin: ScriptedOrigin, root: Any) -> None:
    record = client.call("request.perform", method="POST", url=origin.url, parameters=root)
    assert record["outcome"]["error"]["details"]["underlying"]["name"] == "invalid_root_object"
    assert origin.requests == []


def test_fe_17_numbers_keep_every_digit(wire: Wire, origin: ScriptedOrigin) -> None:
    numbers = '{"a": 1.0, "b": 100.0, "c": 1e-07, "d": 1e21, "e": 9007199254740993, "f": 1.10, "g": 1e400}'
    wire.send_text(
        '{"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": '
        f'{{"url": "{origin.url}", "method": "POST", "parameters": {numbers}}}}}'
    )
    assert wire.result(1)["outcome"] == {"ok": True}
    expected = "a=1.0&b=100.0&c=1e-07&d=1e21&e=9007199254740993&f=1.10&g=1e400"
    assert origin.received(1)[0].body.decode() == expected


def test_fe_18_empty_containers_write_nothing(form: Form) -> None:
    assert form({"a": [], "b": {}}) == ""
    assert form({"a": [[], 1, {}], "b": {"c": []}}, array="index_in_brackets") == "a%5B0%5D=1"


def test_httpbin_reads_what_each_choice_of_arrays_writes(client: carpool.Client, httpbin: Httpbin) -> None:
    expected: dict[str, Any] = {
        "brackets": {"k[]": ["b", "a"]},
        "no_brackets": {"k": ["b", "a"]},
        "index_in_brackets": {"k[0]": "b", "k[1]": "a"},
        "comma": {"k": "b,a"},
    }
    for (array, form), (method, place) in itertools.product(expected.items(), [("GET", "args"), ("POST", "form")]):
        record = client.call(
            "request.perform",
            method=method,
            url=f"{httpbin.url}/anything",
            parameters={"k": ["b", "a"]},
            encoding={"form": {"array": array, "sort": "given"}},
            serialize="json",
        )
        assert record["outcome"]["value"][place] == form
