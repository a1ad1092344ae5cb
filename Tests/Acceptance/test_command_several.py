"""Several URLs of one command: in turn or at once, with their output in the order of the URLs."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, UNREACHABLE, USAGE, Run
from harness.daemon import CARPOOL, Daemon
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin

COOKIE = "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"
LARGE = bytes(range(256)) * 1_000


@pytest.fixture
def pages(origin: ScriptedOrigin) -> list[str]:
    def page(exchange: Exchange) -> None:
        exchange.reply(body=exchange.request.target[-1].encode() * 3 + LARGE)

    return [origin.on(f"/page{letter}", page) for letter in "abc"]


def expected(letters: str) -> bytes:
    return b"".join(letter.encode() * 3 + LARGE for letter in letters)


@pytest.mark.parametrize("options", [[], ["--parallel", "2"], ["--parallel", "64"], ["--whole"]])
def test_the_output_has_the_order_of_the_urls(run: Run, pages: list[str], options: list[str]) -> None:
    done = run("get", *options, *pages, pages[0])
    assert (done.returncode, done.stdout, done.stderr) == (OK, expected("abca"), b"")


def test_nothing_of_them_is_kept(run: Run, daemon: Daemon, pages: list[str]) -> None:
    assert run("get", "--parallel", "2", *pages).returncode == OK
    assert daemon.call("request.list", scope="all")["requests"] == []


def test_they_end_with_the_command(variables: dict[str, str], daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with running([CARPOOL, "get", "--parallel", "2", *[f"{origin.url}/held"] * 2], env=variables) as process:
        origin.received(2)
        process.kill()
        eventually(lambda: daemon.stats()["requests"]["active"] == 0)
    gate.set()


def test_without_a_daemon_none_of_them_is_tried(run: Run, tmp_path: Path) -> None:
    done = run("--socket", tmp_path / "none" / "s", "get", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b")
    assert done.returncode == UNREACHABLE
    assert done.stderr.count(b"carpool: ") == 1


@pytest.mark.parametrize("options", [[], ["--parallel", "3"]])
def test_the_urls_of_a_file(run: Run, pages: list[str], tmp_path: Path, options: list[str]) -> None:
    lines = f"# pages\n\n  {pages[1]}  note\n{pages[2].removeprefix('http://')}\r\n"
    (tmp_path / "urls").write_text(lines)
    assert run("get", *options, "--input-file", "urls").stdout == expected("bc")
    assert run("get", *options, "--input-file", "-", pages[0], stdin=lines.encode()).stdout == expected("abc")
    assert run("get", *options, "--input-file", "-", stdin=b"# none\n").returncode == USAGE


def test_they_run_at_once(run: Run, origin: ScriptedOrigin) -> None:
    together = threading.Barrier(4)

    def meet(exchange: Exchange) -> None:
        together.wait(PATIENCE_SECONDS)
        exchange.reply(body=b".")

    urls = [origin.on(f"/{number}", meet) for number in range(4)]
    assert run("get", "--parallel", "4", *urls).stdout == b"...."


@pytest.mark.parametrize("options", [[], ["--parallel", "2"]])
def test_the_first_failure_decides_and_the_others_are_done(
    run: Run, pages: list[str], origin: ScriptedOrigin, options: list[str]
) -> None:
    gone = origin.on("/gone", lambda exchange: exchange.reply(404, b"gone"))
    refused = "http://127.0.0.1:1/"
    done = run("get", "--fail", *options, pages[0], gone, refused, pages[1])
    assert (done.returncode, done.stdout) == (HTTP_FAILURE, expected("ab"))
    lines = done.stderr.decode().splitlines()
    assert lines[0] == f"carpool: HTTP status 404 from {gone}"
    assert lines[1].startswith(f"carpool: {refused}: session_task_failed.cannot_connect_to_host")
    done = run("get", "--fail-early", *options, refused, pages[0])
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"")


@pytest.mark.parametrize("options", [[], ["--parallel", "2"]])
def test_each_has_a_file_of_its_own(run: Run, pages: list[str], tmp_path: Path, options: list[str]) -> None:
    assert run("get", "-s", "-O", *options, *pages).returncode == OK
    assert [(tmp_path / f"page{letter}").read_bytes() for letter in "abc"] == [expected(letter) for letter in "abc"]
    done = run("get", "-O", *options, pages[0], pages[1], f"{pages[0]}?again")
    message = f"-O: 'pagea' would be the file of {pages[0]} and of {pages[0]}?again"
    assert (done.returncode, message in done.stderr.decode()) == (USAGE, True)


def test_a_file_is_complete_while_those_before_it_still_arrive(
    variables: dict[str, str], origin: ScriptedOrigin, pages: list[str], tmp_path: Path
) -> None:
    gate = origin.hold("/slow")
    arguments = [CARPOOL, "get", "--parallel", "2", "-O", f"{origin.url}/slow", pages[0]]
    with running(arguments, env=variables, cwd=tmp_path) as tool:
        eventually((tmp_path / "pagea").exists)
        assert (tmp_path / "pagea").read_bytes() == expected("a")
        assert not (tmp_path / "slow").exists()
        gate.set()
        assert tool.wait(PATIENCE_SECONDS) == OK
    assert (tmp_path / "slow").exists()


@pytest.mark.parametrize("options", [[], ["-O"]])
def test_a_slow_one_lets_those_behind_it_run(
    variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path, options: list[str]
) -> None:
    gate = origin.hold("/slow", b"slow ")
    urls = [origin.on(f"/{number}", lambda exchange: exchange.reply(body=b".")) for number in range(20)]
    arguments = [CARPOOL, "get", "--parallel", "2", *options, f"{origin.url}/slow", *urls]
    with running(arguments, env=variables, cwd=tmp_path, stdout=subprocess.PIPE) as tool:
        assert len(origin.received(21)) == 21
        gate.set()
        assert tool.communicate(timeout=PATIENCE_SECONDS)[0] == (b"" if options else b"slow " + b"." * 20)
        assert tool.returncode == OK
    assert len(list(tmp_path.iterdir())) == (21 if options else 0)


@pytest.mark.parametrize("options", [[], ["--parallel", "2"]])
def test_a_dry_run_sends_none(run: Run, origin: ScriptedOrigin, options: list[str]) -> None:
    done = run("get", "--dry-run", *options, f"{origin.url}/a", f"{origin.url}/b")
    assert done.returncode == OK
    assert [line.strip() for line in done.stdout.decode().splitlines() if origin.url in line] == [
        f"'{origin.url}/a'",
        f"'{origin.url}/b'",
    ]
    assert not origin.requests


@pytest.mark.parametrize("options", [[], ["--parallel", "2"]])
def test_write_out_counts_the_urls(run: Run, origin: ScriptedOrigin, options: list[str]) -> None:
    done = run("get", *options, "-w", "%{urlnum} ", *[origin.on("/page", lambda exchange: exchange.reply())] * 3)
    assert done.stdout == b"0 1 2 "


def test_a_body_is_sent_with_each(run: Run, origin: ScriptedOrigin) -> None:
    origin.on("/form", lambda exchange: exchange.reply(body=exchange.request.body))
    assert run("post", "-d", "x=1", f"{origin.url}/form", f"{origin.url}/form").stdout == b"x=1x=1"


@pytest.mark.parametrize("options", [[], ["--parallel", "2"]])
@pytest.mark.parametrize(
    ("words", "stdin", "field"), [("-H @-", "X-Own: 1\n", ("x-own", "1")), ("-b -", COOKIE, ("cookie", "a=1"))]
)
def test_standard_input_is_read_once_for_all(
    run: Run, origin: ScriptedOrigin, options: list[str], words: str, stdin: str, field: tuple[str, str]
) -> None:
    done = run("get", *words.split(), *options, *[f"{origin.url}/{n}" for n in range(3)], stdin=stdin.encode())
    assert done.returncode == OK, done.stderr
    assert [request.values(field[0]) for request in origin.requests] == [[field[1]]] * 3


def test_downloads_whose_daemon_was_killed_can_be_resumed(
    start: Callable[..., Daemon], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """Also if the first of them had not begun."""
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 200000\r\nETag: "1"\r\n\r\n' + bytes(100_000))
        gate.wait(PATIENCE_SECONDS)

    for name in "ab":
        origin.on(f"/{name}", half)
    first = start()
    variables = {**first.environment, "CARPOOL_SOCKET": str(first.socket)}
    for path, names in [("a", "ab"), ("never", "b")]:
        arguments = [CARPOOL, "get", "--parallel", "2", "-O", f"{origin.url}/{path}", f"{origin.url}/b"]
        with running(arguments, env=variables, cwd=tmp_path, stderr=subprocess.PIPE) as tool:
            for name in names:
                eventually((tmp_path / f".{name}.carpool-resume").exists)
            first.kill()
            told = tool.communicate(timeout=PATIENCE_SECONDS)[1]
        assert tool.returncode == UNREACHABLE
        assert told.endswith(b"hint: use -C - to resume, with one URL in each command\n")
        for name in names:
            (tmp_path / f".{name}.carpool-resume").unlink()
        first = start()
    gate.set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "file"], "-o names one file, and there are several URLs: use -O, or one command for each"),
        (["-c", "jar"], "-c saves the cookies of one request"),
        (["--lines"], "--lines and --sse print one stream"),
        (["--parallel", "65"], "--parallel takes a number from 1 to 64, not '65'"),
    ],
)
def test_what_they_cannot_share_is_refused(run: Run, origin: ScriptedOrigin, words: list[str], message: str) -> None:
    done = run("get", *words, origin.url, origin.url)
    assert done.returncode == USAGE
    assert message in done.stderr.decode()
    assert run("post", "-d", "@-", origin.url, origin.url).returncode == USAGE
    assert not origin.requests
