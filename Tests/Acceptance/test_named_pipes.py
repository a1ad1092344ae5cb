"""Pipes with names as files of options: each waits for its other end, but not beyond the time limit of the request."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.command import OK, TIMED_OUT, Run
from harness.tool import Tool
from harness.waiting import eventually, join
from origins.scripted import ScriptedOrigin

LARGE = hashlib.shake_128(b"pipes").digest(1_000_000)
SHORT = b"a short body\n"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def page(origin: ScriptedOrigin) -> str:
    return origin.on("/page", lambda exchange: exchange.reply(body=LARGE, headers=[("ETag", '"e"')]))


@contextlib.contextmanager
def reading(path: Path) -> Iterator[list[bytes]]:
    """Read a pipe to its end in a thread."""
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    thread.start()
    yield found
    join([thread])


@contextlib.contextmanager
def writing(path: Path, content: bytes) -> Iterator[None]:
    """Write a pipe in a thread."""
    thread = threading.Thread(target=lambda: path.write_bytes(content), daemon=True)
    thread.start()
    yield
    join([thread])


def naming(options: list[str], path: Path) -> list[str]:
    return [option.replace("PATH", str(path)) for option in options]


# Outputs

OUTPUTS = [
    ["get", "-o", "PATH"],
    ["get", "-i", "-o", "PATH"],
    ["get", "--whole", "-i", "-o", "PATH"],
    ["get", "-c", "PATH"],
    ["get", "-w", "%output{PATH}x"],
    ["curl", "-s", "-o", "PATH"],
    ["curl", "-s", "-D", "PATH"],
    ["curl", "-s", "-c", "PATH"],
    ["curl", "-s", "--etag-save", "PATH"],
    ["curl", "-s", "--trace", "PATH"],
    ["curl", "-s", "--stderr", "PATH"],
    ["curl", "-s", "-w", "%output{PATH}x"],
    ["curl", "-s", "-Z", "-o", "PATH"],
]


@pytest.mark.parametrize("options", OUTPUTS, ids=" ".join)
def test_an_output_without_a_reader_ends_at_the_time_limit(run: Run, page: str, pipe: Path, options: list[str]) -> None:
    done = run(*naming(options, pipe), "-m", "1", page)
    if "-o" in options or "-D" in options:
        assert done.returncode == (28 if options[0] == "curl" else TIMED_OUT), done.stderr
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "options", [["get", "-o"], ["get", "-i", "-o"], ["curl", "-s", "-o"], ["curl", "-s", "-i", "-o"]], ids=" ".join
)
def test_an_output_whose_reader_does_not_read_ends_at_the_time_limit(
    run: Run, page: str, pipe: Path, options: list[str]
) -> None:
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = run(*options, pipe, "-m", "1", page)
    finally:
        os.close(reader)
    assert done.returncode == (28 if options[0] == "curl" else TIMED_OUT), done.stderr


@pytest.mark.parametrize("options", [["get", "-o"], ["curl", "-s", "-o"]], ids=" ".join)
@pytest.mark.parametrize("limit", [[], ["-m", "60"]], ids=["endless", "limited"])
def test_an_output_waits_for_its_reader(
    variables: dict[str, str], origin: ScriptedOrigin, page: str, pipe: Path, options: list[str], limit: list[str]
) -> None:
    with Tool(variables, *options, pipe, *limit, page) as tool:
        eventually(lambda: origin.requests)
        with reading(pipe) as found:
            assert tool.end() == OK
    assert found == [LARGE]


@pytest.mark.parametrize("options", [["get", "-o"], ["curl", "-s", "-o"]], ids=" ".join)
def test_a_command_of_the_shell_reads_an_output(
    variables: dict[str, str], page: str, tmp_path: Path, options: list[str]
) -> None:
    got = tmp_path / "got"
    script = f'exec "$1" {" ".join(options)} >(cat >{got}.part; mv {got}.part {got}) {page}'
    with Tool(variables, shell=f"bash -c '{script}' _ \"$0\"; while [ ! -e {got} ]; do sleep 0.01; done") as tool:
        assert tool.end() == OK
    assert got.read_bytes() == LARGE


# Inputs

INPUTS = [
    ["post", "-d", "@PATH"],
    ["post", "-T", "PATH"],
    ["get", "-b", "PATH"],
    ["get", "-H", "@PATH"],
    ["get", "-w", "@PATH"],
    ["get", "--netrc-file", "PATH"],
    ["get", "--cacert", "PATH"],
    ["get", "--cert", "PATH"],
    ["get", "--oauth2-token-url", "http://127.0.0.1:1/", "--oauth2-client-id", "x", "--oauth2-client-secret", "@PATH"],
    ["get", "--input-file", "PATH"],
    ["curl", "-s", "-d", "@PATH"],
    ["curl", "-s", "--data-urlencode", "a@PATH"],
    ["curl", "-s", "-T", "PATH"],
    ["curl", "-s", "-F", "x=@PATH"],
    ["curl", "-s", "-F", "x=<PATH"],
    ["curl", "-s", "-F", "x=y;headers=@PATH"],
    ["curl", "-s", "-b", "PATH"],
    ["curl", "-s", "-H", "@PATH"],
    ["curl", "-s", "-w", "@PATH"],
    ["curl", "-s", "-m", "1", "-K", "PATH"],
    ["curl", "-s", "--netrc-file", "PATH"],
    ["curl", "-s", "--etag-compare", "PATH"],
]


@pytest.mark.parametrize("has_writer", [False, True], ids=["alone", "silent"])
@pytest.mark.parametrize("options", INPUTS, ids=" ".join)
def test_an_input_without_bytes_ends_at_the_time_limit(
    run: Run, page: str, pipe: Path, options: list[str], has_writer: bool
) -> None:
    writer = os.open(pipe, os.O_RDWR) if has_writer else None
    try:
        done = run(*naming(options, pipe), "-m", "1", page)
    finally:
        if writer is not None:
            os.close(writer)
    expected = 28 if options[0] == "curl" else TIMED_OUT
    # The file of -K is read before the transfers, which have the limit.
    assert done.returncode == (26 if "-K" in options else expected), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    "options",
    [
        ["post", "-d", "@PATH"],
        ["post", "-T", "PATH"],
        ["curl", "-s", "--data-binary", "@PATH"],
        ["curl", "-s", "-T", "PATH"],
        ["curl", "-s", "-F", "x=@PATH"],
        ["curl", "-s", "-F", "x=<PATH"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("content", [b"", SHORT, LARGE], ids=["empty", "short", "large"])
def test_a_body_comes_from_a_pipe(
    run: Run, origin: ScriptedOrigin, pipe: Path, options: list[str], content: bytes
) -> None:
    url = origin.on("/taken", lambda exchange: exchange.reply(body=b"taken"))
    with writing(pipe, content):
        done = run(*naming(options, pipe), "-m", "60", url)
    assert (done.returncode, done.stdout) == (OK, b"taken"), done.stderr
    (request,) = origin.requests
    assert content in request.body
    if "-F" not in options:
        assert request.body == content


def test_a_body_of_a_pipe_is_sent_while_it_is_written(
    variables: dict[str, str], origin: ScriptedOrigin, pipe: Path
) -> None:
    """The request begins when the pipe has a writer, as with curl, and not with its last byte."""
    url = origin.on("/taken", lambda exchange: exchange.reply(body=b"taken\n"))
    with Tool(variables, "curl", "-s", "-T", pipe, url) as tool, pipe.open("wb", buffering=0) as writer:
        writer.write(b"first ")
        writer.write(b"second")
        writer.close()
        assert tool.line() == "taken"
        assert tool.end() == OK
    assert origin.requests[0].body == b"first second"


@pytest.mark.parametrize("program", ["get", "curl"])
def test_options_come_from_pipes(run: Run, origin: ScriptedOrigin, page: str, pipe: Path, program: str) -> None:
    with writing(pipe, b"X-Field: of a pipe\n"):
        assert run(program, "-s", "-H", f"@{pipe}", page).returncode == OK
    assert origin.requests[-1].values("X-Field") == ["of a pipe"]
    with writing(pipe, b"%{http_code}"):
        done = run(program, "-s", "-o", "/dev/null", "-w", f"@{pipe}", page)
    assert (done.returncode, done.stdout) == (OK, b"200")
    with writing(pipe, b"machine 127.0.0.1 login me password x\n"):
        assert run(program, "-s", "--netrc-file", pipe, page).returncode == OK
    assert origin.requests[-1].values("Authorization") == ["Basic bWU6eA=="]
    with writing(pipe, b"127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n"):
        assert run(program, "-s", "-b", pipe, page).returncode == OK
    assert origin.requests[-1].values("Cookie") == ["name=value"]
