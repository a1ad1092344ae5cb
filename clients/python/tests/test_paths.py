from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from carpool import _paths
from carpool._rpc import RPCConnection

EXAMPLES = {
    b"/plain": "/plain",
    "/é🚗".encode(): "/é🚗",
    b"/caf\xe9.bin": "/caf\U0010fee9.bin",
    b"/\x80\xff": "/\U0010fe80\U0010feff",
    b"/\xc3": "/\U0010fec3",
    # The bytes of a surrogate, and of one of the characters for bytes.
    b"/\xed\xb3\xa9": "/\U0010feed\U0010feb3\U0010fea9",
    "/\U0010fee9": "/\U0010fef4\U0010fe8f\U0010febb\U0010fea9",
    "/\U0010ff00\U0010fe7f": "/\U0010ff00\U0010fe7f",
}


@pytest.mark.parametrize(("path", "text"), EXAMPLES.items())
def test_a_path_is_written_in_one_way(path: bytes | str, text: str) -> None:
    raw = os.fsencode(path)
    for each in (raw, os.fsdecode(raw), Path(os.fsdecode(raw))):
        assert _paths.absolute("data", each) == text
    assert _paths.local(text) == os.fsdecode(raw)


def test_all_paths_come_back_and_differ() -> None:
    source = random.Random(11)
    seen: dict[str, bytes] = {}
    pieces = [b"\xf4", b"\x8f", b"\xba", b"\xbb", b"\xe9", b"a", "\U0010fee9".encode(), "é".encode(), b"\xed\xa0\x80"]
    for _ in range(20_000):
        path = b"".join(source.choices(pieces, k=source.randrange(1, 7)))
        text = _paths.wire("data", os.fsdecode(path))
        text.encode()
        assert os.fsencode(_paths.local(text)) == path
        assert seen.setdefault(text, path) == path


@pytest.mark.parametrize("path", ["/a\ud800", "/\udc7f"])
def test_a_path_without_bytes_is_refused_by_the_name_of_its_argument(path: str) -> None:
    with pytest.raises(ValueError, match=r"^cert: '/.*' is not the name of a file: it has '\\ud"):
        _paths.absolute("cert", path)


def test_bytes_are_shown_as_in_python() -> None:
    assert _paths.shown("cannot open /caf\U0010fee9: é") == "cannot open /caf\\xe9: é"


@pytest.mark.parametrize(
    ("params", "sent"),
    [
        ({"body": {"file": "/\udce9"}}, "/\U0010fee9"),
        ({"body": {"multipart": [{"name": "a", "file": "/\udce9"}]}}, "/\U0010fee9"),
        ({"trust": {"evaluators": {"*": {"pinned_certificates": {"files": ["/\udce9"]}}}}}, "/\U0010fee9"),
        ({"destination": "/\udce9"}, "/\U0010fee9"),
    ],
)
def test_paths_inside_of_parameters_are_written_too(params: dict[str, Any], sent: str) -> None:
    _, line = RPCConnection().send_request("request.perform", params)
    assert f'"{sent}"'.encode() in line


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({"headers": [["A", "\udce9"]]}, r"headers\[0\]\[1\]"),
        ({"url": "http://\ud800/"}, "url"),
        ({"cookies": [{"path": "/\udce9"}]}, r"cookies\[0\]\.path"),
        ({"trust": {"ca_file": "/\ud800"}}, r"trust\.ca_file"),
    ],
)
def test_other_surrogates_are_refused_by_their_place(params: dict[str, Any], place: str) -> None:
    with pytest.raises(ValueError, match=f"^{place}: "):
        RPCConnection().send_request("request.perform", params)
