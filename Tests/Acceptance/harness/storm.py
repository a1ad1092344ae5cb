"""A client of the storm: it makes requests, cancels some, and answers callbacks correctly, wrongly, late or never.

As a program it is many of them, one after the other, each of which disconnects in the middle of its work. It runs
until it is killed: python -m harness.storm SOCKET BASE SEED
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from harness.wire import Wire

PATHS = ["/", "/json", "/flaky", "/moved", "/moved-far", "/slow", "/broken", "/empty", "/large"]
AT_A_TIME = 20
DEADLINE_MS = 60
"""Of a callback: short, so that an unanswered one fails early."""
STUCK_SECONDS = 60.0
"""A client that receives nothing for this many seconds has lost a request."""

TASK, VALIDATION, SERIALIZATION = "session_task_failed", "response_validation_failed", "response_serialization_failed"
# The failures that a request may have, by the traits in its URL.
ERRORS = {
    "adapt": {"request_adaptation_failed"},
    "retry": {"request_retry_failed"},
    "status": {f"{VALIDATION}.unacceptable_status_code"},
    "judge": {f"{VALIDATION}.custom_validation_failed", "callback_failed"},
    "json": {f"{SERIALIZATION}.json_serialization_failed", f"{SERIALIZATION}.input_data_nil_or_zero_length"},
    "value": {
        f"{SERIALIZATION}.custom_serialization_failed",
        f"{SERIALIZATION}.input_data_nil_or_zero_length",
        "callback_failed",
    },
    "hasty": {f"{TASK}.timed_out"},
    "brief": {"session_invalidated"},
}
CANCELLED = "explicitly_cancelled"


def traits(url: str) -> set[str]:
    """Return the traits of the request with that URL."""
    return set(parse_qs(urlsplit(url).query).get("with", []))


def allowed(url: str) -> set[str]:
    """Return the failures that the request with that URL may have, unless it is cancelled."""
    names = {name for trait in traits(url) for name in ERRORS.get(trait, ())}
    return names | ({f"{TASK}.network_connection_lost"} if urlsplit(url).path == "/broken" else set())


@dataclass
class Plan:
    """One request, and what has become of it."""

    url: str
    request: str | None = None
    may_be_cancelled: bool = False
    """Whether the client has cancelled it; only then may it end so."""
    is_cancelled: bool = False
    """Whether the daemon has reported that it is cancelled."""
    is_dismissed: bool = False
    records: list[dict[str, Any]] = field(default_factory=list)


class StormClient:
    """One connection; its random generator decides everything that it does."""

    def __init__(self, socket: Path | str, base: str, seed: int, requests: int) -> None:
        self.dice = random.Random(seed)
        self.base = base
        self.session = f"brief-{seed % 1_000}"
        self.wire = Wire(socket, timeout=STUCK_SECONDS)
        self.wire.call("client.hello", name="storm", callbacks=["storm"])
        self._renew_session()
        self.left = requests
        self.plans: list[Plan] = []
        self._calls: dict[int, tuple[str, Plan | None]] = {}
        self._waiting: dict[int, Plan] = {}
        """The calls that are answered with a record."""
        self._chores: list[tuple[float, str, dict[str, Any], Plan | None]] = []
        self._answers: list[tuple[float, dict[str, Any]]] = []

    def run(self, *, to_the_end: bool = True) -> None:
        """Continue until every request has its end, or until every request is made."""
        while self.left or (to_the_end and (self._waiting or self._chores)):
            if self.left and len(self._waiting) < AT_A_TIME and self.dice.random() < 0.7:
                self._make()
            self._work()
            if self._is_readable():
                self._take(self.wire.receive())

    # Requests

    def _make(self) -> None:
        self.left -= 1
        options, names = self._options()
        plan = Plan(f"{self.base}{self.dice.choice(PATHS)}?{'&'.join(f'with={name}' for name in names)}")
        plan.may_be_cancelled = "brief" in names
        self.plans.append(plan)
        params = {"url": plan.url, **options}
        verb = "submit" if "manual" in names or self.dice.random() < 0.5 else "perform"
        self._waiting[self._call(f"request.{verb}", params, plan)] = plan

    def _options(self) -> tuple[dict[str, Any], list[str]]:
        dice = self.dice
        asked = {"callback": {"name": "storm", "deadline_ms": DEADLINE_MS}}
        adapter = {"callback": {**asked["callback"], "handles": ["adapt"]}}
        retrier = {"callback": {**asked["callback"], "handles": ["retry"]}}
        choices: dict[str, dict[str, Any]] = {
            "adapt": {"interceptor": [adapter]},
            "retry": {"interceptor": [retrier]},
            "policy": {"interceptor": [{"retry_policy": {"scale_ms": dice.choice([0, 5, 20])}}]},
            "status": {"validate": [{"status": ["200-299"]}]},
            "judge": {"validate": [asked]},
            "json": {"serialize": "json"},
            "value": {"serialize": ["string", asked]},
            "guide": {"redirect": asked},
            "hasty": {"timeout_ms": dice.choice([5, 30])},
            "eager": {"setup": "eager"},
            "manual": {"start": "manual"},
            "brief": {"session": self.session},
        }
        names = [name for name in choices if dice.random() < 0.25]
        options: dict[str, Any] = {}
        for name in names:
            for member, value in choices[name].items():
                if member == "interceptor":
                    options[member] = options.get(member, []) + value
                else:
                    options[member] = value
        return options, names

    def _meddle(self, plan: Plan) -> None:
        """Plan what is done to a request that was submitted: in the end it is resumed, cancelled or dismissed."""
        params = {"request": plan.request}
        now = time.monotonic()
        verbs = self.dice.choices(["resume", "suspend", "cancel", "dismiss", "get"], [4, 4, 2, 1, 1], k=3)
        for verb in [*verbs, "resume"]:
            now += self.dice.choice([0, 0.001, 0.01, 0.03])
            self._chores.append((now, f"request.{verb}", params, plan))

    def _renew_session(self) -> None:
        self.wire.request("session.create", name=self.session, configuration={"interceptor": ["retry_policy"]})

    # What is to be done

    def _call(self, method: str, params: dict[str, Any], plan: Plan | None = None) -> int:
        if plan is not None and method in {"request.cancel", "request.dismiss"}:
            plan.may_be_cancelled = True
            plan.is_dismissed |= method == "request.dismiss"
        call = self.wire.request(method, params)
        self._calls[call] = (method, plan)
        return call

    def _work(self) -> None:
        now = time.monotonic()
        for chore in [chore for chore in self._chores if chore[0] <= now]:
            self._chores.remove(chore)
            self._call(*chore[1:])
        for answer in [answer for answer in self._answers if answer[0] <= now]:
            self._answers.remove(answer)
            self.wire.send(answer[1])
        if self.dice.random() < 0.005:
            self._call("session.cancel_requests", {"session": self.session})
        if self.dice.random() < 0.005:
            self._call("session.invalidate", {"session": self.session, "mode": self.dice.choice(["cancel", "finish"])})
            self._renew_session()

    def _is_readable(self) -> bool:
        """Wait for a message, but no longer than until there is something to do."""
        if self.left and len(self._waiting) < AT_A_TIME:
            return self.wire.is_readable(0)
        due = [chore[0] for chore in self._chores] + [answer[0] for answer in self._answers]
        if due:
            return self.wire.is_readable(max(0.0, min(due) - time.monotonic()))
        assert self.wire.is_readable(STUCK_SECONDS), [plan.url for plan in self._waiting.values()]
        return True

    # What comes

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self._answer(message)
            return
        call = message["id"]
        method, plan = self._calls.pop(call, ("", None))
        self._waiting.pop(call, None)
        if plan is None:
            return
        if "error" in message:
            # A session or a request that does not exist any more.
            assert message["error"]["code"] == 1101 and plan.is_dismissed, message
            return
        result = message["result"]
        match method:
            case "request.submit":
                plan.request = result["request"]
                self._waiting[self._call("request.wait", {"request": plan.request}, plan)] = plan
                self._meddle(plan)
            case "request.cancel":
                plan.is_cancelled |= result["changed"]
            case "request.perform" | "request.wait":
                assert result.get("finished") is not False, result
                plan.request = result["request"]
                plan.records.append(result)

    def _answer(self, question: dict[str, Any]) -> None:
        kind = question["method"].removeprefix("callback.")
        decision = self.dice.choice(["retry", "do_not_retry", "do_not_retry_with_error"])
        good: dict[str, Any] = {
            "adapt": {"set_headers": {"X-Storm": "1"}},
            "retry": {"decision": decision, "delay_ms": 5},
            "validate": {"valid": self.dice.random() < 0.7},
            "serialize": {"value": 1},
            "redirect": {"decision": self.dice.choice(["follow", "do_not_follow"])},
        }  # fmt: skip
        match self.dice.choices(["good", "late", "silent", "error", "rubbish"], [12, 1, 1, 1, 1])[0]:
            case "good":
                outcome = {"result": good[kind]}
            case "error":
                outcome = {"error": {"code": 1, "message": "no"}}
            case "rubbish":
                outcome = {"result": self.dice.choice([None, 7, "x", [], {"decision": 7}, {"unknown": 1}])}
            case "late":
                answer = {"jsonrpc": "2.0", "id": question["id"], "result": good[kind]}
                self._answers.append((time.monotonic() + DEADLINE_MS / 1_000, answer))
                return
            case _:
                return
        self.wire.send({"jsonrpc": "2.0", "id": question["id"], **outcome})


def main() -> None:
    """Begin as a client, make some requests, leave them all, and begin again."""
    path, base, number = sys.argv[1:]
    dice = random.Random(int(number))
    for seed in itertools.count(int(number) * 1_000):
        client = StormClient(path, base, seed, dice.randrange(10, 60))
        client.run(to_the_end=False)
        client.wire.close()


if __name__ == "__main__":
    main()
