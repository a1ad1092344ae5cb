"""Surrogates, which have no UTF-8, are refused by the name of the argument that has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from both_clients import Connect

import carpool
from carpool.testing import FakeDaemon

URL = "https://api.example.com/"
LONE = "\ud800"
FILE = Path(f"/tmp/{LONE}")
TEXT = "it has the surrogate"
NAME = re.escape(r"'/tmp/\ud800' is not the name of a file")


def with_body(request: Any) -> Any:
    request.body = LONE
    return request


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"params": {"a": LONE}}, f"params: {TEXT}"),
        ({"params": {LONE: "a"}}, f"params: {TEXT}"),
        ({"params": f"a={LONE}"}, f"params: {TEXT}"),
        ({"data": LONE}, f"data: {TEXT}"),
        ({"data": {"file": LONE}}, f"data: {TEXT}"),
        ({"data": [(LONE, "a")]}, f"data: {TEXT}"),
        ({"data": {"a": LONE}, "files": {"b": b""}}, f"data: {TEXT}"),
        ({"data": FILE}, f"data: {NAME}"),
        ({"json": {"path": ["\udce9"]}}, f"json: {TEXT}"),
        ({"json": {LONE: 1}}, f"json: {TEXT}"),
        ({"files": {LONE: b""}}, f"files: a name: {TEXT}"),
        ({"files": {"a": (LONE, b"")}}, r"files: '\\ud800' is not the name of a file"),
        ({"files": {"a": ("b", LONE)}}, f"files: the content of 'a': {TEXT}"),
        ({"files": {"a": FILE}}, f"files: {NAME}"),
        ({"files": {"a": (None, FILE)}}, f"files: {NAME}"),
        ({"auth": with_body}, f"auth: the body: {TEXT}"),
    ],
)
def test_a_surrogate_is_refused_by_the_name_of_its_argument(
    connect: Connect, fake: FakeDaemon, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        connect(Path(fake.socket)).run("post", URL, **options)
    assert fake.requests == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: carpool.Client(FILE), f"socket: {NAME}"),
        (lambda: carpool.AsyncClient(str(FILE)), f"socket: {NAME}"),
        (lambda: carpool.NetrcAuth(FILE), f"path: {NAME}"),
        (lambda: carpool.Client(params={"a": LONE}), f"params: {TEXT}"),
        (lambda: carpool.Client().params.update(a=LONE), f"params: {TEXT}"),
    ],
)
def test_it_is_refused_where_it_is_given(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


def test_the_bytes_of_a_path_are_none(fake: FakeDaemon, client: carpool.Client, tmp_path: Path) -> None:
    fake.route("PUT", URL)
    path = tmp_path / "\udce9"
    path.write_bytes(b"machine a login b password c")
    client.put(URL, files={"a": (None, path)}, auth=carpool.NetrcAuth(path))
    assert b"machine a" in fake.requests[-1].content
