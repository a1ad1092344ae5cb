"""Values made from JSON Schema, as `rpc.discover` publishes it: valid ones, and ones with a single mistake."""

from __future__ import annotations

import copy
import random
from typing import Any

Schema = dict[str, Any]

WORDS = [
    "",
    "a",
    "GET",
    "default",
    "r_1_1",
    "c-1",
    "http://127.0.0.1:1/",
    "/nowhere",
    "request.*",
    "ünï",
    "\u0000",
    "-",
]
NUMBERS = [0, 1, -1, 2, 7, 100, 65_535, 2**31, 2**53, -(2**63), 0.5, 1e300]
ANYTHING: list[Any] = [None, True, False, 0, -1, 1.5, "", "x", [], {}, [1], {"a": 1}]


class Generator:
    """Makes random values."""

    def __init__(self, schemas: Schema, dice: random.Random) -> None:
        self._schemas = schemas
        self._dice = dice

    def resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def value(self, schema: Schema, depth: int = 0) -> Any:
        """Return a value that the schema allows."""
        schema = self.resolve(schema)
        if "const" in schema or "enum" in schema:
            return self._dice.choice(schema.get("enum", [schema.get("const")]))
        if "oneOf" in schema:
            return self.value(self._dice.choice(schema["oneOf"]), depth)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self._dice.choice(kind)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
                count = self._dice.randint(least, max(least, min(most, least + 2)))
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
            case "string":
                words = [word for word in WORDS if len(word) <= schema.get("maxLength", 100)]
                return self._dice.choice(words)
            case "integer" | "number":
                least, most = schema.get("minimum", -(2**53)), schema.get("maximum", 2**53)
                whole = [number for number in NUMBERS if least <= number <= most and isinstance(number, int)]
                return self._dice.choice([*whole, least, most])
        plain: dict[Any, list[Any]] = {"boolean": [True, False], "null": [None]}
        return self._dice.choice(plain.get(kind, ANYTHING))

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        members = schema.get("properties", {})
        required = schema.get("required", [])
        chance = 0.3 / (depth + 1)
        made = {
            name: self.value(member, depth + 1)
            for name, member in members.items()
            if name in required or self._dice.random() < chance
        }
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and self._dice.random() < 0.5:
            made[self._dice.choice(["a", "b", "X-Y"])] = self.value(more, depth + 1)
        return made

    def wrong(self, value: Any) -> Any:
        """Return the value with one element replaced, added or removed."""
        value = copy.deepcopy(value)
        places: list[tuple[Any, Any]] = []

        def walk(container: Any) -> None:
            keys = container.keys() if isinstance(container, dict) else range(len(container))
            for key in keys:
                places.append((container, key))
                if isinstance(container[key], dict | list):
                    walk(container[key])

        walk(value)
        if not places or self._dice.random() < 0.2:
            value[self._dice.choice(["unknown", "limt", ""])] = self._dice.choice(ANYTHING)
            return value
        container, key = self._dice.choice(places)
        if isinstance(container, dict) and self._dice.random() < 0.3:
            del container[key]
        else:
            container[key] = self._dice.choice([*ANYTHING, *NUMBERS, "y" * 3_000])
        return value
