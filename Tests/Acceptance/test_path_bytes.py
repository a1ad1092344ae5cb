"""Files whose names are not UTF-8: each way to name one, in the protocol, the Python client and the command."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import carpool
import pytest
import requests
from carpool.requests import CarpoolAdapter
from harness.command import OK, USAGE, Run, runner
from harness.daemon import Daemon
from origins.authority import Authority, Certificate
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

# Latin-1; a stray continuation; the end of a character; a character for a byte itself, which is UTF-8; both in one.
NAMES = [
    b"caf\xe9",
    b"\x80\xbf",
    b"\xf0\x9f\x98",
    "\U0010fee9".encode(),
    b"\xff " + "\U0010fee9".encode(),
]
CONTENT = b"content"


def escaped(path: bytes) -> str:
    """The path as the page of the protocol says."""
    mark = range(0x10FE80, 0x10FF00)
    text = ""
    for character in path.decode("utf-8", "surrogateescape"):
        if 0xDC80 <= ord(character) <= 0xDCFF:
            text += chr(ord(character) - 0xDC00 + 0x10FE00)
        elif ord(character) in mark:
            text += "".join(chr(0x10FE00 + byte) for byte in character.encode())
        else:
            text += character
    return text


@pytest.fixture(params=NAMES, ids=[name.hex() for name in NAMES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with this name, that has a file with this name."""
    folder = tmp_path / os.fsdecode(request.param)
    folder.mkdir()
    return folder / f"{folder.name}.bin"


@pytest.fixture
def echo(origin: ScriptedOrigin) -> str:
    """Answers with the body, or with the content."""
    return origin.on("/echo", lambda exchange: exchange.reply(body=exchange.request.body or CONTENT))


def paths(place: Path) -> list[Any]:
    """The forms of a path in Python."""
    return [place, str(place), os.fsencode(place)]


def in_full(place: Path) -> str:
    """The path for a parameter in the format of the daemon: surrogates are accepted there, too."""
    path = str(place)
    return path if any("\udc80" <= each <= "\udcff" for each in path) else escaped(os.fsencode(place))


