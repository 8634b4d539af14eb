#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes what Doxygen reads instead of our files into the folder it is given.

Headers that are private parts are left out. In the others the inline namespace is left out too, as no user writes it, and
names belong to the group of their room; what may go
without a comment by tests/hygiene/doc_comments.py gets the sentence that says why; and what the guide tells of is
followed by the pages that do. The groups are written from the faces of the rooms. Pages go by the names of their files, and their headings by the anchors
that GitHub gives them.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/hygiene"), str(ROOT / "docs")]
import doc_comments  # noqa: E402
import generate  # noqa: E402
import headers  # noqa: E402
from declarations import declarations  # noqa: E402

# `double low = 0, high = 0; ///< ascending`: Doxygen gives the comment to the last of them only.
SEVERAL = re.compile(r"^( +)([\w:]+(?:<[\w:, ]+>)?) (\w+(?: = [^,;(){}]+)?(?:, \w+(?: = [^,;(){}]+)?)+);( *///<.*)$")


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def outside_code(text):
    """(line, whether it is part of a listing), line by line."""
    code = False
    for line in text.splitlines():
        fence = line.startswith("```")
        yield line, code or fence
        code ^= fence


def guide():
    """For each name in back-ticks the pages of the guide that have it, in their order."""
    pages = defaultdict(list)
    index = (ROOT / "docs/index.md").read_text()
    for page in sorted((ROOT / "docs").glob("*/*.md"), key=lambda page: index.find(f"/{page.name})")):
        text = "\n".join(line for line, code in outside_code(page.read_text()) if not code)
        for name in set(re.findall(r"`(?:\w+::)*(\w+)[^`]*`", text)):
            if page.stem != "rules":  # has them all
                pages[name].append(page.stem)
    return pages


def public_headers():
    for header in headers.headers():
        if "detail" not in header.parts and not re.search(r"^/// @file\s+/// Private part of", header.read_text(), re.M):
            yield header


def asked_for():
    """For each header the members that concepts ask for, and which concepts these are."""
    return doc_comments.asked_for({header: declarations(header.read_text()) for header in headers.headers()})


def excuse(d, asked, previous):
    """The comment of a declaration that needs none of its own; nothing if it has to have one."""
    if d.name in doc_comments.OPERATORS:
        return "Assigns." if d.name == "operator=" else "Compares as usual."
    if d.name in doc_comments.CONVENTIONAL:
        return "As in the standard library."
    if d.exempt and d.kind == "function":
        return "As the compiler makes it." if d.in_class else "Deduces the parameters from the arguments."
    if (d.scope, d.name) == previous:
        return "The same for other arguments."
    if d.in_class and d.name in asked:
        return "Asked for by the concept: " + " or ".join(f"`{c}`" for c in sorted(set(asked[d.name]))) + "."
    return None


def of_header(path, asked, pages):
    text = path.read_text()
    lines, added, previous = text.splitlines(), defaultdict(list), None
    for d in declarations(text):
        if not d.public or not d.name or d.kind in ("namespace", "other"):
            continue
        if doc_comments.has_comment(lines, d):
            previous = (d.scope, d.name)
            if d.kind in ("type", "concept", "alias") and not d.in_class and pages.get(d.name):
                added[d.line - 1] += ["///", "/// @par In the guide",
                                      "/// " + ", ".join(f"@ref {page}" for page in pages[d.name])]
        elif (reason := excuse(d, asked(path), previous)) is not None:
            added[d.line - 1].append(f"/// {reason}")
    out, room = [], headers.room_of(headers.name_of(path)) or "library"
    for k, line in enumerate(lines):
        if re.match(r"} // namespace straggle(::(?!detail)|$)", line):
            out.append("/// @}")
        opens = re.match(r"namespace straggle(::inline STRAGGLE_ABI)?(::(?!detail)(?!inline)[\w:]+)? {$", line)
        if several := SEVERAL.match(line):
            indent, kind, names, comment = several.groups()
            line = "\n".join(f"{indent}{kind} {name};{comment}" for name in names.split(", "))
        # The tag of the inline namespace is in no name.
        out += [*added[k], line.replace("::inline STRAGGLE_ABI", "")]
        if opens:
            out += ["", f"/// @addtogroup {room}", "/// @{", ""]
    text = "\n".join(out) + "\n"
    # What the tag of the inline namespace is put together from is not for users.
    return re.sub(r"^#define STRAGGLE_ABI_\w+(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)


def of_page(path):
    out, first = [], True
    for line, code in outside_code(path.read_text()):
        if code:
            # Doxygen reads languages it does not know as C++, in which # begins no comment.
            out.append(re.sub(r"^```(?!cpp).+", "```text", line))
            continue
        if match := re.match(r"#+ (.*)", line):
            name = path.stem if first else f"{path.stem}-{slug(match[1])}"
            line, first = f"{line} {{#{name if name != 'index' else 'mainpage'}}}", False
        line = re.sub(r"\*\*(`[^`]+`)\*\*", r"<b>\1</b>", line)
        # `page.md#heading` and `#heading`, on whatever shelf
        line = re.sub(r"\]\((?:[\w./-]*?([\w-]+)\.md)?#([\w-]+)\)", lambda m: f"](@ref {m[1] or path.stem}-{m[2]})", line)
        line = re.sub(r"\]\([\w./-]*?([\w-]+)\.md\)", r"](@ref \1)", line)
        out.append(line)
    return "\n".join(out) + "\n"


def rooms(pages):
    """The groups: each room with its question, and what to begin with."""
    out = [(ROOT / "docs/site/rooms.dox").read_text()]
    for room, question, begin in generate.faces():
        question = question[0].upper() + question[1:]
        out.append(f"/// @defgroup {room} {room}: {question[0].lower() + question[1:].replace('`', '')}\n"
                   f"/// {question.rstrip('?.')}{'?' if question.endswith('?') else '.'}"
                   + (f" Begin with {begin}." if begin else "") + "\n")
    return "\n".join(out)


def write(place, text):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def main():
    to, asked, pages = Path(sys.argv[1]), asked_for(), guide()
    for header in public_headers():
        write(to / header.relative_to(ROOT / "include"), of_header(header, asked, pages))
    names = set()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page.name in names:
            sys.exit(f"docs: two pages are named {page.name}, and the site has one folder")
        names.add(page.name)
        write(to / page.name, of_page(page))
    write(to / "rooms.dox", rooms(pages))


if __name__ == "__main__":
    main()
