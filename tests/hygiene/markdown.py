# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every document is what it looks like: cmark-gfm reads it, and each line that begins with `|` is a row of a table.

A table whose delimiters do not fit its head is none to GitHub, and comes out as a paragraph of bars. Outside of
listings such lines must be as many as the rows that the parser found and the delimiter rows it swallowed. Nor may a
listing stay open, or text contain what looks like HTML but is a name in angle brackets.

Needs cmark-gfm (a Debian package); without it the status is 77.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import headers
import links

TAG = re.compile(r"<!-- raw HTML omitted -->")


def rendered(text):
    # Without --unsafe raw HTML is left out, and a mark stands in its place.
    return subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink"], input=text, text=True,
                          capture_output=True, check=True).stdout


def faults(text):
    without_comments = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    prose = links.FENCE.sub(links.blank, without_comments)
    html = rendered(without_comments)
    outside = re.sub(r"<pre>.*?</pre>", "", html, flags=re.S)
    written = [number for number, line in enumerate(prose.splitlines(), 1) if line.startswith("|")]
    rows, heads = outside.count("<tr>"), outside.count("<thead>")
    if len(written) != rows + heads:
        # The first block of bars that is no table by itself.
        for block in re.finditer(r"(?:^\|[^\n]*\n)+", prose + "\n", re.M):
            found = rendered(block[0])
            if found.count("<tr>") + found.count("<thead>") != block[0].count("\n"):
                yield prose.count("\n", 0, block.start()) + 1, "a table that is none: its head and delimiters differ"
                return
        yield written[0] if written else 1, f"{len(written)} lines begin with |, but tables have {rows + heads}"
    if len(re.findall(r"^(?:```|~~~)", without_comments, re.M)) % 2:
        yield 1, "a listing stays open"
    for match in re.finditer(r"<p>[^<]*" + TAG.pattern, outside):
        yield 1, f"looks like HTML: ...{match[0][-90:]}"


def check(root=headers.ROOT):
    return [f"{document}:{line}: {fault}" for document in links.documents(Path(root))
            for line, fault in faults(document.read_text())]


if __name__ == "__main__":
    if not shutil.which("cmark-gfm"):
        print("skipped: there is no cmark-gfm (Debian package cmark-gfm)")
        sys.exit(77)
    headers.main(check)
