"""Types of the Python client: those of `interceptor` are those of the catalogue, and errors are short."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool import _interceptors
from harness.checker import checked
from harness.daemon import Daemon

VERSIONS = ["3.10", "3.14"]


def errors(tmp_path: Path, program: str, version: str = "3.10") -> str:
    """Return what mypy writes about a program."""
    return checked(tmp_path, program, "--python-version", version)


# MARK: Interceptors


def members(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The members of an object of the catalogue, of all its alternatives."""
    if "$ref" in schema:
        return members(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for alternative in schema.get("oneOf", ()):
        found |= members(alternative, schemas)
    return found


def compare(kind: Any, schema: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Compare a TypedDict with an object of the catalogue, and its members that are such too."""
    hints = typing.get_type_hints(kind, {**vars(_interceptors), **vars(carpool)})
    of_catalogue = members(schema, schemas)
    assert set(hints) == set(of_catalogue), kind
    for name, hint in hints.items():
        inner = [each for each in (hint, *typing.get_args(hint)) if typing.is_typeddict(each)]
        if inner:
            compare(inner[0], of_catalogue[name], schemas)
        else:
            assert not members(of_catalogue[name], schemas), f"{name} of {kind} has members in the catalogue"


def test_the_members_of_interceptors_are_those_of_the_catalogue(daemon: Daemon) -> None:
    schemas = daemon.call("rpc.discover")["components"]["schemas"]
    compare(_interceptors.InterceptorOptions, schemas["InterceptorElement"], schemas)


INTERCEPTORS = """
import carpool

carpool.get("https://a.example/", interceptor=[
    "retry_policy",
    {"set_header": {"name": "A", "value": "b", "mode": "append"}},
    {"rewrite": {"host": "b.example", "query": {"set": {"a": "b"}}}},
    {"retry_policy": {"limit": 3, "jitter": 0.5}},
    {"oauth2": {"token_url": "https://a.example/token", "credential": {"access_token": "a"}}},
    {"callback": {"name": "mine", "handles": ["adapt"]}},
])
own: carpool.InterceptorOptions = {"compress": {"format": "gzip"}}
carpool.get("https://a.example/", interceptor=[own])
carpool.Client().create_session("s", {"interceptor": [own, {"bearer": {"token": "t"}}]})
"""
# A program that was checked before the elements had types.
UNTYPED_INTERCEPTORS = """
from collections.abc import Mapping, Sequence
from typing import Any

import carpool

one: dict[str, Any] = {"retry_policy": {"limit": 3}}
some: list[dict[str, Any]] = [one]
fixed: Mapping[str, Any] = one
several: Sequence[Mapping[str, Any]] = [fixed]
opaque: dict[str, object] = {"offline": {}}

def made() -> Any:
    return [one]

async def main() -> None:
    client, later = carpool.Client(), carpool.AsyncClient()
    carpool.get("https://a.example/", interceptor=[one])
    carpool.get("https://a.example/", interceptor=some)
    client.post("https://a.example/", interceptor=["retry_policy", fixed, {"offline": {}}])
    client.post("https://a.example/", interceptor=several, stream=True)
    await later.request("GET", "https://a.example/", interceptor=[opaque, one])
    await later.put("https://a.example/", interceptor=made())
    client.create_session("s", {"interceptor": some})
    options: carpool.SessionOptions = {"interceptor": several}
    client.create_session("s", options)
"""
WRONG_INTERCEPTORS = [
    '[{"set_heder": {"name": "A", "value": "b"}}]',
    '[{"set_header": {"name": "A"}}]',
    '[{"set_header": {"name": "A", "value": 1}}]',
    '[{"retry_policy": {"limits": 3}}]',
    '["retry"]',
]


@pytest.mark.parametrize("version", VERSIONS)
def test_interceptors_of_unknown_types_are_accepted(tmp_path: Path, version: str) -> None:
    assert errors(tmp_path, UNTYPED_INTERCEPTORS, version) == ""


def test_interceptors_are_typed(tmp_path: Path) -> None:
    assert errors(tmp_path, INTERCEPTORS) == ""
    program = "import carpool\n" + "".join(
        f'carpool.get("https://a.example/", interceptor={wrong})\n' for wrong in WRONG_INTERCEPTORS
    )
    found = errors(tmp_path, program)
    for number in range(2, 2 + len(WRONG_INTERCEPTORS)):
        assert f"program.py:{number}: error: " in found


# MARK: Errors

WRONG = [
    ('timeout="5"', 'Argument "timeout".*has incompatible type "str"; expected "float'),
    ('headers={"a": 5}', 'Argument "headers".*has incompatible type "dict.str, int."'),
    ("timout=5", 'Argument "timout".*has incompatible type "int"; expected "NoSuchArgument'),
    ('verify=5, json={"a": 1}', 'Argument "verify".*has incompatible type "int"'),
    ('stream=True, total="5"', 'Argument "total".*has incompatible type "str"'),
    ('stream="yes"', 'Argument "stream".*has incompatible type "Literal'),
    ("interceptor=5", 'Argument "interceptor".*has incompatible type "int"'),
]
CALLS = ["carpool.get", "carpool.Client().post", "await carpool.AsyncClient().put"]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_of_a_type_checker_is_one_line(tmp_path: Path, version: str) -> None:
    lines = ["import carpool", "async def main() -> None:"]
    lines += [f"    {call}('https://a.example/', {wrong})" for call in CALLS for wrong, _ in WRONG]
    lines += ["    carpool.get(5)", "    carpool.request('GET', 'https://a.example/', timeout='5')"]
    found = errors(tmp_path, "\n".join(lines) + "\n", version).splitlines()
    assert max(map(len, found)) < 400
    expected = [*(text for _ in CALLS for _, text in WRONG), "Argument 1 has", 'Argument "timeout"']
    assert len(found) == len(expected)
    for number, (line, text) in enumerate(zip(found, expected, strict=True), 3):
        assert re.match(rf"program.py:{number}: error: {text}", line), line


RIGHT = """
import carpool
from typing import Any
from typing_extensions import Unpack, assert_type

client, later = carpool.Client(), carpool.AsyncClient()
assert_type(client.get("https://a.example/"), carpool.Response)
assert_type(client.get("https://a.example/", stream=False), carpool.Response)
assert_type(carpool.get("https://a.example/", stream=True), carpool.Stream)

async def main(any: Any, **options: Unpack[carpool.RequestOptions]) -> None:
    assert_type(await later.get("https://a.example/", timeout=(1, None)), carpool.Response)
    assert_type(await later.post("https://a.example/", stream=True, data=b""), carpool.AsyncStream)
    assert_type(client.put(any, json=any, timeout=any), carpool.Response)
    assert_type(client.put(any, json=any, timeout=any, stream=True), carpool.Stream)
    assert_type(client.request("GET", "https://a.example/", **options), carpool.Response)
    assert_type(client.get("https://a.example/", stream=True, **options), carpool.Stream)
    async for page in later.pages("https://a.example/", max_pages=3, **options):
        assert_type(page, carpool.Response)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_right_arguments_have_their_types(tmp_path: Path, version: str) -> None:
    assert errors(tmp_path, RIGHT, version) == ""
