"""A body with a content coding is the same for every output of the command, and for curl what curl does."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from harness.command import OK, Run
from origins.scripted import ScriptedOrigin

TEXT = b"a line of text\n" * 1000
PACKED = gzip.compress(TEXT, mtime=0)
# To standard output while it arrives, through the command, whole, and to a file by the daemon and by the command.
WAYS = [[], ["--stream"], ["--whole"], ["-i"], ["-o", "file"], ["-i", "-o", "file"], ["-C", "-", "-o", "file"]]


def coded(origin: ScriptedOrigin, path: str, *fields: tuple[str, str], coding: str = "gzip") -> str:
    headers = [("Content-Encoding", coding), *fields]
    return origin.on(path, lambda exchange: exchange.reply(body=PACKED, headers=headers))


def body(run: Run, folder: Path, way: list[str], url: str) -> bytes:
    done = run("get", *way, url)
    assert done.returncode == OK, done.stderr
    everything = (folder / "file").read_bytes() if "-o" in way else done.stdout
    return everything.partition(b"\r\n\r\n")[2] if "-i" in way else everything


FILES = [
    ("/a.tar.gz", []),
    ("/a.tgz", [("Content-Type", "text/plain")]),
    ("/A.TAR.GZ", []),
    ("/get", [("Content-Type", "application/gzip")]),
    ("/get", [("Content-Type", "application/x-gzip; charset=binary")]),
    ("/get", [("Content-Disposition", 'attachment; filename="a.tar.gz"')]),
]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(("path", "fields"), FILES, ids=str)
def test_an_archive_that_is_labelled_with_its_own_format_stays_one(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, way: list[str], path: str, fields: list[tuple[str, str]]
) -> None:
    assert body(run, tmp_path, way, coded(origin, path, *fields)) == PACKED


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(("path", "fields"), [("/page", []), ("/a.gz.html", [("Content-Type", "text/html")])], ids=str)
def test_what_is_encoded_for_the_transfer_is_decoded(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, way: list[str], path: str, fields: list[tuple[str, str]]
) -> None:
    assert body(run, tmp_path, way, coded(origin, path, *fields)) == TEXT


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_an_archive_that_is_encoded_once_more_is_decoded_once(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, way: list[str]
) -> None:
    """By deflate, which is not its own format."""
    twice = zlib.compress(PACKED)
    headers = [("Content-Encoding", "deflate"), ("Content-Type", "application/gzip")]
    url = origin.on("/a.tar.gz", lambda exchange: exchange.reply(body=twice, headers=headers))
    assert body(run, tmp_path, way, url) == PACKED


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_a_field_of_the_caller_leaves_the_bytes_as_they_are(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, way: list[str]
) -> None:
    done = ["-H", "Accept-Encoding: gzip", *way]
    assert body(run, tmp_path, done, coded(origin, "/page")) == PACKED
    assert origin.requests[0].values("accept-encoding") == ["gzip"]


def test_curl_decodes_with_its_option_alone(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    url = coded(origin, "/a.tar.gz")
    for options, expected in (([], PACKED), (["--compressed"], TEXT)):
        assert run("curl", "-sS", *options, url).stdout == expected
        assert run("curl", "-sS", *options, "-o", "file", url).returncode == OK
        assert (tmp_path / "file").read_bytes() == expected


def test_what_is_stored_for_one_rule_is_not_served_by_another(run: Run, origin: ScriptedOrigin) -> None:
    fresh = [("Cache-Control", "max-age=600"), ("Content-Type", "application/gzip")]
    url = coded(origin, "/a.tar.gz", *fresh)
    assert run("get", url).stdout == PACKED
    assert run("get", url).stdout == PACKED
    assert len(origin.requests) == 1, "the second one was stored"
    record = run("call", "request.perform", f"url={url}").stdout
    assert b"a line of text" in record and len(origin.requests) == 2
