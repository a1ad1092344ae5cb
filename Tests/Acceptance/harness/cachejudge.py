"""Random sequences of requests for two caches, and the rules by which their decisions may differ.

Nothing depends on how fast a machine is: the origin writes ages into `Age` and into dates, in steps of an hour, and no
answer becomes stale while a sequence runs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from email.utils import formatdate

HOUR = 3_600
VARIED = "X-Variant"


@dataclass(frozen=True)
class Answer:
    """What the origin says: the same for every request of a sequence, apart from its number."""

    control: str | None
    age: int | None
    expires: int | None
    tag: str | None
    varies: bool
    date: int = 0

    def fields(self, now: float) -> list[tuple[str, str]]:
        found = [("Date", formatdate(now - self.date, usegmt=True))]
        if self.control is not None:
            found.append(("Cache-Control", self.control))
        if self.age is not None:
            found.append(("Age", str(self.age)))
        if self.expires is not None:
            found.append(("Expires", formatdate(now + self.expires, usegmt=True)))
        if self.tag is not None:
            found.append(("ETag", self.tag))
        if self.varies:
            found.append(("Vary", VARIED))
        return found


@dataclass(frozen=True)
class Ask:
    """One request."""

    method: str = "GET"
    variant: str | None = None
    control: str | None = None

    @property
    def fields(self) -> dict[str, str]:
        found = {}
        if self.variant is not None:
            found[VARIED] = self.variant
        if self.control is not None:
            found["Cache-Control"] = self.control
        return found


@dataclass(frozen=True)
class Sequence:
    """The requests for one URL, in order."""

    number: int
    answer: Answer
    asks: list[Ask] = field(default_factory=list)


def _control(dice: random.Random) -> str | None:
    parts = []
    for directive, chance in [
        (f"max-age={dice.choice([0, HOUR, 4 * HOUR])}", 0.6),
        (f"s-maxage={dice.choice([0, HOUR, 4 * HOUR])}", 0.15),
        ("public", 0.15),
        ("private", 0.1),
        ("no-cache", 0.1),
        ("no-store", 0.1),
        ("must-revalidate", 0.15),
        ("proxy-revalidate", 0.05),
    ]:
        if dice.random() < chance:
            parts.append(directive)
    dice.shuffle(parts)
    return ", ".join(parts) or None


def sequences(seed: int, count: int) -> list[Sequence]:
    """Return random sequences, the same for the same seed."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        answer = Answer(
            control=_control(dice),
            age=dice.choice([None, None, 0, 2 * HOUR, 8 * HOUR]),
            expires=dice.choice([None, None, None, 6 * HOUR, -6 * HOUR]),
            tag=dice.choice([None, '"1"', 'W/"1"']),
            varies=dice.random() < 0.3,
        )
        found.append(Sequence(number, answer, [_ask(dice, varies=answer.varies) for _ in range(dice.randint(2, 4))]))
    return found


def _ask(dice: random.Random, *, varies: bool) -> Ask:
    method = dice.choice(["GET"] * 8 + ["HEAD", "POST"])
    control = dice.choice([None] * 8 + ["no-cache", "max-age=0", f"max-age={HOUR}", "only-if-cached"])
    # Nothing says what only-if-cached means for a POST, which no cache answers.
    safe = control if method != "POST" else None
    return Ask(method, dice.choice([None, "a", "b"]) if varies else None, safe)


@dataclass(frozen=True)
class Decision:
    """What a cache did with one request."""

    status: int
    is_asked: bool
    """Whether the origin was asked."""


HEAD_IS_STORED = "RFC 9110, 9.3.2: squid answers HEAD from a response to HEAD, which here creates no entry"
HEAD_KEEPS = "RFC 9111, 4.3.5: a response to HEAD freshens the entry, which squid removes"
HEAD_VALIDATES = "RFC 9111, 4.3.5: a strong tag in a response to HEAD validates the entry after a change"
ALL_VARIANTS = "RFC 9111, 4.4: a change invalidates all variants, of which squid removes one"
VARIANT_IS_KNOWN = "RFC 9111, 4.1: a variant that was reloaded is selected, which squid does not find the first time"


def difference(sequence: Sequence, ours: list[Decision], theirs: list[Decision]) -> str | None:
    """Return the rule that explains the first difference; None without one, and empty if no rule does."""
    for place, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if our.is_asked != their.is_asked:
            return _rule(sequence, place, ours)
        if our.status != their.status:
            return _rule_of_status(sequence, place)
    return None


def _rule_of_status(sequence: Sequence, place: int) -> str:
    """Squid serves what it has, where here only-if-cached finds nothing."""
    ask, earlier = sequence.asks[place], sequence.asks[:place]
    if ask.method == "HEAD" and any(each.method == "HEAD" and each.variant == ask.variant for each in earlier):
        return HEAD_IS_STORED
    return ALL_VARIANTS if sequence.answer.varies and any(each.method == "POST" for each in earlier) else ""


def _rule(sequence: Sequence, place: int, ours: list[Decision]) -> str:
    ask, earlier = sequence.asks[place], list(zip(sequence.asks[:place], ours, strict=False))
    same = [(each, decision) for each, decision in earlier if each.variant == ask.variant]
    if ours[place].is_asked:
        heads = [each for each, _ in same if each.method == "HEAD"]
        if ask.method == "HEAD" and heads:
            return HEAD_IS_STORED
        changed = any(each.method == "POST" for each, _ in earlier)
        return ALL_VARIANTS if sequence.answer.varies and changed else ""
    # Served here: there must be an entry, which no change has followed.
    changes = [number for number, (each, _) in enumerate(earlier) if each.method == "POST"]
    gets = [number for number, (each, decision) in enumerate(earlier) if _stores(each, decision, ask)]
    if not gets:
        return ""
    if changes and changes[-1] > gets[-1]:
        heads = [each for each, decision in earlier[changes[-1] :] if each.method == "HEAD" and decision.is_asked]
        return HEAD_VALIDATES if heads and sequence.answer.tag == '"1"' else ""
    if any(each.method == "HEAD" and decision.is_asked for each, decision in earlier[gets[0] :]):
        return HEAD_KEEPS
    reloads = [each for each, decision in same if each.control is not None and decision.is_asked]
    return VARIANT_IS_KNOWN if sequence.answer.varies and reloads else ""


def _stores(earlier: Ask, decision: Decision, ask: Ask) -> bool:
    return earlier.method == "GET" and decision.is_asked and earlier.variant == ask.variant
