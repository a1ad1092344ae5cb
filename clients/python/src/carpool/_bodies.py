"""The body of a request, from the arguments `json`, `data` and `files`."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from . import _forms, _paths
from ._exceptions import CarpoolError
from ._sources import Source, buffer_bytes, has_ended, is_buffer

# A message may have 1 MiB and base64 adds a third; a larger body is sent as a file that the daemon reads.
MAX_INLINE_BODY_BYTES: Final = 512 << 10

_ONE_BODY: Final = "a request has one body: pass only one of json, data and files; fields of a form with files are data"
_TUPLE: Final = "(file name, content[, type[, header fields]]); several files of a name are a list of pairs"
_FORM_TYPE: Final = "application/x-www-form-urlencoded"


class Body:
    """The parameter `body`, and the contents that are too large for a message."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Remove the arguments of the body from the options."""
        self.large: list[tuple[dict[str, Any], bytes]] = []
        """Contents that the client writes to files, with the objects that name these files as `file`."""
        self.content_type: str | None = None
        """The content type if the header fields have none."""
        self._left = MAX_INLINE_BODY_BYTES
        self.param: dict[str, Any] | None = self._made(
            options.pop("json", None), options.pop("data", None), options.pop("files", None)
        )

    def _made(self, value: Any, data: Any, files: Any) -> dict[str, Any] | None:
        if data is not None and _forms.is_form(data) and not data:
            data = None
        if sum((value is not None, data is not None, bool(files))) > 1 and not (
            files and value is None and _forms.is_form(data)
        ):
            raise ValueError(_ONE_BODY)
        if files:
            fields = [] if data is None else _forms.fields("data", data)
            named = [self._part(name, (None, text)) for name, text in fields if text is not None]
            return {"multipart": named + self._parts(files)}
        if value is not None:
            self.content_type = "application/json"
            return self._content(_json(value), "json")
        if data is None:
            return None
        if _forms.is_form(data):
            self.content_type = _FORM_TYPE
            return self._content(_forms.encode(_forms.fields("data", data)), "data")
        if isinstance(data, os.PathLike):
            return {"file": _paths.absolute("data", data)}
        return data.param if isinstance(data, Source) else self._content(data, "data")

    def _content(self, content: str | bytes, argument: str) -> dict[str, Any]:
        """Return the form of a content in memory."""
        raw = _paths.encodable(content, argument).encode() if isinstance(content, str) else buffer_bytes(content)
        if len(raw) > self._left:
            place: dict[str, Any] = {}
            self.large.append((place, raw))
            return place
        self._left -= len(raw)
        return {"text": content} if isinstance(content, str) else {"base64": base64.b64encode(raw).decode()}

    def _parts(self, files: Any) -> list[dict[str, Any]]:
        if isinstance(files, Mapping):
            return [self._part(name, content) for name, content in files.items()]
        if isinstance(files, (list, tuple)):
            if all(isinstance(part, Mapping) for part in files):
                return [dict(part) for part in files]
            if _forms.is_form(files):
                return [self._part(name, content) for name, content in files]
        raise TypeError(
            "files: expected a mapping of names to files, a list of pairs, or a list of parts in the format of the "
            f"daemon, not {type(files).__name__}"
        )

    def _part(self, name: str, given: Any) -> dict[str, Any]:
        """Return a part of a form in its wire format."""
        if not isinstance(name, str):
            raise TypeError(f"files: a name is str, not {type(name).__name__}: {name!r}")
        _paths.encodable(name, "files: a name")
        if isinstance(given, Mapping):
            return {"name": name, **given}
        content_type = None
        if isinstance(given, (list, tuple)):
            if len(given) not in {2, 3, 4}:
                raise TypeError(f"files: the tuple of {name!r} is {_TUPLE}")
            file_name, content, content_type, headers = (*given, None, None)[:4]
            if not isinstance(file_name, (str, type(None))):
                kind = type(file_name).__name__
                raise TypeError(f"files: the file name of {name!r} is str or None, not {kind}: the tuple is {_TUPLE}")
            content_type = _part_type(name, content_type, headers)
        else:
            content, file_name = given, _file_name(name, given)
        part = self._part_content(name, content, file_name)
        part["name"] = name
        if file_name is not None:
            part["file_name"] = _paths.wire("files", file_name)
        elif self.large and self.large[-1][0] is part:
            raise ValueError(f"files: the field {name!r} is larger than 512 KiB: give it the name of a file")
        if content_type is not None:
            part["content_type"] = content_type
        return part

    def _part_content(self, name: str, content: Any, file_name: str | None) -> dict[str, Any]:
        if isinstance(content, os.PathLike):
            if file_name is not None and not _paths.is_of_process(content):
                return {"file": _paths.absolute("files", content)}
            with open(_paths.checked("files", os.fsdecode(content)), "rb") as file:  # noqa: PTH123, without importing pathlib
                content = file.read()
        elif _is_text_file(content):
            raise TypeError(f'files: the file of {name!r} is open for text: open it for bytes, with "rb"')
        elif hasattr(content, "read"):
            if file_name is not None and (place := _regular_file(content)) is not None:
                return place
            content = content.read()
        if not isinstance(content, str) and not is_buffer(content):
            raise TypeError(
                f"files: the content of {name!r} is of type {type(content).__name__}: expected a file open for "
                "reading bytes, bytes, str or a path"
            )
        return self._content(cast("str | bytes", content), f"files: the content of {name!r}")


