"""Downloads that a redirect leads to another resource when they are resumed: nothing of the first one is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from harness.downloads import ATTRIBUTE, HALF, LOST, SIZE, download, is_whole, opened, sealed
from harness.wire import Wire
from origins.ranges import Resource
from origins.scripted import Exchange, ScriptedOrigin

AT_ONCE = {"retry_policy": {"scale_ms": 1}}
TAG = '"v1"'
CONTENT_TAG = '"9a0364b9e99bb480dd25e1f0284c8555"'
"""As stores of files send it: a hash of the content."""


class Pair:
    """Two resources of one size with one tag, and a URL that redirects to them in turn."""

    def __init__(self, origin: ScriptedOrigin, etag: str | None = TAG, modified: str | None = None) -> None:
        self.first = Resource(SIZE, seed=1, etag=etag, modified=modified)
        self.second = Resource(SIZE, seed=2, etag=etag, modified=modified)
        self.origin = origin
        origin.on("/first", self.first)
        origin.on("/second", self.second)
        self.targets = ["/first", "/second"]
        self.url = origin.on("/turn", self._redirect)

    def _redirect(self, exchange: Exchange) -> None:
        target = self.targets.pop(0) if len(self.targets) > 1 else self.targets[0]
        exchange.reply(302, headers=[("Location", target)])

    def cut(self, wire: Wire, path: Path, url: str | None = None) -> str:
        """Interrupt a download of the first; return what it can be resumed with."""
        self.first.breaks = [HALF]
        record = download(wire, url or self.url, path)
        assert record["outcome"]["error"]["name"] == LOST
        token: str = record["resume_data"]
        return token


@pytest.fixture
def pair(origin: ScriptedOrigin) -> Pair:
    return Pair(origin)


def test_a_retry_that_is_redirected_elsewhere(wire: Wire, pair: Pair, folder: Path) -> None:
    pair.first.breaks = [HALF]
    record = download(wire, pair.url, folder / "a", interceptor=[AT_ONCE])
    assert record["restarted"] == "resource_changed"
    assert is_whole(record, pair.second, folder / "a")


def test_a_resumed_download_that_is_redirected_elsewhere(wire: Wire, pair: Pair, folder: Path) -> None:
    token = pair.cut(wire, folder / "a")
    record = download(wire, pair.url, resume_data=token)
    assert record["restarted"] == "resource_changed"
    assert is_whole(record, pair.second, folder / "a")


def test_a_resource_that_was_not_redirected_before(
    wire: Wire, origin: ScriptedOrigin, pair: Pair, folder: Path
) -> None:
    token = pair.cut(wire, folder / "a", f"{origin.url}/first")
    pair.targets = ["/second"]
    record = download(wire, pair.url, resume_data=token)
    assert record["restarted"] == "resource_changed"
    assert is_whole(record, pair.second, folder / "a")


def test_a_resource_that_is_not_redirected_any_more(
    wire: Wire, origin: ScriptedOrigin, pair: Pair, folder: Path
) -> None:
    token = pair.cut(wire, folder / "a")
    record = download(wire, f"{origin.url}/second", resume_data=token)
    assert record["restarted"] == "resource_changed"
    assert is_whole(record, pair.second, folder / "a")


@pytest.mark.parametrize("direct", [False, True])
def test_the_same_resource_by_the_same_way_or_directly(
    wire: Wire, origin: ScriptedOrigin, pair: Pair, folder: Path, direct: bool
) -> None:
    token = pair.cut(wire, folder / "a")
    pair.targets = ["/first"]
    record = download(wire, f"{origin.url}/first" if direct else pair.url, resume_data=token)
    assert record["resumed_at_bytes"] == HALF
    assert is_whole(record, pair.first, folder / "a")


def test_the_size_alone_does_not_tell_the_resources_apart(wire: Wire, pair: Pair, folder: Path) -> None:
    """All of the first file has arrived, but not its end; the other one answers the request for its last byte."""
    pair.first.has_length = False
    pair.first.breaks = [SIZE - 1]
    record = download(wire, pair.url, folder / "a")
    pair.second.has_length = False
    record = download(wire, pair.url, resume_data=record["resume_data"])
    assert record["restarted"] == "resource_changed"
    assert is_whole(record, pair.second, folder / "a")


QUERIES = {
    "a tag of one resource": (TAG, "/first?id=2", False),
    "a tag of the content": (CONTENT_TAG, "/first?signature=2", True),
    "a tag of the content, elsewhere": (CONTENT_TAG, "/second?signature=1", False),
}


@pytest.mark.parametrize("case", list(QUERIES))
def test_a_redirect_with_another_query(wire: Wire, origin: ScriptedOrigin, folder: Path, case: str) -> None:
    """The signature of a URL does not matter if the tag is that of a content; else the query names the resource."""
    tag, target, is_resumed = QUERIES[case]
    pair = Pair(origin, tag)
    pair.targets = ["/first?signature=1", target]
    token = pair.cut(wire, folder / "a")
    record = download(wire, pair.url, resume_data=token)
    assert record.get("resumed_at_bytes") == (HALF if is_resumed else None)
    assert record.get("restarted") == (None if is_resumed else "resource_changed")
    assert is_whole(record, pair.second if "elsewhere" in case else pair.first, folder / "a")


def test_a_token_does_not_have_the_url_that_it_was_redirected_to(wire: Wire, pair: Pair, folder: Path) -> None:
    pair.targets = ["/first?signature=secret"]
    content: dict[str, Any] = opened(pair.cut(wire, folder / "a"))
    assert content["url"] == pair.url
    assert content["redirected"]
    assert "secret" not in str(content)


def test_an_old_token_of_a_file_that_another_resource_has_begun_again(wire: Wire, pair: Pair, folder: Path) -> None:
    """Both have the same tag: the record of the file says which one it holds."""
    old = pair.cut(wire, folder / "a")
    pair.second.breaks = [SIZE, HALF + 1]
    record = download(wire, pair.url, resume_data=old)
    assert record["restarted"] == "resource_changed"
    pair.targets = ["/first"]
    record = download(wire, pair.url, resume_data=old)
    assert record["restarted"] == "partial_file_changed"
    assert is_whole(record, pair.first, folder / "a")


def test_a_record_of_an_earlier_version_is_believed(wire: Wire, pair: Pair, folder: Path) -> None:
    """It does not say which resource the file holds, and neither does the token."""
    content = opened(pair.cut(wire, folder / "a", f"{pair.origin.url}/first"))
    partial = Path(content["partial"])
    record = os.getxattr(partial, ATTRIBUTE).partition(b"\t")[0]
    os.setxattr(partial, ATTRIBUTE, record)
    resumed = download(wire, f"{pair.origin.url}/first", resume_data=sealed(content))
    assert resumed["resumed_at_bytes"] == HALF
    assert is_whole(resumed, pair.first, folder / "a")
