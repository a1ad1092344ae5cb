"""JSON-RPC libraries of other projects, unchanged, against the daemon."""

from __future__ import annotations

import asyncio
import itertools
import json
import shlex
import socket
import subprocess
import threading
from concurrent.futures import Future
from typing import Any

import aiorpcx  # type: ignore[import-untyped]
import jsonrpcclient
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, join
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin
from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pylsp_jsonrpc.endpoint import Endpoint  # type: ignore[import-untyped]
from pylsp_jsonrpc.exceptions import JsonRpcException as PylspException  # type: ignore[import-untyped]
from pylsp_jsonrpc.exceptions import JsonRpcRequestCancelled
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter  # type: ignore[import-untyped]


def test_aiorpcx(daemon: Daemon, nginx: Nginx) -> None:
    async def talk() -> None:
        heard: asyncio.Queue[Any] = asyncio.Queue()

        class Session(aiorpcx.RPCSession):  # type: ignore[misc]
            async def handle_request(self, request: Any) -> None:
                await heard.put(request.args)

        async with aiorpcx.connect_us(str(daemon.socket), session_factory=Session) as session:
            assert (await session.send_request("daemon.ping"))["pong"] is True
            record = await session.send_request("request.perform", {"url": f"{nginx.http}/hello.txt"})
            assert record["body"]["text"] == "hello, world\n"
            with pytest.raises(aiorpcx.RPCError) as caught:
                await session.send_request("none.such")
            assert caught.value.code == -32601
            async with session.send_batch() as batch:
                batch.add_request("daemon.ping")
                batch.add_notification("daemon.ping")
                batch.add_request("none.such")
            assert batch.results[0]["pong"] is True
            assert isinstance(batch.results[1], aiorpcx.RPCError)
            await session.send_request("events.subscribe", {"types": ["request.did_finish"]})
            await session.send_request("request.perform", {"url": f"{nginx.http}/hello.txt"})
            event = await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)
            assert event["type"] == "request.did_finish"

    asyncio.run(talk())


def test_python_lsp_jsonrpc(daemon: Daemon, nginx: Nginx, origin: ScriptedOrigin) -> None:
    heard: Future[Any] = Future()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(daemon.socket))
        reader = JsonRpcStreamReader(connection.makefile("rb"))
        writer = JsonRpcStreamWriter(connection.makefile("wb"))
        names = map(str, itertools.count())
        endpoint = Endpoint({"event": heard.set_result}, writer.write, id_generator=lambda: next(names))
        listening = threading.Thread(target=reader.listen, args=(endpoint.consume,), daemon=True)
        listening.start()
        try:
            assert endpoint.request("daemon.ping").result(PATIENCE_SECONDS)["pong"] is True
            with pytest.raises(PylspException) as caught:
                endpoint.request("none.such").result(PATIENCE_SECONDS)
            assert caught.value.code == -32601
            endpoint.request("events.subscribe", {"types": ["request.did_finish"]}).result(PATIENCE_SECONDS)
            record = endpoint.request("request.perform", {"url": f"{nginx.http}/hello.txt"}).result(PATIENCE_SECONDS)
            assert record["body"]["text"] == "hello, world\n"
            assert heard.result(PATIENCE_SECONDS)["type"] == "request.did_finish"
            # It cancels as LSP does. Not by its future, which cannot handle the answer of a cancelled call.
            gate = origin.hold("/held")
            request = endpoint.request("request.submit", {"url": f"{origin.url}/held"}).result(PATIENCE_SECONDS)
            waiting = endpoint.request("request.wait", {"request": request["request"]})
            endpoint.notify("$/cancelRequest", {"id": str(int(next(names)) - 1)})
            with pytest.raises(JsonRpcRequestCancelled):
                waiting.result(PATIENCE_SECONDS)
            gate.set()
        finally:
            connection.shutdown(socket.SHUT_RDWR)
            join([listening])
            reader.close()
            writer.close()
            endpoint.shutdown()


def test_pygls(daemon: Daemon, nginx: Nginx) -> None:
    async def talk() -> None:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        client = JsonRPCClient()

        @client.feature("event")  # type: ignore[untyped-decorator]
        async def hear(event: Any) -> None:
            await heard.put(event)

        reader, writer = await asyncio.open_unix_connection(str(daemon.socket))
        client.protocol.set_writer(writer)
        stop = threading.Event()
        running = asyncio.create_task(run_async(stop_event=stop, reader=reader, protocol=client.protocol))

        async def call(method: str, **params: Any) -> Any:
            return await asyncio.wait_for(client.protocol.send_request_async(method, params), PATIENCE_SECONDS)

        # Without parameters it sends null, which the daemon accepts as none.
        ping = client.protocol.send_request_async("daemon.ping")
        assert (await asyncio.wait_for(ping, PATIENCE_SECONDS)).pong is True
        with pytest.raises(JsonRpcException) as caught:
            await call("none.such")
        assert caught.value.code == -32601
        await call("events.subscribe", types=["request.did_finish"])
        record = await call("request.perform", url=f"{nginx.http}/hello.txt")
        assert record.body.text == "hello, world\n"
        event = await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)
        assert event.type == "request.did_finish"
        stop.set()
        writer.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(talk())


def test_jsonrpcclient(daemon: Daemon, nginx: Nginx) -> None:
    with Wire(daemon.socket) as wire:
        wire.send_text(jsonrpcclient.request_json("request.perform", params={"url": f"{nginx.http}/hello.txt"}))
        answer = jsonrpcclient.parse_json(wire.receive_bytes().decode())
        assert isinstance(answer, jsonrpcclient.Ok)
        assert answer.result["body"]["text"] == "hello, world\n"
        wire.send_text(jsonrpcclient.request_json_uuid("none.such"))
        error = jsonrpcclient.parse_json(wire.receive_bytes().decode())
        assert isinstance(error, jsonrpcclient.Error)
        assert error.code == -32601


def shell(command: str) -> str:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    ).stdout


def test_netcat_and_jq(daemon: Daemon, nginx: Nginx) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": {"url": f"{nginx.http}/hello.txt"}}
    path = shlex.quote(str(daemon.socket))
    text = shell(f"echo {shlex.quote(json.dumps(call))} | nc -N -U {path} | jq -r .result.body.text")
    assert text == "hello, world\n\n"


def test_netcat_without_an_end_of_line_and_over_many_lines(daemon: Daemon) -> None:
    pretty = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "daemon.ping"}, indent=4)
    path = shlex.quote(str(daemon.socket))
    assert shell(f"printf %s {shlex.quote(pretty)} | nc -N -U {path} | jq .result.pong") == "true\n"


def test_one_shot_clients_get_answers_that_take_their_time(daemon: Daemon, nginx: Nginx) -> None:
    # The client has half-closed long before the answer comes.
    call = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": {"url": f"{nginx.http}/slow/100k.bin"}}
    path = shlex.quote(str(daemon.socket))
    size = shell(f"echo {shlex.quote(json.dumps(call))} | nc -N -U {path} | jq .result.body.size_bytes")
    assert size == "100000\n"


def test_socat_and_a_batch(daemon: Daemon) -> None:
    batch = [{"jsonrpc": "2.0", "id": number, "method": "daemon.ping"} for number in range(3)]
    path = shlex.quote(str(daemon.socket))
    command = f"echo {shlex.quote(json.dumps(batch))} | socat -t5 - UNIX-CONNECT:{path} | jq -c 'map(.id) | sort'"
    assert shell(command) == "[0,1,2]\n"