@contextlib.contextmanager
def in_files(large: list[tuple[dict[str, Any], bytes]]) -> Iterator[None]:
    """Write the large contents of a body to files, which the daemon reads before the block ends."""
    with contextlib.ExitStack() as files:
        try:
            # Else tempfile would say of a program that may open no more files that there is no directory.
            os.close(os.open(os.devnull, os.O_RDONLY))
            # Few programs need it, and its import takes ten times as long as the rest.
            import tempfile  # noqa: PLC0415

            for place, content in large:
                file = files.enter_context(tempfile.NamedTemporaryFile(prefix="carpool-"))
                file.write(content)
                file.flush()
                place["file"] = _paths.wire("TMPDIR", file.name)
        except OSError as error:
            with contextlib.suppress(OSError):
                files.close()
            raise CarpoolError(f"cannot write a part of the body to a temporary file: {error.strerror}") from error
        yield


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except TypeError as error:
        raise TypeError(f"json: expected a value that JSON can represent: {error}") from None
    except ValueError as error:
        raise ValueError(f"json: expected a value that JSON can represent: {error}") from None


def is_source(data: object) -> bool:
    """Whether the argument `data` is a body that is read while it is sent."""
    if data is None or isinstance(data, str) or is_buffer(data) or _forms.is_form(data):
        return False
    if isinstance(data, os.PathLike):
        return _paths.is_of_process(data)
    return hasattr(data, "read") or hasattr(data, "__iter__") or hasattr(data, "__aiter__")


def check_data(data: object) -> None:
    """Raise TypeError if the argument `data` is no body."""
    if _forms.is_form(data) or isinstance(data, (str, os.PathLike, Source)) or is_buffer(data):
        return
    if _is_text_file(data):
        raise TypeError('data: the file is open for text: open it for bytes, with "rb"')
    if not is_source(data):
        raise TypeError(
            "data: expected a mapping or a list of pairs (a form), str, bytes, a path, a file open for reading bytes, "
            f"or an iterable of bytes, not {type(data).__name__}; a value that is sent as JSON is json="
        )
    if getattr(data, "closed", None) is True:
        raise ValueError("data: the file is closed: open it again, or pass its path")
    if has_ended(data):
        raise ValueError("data: the generator has ended, and has no more bytes: pass a new one for each request")
    for element in data if isinstance(data, (list, tuple)) else ():
        if not is_buffer(element):
            raise TypeError(
                "data: a list has pairs of a name and a value, which are a form, or pieces of bytes, not "
                f"{type(element).__name__}"
            )


def _is_text_file(content: object) -> bool:
    return isinstance(content, io.TextIOBase)


def _file_name(name: str, content: Any) -> str:
    """Return the name of a file that is given without one; text and bytes are named after their field."""
    path = content if isinstance(content, os.PathLike) else getattr(content, "name", None)
    if path is None or not isinstance(path, (str, bytes, os.PathLike)):
        return name
    return os.path.basename(os.fsdecode(path)) or name  # noqa: PTH119, without importing pathlib


def _regular_file(file: Any) -> dict[str, Any] | None:
    """Return the rest of an open file by its path, if it is a regular file that still has the path.

    Only of the files that `open` returns for reading: others, as of gzip, read something else than the file's bytes.
    """
    try:
        raw = file.raw if type(file) is io.BufferedReader else file
        is_named = isinstance(file.name, (str, bytes, os.PathLike))
        if type(raw) is not io.FileIO or file.writable() or not is_named:
            return None
        path = os.path.abspath(os.fsdecode(file.name))  # noqa: PTH100, resolve() would follow links
        is_same = os.path.samestat(own := os.fstat(file.fileno()), os.stat(path))  # noqa: PTH116, as above
        is_whole = is_same and stat.S_ISREG(own.st_mode) and not _paths.is_of_process(path)
        return {"file": _paths.wire("files", path), "offset": file.tell()} if is_whole else None
    except (AttributeError, OSError, ValueError):
        return None


def _part_type(name: str, content_type: Any, headers: Any) -> str | None:
    """Return the type of a part; its other header fields have no place in the format of the daemon."""
    for field, value in () if headers is None else cast("Iterable[tuple[str, str]]", dict(headers).items()):
        if field.lower() != "content-type":
            raise ValueError(f"files: a part has no header field but Content-Type: remove {field!r} of {name!r}")
        content_type = content_type or value
    if content_type is not None and not isinstance(content_type, str):
        raise TypeError(f"files: the type of {name!r} is str, not {type(content_type).__name__}")
    return content_type
