# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The same noun in include, tests and bench.

- include/straggle/<room>/<noun>.hpp has tests/<room>/<noun>.cpp, unless nothing in it is for users: then it is a private
  part (include/straggle/<room>/detail/<noun>.hpp), or its file comment says "shared part of" what.
- A private or shared part has no names outside of detail, and another header includes it. It may have a test.
- Plain words that several rooms share (`record/`: enums and structs without functions) need none, nor do macros.
- tests/<room>/<noun>.cpp has such a header, private or not; so has bench/<room>/<noun>.cpp.
"""
import re
from pathlib import Path

import headers
from declarations import declarations


def says_private(text):
    """Whether the comment at the top says so, maybe over the end of a line."""
    comment = text[:text.find("#pragma once")]
    return re.search(r"(private|shared) part of", re.sub(r"\s*\n///?\s*", " ", comment), re.IGNORECASE) is not None


def has_public_names(text):
    return any(d.public and d.kind not in ("namespace", "other") for d in declarations(text))


def check(root=headers.ROOT):
    root, complaints, nouns = Path(root), [], set()
    texts = {h: h.read_text() for h in headers.headers(root)}
    included = {target[1:-1] for text in texts.values() for _, target in headers.includes(text)}
    for header, text in texts.items():
        name = headers.name_of(header, root)
        if headers.room_of(name) is None:
            continue  # umbrella, version, macros: the other hygiene checks are their tests
        noun = name.removeprefix("straggle/").removesuffix(".hpp")
        nouns.add(noun.replace("/detail/", "/"))
        if "/detail/" in name or says_private(text):
            if has_public_names(text):
                complaints.append(f"{header}: is a private part, but has names outside of detail")
            if name not in included:
                complaints.append(f"{header}: a private part that no header includes")
        elif name != "straggle/base/config.hpp" and not (root / "tests" / f"{noun}.cpp").exists():
            complaints.append(f"{header}: no tests/{noun}.cpp (or the file comment says: Shared part of ...)")
    for folder in "tests", "bench":
        for room in (r for r in headers.ROOMS if (folder, r) != ("bench", "papers")):  # experiments, not nouns
            for source in sorted((root / folder / room).glob("*.cpp")):
                if f"{room}/{source.stem}" not in nouns:
                    complaints.append(f"{source}: there is no include/straggle/{room}/{source.stem}.hpp")
    return complaints


if __name__ == "__main__":
    headers.main(check)
