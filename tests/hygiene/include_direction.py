# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The folders are the architecture: a header includes only from rooms to its left, or from its own.

The headers outside the rooms stand above them, but for three: `config.hpp`, `version.hpp` and `fwd.hpp` may be
included from anywhere and include nothing but each other and the standard library. Nothing includes the
umbrella; no two headers include each other.
"""
import headers

EVERYWHERE = {"straggle/config.hpp", "straggle/version.hpp", "straggle/fwd.hpp"}
UMBRELLA = "straggle/straggle.hpp"


def complaint_about(name, included, known):
    room, other = headers.room_of(name), headers.room_of(included)
    if included not in known:
        return "does not exist"
    if included == UMBRELLA:
        return "the umbrella is for users"
    if included in EVERYWHERE:
        return None
    if name in EVERYWHERE:
        return "may be included from anywhere, so it cannot include a room"
    if room is None:
        return None
    if other is None:
        return "stands above the rooms"
    if room not in headers.ROOMS or other not in headers.ROOMS:
        return "no such room in headers.py"
    if room != other and headers.ROOMS[other] >= headers.ROOMS[room]:
        return f"{other} ({headers.ROOMS[other]}) is not left of {room} ({headers.ROOMS[room]})"
    return None


def cycles(graph):
    """Every include that closes a circle."""
    state, found = {}, []

    def visit(name, path):
        state[name] = "open"
        for included in graph.get(name, ()):
            if state.get(included) == "open":
                found.append(" -> ".join([*path[path.index(included):], included]))
            elif included not in state:
                visit(included, [*path, included])
        state[name] = "done"

    for name in sorted(graph):
        if name not in state:
            visit(name, [name])
    return found


def check(root=headers.ROOT):
    complaints, graph = [], {}
    known = {headers.name_of(h, root) for h in headers.headers(root)}
    for header in headers.headers(root):
        name = headers.name_of(header, root)
        graph[name] = []
        for line, target in headers.includes(header.read_text()):
            if target.startswith('"'):
                complaints.append(f"{header}:{line}: write #include <straggle/...>, not {target}")
            elif target.startswith("<straggle/"):
                included = target[1:-1]
                graph[name].append(included)
                if complaint := complaint_about(name, included, known):
                    complaints.append(f"{header}:{line}: {target}: {complaint}")
    return complaints + [f"circle: {cycle}" for cycle in cycles(graph)]


if __name__ == "__main__":
    headers.main(check)
