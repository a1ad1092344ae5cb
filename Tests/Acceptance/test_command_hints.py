"""The hints of the command name its own options and commands, never parameters of the wire."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness.command import OK, Run
from origins.scripted import ScriptedOrigin

SOURCES = Path(__file__).parents[2] / "Sources"
WIRE_WORDS = re.compile(
    r"\b\w+_ms\b|\btrust\.\w|\b(?:rpc|session|request|body|cache|client)\.[a-z_]+\b|\bmax_\w+\b|waits_for_\w+"
    r"|connections_per_host|limit_name|a descriptor|\b(?:addresses|tls)\.\w|local_address|resume_data|remove_previous"
    r"|validate_host|crl_file|\bstaple \\?\""
)
STRING = r'"((?:[^"\\]|\\.)*)"'


def phrases() -> list[tuple[str, str]]:
    text = (SOURCES / "CarpoolCaller/Failures/CommandHint.swift").read_text()
    pairs = re.findall(rf"\(\s*{STRING},\s*{STRING}\s*\)", text)
    assert len(pairs) > 20
    return [(daemon.replace('\\"', '"'), command.replace('\\"', '"')) for daemon, command in pairs]


def hints() -> set[str]:
    """The literal hints of the daemon's sources."""
    found = set()
    for name in ("CarpoolHTTP", "CarpoolSession", "CarpoolServer", "CarpoolCache"):
        for path in (SOURCES / name).rglob("*.swift"):
            text = path.read_text()
            for match in re.finditer(rf"\bhint: *\n? *{STRING}", text):
                found.add(match[1].replace('\\"', '"'))
            if "Hint" in path.name or "hint(" in text:
                found |= {hint.replace('\\"', '"') for hint in re.findall(STRING, text) if " " in hint}
    text = (SOURCES / "CarpoolRPC/Messages/RPCErrorKind.swift").read_text()
    kinds = re.findall(rf'-?\d+, "[a-z_.]+",(?: isRetryable: true,)?\s*{STRING},\s*{STRING}', text)
    assert len(kinds) > 20
    return found | {hint for _, hint in kinds}


def in_words_of_the_command(hint: str) -> str:
    for daemon, command in phrases():
        hint = hint.replace(daemon, command, 1)
    return hint


def test_the_hints_of_requests_name_options(run: Run, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")
    done = run("get", "-m", "0.2", f"{origin.url}/never")
    gate.set()
    assert b"hint: raise --timeout" in done.stderr
    done = run("get", "--session", "unknown", origin.url)
    assert b"carpool call session.create name=NAME" in done.stderr
    done = run("call", "request.perform", f"url={origin.url}", "session=unknown")
    assert b"see session.list." in done.stderr, "what is called by names of the wire is advised by them"
    assert run("get", origin.url).returncode == OK


@pytest.mark.parametrize("hint", sorted(hint for hint in hints() if WIRE_WORDS.search(hint)))
def test_no_hint_with_words_of_the_wire_is_left_as_it_is(hint: str) -> None:
    assert in_words_of_the_command(hint) != hint