def beside(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


def test_the_protocol(client: carpool.Client, echo: str, place: Path) -> None:
    place.write_bytes(CONTENT)
    sent = client.call("request.perform", url=echo, kind="upload", body={"file": escaped(os.fsencode(place))})
    assert sent["body"]["text"] == CONTENT.decode()
    target = beside(place, ".out")
    record = client.call(
        "request.perform", url=echo, kind="download", destination={"path": escaped(os.fsencode(target))}
    )
    assert record["body"]["file"] == escaped(os.fsencode(target))
    assert target.read_bytes() == CONTENT


def test_bodies(client: carpool.Client, origin: ScriptedOrigin, echo: str, place: Path) -> None:
    place.write_bytes(CONTENT)
    path = place
    assert client.put(echo, data=path).content == CONTENT
    assert client.upload(echo, path).content == CONTENT
    with path.open("rb") as file:
        assert client.put(echo, data=file).content == CONTENT
    with path.open("rb") as opened:
        for given in (path, opened, (path.name, path), (path.name, CONTENT)):
            body = client.post(echo, files={"f": given}).content
            assert b'filename="' + os.fsencode(place.name) + b'"' in body
            assert b"\r\n\r\n" + CONTENT + b"\r\n" in body
    assert b'filename="x.bin"' in client.post(echo, files={"f": ("x.bin", path)}).content
    parts = [{"name": "f", "file": in_full(place), "content_type": "a/b"}]
    assert CONTENT in client.post(echo, files=parts).content
    assert client.post(echo, body={"file": in_full(place)}, kind="upload").content == CONTENT


def test_downloads(client: carpool.Client, daemon: Daemon, origin: ScriptedOrigin, place: Path) -> None:
    url = origin.on("/file.txt", lambda exchange: exchange.reply(body=CONTENT))
    for path in paths(place):
        response = client.download(url, path)
        assert response.path == place
        assert response.content == CONTENT
    response = client.download(url, place.parent)
    assert response.path == place.parent / "file.txt"
    assert client.get(url, kind="download", destination={"path": in_full(beside(place, "2"))}).content == CONTENT

    async def download() -> carpool.Response:
        async with carpool.AsyncClient(daemon.socket) as other:
            return await other.download(url, os.fsencode(place))

    assert asyncio.run(download()).content == CONTENT
    # Nothing else is left.
    assert set(place.parent.iterdir()) == {place, beside(place, "2"), place.parent / "file.txt"}


def test_a_server_chooses_no_bytes(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """The characters for bytes would get around the check of its name for control characters."""
    name = "\U0010fec2\U0010fe85.txt"
    field = ("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name)}")
    url = origin.on("/named", lambda exchange: exchange.reply(200, CONTENT, [field]))
    assert client.download(url, tmp_path).path == tmp_path / name
    assert (tmp_path / name).read_bytes() == CONTENT


def test_a_download_is_resumed(client: carpool.Client, origin: ScriptedOrigin, place: Path) -> None:
    body = bytes(range(256)) * 4_000

    def handler(exchange: Any) -> None:
        if field := exchange.request.values("range"):
            start = int(field[0].removeprefix("bytes=").removesuffix("-"))
            fields = [("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}"), ("ETag", '"a"')]
            exchange.reply(206, body[start:], fields)
        else:
            exchange.send(b'HTTP/1.1 200 OK\r\nETag: "a"\r\nAccept-Ranges: bytes\r\n')
            exchange.send(b"Content-Length: %d\r\n\r\n" % len(body) + body[:500_000])
            exchange.close()

    url = origin.on("/big", handler)
    with pytest.raises(carpool.RequestError) as caught:
        client.download(url, place)
    assert caught.value.resume_data
    client.download(url, place, resume=caught.value.resume_data)
    assert place.read_bytes() == body
    assert list(place.parent.iterdir()) == [place]


def test_authorities(
    client: carpool.Client, nginx: Nginx, authority: Authority, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{nginx.https}/hello.txt"
    shutil.copy(authority.ca_file, place)
    store = place.parent
    shutil.copy(authority.ca_file, store / "\udce9.pem")
    for path in (*paths(place), *paths(store)):
        assert client.get(url, verify=path).ok
    assert client.get(url, trust={"ca_file": in_full(place)}).ok
    monkeypatch.setenv("SSL_CERT_DIR", str(store))
    assert client.get(url).ok


def test_client_certificates(
    client: carpool.Client, daemon: Daemon, mutual: MutualNginx, person: Certificate, authority: Authority,
    place: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    chain, key = place, beside(place, ".key")
    shutil.copy(person.chain, chain)
    shutil.copy(person.key, key)
    for cert in ((os.fsencode(chain), key), (str(chain), os.fsencode(key))):
        assert client.get(mutual.required, cert=cert, verify=authority.ca_file).text.startswith("CN=person")
    with requests.Session() as session:
        session.mount("https://", CarpoolAdapter())
        named = (str(chain), str(key))
        assert session.get(mutual.required, cert=named, verify=str(authority.ca_file)).text.startswith("CN=person")


def test_errors_name_the_file(client: carpool.Client, echo: str, tmp_path: Path) -> None:
    with pytest.raises(carpool.FileAccessError) as caught:
        client.put(echo, data=tmp_path / "caf\udce9")
    assert "/caf\\xe9" in str(caught.value)
    assert str(caught.value).encode()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"data": Path("/a\ud800")}, "data"),
        ({"files": {"f": Path("/a\udc7f")}}, "files"),
        ({"files": {"f": ("a\ud800", b"")}}, "files"),
        ({"verify": "/a\ud800"}, "verify"),
        ({"cert": "/a\ud800"}, "cert"),
        ({"trust": {"ca_file": "/a\ud800"}}, r"trust\.ca_file"),
        ({"headers": {"X": "a\udce9"}}, "headers"),
        ({"tags": {"a": "\udce9"}}, r"tags\.a"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(
    client: carpool.Client, echo: str, options: dict[str, Any], name: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{name}.*'\\ud"):
        client.post(echo, **options)
    with pytest.raises(ValueError, match=r"^path: .*'\\ud800'"):
        client.download(echo, "/a\ud800")


@pytest.fixture
def run(daemon: Daemon, tmp_path: Path) -> Run:
    raw = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)
    # `runner` makes str of all arguments: the surrogates of os.fsdecode are bytes again for the program.
    return lambda *arguments: raw(*map(os.fsdecode, arguments))


def test_the_command(
    run: Run, nginx: Nginx, mutual: MutualNginx, person: Certificate, authority: Authority, echo: str, place: Path
) -> None:
    place.write_bytes(CONTENT)
    for options in (["-d", f"@{place}"], ["-T", place]):
        done = run("post", *options, echo)
        assert (done.returncode, done.stdout) == (OK, CONTENT), done.stderr
    done = run("post", "-F", f"f=@{place};type=a/b", echo)
    assert b'filename="' + os.fsencode(place.name) + b'"' in done.stdout, done.stderr
    target = beside(place, ".out")
    assert run("get", "-o", target, echo).returncode == OK
    assert target.read_bytes() == CONTENT
    jar = beside(place, ".jar")
    done = run("get", "-c", jar, echo)
    assert (done.returncode, jar.exists()) == (OK, True), done.stderr
    assert run("get", "-b", jar, echo).returncode == OK
    shutil.copy(authority.ca_file, place)
    assert run("get", "--cacert", place, f"{nginx.https}/hello.txt").returncode == OK
    shutil.copy(person.chain, place)
    shutil.copy(person.key, beside(place, ".key"))
    done = run("get", "--cacert", authority.ca_file, "--cert", place, "--key", beside(place, ".key"), mutual.required)
    assert done.stdout.startswith(b"CN=person"), done.stderr


def test_the_command_replaces_files(run: Run, echo: str, place: Path) -> None:
    place.write_bytes(b"before")
    place.chmod(0o640)
    assert run("get", "-o", place, echo).returncode == OK
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (CONTENT, 0o640)
    # A file with a second name is written in place, and the head is written by the command itself.
    place.write_bytes(b"before")
    other = beside(place, ".link")
    other.hardlink_to(place)
    done = run("get", "-i", "-o", place, echo)
    assert (done.returncode, other.samefile(place)) == (OK, True), done.stderr
    assert other.read_bytes().endswith(b"\r\n\r\n" + CONTENT)
    place.write_bytes(b"%{http_code}")
    assert run("get", "-w", f"@{place}", echo).stdout == CONTENT + b"200"


def test_the_command_finds_a_missing_folder_before_the_request(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    url = origin.on("/unasked", lambda exchange: exchange.reply(body=CONTENT))
    done = run("get", "-o", beside(place, ".missing") / "file", url)
    assert done.returncode != OK
    assert b"No such file or directory" in done.stderr
    assert not [request for request in origin.requests if request.target == "/unasked"]


def test_the_command_shows_bytes_and_refuses_them_elsewhere(run: Run, echo: str, tmp_path: Path) -> None:
    done = run("get", "--cacert", tmp_path / "caf\udce9", echo.replace("http:", "https:"))
    assert b"/caf\\xe9: No such file" in done.stderr, done.stderr
    for arguments in (
        ("post", "-d", b"caf\xe9", echo),
        ("get", "-H", b"X: \xe9", echo),
        ("get", echo.encode() + b"\xe9"),
        ("get", "--socket", b"/caf\xe9", echo),
    ):
        done = run(*arguments)
        assert done.returncode == USAGE
        assert b"is not UTF-8" in done.stderr
    done = run("post", "-d", "\U0010fee9", echo)
    assert (done.returncode, done.stdout) == (OK, "\U0010fee9".encode())
