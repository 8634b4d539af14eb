# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What documents point at is there: relative links, the headings behind `#`, and names of files in backticks.

A name in backticks is one of a file if it has a slash and begins with a folder of the tree, of include/straggle or
beside the document, or if it ends as sources and documents end. What is made by a build (`build/...`) is not looked
for, nor are patterns (`tests/<room>/<noun>.cpp`, `*.cpp`). Pages that comments of headers name exist, too.
"""
import re
from pathlib import Path

import headers

ENDINGS = {".md", ".hpp", ".py", ".sh", ".cmake", ".expected"}
NOT_OURS = {"build", "out"}
MADE = {"straggle_all.hpp"}  # by packaging/single_header.py
PACKAGE = re.compile(r"\w+/\d+(\.\d+)+")  # as Conan names it
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
CODE = re.compile(r"`([^`\n]+)`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
NAME = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?")


def documents(root):
    return sorted(d for d in root.rglob("*.md") if not NOT_OURS & set(d.relative_to(root).parts))


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def anchors(text):
    """As GitHub makes them of headings: small letters, hyphens for blanks, a number behind the second of a name."""
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", FENCE.sub(blank, text), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def link_fault(document, target):
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    path, _, anchor = target.partition("#")
    file = document.parent / path if path else document
    if not file.exists():
        return "does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
        return f"has no heading #{anchor}"
    return None


def name_fault(root, document, name, known):
    if not NAME.fullmatch(name) or PACKAGE.fullmatch(name) or name in MADE or name.split("/")[0] in NOT_OURS:
        return None
    library = root / "include/straggle"
    places = [root, library, root / "include", document.parent]
    if "/" not in name:
        return None if Path(name).suffix not in ENDINGS or name in known else "there is no file of that name"
    if any((place / name).exists() for place in places):
        return None
    begins = any((place / name.split("/")[0]).is_dir() for place in places)
    return "does not exist" if begins or Path(name).suffix in ENDINGS else None


def check(root=headers.ROOT):
    root, complaints = Path(root), []
    known = {f.name for f in root.rglob("*") if not NOT_OURS & set(f.relative_to(root).parts)}
    for document in documents(root):
        text = FENCE.sub(blank, document.read_text())
        prose = CODE.sub(blank, text)
        found = [(m.start(), m[1], link_fault(document, m[1])) for m in LINK.finditer(prose)]
        found += [(m.start(), m[1], name_fault(root, document, m[1], known)) for m in CODE.finditer(text)]
        for place, target, fault in sorted(found):
            if fault:
                complaints.append(f"{document}:{text.count(chr(10), 0, place) + 1}: {target}: {fault}")
    for header in headers.headers(root):
        for number, line in enumerate(header.read_text().splitlines(), 1):
            complaints += [f"{header}:{number}: {page}: does not exist" for page in PAGE.findall(line) if not (root / page).exists()]
    return complaints


if __name__ == "__main__":
    headers.main(check)
