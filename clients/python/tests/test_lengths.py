"""The header field Content-Length of the caller: the daemon sends it, and a wrong one is refused before."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from both_clients import Connect

import carpool
from carpool.testing import FakeDaemon

URL = "https://api.example.com/"
BODIES: dict[str, tuple[dict[str, Any], int]] = {
    "bytes": ({"data": b"12345"}, 5),
    "text": ({"data": "é"}, 2),
    "large": ({"data": bytes(600_000)}, 600_000),
    "form": ({"data": {"a": "1"}}, 3),
    "json": ({"json": [1, 2]}, 5),
    "file": ({"data": b"file"}, 4),
    "list": ({"data": [b"123", b"45"]}, 5),
    "wire": ({"body": {"base64": "YWI="}}, 2),
    "none": ({}, 0),
}


@pytest.mark.parametrize(("given", "length"), BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("is_default", [False, True])
def test_a_given_length_is_that_of_the_body(
    connect: Connect, fake: FakeDaemon, given: dict[str, Any], length: int, is_default: bool
) -> None:
    fake.route("PUT", URL)

    def put(text: str) -> None:
        fields = {"headers": {"content-length": text}}
        client = connect(Path(fake.socket), **(fields if is_default else {}))
        body = {"data": io.BytesIO(b"file")} if given.get("data") == b"file" else given
        client.run("put", URL, **body, **({} if is_default else fields))

    put(str(length))
    assert (len(fake.requests[-1].content), "content-length" in fake.requests[-1].headers) == (length, False)
    with pytest.raises(ValueError, match=f"^headers: Content-Length is {length + 1}, but the body has {length} bytes"):
        put(str(length + 1))
    with pytest.raises(ValueError, match=r"^headers: Content-Length is the number of bytes in data, not '1, 1'"):
        put("1, 1")
    assert len(fake.requests) == 1


def test_a_path_and_a_form_with_files(client: carpool.Client, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.route("PUT", URL)
    path = tmp_path / "file.txt"
    path.write_bytes(b"12345")
    client.put(URL, data=path, headers={"Content-Length": "5"})
    with pytest.raises(ValueError, match="Content-Length is 4, but the body has 5 bytes"):
        client.put(URL, data=path, headers={"Content-Length": "4"})
    # The daemon writes the form, and chooses its boundary.
    client.put(URL, files={"a": b"x"}, headers={"Content-Length": "5", "A": "1"})
    assert fake.requests[-1].headers.pairs[0] == ("A", "1")
    assert "content-length" not in fake.requests[-1].headers


def test_a_function_as_auth_sees_the_length(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("PUT", URL)
    seen = []

    def auth(request: Any) -> Any:
        seen.append(request.headers["Content-Length"])
        request.body = b"longer"
        return request

    client.put(URL, data=b"12345", headers={"Content-Length": "5"}, auth=auth)
    assert (seen, fake.requests[-1].content) == (["5"], b"longer")
