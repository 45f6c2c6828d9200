"""The check of the schema of a model file: every node has an allowed type and valid fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lann.persist._allowed import MUST_BE_NONE, allowed_types
from lann.persist._errors import InvalidModelFile

# A column transformer with pipelines inside a pipeline is some 20 levels deep.
MAX_DEPTH = 100

_HEAD = {"__class__", "__module__", "__loader__", "__id__"}
_FIELDS: dict[str, set[str]] = {
    "ObjectNode": {"content"},
    "DictNode": {"content", "key_types"},
    "ListNode": {"content"},
    "TupleNode": {"content"},
    "SetNode": {"content"},
    "SliceNode": {"content"},
    "JsonNode": {"content", "is_json"},
    "NdArrayNode": {"content", "type", "file", "shape"},
    "DTypeNode": {"content"},
    "TypeNode": set(),
    "FunctionNode": set(),
}
"""The kinds of nodes that skops writes for models, and the fields of each beside its head."""

Node = dict[str, Any]


class SchemaCheck:
    """Check the tree of nodes; raise InvalidModelFile on the first invalid one.

    Parameters
    ----------
    describe_array : callable
        From the name of an array in the file to its description, after a check.
    """

    def __init__(self, describe_array: Callable[[str], tuple]) -> None:
        self._describe_array = describe_array
        self._seen: dict[int, int] = {}
        self._checks: dict[str, Callable[[Node, int], tuple]] = {
            "ObjectNode": self._check_object,
            "DictNode": self._check_dict,
            "ListNode": self._check_items,
            "TupleNode": self._check_items,
            "SetNode": self._check_items,
            "SliceNode": self._check_slice,
            "JsonNode": self._check_json,
            "NdArrayNode": self._check_array,
            "DTypeNode": self._check_dtype,
            "TypeNode": lambda node, depth: (),
            "FunctionNode": lambda node, depth: (),
        }

    def check(self, node: Any, depth: int = 0) -> int:
        """Check a node and its children; return a hash that is the same for equal nodes."""
        if depth > MAX_DEPTH:
            raise InvalidModelFile("it is nested too deeply")
        loader, type_name = _kind(node)
        if unknown := node.keys() - _HEAD - _FIELDS[loader]:
            raise InvalidModelFile(f"its entry for {type_name} has the unknown field {min(unknown)!r}")
        digest = hash((loader, type_name, self._checks[loader](node, depth + 1)))
        # Of nodes with the same id, skops builds the first one for all: they must not differ.
        if self._seen.setdefault(_expect(node.get("__id__"), int), digest) != digest:
            raise InvalidModelFile("it gives one number to different objects")
        return digest

    def _check_object(self, node: Node, depth: int) -> tuple:
        attributes = node.get("content")
        if _kind(attributes)[0] != "DictNode":
            raise InvalidModelFile(f"its entry for {node['__class__']} has no attributes")
        for name in MUST_BE_NONE.get(node["__class__"], ()):
            value = _expect(attributes.get("content"), dict).get(name)  # type: ignore[union-attr]
            if value is None or _kind(value)[0] != "JsonNode" or value.get("content") != "null":
                raise InvalidModelFile(
                    f"its {node['__class__']} has {name} other than None, which lann does not allow"
                )
        return (self.check(attributes, depth),)

    def _check_dict(self, node: Node, depth: int) -> tuple:
        key_types, values = node.get("key_types"), _expect(node.get("content"), dict)
        if _kind(key_types)[0] != "ListNode":
            raise InvalidModelFile("it has a dictionary without the types of its keys")
        key_digest = self.check(key_types, depth)
        if any(_kind(key_type)[0] != "TypeNode" for key_type in key_types["content"]):  # type: ignore[index]
            raise InvalidModelFile("it has a dictionary with keys of no plain type")
        return (key_digest, *((key, self.check(value, depth)) for key, value in values.items()))

    def _check_items(self, node: Node, depth: int) -> tuple:
        return tuple(self.check(item, depth) for item in _expect(node.get("content"), list))

    def _check_slice(self, node: Node, depth: int) -> tuple:
        ends = _expect(node.get("content"), dict)
        return tuple(
            None if ends.get(end) is None else _expect(ends[end], int) for end in ("start", "stop", "step")
        )

    def _check_json(self, node: Node, depth: int) -> tuple:
        text = _expect(node.get("content"), str)
        if isinstance(json.loads(text), dict | list):
            raise InvalidModelFile(
                "it has a list or dictionary where text, a number, true, false or null belongs"
            )
        return (text,)

    def _check_dtype(self, node: Node, depth: int) -> tuple:
        if _kind(node.get("content"))[0] != "NdArrayNode":
            raise InvalidModelFile("it has a numpy.dtype that is not described by an array")
        return (self.check(node["content"], depth),)

    def _check_array(self, node: Node, depth: int) -> tuple:
        if node.get("type") == "json":  # an array of objects, which are nodes themselves
            if _kind(node.get("shape"))[0] != "TupleNode":
                raise InvalidModelFile("it has an array without a shape")
            return (self.check(node["shape"], depth), *self._check_items(node, depth))
        if node.get("type") != "numpy":
            raise InvalidModelFile(f"it has an array of the unknown kind {node.get('type')!r}")
        return self._describe_array(_expect(node.get("file"), str))


def _kind(node: Any) -> tuple[str, str]:
    """Return the loader of a node and the full name of its type, if that loader may build it."""
    if not isinstance(node, dict) or not all(isinstance(node.get(key), str) for key in _HEAD - {"__id__"}):
        raise InvalidModelFile("its schema has an entry that names no type")
    loader, type_name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if type_name not in allowed_types().get(loader, ()):
        raise InvalidModelFile(
            f"it contains {type_name} ({loader}), which is not among the types that lann allows"
        )
    return loader, type_name


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise InvalidModelFile(f"its schema has {type(value).__name__} where {kind.__name__} belongs")
    return value
