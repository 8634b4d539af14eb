# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What all hygiene checks share: the public headers, and their text without comments and literals."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from declarations import without_comments  # noqa: E402,F401  (needs the path)

# The rooms of the library, in the order in which a task record passes them, and the rooms each may include: the edges
# of the house. An edge that no header uses leaves the list.
EDGES = {
    "base": (),
    "record": ("base",),
    "stats": ("base",),
    "rank": ("base", "record", "stats"),
    "predict": ("base", "record", "stats"),
    "blacklist": ("base", "record", "stats", "rank"),
    "detect": ("base", "record", "stats", "predict"),
    "assign": ("base", "record", "stats"),
    "gang": ("base", "record", "stats"),
    "learn": ("base", "record", "stats", "rank"),
    "mitigate": ("base", "record", "stats", "gang", "predict", "blacklist", "detect", "assign"),
    "evaluate": ("base", "record", "stats"),
    "papers": ("base", "record", "stats", "rank", "predict", "blacklist", "detect", "assign", "learn", "evaluate"),
}
ROOMS = tuple(EDGES)

def headers(root=ROOT):
    return sorted((Path(root) / "include/straggle").rglob("*.hpp"))


def name_of(header, root=ROOT):
    """As in an include line: straggle/base/outcome.hpp"""
    return header.relative_to(Path(root) / "include").as_posix()


def room_of(name):
    """base for straggle/base/outcome.hpp, None for straggle/base/config.hpp"""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else None


def includes(text):
    """(line number, <header> or "header") of every include."""
    code = without_comments(text, literals_too=False)
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(<[^>]+>|"[^"]+")', code, re.MULTILINE):
        yield code.count("\n", 0, match.start()) + 1, match.group(1)


def main(check):
    """Runs `check(root)`, prints its complaints, and exits."""
    complaints = check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
