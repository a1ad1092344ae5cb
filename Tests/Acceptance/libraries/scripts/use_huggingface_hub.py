"""huggingface_hub: files with etags and redirects, a whole snapshot, uploads, and a download that continues.

Releases from 1.0 on use httpx or httpx2, earlier ones requests.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from loopback import Origin, adapter, answer, in_turn, serving

# Of this process, before the package is read.
os.environ |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}

SMALL, LARGE = b'{"a": 1}', os.urandom(25_000_000)
COMMIT = "0" * 39 + "1"


def file(content: bytes, *, is_broken: bool = False) -> Any:
    """Answer as the hub does: with the commit and the etag in the head, and with ranges."""
    left = [is_broken]

    def handler(exchange: Any) -> None:
        lines = [
            ("X-Repo-Commit", COMMIT), ("ETag", f'"{hashlib.sha256(content).hexdigest()}"'), ("Accept-Ranges", "bytes"),
        ]  # fmt: skip
        asked = exchange.request.values("range")
        start = int(asked[0].removeprefix("bytes=").partition("-")[0]) if asked else 0
        if asked:
            lines.append(("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"))
        part = content[start:]
        if exchange.request.method == "GET" and left[0]:
            left[0] = False
            exchange.reply(200, part[: len(part) // 2], lines, length=len(part))
            exchange.close()
        exchange.reply(206 if asked else 200, part, lines)

    return handler


def downloads(origin: Origin, hub: Any) -> None:
    origin.on("/m/r/resolve/main/config.json", file(SMALL))
    origin.on(f"/m/r/resolve/{COMMIT}/config.json", file(SMALL))
    # Large files are elsewhere: the hub redirects to them.
    # Releases that use requests do not continue.
    is_broken = hasattr(hub, "set_client_factory")
    origin.on("/elsewhere", file(LARGE, is_broken=is_broken))
    head = [("X-Repo-Commit", COMMIT), ("X-Linked-Etag", f'"{hashlib.sha256(LARGE).hexdigest()}"')]
    head += [("X-Linked-Size", str(len(LARGE))), ("Location", f"{origin.url}/elsewhere")]
    for revision in ("main", COMMIT):
        origin.on(f"/m/r/resolve/{revision}/model.bin", lambda exchange: exchange.reply(302, headers=head))

    path = Path(hub.hf_hub_download("m/r", "config.json"))
    assert path.read_bytes() == SMALL
    gets = origin.targets().count("GET /m/r/resolve/main/config.json")
    assert Path(hub.hf_hub_download("m/r", "config.json")) == path
    assert origin.targets().count("GET /m/r/resolve/main/config.json") == gets == 1

    # The connection breaks in the middle of the file, which continues after the last of its blocks of 10 MiB.
    assert Path(hub.hf_hub_download("m/r", "model.bin")).read_bytes() == LARGE
    asked = [request.values("range") for request in origin.requests if request.target == "/elsewhere"]
    assert asked[-1] == (["bytes=10485760-"] if is_broken else []), asked

    siblings = [{"rfilename": "config.json"}, {"rfilename": "model.bin"}]
    origin.json("/api/models/m/r/revision/main", {"id": "m/r", "sha": COMMIT, "siblings": siblings})
    tree = [{"type": "file", "path": each["rfilename"], "size": 8, "oid": "1" * 40} for each in siblings]
    origin.json(f"/api/models/m/r/tree/{COMMIT}", tree)
    folder = Path(hub.snapshot_download("m/r"))
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.bin"]
    assert (folder / "model.bin").read_bytes() == LARGE


def calls(origin: Origin, hub: Any) -> None:
    from huggingface_hub.utils import RepositoryNotFoundError  # noqa: PLC0415, after its environment was set

    api = hub.HfApi(token="hf_t")
    origin.json("/api/whoami-v2", {"name": "Zoë", "type": "user"})
    assert api.whoami()["name"] == "Zoë"
    assert origin.requests[-1].values("authorization") == ["Bearer hf_t"]
    pages = [("Link", f'<{origin.url}/api/models?cursor=2>; rel="next"')]
    one = [{"id": "m/1"}]
    origin.on(
        "/api/models",
        in_turn(lambda exchange: answer(exchange, one, 200, pages), lambda exchange: answer(exchange, [{"id": "m/2"}])),
    )
    assert [model.id for model in api.list_models()] == ["m/1", "m/2"]
    origin.on("/api/models/m/none", lambda exchange: answer(exchange, {}, 404, [("X-Error-Code", "RepoNotFound")]))
    try:
        api.model_info("m/none")
    except RepositoryNotFoundError as error:
        assert error.response.status_code == 404
    else:
        raise AssertionError("no RepositoryNotFoundError")


def uploads(origin: Origin, hub: Any) -> None:
    content = os.urandom(9_000_000)
    oid = hashlib.sha256(content).hexdigest()
    origin.json(
        "/api/models/m/r/preupload/main", {"files": [{"path": "w.bin", "uploadMode": "lfs", "shouldIgnore": False}]}
    )
    actions = {"upload": {"href": f"{origin.url}/store"}}
    origin.json(
        "/m/r.git/info/lfs/objects/batch",
        {"transfer": "basic", "objects": [{"oid": oid, "size": len(content), "actions": actions}]},
    )
    origin.on("/store", lambda exchange: exchange.reply(200))
    commit = {"commitUrl": f"{origin.url}/m/r/commit/{COMMIT}", "commitOid": COMMIT, "success": True}
    origin.json("/api/models/m/r/commit/main", commit)
    info = hub.HfApi(token="hf_t").upload_file(path_or_fileobj=content, path_in_repo="w.bin", repo_id="m/r")
    assert COMMIT in str(getattr(info, "commit_url", info))
    stored = [request for request in origin.requests if request.target == "/store"]
    assert [request.body for request in stored] == [content] and stored[0].method == "PUT"
    assert b"w.bin" in origin.requests[-1].body


def switch_on() -> Any:
    """Send through Carpool, and return the package."""
    import huggingface_hub  # noqa: PLC0415, after its environment was set

    if hasattr(huggingface_hub, "set_client_factory"):
        import httpx2  # noqa: PLC0415, only some releases use it

        transport = adapter().CarpoolTransport()
        huggingface_hub.set_client_factory(
            lambda: httpx2.Client(transport=transport, follow_redirects=True, timeout=None)
        )
    else:
        import requests  # noqa: PLC0415, only some releases use it

        def session() -> requests.Session:
            made = requests.Session()
            made.mount("http://", adapter().CarpoolAdapter())
            return made

        huggingface_hub.configure_http_backend(backend_factory=session)
    return huggingface_hub


with serving() as origin:
    os.environ |= {"HF_ENDPOINT": origin.url, "HF_HOME": str(Path.cwd() / "home")}
    package = switch_on()
    downloads(origin, package)
    calls(origin, package)
    uploads(origin, package)
