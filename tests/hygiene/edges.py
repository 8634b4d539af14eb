# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The folders are the architecture: a header includes only along the edges of headers.py, and every edge is used.

- `straggle/<room>/` includes its own room and those that `headers.EDGES` names.
- `straggle/<room>/detail/` is private: nobody outside of the room includes it.
- `straggle/<room>.hpp` is the face of the room: it includes headers of the room and nothing else, which ones is written
  by docs/generate.py. (`papers/` has none: a paper is asked for by name.)
- `base/config.hpp` and `version.hpp` may be included from anywhere. Nothing includes the umbrella, and it includes faces
  only. No two headers include each other.
"""
import headers

EVERYWHERE = {"straggle/base/config.hpp", "straggle/version.hpp"}
UMBRELLA = "straggle/straggle.hpp"
FACELESS = {"papers"}
ASKED_FOR_BY_NAME = {"gang", "learn", "evaluate", "papers"}


def is_face(name):
    return name.count("/") == 1 and name != UMBRELLA and name not in EVERYWHERE


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
    if name == UMBRELLA:
        if not is_face(included):
            return "the umbrella includes the faces of rooms"
        if included[len("straggle/"):-len(".hpp")] in ASKED_FOR_BY_NAME:
            return "is asked for by name"
        return None
    if is_face(included):
        return "a header includes what it uses, not the face of a room"
    if other not in headers.EDGES:
        return "no such room in headers.py"
    if is_face(name):
        room = name[len("straggle/"):-len(".hpp")]
        return None if room == other else "the face of a room includes that room only"
    if room not in headers.EDGES:
        return "no such room in headers.py"
    if room != other and "/detail/" in included:
        return f"is private to {other}"
    if room != other and other not in headers.EDGES[room]:
        return f"{room} may not include {other}: it is no edge in headers.py"
    return None


def missing_faces(known):
    for room in headers.EDGES:
        public = {name for name in known if headers.room_of(name) == room and "/detail/" not in name and name not in EVERYWHERE}
        face = f"straggle/{room}.hpp"
        if not public or room in FACELESS:
            continue
        if face not in known:
            yield f"include/{face}: the room has no face"


def unused_edges(known):
    used = {(headers.room_of(name), headers.room_of(other)) for name, others in known.items() for other in others
            if other not in EVERYWHERE}
    for room, others in headers.EDGES.items():
        if not any(headers.room_of(name) == room for name in known):
            continue
        for other in others:
            if (room, other) not in used:
                yield f"headers.py: {room} -> {other} is an edge that no header uses"


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
    linked = {name: set(included) for name, included in graph.items()}
    return [*complaints, *missing_faces(linked), *unused_edges(linked),
            *(f"circle: {cycle}" for cycle in cycles(graph))]


if __name__ == "__main__":
    headers.main(check)
