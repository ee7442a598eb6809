"""Which route of the template a path belongs to, by API Gateway's rules: the resource is found first, a literal segment
before a parameter, and the method after it. A segment is matched as sent, then decoded: ``%2F`` does not split it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from local.template import Route


@dataclass(frozen=True, slots=True)
class Match:
    route: Route
    path_parameters: dict[str, str]


@dataclass(slots=True)
class _Node:
    literals: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    names: tuple[str, ...] = ()
    methods: dict[str, Route] = field(default_factory=dict)


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        node, names = self._root, []
        for segment in route.path.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literals.setdefault(segment, _Node())
        node.names = tuple(names)
        node.methods[route.method] = route

    def find(self, method: str, path: str) -> Match | None:
        """``path``: percent-encoded, without the query."""
        empty, *segments = path.split("/")
        if empty:
            return None
        node, values = self._root, []
        for segment in segments:
            if segment in node.literals:
                node = node.literals[segment]
            elif segment and node.parameter is not None:
                values.append(unquote(segment))
                node = node.parameter
            else:
                return None
        if method not in node.methods:
            return None
        return Match(node.methods[method], dict(zip(node.names, values, strict=True)))
