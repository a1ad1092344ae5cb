"""What the command prints for people cannot steer their terminal (F14)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from harness.command import OK, Run
from harness.daemon import CARPOOL
from harness.tool import Tool
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

# An escape sequence, C1's control sequence introducer, an override of direction, and a line separator.
EVIL = "a\x1b[2J\u009b31m\u202egpj.exe\u2028b"
STEERS = ["\x1b", "\u009b", "\u202e", "\u2028"]


def plain(text: str) -> bool:
    return not any(sign in text for sign in STEERS)


def on_a_terminal(variables: dict[str, str], *arguments: str) -> str:
    """Run the command with a terminal for its output and return the output."""
    master, slave = pty.openpty()
    try:
        done = subprocess.Popen(
            [CARPOOL, *arguments], env=variables, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
        )
        os.close(slave)
        output = b""
        while True:
            try:
                piece = os.read(master, 65_536)
            except OSError:
                break
            if not piece:
                break
            output += piece
        done.wait(PATIENCE_SECONDS)
    finally:
        os.close(master)
    return output.decode()


def evil_origin(origin: ScriptedOrigin) -> str:
    def handler(exchange: Exchange) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(EVIL.encode())}\r\nX-Evil: \u009b31m\u202e\r\n\r\n"
        exchange.send(head.encode() + EVIL.encode())

    return origin.on("/evil", handler)


@pytest.mark.parametrize(
    "text", ["%{content_type}|%header{x-evil}\\n", "%{stderr}%header{x-evil}\\n", "%{header_json}"]
)
def test_f14_values_of_write_out_are_printable(
    variables: dict[str, str], run: Run, origin: ScriptedOrigin, text: str
) -> None:
    """A program that reads them from a pipe gets what the server has sent."""

    def handler(exchange: Exchange) -> None:
        fields = "Content-Type: text/\x1b[2J\r\nX-Evil: \u009b31m\u202e"
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{fields}\r\n\r\n".encode())

    url = origin.on("/values", handler)
    shown = on_a_terminal(variables, "get", "-w", text, url)
    assert "x-evil" in shown or "31m" in shown
    assert plain(shown)
    piped = run("get", "-w", text, url)
    assert "\u009b31m\u202e" in (piped.stdout + piped.stderr).decode()


def test_f14_events_for_people_are_printable(variables: dict[str, str], run: Run, origin: ScriptedOrigin) -> None:
    with Tool(variables, "watch", "--snapshot", "--pretty", "request.did_resume") as tool:
        tool.line()
        run("call", "request.perform", f"url={origin.url}/{EVIL}")
        line = tool.line()
    assert "request.did_resume" in line
    assert plain(line) and "\\u{202e}" in line and "\\u{9b}" in line


def test_f14_errors_are_printable(run: Run) -> None:
    done = run("get", f"no-url-{EVIL}")
    assert done.returncode != OK
    assert plain(done.stderr.decode()) and "\\u{202e}" in done.stderr.decode()


def test_f14_reachability_is_printable(variables: dict[str, str]) -> None:
    output = on_a_terminal(variables, "reachability", "nosuch\u202e.invalid")
    assert plain(output) and "nosuch\\u{202e}.invalid" in output


def test_f14_the_doctor_is_printable(run: Run, tmp_path: Path) -> None:
    done = run("doctor", "--socket", str(tmp_path / "a\u202e\u009bb.sock"))
    assert "\\u{202e}\\u{9b}" in done.stdout.decode() and plain(done.stdout.decode())


def test_f14_heads_and_bodies_are_printable_on_a_terminal(
    variables: dict[str, str], run: Run, origin: ScriptedOrigin
) -> None:
    url = evil_origin(origin)
    head, _, body = on_a_terminal(variables, "get", "-i", url).partition("\r\r\n\r\r\n")
    assert plain(head) and "X-Evil: \\u{9b}31m\\u{202e}" in head
    assert plain(body) and "\\u{9b}" in body
    raw = on_a_terminal(variables, "get", "--stream", url)
    assert raw.replace("\r\n", "\n") == EVIL, "as it is, if it is asked for"
    assert "X-Evil: \u009b31m\u202e" in run("get", "-i", url).stdout.decode(), "a program gets what came"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_f14_json_says_the_same_on_a_terminal(
    variables: dict[str, str], run: Run, origin: ScriptedOrigin, is_terminal: bool
) -> None:
    arguments = ["call", "request.perform", f"url={evil_origin(origin)}"]
    output = on_a_terminal(variables, *arguments) if is_terminal else run(*arguments).stdout.decode()
    assert json.loads(output)["body"]["text"] == EVIL
    assert plain(output) == is_terminal


def test_json_is_laid_out_on_a_terminal(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    fields = [("Content-Type", "application/problem+json; charset=utf-8")]
    url = origin.on("/json", lambda exchange: exchange.reply(body=b'{"a":[1],"b":"x"}', headers=fields))
    expected = '{\r\n  "a": [\r\n    1\r\n  ],\r\n  "b": "x"\r\n}\r\n'
    assert on_a_terminal({**variables, "NO_COLOR": "1"}, "get", url) == expected
    colored = on_a_terminal({**variables, "TERM": "xterm"}, "get", url)
    assert '\x1b[1;34m"a"\x1b[0m: [' in colored
    assert on_a_terminal(variables, "get", "--pretty", "never", url) == '{"a":[1],"b":"x"}'


@pytest.mark.parametrize("size", [100, 200_000])
def test_curl_prints_no_binary_body_on_a_terminal_either(
    variables: dict[str, str], origin: ScriptedOrigin, size: int
) -> None:
    url = origin.on("/binary", lambda exchange: exchange.reply(body=b"\x7fELF\0" * (size // 5)))
    output = on_a_terminal(variables, "curl", url)
    assert "ELF" not in output
    assert "Binary output can mess up your terminal" in output
    assert "ELF" in on_a_terminal(variables, "curl", "-o", "-", url)


@pytest.mark.parametrize("options", [[], ["--whole"], ["-i"]])
@pytest.mark.parametrize("body", [bytes(range(1, 32)), b"\x89PNG\r\n\x1a\n\x01\x02", b"\x1f\x8b\x08\x08\x04\x02" * 30])
def test_a_binary_body_without_a_nul_is_not_printed_on_a_terminal(
    variables: dict[str, str], origin: ScriptedOrigin, options: list[str], body: bytes
) -> None:
    output = on_a_terminal(variables, "get", *options, origin.on("/binary", lambda exchange: exchange.reply(body=body)))
    assert "the body is binary and is not printed on a terminal" in output
    assert not any(chr(byte) in output for byte in body if byte < 0x20 and byte not in b"\r\n")


@pytest.mark.parametrize(
    "text", ["a bell \a in a line of a log, and another one does no harm", "\t1\f2\b3\v4", "gr\xfc\xdfe"], ids=ascii
)
def test_a_text_with_a_few_control_characters_is_printed(
    variables: dict[str, str], origin: ScriptedOrigin, text: str
) -> None:
    url = origin.on("/text", lambda exchange: exchange.reply(body=text.encode("latin-1")))
    output = on_a_terminal(variables, "get", url)
    assert "binary" not in output and text[:2].strip() in output.replace("\ufffd", "\xfc")


@pytest.mark.parametrize("options", [[], ["--whole"], ["-i"]])
@pytest.mark.parametrize("size", [100, 200_000])
def test_nothing_of_a_binary_body_is_printed_on_a_terminal(
    variables: dict[str, str], origin: ScriptedOrigin, options: list[str], size: int
) -> None:
    url = origin.on("/binary", lambda exchange: exchange.reply(body=b"\x7fELF\0" * (size // 5)))
    output = on_a_terminal(variables, "get", *options, url)
    assert "ELF" not in output
    assert "the body is binary and is not printed on a terminal" in output
