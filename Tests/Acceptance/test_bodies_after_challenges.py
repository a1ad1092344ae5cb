"""Bodies that are sent only with an answer to a challenge, and bodies of pieces that are sent again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from harness.wire import Wire
from origins import linepages
from origins.scripted import Exchange, ScriptedOrigin

CREDENTIAL = {"username": "ada", "password": "secret"}
BODY = b"the body\n"


@pytest.fixture
def pages(origin: ScriptedOrigin) -> ScriptedOrigin:
    linepages.serve(origin)
    return origin


def answer(wire: Wire, origin: ScriptedOrigin, path: str, fds: Sequence[int] = (), **params: Any) -> Any:
    """Make a request with descriptors, and return the answer of the call."""
    call = wire.request_with(
        fds, "request.perform", url=origin.url + path, method="POST", credential=CREDENTIAL, **params
    )
    return wire.answer(call)


def perform(wire: Wire, origin: ScriptedOrigin, path: str, fds: Sequence[int] = (), **params: Any) -> Any:
    return answer(wire, origin, path, fds, **params)["result"]


def bodies(origin: ScriptedOrigin) -> list[tuple[list[str], bytes]]:
    """The lengths of the requests as their fields say, and their bodies."""
    return [(request.values("content-length"), request.body) for request in origin.requests]


@pytest.mark.parametrize("default_headers", [True, False])
@pytest.mark.parametrize("body", ["text", "pipe", "pieces"])
def test_the_body_comes_with_the_answer(
    wire: Wire, pages: ScriptedOrigin, tmp_path: Path, body: str, *, default_headers: bool
) -> None:
    params: dict[str, Any] = {"body_after_challenge": ["origin"], "default_headers": default_headers}
    fds: list[int] = []
    if body == "text":
        params["body"] = {"text": BODY.decode()}
    elif body == "pipe":
        read, write = os.pipe()
        os.write(write, BODY)
        os.close(write)
        fds, params["body"] = [read], {"fd": 0, "length_bytes": len(BODY)}
    else:
        (tmp_path / "file").write_bytes(BODY)
        fds = [os.open(tmp_path / "file", os.O_RDONLY)]
        params["body"] = {"pieces": [{"fd": 0}]}
    record = perform(wire, pages, "/digest", fds=fds, **params)
    for fd in fds:
        os.close(fd)
    assert record["response"]["status"] == 200
    assert bodies(pages) == [(["0"], b""), ([str(len(BODY))], BODY)]
    assert not pages.requests[0].values("authorization")


def test_a_server_that_does_not_ask_gets_the_body_too(wire: Wire, pages: ScriptedOrigin) -> None:
    record = perform(wire, pages, "/echo", body={"text": "abc"}, body_after_challenge=["origin"])
    assert record["response"]["status"] == 200
    assert [body for _, body in bodies(pages)] == [b"", b"abc"]


def test_a_failure_without_a_challenge_is_the_response(wire: Wire, pages: ScriptedOrigin) -> None:
    pages.on("/gone", lambda exchange: exchange.reply(410))
    record = perform(wire, pages, "/gone", body={"text": "abc"}, body_after_challenge=["origin"])
    assert record["response"]["status"] == 410
    assert [body for _, body in bodies(pages)] == [b""]


def test_without_a_body_there_is_one_request(wire: Wire, pages: ScriptedOrigin) -> None:
    perform(wire, pages, "/echo", body_after_challenge=["origin", "proxy"])
    assert len(pages.requests) == 1


def test_pieces_are_sent_again(wire: Wire, pages: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    fds = [os.open(tmp_path / "file", os.O_RDONLY) for _ in range(2)]
    pieces = [{"base64": "YWI="}, {"fd": 1, "offset": 2, "length_bytes": 3}, {"fd": 0, "offset": 8}, {"base64": "eg=="}]
    record = perform(wire, pages, "/digest", fds=fds, body={"pieces": pieces})
    for fd in fds:
        os.close(fd)
    assert record["response"]["status"] == 200
    assert [body for _, body in bodies(pages)] == [b"ab23489z"] * 2


def test_a_pipe_is_no_piece(wire: Wire, pages: ScriptedOrigin) -> None:
    read, write = os.pipe()
    error = answer(wire, pages, "/echo", fds=[read], body={"pieces": [{"fd": 0}]})["error"]
    os.close(read)
    os.close(write)
    assert "params.body.pieces[0].fd" in error["message"]
    assert not pages.requests


def test_a_body_that_cannot_be_sent_again_fails_an_exact_request(wire: Wire, pages: ScriptedOrigin) -> None:
    """With default fields the challenge is the response."""
    for default_headers in (True, False):
        read, write = os.pipe()
        os.write(write, BODY)
        os.close(write)
        record = perform(wire, pages, "/digest", fds=[read], body={"fd": 0}, default_headers=default_headers)
        os.close(read)
        assert record["outcome"]["ok"] is default_headers
        if default_headers:
            assert record["response"]["status"] == 401
        else:
            assert record["outcome"]["error"]["curl"]["code"] == 65


def test_cookies_have_their_place(wire: Wire, origin: ScriptedOrigin) -> None:
    headers = [["A", "1"], ["B", "2"]]
    for place, expected in ((0, ["cookie", "a", "b"]), (1, ["a", "cookie", "b"]), (9, ["a", "b", "cookie"])):
        cookies = {"set": [{"name": "n", "value": "v"}], "place": place}
        wire.call("request.perform", url=origin.url, default_headers=False, headers=headers, cookies=cookies)
        names = [name.lower() for name, _ in origin.requests[-1].headers]
        assert [name for name in names if name != "host"] == expected


def test_a_head_that_refuses_at_once(wire: Wire, origin: ScriptedOrigin) -> None:
    """A server that answers the empty request with a redirect gets no body, and the redirect is the response."""

    def moved(exchange: Exchange) -> None:
        exchange.reply(307, b"", [("Location", "/elsewhere")])

    origin.on("/moved", moved)
    record = perform(
        wire, origin, "/moved", body={"text": "abc"}, body_after_challenge=["origin"], redirect="do_not_follow"
    )
    assert record["response"]["status"] == 307
    assert [body for _, body in bodies(origin)] == [b""]
