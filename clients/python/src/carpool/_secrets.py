"""What is hidden in the log: the rules of the daemon for texts that others read.

The tables are those of `Sources/CarpoolSession/Headers/SecretNames.swift`, the rules for URLs those of
`Redaction.swift` beside it; the tests compare both with the daemon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from ._models import field_text

MARK: Final = "(hidden)"

PARTS: Final = [
    "authorization",
    "cookie",
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "credential",
    "signature",
    "bearer",
    "jwt",
    "assertion",
    "hmac",
    "sessionid",
    "apikey",
    "appkey",
    "authkey",
    "accesskey",
    "privatekey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "customerkey",
    "encryptionkey",
    "subscriptionkey",
    "functionskey",
    "servicekey",
    "codeverifier",
]
NAMES: Final = frozenset(
    [
        "auth",
        "xauth",
        "code",
        "authcode",
        "key",
        "sig",
        "pass",
        "pwd",
        "pw",
        "pin",
        "otp",
        "totp",
        "sid",
        "session",
        "ticket",
        "samlresponse",
        "samlrequest",
        "connectsid",
        "phpsessid",
        "jsessionid",
    ]
)
HARMLESS_ENDINGS: Final = ("url", "uri", "endpoint", "type", "algorithm", "expires", "expiresin", "expiry")
HARMLESS_PARTS: Final = [
    "accesscontrol",
    "ratelimit",
    "maxtokens",
    "keepauthorization",
    "tokencount",
    "pagetoken",
    "continuationtoken",
]
HARMLESS_KEYS: Final = tuple(
    f"{word}key"
    for word in [
        "idempotency",
        "cache",
        "surrogate",
        "partition",
        "sort",
        "primary",
        "foreign",
        "public",
        "routing",
        "websocket",
        "object",
    ]
)

# The last word is `key`: X-Access-Key and masterKey, but not monkey.
_LAST_WORD_KEY: Final = re.compile(r"(?:[^A-Za-z]k|[^A-Z]K)[eE][yY]\Z")
_OTHERS: Final = re.compile(r"[^a-z0-9]")
# A name of at most 128 characters, before the first character of its value.
_PARAMETER: Final = re.compile(r"""([^?&;#=/"',\x00-\x20]{1,128})=(?=[^&;#"<>\x00-\x20])""")
_VALUE: Final = re.compile(r"""[^&;#"<>\x00-\x20]+""")
_AUTHORITY: Final = re.compile(r"[^/?#]*")
_AUTHORITY_IN_TEXT: Final = re.compile(r"[^/?#\x00-\x20]*")
_SLASHES: Final = re.compile(r"[/\\]*")
_BLANK: Final = re.compile(r"[\x00-\x20]")
# Members of a record that are bodies, or contain parts of them.
_CONTENTS: Final = frozenset({"text", "base64", "json", "value", "values", "resume_data"})


def is_secret(name: str) -> bool:
    """Whether the value of a header field, a parameter or a member of this name is a secret."""
    # Not lower() first: it makes ASCII letters of others.
    folded = _OTHERS.sub("", "".join(each for each in name if each.isascii()).lower())
    if not folded or any(part in folded for part in HARMLESS_PARTS) or folded.endswith(HARMLESS_ENDINGS):
        return False
    if folded in NAMES or any(part in folded for part in PARTS):
        return True
    return bool(_LAST_WORD_KEY.search(name)) and not folded.endswith(HARMLESS_KEYS)


def shown(text: str) -> str:
    """Return a URL, or a text with URLs, without user information and the values of secret parameters."""
    if "@" in text:
        text = _without_user(text)
    return _without_parameters(text) if "=" in text else text


def _without_user(text: str) -> str:
    kept, place, searched = "", 0, 0
    while (colon := text.find(":", place)) >= 0:
        start = _end(_SLASHES, text, colon + 1)
        # Inside a text only two slashes begin an authority: `time: 12@home` has none.
        is_whole = not kept and not _BLANK.search(text, place, colon)
        kept += text[place:start]
        place = start
        if (start - colon > 2 or is_whole) and start >= searched:  # noqa: PLR2004, the colon and two slashes
            searched = _end(_AUTHORITY if is_whole else _AUTHORITY_IN_TEXT, text, start)
            place = text.rfind("@", start, searched) + 1 or start
    return kept + text[place:]


def _without_parameters(text: str) -> str:
    kept, place = "", 0
    for found in _PARAMETER.finditer(text):
        if found.end() > place and is_secret(unquote(found[1])):
            kept += text[place : found.end()] + MARK
            place = _end(_VALUE, text, found.end())
    return kept + text[place:]


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def masked(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without bodies and values, and with `(hidden)` for its secrets."""
    return {name: _masked(value, is_secret(name)) for name, value in record.items() if name not in _CONTENTS}


def _masked(value: Any, hides: bool) -> Any:
    if isinstance(value, str):
        return MARK if hides else shown(value)
    if isinstance(value, dict):
        return {
            name: _masked(member, hides or is_secret(name)) for name, member in value.items() if name not in _CONTENTS
        }
    if isinstance(value, list):
        # Header fields are pairs of name and value; what is not UTF-8 is {"base64": ...}.
        match value:
            case [str() | {"base64": str()} as field, text]:
                name = field_text(field)
                return [name, MARK if hides or is_secret(name) else _masked(text, hides)]
        return [_masked(element, hides) for element in value]
    return value
