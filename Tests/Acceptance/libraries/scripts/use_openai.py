"""openai: answers, server-sent events, retries, time limits, files, and all of it from tasks."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from typing import Any

import openai
from loopback import EventStream, Origin, adapter, answer, form_parts, in_turn, reset, serving, status

COMPLETION = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Grüße"}}],
}  # fmt: skip
QUESTION: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
SOON = [("retry-after-ms", "1")]


def delta(text: str) -> str:
    return f'data: {{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}\n\n'  # noqa: E501


def client(origin: Origin, **arguments: Any) -> openai.OpenAI:
    sends = openai.DefaultHttpxClient(transport=adapter().CarpoolTransport())
    return openai.OpenAI(api_key="k", base_url=f"{origin.url}/v1", http_client=sends, **arguments)


def answers_and_streams(origin: Origin) -> None:
    origin.json("/v1/chat/completions", COMPLETION)
    with client(origin) as ai:
        assert ai.chat.completions.create(**QUESTION).choices[0].message.content == "Grüße"
        assert origin.requests[-1].values("authorization") == ["Bearer k"]
        assert origin.bodies("/v1/chat/completions") == [QUESTION]

        events = EventStream([delta("a"), delta("ü"), ": a comment\n\n", delta("c"), "data: [DONE]\n\n"])
        origin.on("/v1/chat/completions", events)
        texts = []
        for chunk in ai.chat.completions.create(**QUESTION, stream=True):
            texts.append(chunk.choices[0].delta.content)
            events.go_on()
        assert texts == ["a", "ü", "c"]

        # A stream that the program leaves is closed at the origin too, and the client can go on.
        endless = EventStream([delta("a")], ends=False)
        origin.on("/v1/chat/completions", endless)
        with ai.chat.completions.create(**QUESTION, stream=True) as stream:
            assert next(iter(stream)).choices[0].delta.content == "a"
        assert endless.was_left.wait(20)
        origin.json("/v1/models", {"object": "list", "data": [{"id": "m", "object": "model", "created": 1}]})
        assert [model.id for model in ai.models.list()] == ["m"]


def retries(origin: Origin) -> None:
    # The lost connection comes first: after each failure without a Retry-After the library waits twice as long.
    again = in_turn(
        reset, status(429, {}, SOON), status(500, {}, SOON), status(503, {}, SOON), status(200, COMPLETION)
    )  # fmt: skip
    origin.on("/v1/chat/completions", again)
    before = len(origin.requests)
    with client(origin, max_retries=4) as ai:
        assert ai.chat.completions.create(**QUESTION).id == "chatcmpl-1"
    counts = [request.values("x-stainless-retry-count") for request in origin.requests[before:]]
    assert counts == [["0"], ["1"], ["2"], ["3"], ["4"]], counts

    with client(origin, max_retries=1) as ai:
        origin.on("/v1/chat/completions", reset)
        before = len(origin.requests)
        try:
            ai.chat.completions.create(**QUESTION)
        except openai.APIConnectionError as error:
            assert not isinstance(error, openai.APITimeoutError)
        else:
            raise AssertionError("no APIConnectionError")
        assert len(origin.requests) == before + 2
        origin.json("/v1/chat/completions", {"error": {"message": "no such model", "code": "x"}}, 404)
        try:
            ai.chat.completions.create(**QUESTION)
        except openai.NotFoundError as error:
            assert error.code == "x"
        else:
            raise AssertionError("no NotFoundError")


def time_limits(origin: Origin) -> None:
    gate = origin.hold("/v1/models")
    with client(origin, timeout=0.3, max_retries=1) as ai:
        before = len(origin.requests)
        try:
            ai.models.list()
        except openai.APITimeoutError:
            assert len(origin.requests) == before + 2
        else:
            raise AssertionError("no APITimeoutError")
    gate.set()


def files(origin: Origin) -> None:
    content = os.urandom(3_000_001)
    origin.json(
        "/v1/files", {"id": "f", "object": "file", "bytes": 1, "created_at": 1, "filename": "a", "purpose": "x"}
    )
    origin.on("/v1/files/f/content", lambda exchange: exchange.reply(body=content))
    with client(origin) as ai:
        assert ai.files.create(file=("größe.jsonl", io.BytesIO(content)), purpose="fine-tune").id == "f"
        name, sent = form_parts(origin.requests[-1])["file"]
        assert sent == content and name is not None, name
        assert form_parts(origin.requests[-1])["purpose"] == (None, b"fine-tune")
        assert ai.files.content("f").read() == content
        with ai.files.with_streaming_response.content("f") as response:
            assert b"".join(response.iter_bytes()) == content


async def from_tasks(origin: Origin) -> None:
    sends = openai.DefaultAsyncHttpxClient(transport=adapter().AsyncCarpoolTransport())
    async with openai.AsyncOpenAI(api_key="k", base_url=f"{origin.url}/v1", http_client=sends, max_retries=3) as ai:
        # Sixty at a time: the origin answers none of them before all have come.
        together = threading.Barrier(60)
        origin.on("/v1/chat/completions", lambda exchange: (together.wait(60), answer(exchange, COMPLETION)))
        answers = await asyncio.gather(*(ai.chat.completions.create(**QUESTION) for _ in range(60)))
        assert [each.id for each in answers] == ["chatcmpl-1"] * 60

        events = EventStream([delta("a"), delta("b"), "data: [DONE]\n\n"])
        origin.on("/v1/chat/completions", events)
        texts = []
        async for chunk in await ai.chat.completions.create(**QUESTION, stream=True):
            texts.append(chunk.choices[0].delta.content)
            events.go_on()
        assert texts == ["a", "b"]

        origin.on("/v1/chat/completions", in_turn(reset, status(429, {}, SOON), status(200, COMPLETION)))
        assert (await ai.chat.completions.create(**QUESTION)).id == "chatcmpl-1"

        # A task that is cancelled ends its request.
        endless = EventStream([delta("a")], ends=False)
        origin.on("/v1/chat/completions", endless)
        first = asyncio.Event()

        async def read() -> None:
            async for _ in await ai.chat.completions.create(**QUESTION, stream=True):
                first.set()

        task = asyncio.create_task(read())
        await first.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert await asyncio.to_thread(endless.was_left.wait, 20)

        content = os.urandom(1_000_000)
        await ai.files.create(file=("a.jsonl", content), purpose="fine-tune")
        assert form_parts(origin.requests[-1])["file"][1] == content


with serving() as origin:
    answers_and_streams(origin)
    retries(origin)
    time_limits(origin)
    files(origin)
    asyncio.run(from_tasks(origin))
