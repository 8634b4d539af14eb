#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Makes a site of what Doxygen wrote: finish.py SITE NAMES, NAMES being Doxygen's tag file.

Every page gets the navigation, in which the pages stand shelf by shelf in the order of docs/index.md; names in the guide
lead to the reference; tables scroll inside the page; the search box gets its list of names. What cannot be reached is
removed. Then all links are followed: a dead one, a missing image, a page of the guide that the index leaves out, or
anything to be fetched from elsewhere is an error, and so is a listing that does not fit its column.
"""
import html
import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"""<(\w+)[^>]*?\s(?:href|src|data)\s*=\s*["']([^"']*)["']""")
ANCHOR = re.compile(r"""\s(?:id|name)\s*=\s*["']([^"']+)["']""")
REPORT = ("experiments-report.html", "The experiments in full")  # by bench/papers/report/report.py
COLUMNS = 110  # of a listing, as straggle.css has it; what a program prints may be longer, and is broken there
OVERVIEWS = [("annotated.html", "All types"), ("concepts.html", "All concepts"), ("files.html", "All headers")]


def title_of(page):
    return re.search(r"^# (.*)$", page.read_text(), re.M)[1]


def guide_in_order():
    """The pages of all shelves as docs/index.md names them."""
    order = dict.fromkeys(re.findall(r"\]\((\w+/[\w-]+)\.md\)", (ROOT / "docs/index.md").read_text()))
    return [ROOT / "docs" / f"{name}.md" for name in order]


def names_of(tags):
    """(name, kind, address) of everything with an address, qualified names without `straggle::`."""
    for compound in xml.parse(tags).getroot():
        kind, name, file = compound.get("kind"), compound.findtext("name"), compound.findtext("filename")
        if kind in ("class", "struct", "concept"):
            yield name.removeprefix("straggle::"), kind, file
        elif kind == "group":
            yield name, "room", file
        elif kind == "file" and name.endswith(".hpp"):
            yield (compound.findtext("path") + name).split("/input/straggle/")[-1], "header", file
        if kind not in ("class", "struct", "group"):
            continue
        prefix = "" if kind == "group" else name.removeprefix("straggle::") + "::"
        for member in compound.findall("member"):
            address = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
            own = member.findtext("name")
            special = own.startswith(("operator", "~")) or own == name.split("::")[-1]
            if member.get("kind") != "friend" and not special:
                yield prefix + own, member.get("kind"), address


def navigation(rooms):
    def entries(links):
        return "".join(f'<li><a href="{address}">{html.escape(text)}</a></li>' for address, text in links)

    def shelf(name):
        return [(f"{page.stem}.html", title_of(page)) for page in guide_in_order() if page.parent.name == name]

    return (f'<nav><h2>Guide</h2><ul>{entries(shelf("guide"))}</ul>'
            f'<h2>Reference</h2><ul>{entries(shelf("reference"))}{entries(rooms)}{entries(OVERVIEWS)}</ul>'
            f'<h2>Notes</h2><ul>{entries([*shelf("notes"), REPORT])}</ul></nav>')


def linked_names(text, addresses):
    """Names in <code> become links, but not within a link or a listing."""
    def link(match):
        if not match["name"]:
            return match[0]
        name = match["name"].removeprefix("straggle::")
        address = addresses.get(name) or addresses.get(name.rpartition("::")[0])  # a member, or at least its type
        return f'<a class="name" href="{address}">{match[0]}</a>' if address else match[0]

    skip = r"<a\s.*?</a>|<pre.*?</pre>|<div class=\"fragment\">.*?</div><!-- fragment -->|<h\d.*?</h\d>"
    return re.sub(rf"{skip}|<code>(?P<name>[\w:/]+(?:\.hpp)?)(?:[({{&][^<]*)?</code>", link, text, flags=re.S)


def described_first(body):
    """The description of a type before its members, in the place of its first sentence."""
    end = r'<h2 class="(?:groupheader|memtitle)|</div><!-- contents -->'
    details = re.search(rf'<a name="details".*?</h2>(.*?)(?={end})', body, re.S)
    brief = re.search(r'<p>(?:(?!</p>).)*?<a href="[^"]*#details">More...</a></p>', body, re.S)
    if not details or not brief or brief.start() > details.start():
        return body
    return (body[:brief.start()] + '<div id="details">' + details[1] + "</div>" +
            body[brief.end():details.start()] + body[details.end():])


def finish(page, nav, addresses, full):
    text = page.read_text()
    if page.name in full:  # as it is written in a program
        last = html.escape(full[page.name].split("::")[-1])
        text = text.replace(f'<div class="title">{last}', f'<div class="title">{html.escape(full[page.name])}', 1)
    here = nav.replace(f'<a href="{page.name}">', f'<a href="{page.name}" aria-current="page">')
    text = text.replace("<!--navigation-->", here)
    head, contents, body = text.partition('<div class="contents">')
    others = {name: address for name, address in addresses.items() if address != page.name}
    head = re.sub(r"(<div class=\"title\">.*?) (Struct|Class|Concept|File)( Template)? Reference",
                  lambda m: f"{m[1]} <small>{m[2].lower()}</small>", head)
    text = head + contents + linked_names(described_first(body), others)
    # Doxygen takes the words of a reference and of a heading as they are.
    text = re.sub(r">`([^`<]+)`</a>", r"><code>\1</code></a>", text)
    text = re.sub(r"&lt;tt&gt;(.*?)&lt;/tt&gt;", r"<code>\1</code>", text)
    # The list of all members says nothing that the page does not.
    text = re.sub(r'<div class="summary">.*?</div>', "", text, flags=re.S)
    text = re.sub(r'<table class="(?:markdownTable|doxtable)">.*?</table>',
                  r'<div class="wide" tabindex="0">\g<0></div>', text, flags=re.S)
    page.write_text(text)


def targets(page):
    for tag, address in LINK.findall(page.read_text()):
        yield tag, html.unescape(address)


def split(page, address):
    file, _, anchor = address.partition("#")
    return (page.parent / unquote(file) if file else page), unquote(anchor)


def remove_unreachable(site):
    reached, todo = set(), [site / "index.html"]
    while todo:
        page = todo.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        if page.suffix == ".html":
            todo += [split(page, a)[0] for _, a in targets(page) if not re.match(r"[a-z]+:", a)]
    for file in site.rglob("*"):
        if file.is_file() and file not in reached:
            file.unlink()
    for folder in sorted((f for f in site.rglob("*") if f.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def complaints(site, guide):
    anchors = {page: set(ANCHOR.findall(page.read_text())) for page in site.glob("*.html")}
    for page in sorted(anchors):
        for tag, address in targets(page):
            if re.match(r"[a-z]+:", address):
                if tag != "a":
                    yield f"{page.name}: {address} is to be fetched from elsewhere"
                continue
            file, anchor = split(page, address)
            if not file.exists():
                yield f"{page.name}: there is no {address}"
            elif anchor and anchor not in anchors.get(file, ()):
                yield f"{page.name}: there is no #{anchor} in {file.name}"
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for file in re.findall(r"`((?:\w[\w-]*/)+[\w.-]+\.\w+)`", page.read_text()):
            places = (ROOT / file, ROOT / "include" / file, ROOT / "include/straggle" / file)
            made = file.startswith("build/")  # left by a command: not there in a fresh clone
            ours = any((place / file.split("/")[0]).is_dir() for place in (ROOT, ROOT / "include", ROOT / "include/straggle"))
            if ours and not made and not any(place.exists() for place in places):
                yield f"docs/{page.name}: there is no {file}"
        listing = None
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith("```"):
                listing = line[3:] if listing is None else None
            elif listing not in (None, "", "text") and len(line) > COLUMNS:
                yield f"docs/{page.name}:{number}: a listing of {len(line)} columns, {COLUMNS} fit"
        if page.stem not in guide and page.stem != "index":
            yield f"docs/index.md does not name {page.name}"


def main():
    site, tags = Path(sys.argv[1]), sys.argv[2]
    names = list(names_of(tags))
    rooms = [(address, name) for name, kind, address in names if kind == "room"]
    addresses = {}
    for name, kind, address in names:
        if kind != "room":
            addresses.setdefault(name, address)
    # A name of a room may be said without it, if no other room has the same.
    short = {}
    for name in addresses:
        if "::" in name and name[0].islower():
            short.setdefault(name.split("::", 1)[1], set()).add(name)
    for name, full in short.items():
        if len(full) == 1:
            addresses.setdefault(name, addresses[next(iter(full))])
    guide = {page.stem for page in guide_in_order()}
    nav = navigation(rooms)
    full = {address: f"straggle::{name}" for name, kind, address in names if kind in ("class", "struct", "concept")}
    for page in site.glob("*.html"):
        finish(page, nav, addresses, full)
    sections = [(title_of(page), "guide", f"{page.stem}.html") for page in guide_in_order()]
    listed = sorted(names, key=lambda entry: ("::" in entry[0], entry[0]))
    unique = list({entry[:2]: entry for entry in reversed([*sections, *listed])}.values())
    (site / "names.js").write_text(f"const names = {json.dumps(unique[::-1], separators=(',', ':'))};\n")
    remove_unreachable(site)
    found = list(complaints(site, guide))
    print(*found, sep="\n", end="\n" if found else "")
    pages = len(list(site.glob("*.html")))
    print(f"{pages} pages, {len(found)} complaints")
    return 1 if found or pages == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
