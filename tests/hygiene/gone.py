# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Identifiers that are gone for good (gone.txt) come back nowhere: not in code, not in a code span or listing of a
document. They are compared whole: `sentence_policy` is gone, a sentence is not."""
import re
from pathlib import Path

import headers
import links

FOLDERS = ("include", "tests", "bench", "examples", "packaging", "cmake")
ENDINGS = {".hpp", ".cpp", ".cppm", ".h", ".txt", ".cmake", ".py", ".in"}
LIST = Path(__file__).with_name("gone.txt")


def gone():
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(maxsplit=1) for line in lines)


def code_of(document):
    """The document with everything but its listings and code spans blanked."""
    text = document.read_text()
    kept = [m.span() for m in links.FENCE.finditer(text)]
    kept += [m.span() for m in links.CODE.finditer(links.FENCE.sub(links.blank, text))]
    out = re.sub(r"[^\n]", " ", text)
    for begin, end in kept:
        out = out[:begin] + text[begin:end] + out[end:]
    return out


def sources(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            listed = file.name in (LIST.name, "gone.py", "test_checks.py")
            if file.is_file() and file.suffix in ENDINGS and not listed and not links.NOT_OURS & set(file.parts):
                yield file


def check(root=headers.ROOT):
    root, complaints, instead = Path(root), [], gone()
    word = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, instead)) + r")(?!\w)")
    texts = [(file, file.read_text(errors="replace")) for file in sources(root)]
    texts += [(document, code_of(document)) for document in links.documents(root)]
    for file, text in texts:
        for match in word.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(f"{file}:{line}: {match[1]} is gone: {instead[match[1]]}")
    return complaints


if __name__ == "__main__":
    headers.main(check)
