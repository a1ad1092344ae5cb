"""anthropic: messages, their streams, retries, time limits, files, and all of it from tasks."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import anthropic
from loopback import EventStream, Origin, adapter, answer, form_parts, in_turn, reset, serving, status

MESSAGE: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Grüße"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
QUESTION: Any = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "?"}]}
SOON = [("retry-after-ms", "1")]


def events(*texts: str) -> list[str]:
    values: list[dict[str, Any]] = [
        {"type": "message_start", "message": MESSAGE | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
            for text in texts
        ),
        {"type": "ping"},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]  # fmt: skip
    return [f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in values]


def client(origin: Origin, **arguments: Any) -> anthropic.Anthropic:
    sends = anthropic.DefaultHttpxClient(transport=adapter().CarpoolTransport())
    return anthropic.Anthropic(api_key="k", base_url=origin.url, http_client=sends, **arguments)


def blocking(origin: Origin) -> None:
    origin.json("/v1/messages", MESSAGE)
    with client(origin) as claude:
        assert claude.messages.create(**QUESTION).content[0].text == "Grüße"
        request = origin.requests[-1]
        assert request.values("x-api-key") + request.values("authorization") in (["k"], ["Bearer k"])
        assert origin.bodies("/v1/messages")[-1] == QUESTION

        stream = EventStream(events("a", "ü", "c"))
        origin.on("/v1/messages", stream)
        stream.go_on()
        with claude.messages.stream(**QUESTION) as messages:
            assert list(messages.text_stream) == ["a", "ü", "c"]
            assert messages.get_final_message().usage.output_tokens == 2

        # The first event is read before the others are sent.
        stream = EventStream(events("a", "b"))
        origin.on("/v1/messages", stream)
        kinds = []
        for event in claude.messages.create(**QUESTION, stream=True):
            kinds.append(event.type)
            stream.go_on()
        assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds

        # What breaks off in the middle is an error, not a short answer.
        def break_off(exchange: Any) -> None:
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            data = "".join(events("a")[:3]).encode()
            exchange.send(b"%x\r\n%s\r\n" % (len(data), data))
            exchange.reset()

        origin.on("/v1/messages", break_off)
        read = []
        try:
            for event in claude.messages.create(**QUESTION, stream=True):
                read.append(event.type)
        except Exception as error:
            assert type(error).__name__ in {"RemoteProtocolError", "ReadError", "APIConnectionError"}, repr(error)
        else:
            raise AssertionError(f"the stream ended without an error after {read}")


def failures(origin: Origin) -> None:
    with client(origin, max_retries=3) as claude:
        origin.on("/v1/messages", in_turn(reset, status(529, {}, SOON), status(500, {}, SOON), status(200, MESSAGE)))
        before = len(origin.requests)
        assert claude.messages.create(**QUESTION).id == "msg_1"
        assert len(origin.requests) == before + 4
    with client(origin, max_retries=0, timeout=0.3) as claude:
        gate = origin.hold("/v1/messages")
        try:
            claude.messages.create(**QUESTION)
        except anthropic.APITimeoutError:
            gate.set()
        else:
            raise AssertionError("no APITimeoutError")
        origin.json("/v1/messages", {"type": "error", "error": {"type": "x", "message": "too many"}}, 429)
        try:
            claude.messages.create(**QUESTION)
        except anthropic.RateLimitError as error:
            assert "too many" in str(error)
        else:
            raise AssertionError("no RateLimitError")


async def from_tasks(origin: Origin) -> None:
    sends = anthropic.DefaultAsyncHttpxClient(transport=adapter().AsyncCarpoolTransport())
    async with anthropic.AsyncAnthropic(api_key="k", base_url=origin.url, http_client=sends, max_retries=2) as claude:
        origin.on("/v1/messages", lambda exchange: answer(exchange, MESSAGE))
        messages = await asyncio.gather(*(claude.messages.create(**QUESTION) for _ in range(10)))
        assert [message.id for message in messages] == ["msg_1"] * 10

        stream = EventStream(events("a", "b"))
        origin.on("/v1/messages", stream)
        stream.go_on()
        async with claude.messages.stream(**QUESTION) as events_of_it:
            assert [text async for text in events_of_it.text_stream] == ["a", "b"]

        origin.on("/v1/messages", in_turn(reset, status(429, {}, SOON), status(200, MESSAGE)))
        assert (await claude.messages.create(**QUESTION)).id == "msg_1"

        content = os.urandom(1_000_000)
        origin.json("/v1/files", {
            "id": "f", "type": "file", "filename": "a", "mime_type": "x/y", "size_bytes": 1,
            "created_at": "2026-01-01T00:00:00Z",
        })  # fmt: skip
        assert (await claude.beta.files.upload(file=("a.bin", content, "x/y"))).id == "f"
        assert form_parts(origin.requests[-1])["file"] == ("a.bin", content)


with serving() as origin:
    blocking(origin)
    failures(origin)
    asyncio.run(from_tasks(origin))
