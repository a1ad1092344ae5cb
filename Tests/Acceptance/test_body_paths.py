"""What the paths of bodies may lead to: the same kinds of files for uploads, for parts of forms and for downloads."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.downloads import download, names
from harness.users import NOBODY, as_root, ask_as
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

FORM = "multipart_encoding_failed.body_part"
MOVE_FAILED = "downloaded_file_move_failed"


@dataclass(frozen=True)
class Case:
    """A path below the folder, or an absolute one, and the expected result.

    The kernel's number of a call that is refused, the name of a failure, or none where all is well.
    """

    path: str
    upload: int | None
    part: str | None
    destination: int | str | None


CASES = [
    Case("file", None, None, MOVE_FAILED),
    Case("link to a file", None, None, MOVE_FAILED),
    Case("missing", errno.ENOENT, f"{FORM}_file_not_reachable", None),
    Case("link to nothing", errno.ENOENT, f"{FORM}_file_not_reachable", MOVE_FAILED),
    Case("missing/file", errno.ENOENT, f"{FORM}_file_not_reachable", MOVE_FAILED),
    Case("file/below", errno.ENOTDIR, f"{FORM}_file_not_reachable_with_error", errno.ENOTDIR),
    Case("loop", errno.ELOOP, f"{FORM}_file_not_reachable_with_error", errno.ELOOP),
    Case("directory", errno.EISDIR, f"{FORM}_file_is_directory", errno.EISDIR),
    Case("link to a directory", errno.EISDIR, f"{FORM}_file_is_directory", errno.EISDIR),
    Case("pipe", errno.EINVAL, f"{FORM}_file_size_not_available", errno.EINVAL),
    Case("link to a pipe", errno.EINVAL, f"{FORM}_file_size_not_available", errno.EINVAL),
    Case("socket", errno.ENXIO, f"{FORM}_file_size_not_available", errno.EINVAL),
    Case("/dev/zero", errno.EINVAL, f"{FORM}_file_size_not_available", errno.EINVAL),
    Case("/dev/null", errno.EINVAL, f"{FORM}_file_size_not_available", errno.EINVAL),
    Case("/proc/version", errno.EINVAL, f"{FORM}_file_size_not_available", MOVE_FAILED),
    Case("/proc/self/mem", errno.EINVAL, f"{FORM}_file_size_not_available", MOVE_FAILED),
    Case("/proc/self/fd", errno.EISDIR, f"{FORM}_file_is_directory", errno.EISDIR),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.path)


@pytest.fixture
def place(folder: Path) -> Path:
    (folder / "file").write_bytes(b"content")
    (folder / "directory").mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        folder_descriptor = os.open(folder, os.O_PATH)
        listener.bind(f"/proc/self/fd/{folder_descriptor}/socket")
        os.close(folder_descriptor)
    for name in ("file", "directory", "pipe"):
        (folder / f"link to a {name}").symlink_to(folder / name)
    (folder / "link to nothing").symlink_to(folder / "nothing")
    (folder / "loop").symlink_to(folder / "loop")
    return folder


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/", lambda exchange: exchange.reply(200, b"new"))


def ask(wire: Wire, url: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = wire.answer(wire.request("request.perform", {"url": url, **params}))
    return answer


@every_case
def test_up_03_files(wire: Wire, origin: ScriptedOrigin, url: str, place: Path, case: Case) -> None:
    answer = ask(wire, url, kind="upload", body={"file": str(place / case.path)})
    if case.upload is None:
        assert answer["result"]["outcome"]["ok"]
        assert [request.body for request in origin.requests] == [b"content"]
        return
    data = answer["error"]["data"]
    assert (data["name"], data["path"], data["errno"]) == ("file.cannot_open", str(place / case.path), case.upload)
    assert origin.requests == []


@every_case
def test_mp_07_parts(wire: Wire, origin: ScriptedOrigin, url: str, place: Path, case: Case) -> None:
    part = {"name": "f", "file": str(place / case.path), "file_name": "a.txt"}
    answer = ask(wire, url, body={"multipart": [part]})
    outcome = answer["result"]["outcome"]
    if case.part is None:
        assert b"\r\n\r\ncontent\r\n" in origin.requests[0].body
        return
    assert outcome["error"]["name"] == case.part
    assert outcome["error"]["details"]["url"] == str(place / case.path)
    assert origin.requests == []


@every_case
def test_dl_06_destinations(wire: Wire, origin: ScriptedOrigin, url: str, place: Path, case: Case) -> None:
    """No existing file is changed, and no other file is left."""
    before = names(place)
    answer = ask(wire, url, kind="download", destination=str(place / case.path))
    if isinstance(case.destination, int):
        data = answer["error"]["data"]
        assert (data["name"], data["errno"]) == ("file.cannot_open", case.destination)
        assert origin.requests == []
    elif case.destination is not None:
        assert answer["result"]["outcome"]["error"]["name"] == case.destination
    else:
        assert (place / case.path).read_bytes() == b"new"
    assert names(place) == sorted([*before, *([case.path] if case.destination is None else [])])
    assert (place / "file").read_bytes() == b"content"


@pytest.mark.parametrize("path", ["file", "./file", "", "~/file"])
def test_paths_are_absolute(wire: Wire, origin: ScriptedOrigin, url: str, path: str) -> None:
    upload = ask(wire, url, kind="upload", body={"file": path})
    assert (upload["error"]["code"], upload["error"]["data"]["path"]) == (-32602, "params.body.file")
    part = ask(wire, url, body={"multipart": [{"name": "f", "file": path, "file_name": "a.txt"}]})
    assert part["result"]["outcome"]["error"]["name"] == f"{FORM}_url_invalid"
    destination = ask(wire, url, kind="download", destination=path)
    assert (destination["error"]["code"], destination["error"]["data"]["path"]) == (-32602, "params.destination")
    assert origin.requests == []


def test_what_stands_behind_a_nul_is_not_cut_off(wire: Wire, origin: ScriptedOrigin, url: str, place: Path) -> None:
    """To the kernel a path ends there: another file than the one that was named would be read or written."""
    path = f"{place / 'file'}\0.txt"
    for params, parameter in (
        ({"kind": "upload", "body": {"file": path}}, "params.body.file"),
        ({"kind": "download", "destination": path}, "params.destination"),
        ({"kind": "download", "destination": {"directory": f"{place}\0"}}, "params.destination.directory"),
        ({"trust": {"ca_file": path}}, "params.trust.ca_file"),
    ):
        error = ask(wire, url, **params)["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, parameter)
        assert "NUL" in error["message"]
    part = ask(wire, url, body={"multipart": [{"name": "f", "file": path, "file_name": "a.txt"}]})
    assert part["result"]["outcome"]["error"]["name"] == f"{FORM}_url_invalid"
    assert origin.requests == []


# Other users


@as_root
def test_files_of_another_owner(start: StartDaemon, origin: ScriptedOrigin, url: str) -> None:
    """The kernel decides, by the rights of the daemon's own user."""
    try:
        daemon = start(user=NOBODY)
    except PermissionError as refusal:
        pytest.skip(f"another user cannot start the daemon here: {refusal}")
    shared = daemon.directory / "shared"
    shared.mkdir(mode=0o755)
    (shared / "open").write_bytes(b"open")
    (shared / "secret").write_bytes(b"secret")
    (shared / "secret").chmod(0o600)

    def ask_nobody(**params: Any) -> dict[str, Any]:
        return ask_as(NOBODY, daemon.socket, "request.perform", url=url, **params)

    assert ask_nobody(kind="upload", body={"file": str(shared / "open")})["result"]["outcome"]["ok"]
    assert [request.body for request in origin.requests] == [b"open"]
    refused = ask_nobody(kind="upload", body={"file": str(shared / "secret")})["error"]["data"]
    assert (refused["name"], refused["errno"]) == ("file.cannot_open", errno.EACCES)
    form = {"multipart": [{"name": "f", "file": str(shared / "secret"), "file_name": "a.txt"}]}
    error = ask_nobody(body=form)["result"]["outcome"]["error"]
    assert error["name"] == f"{FORM}_input_stream_creation_failed"
    assert error["details"]["errno"] == errno.EACCES
    assert len(origin.requests) == 1

    place = {"path": str(shared / "new/deep/file"), "create_directories": True}
    error = ask_nobody(kind="download", destination=place)["result"]["outcome"]["error"]
    assert (error["name"], error["details"]["errno"], "hint" in error) == (MOVE_FAILED, errno.EACCES, False)

    replaced = {"path": str(shared / "secret"), "remove_previous": True}
    for mode in (0o755, 0o1777):
        # Neither in a directory that only its owner may write, nor in a sticky one that all may write.
        shared.chmod(mode)
        error = ask_nobody(kind="download", destination=replaced)["result"]["outcome"]["error"]
        assert (error["name"], error["details"]["errno"]) == (
            MOVE_FAILED,
            errno.EACCES if mode == 0o755 else errno.EPERM,
        )
        assert names(shared) == ["open", "secret"]
    assert (shared / "secret").read_bytes() == b"secret"


@as_root
def test_other_users_name_no_paths(start: StartDaemon, origin: ScriptedOrigin, url: str, folder: Path) -> None:
    """Nor do they resume the daemon's files; their downloads are in the spool, and they get a descriptor."""
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    (folder / "file").write_bytes(b"content")
    folder.chmod(0o777)
    path = str(folder / "file")
    for params in (
        {"kind": "upload", "body": {"file": path}},
        {"body": {"multipart": [{"name": "f", "file": path, "file_name": "a.txt"}]}},
        {"kind": "download", "destination": path},
        {"kind": "download", "destination": {"directory": str(folder)}},
        {"kind": "download", "resume_data": "e30"},
    ):
        answer = ask_as(NOBODY, daemon.socket, "request.perform", url=url, **params)
        assert (answer["error"]["code"], answer["error"]["data"]["name"]) == (1302, "file.not_owner"), params
    assert origin.requests == []
    assert names(folder) == ["file"]
    with daemon.wire() as wire:
        assert download(wire, url, folder / "mine")["outcome"]["ok"]
