# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""One version number: that in include/straggle/version.hpp.

- What has to repeat it, because its tool reads nothing else, repeats it right: the manifests of vcpkg and the newest
  heading of the change log.
- Where documents, usage texts and comments speak of a version of straggle, it is this one.
- What can read it does: it names version.hpp (or the variable made of it) and does not repeat the number.
"""
import json
import re
from pathlib import Path

import headers

SOURCE = "include/straggle/version.hpp"
MANIFESTS = ("vcpkg.json", "packaging/vcpkg/straggle/vcpkg.json", "packaging/vcpkg-registry/straggle/vcpkg.json")
ARCHIVE = "conandata.yml"
# file: what it must contain to be a reader
READERS = {
    "CMakeLists.txt": SOURCE,
    "cmake/install.cmake": "",
    "cmake/package.cmake": "PROJECT_VERSION",
    "cmake/straggle.pc.in": "Version: @PROJECT_VERSION@",
    "conanfile.py": '"include", "straggle", "version.hpp"',
    "packaging/conan/test_package/conanfile.py": "",
    "packaging/conan/test_package/CMakeLists.txt": "",
    "packaging/vcpkg/straggle/portfile.cmake": "",
    "packaging/vcpkg-registry/straggle/portfile.cmake": 'REF "v${VERSION}"',
    "packaging/vcpkg/straggle/usage": "",
}
# find_package(straggle 1.2 ...), straggle/1.2.3, straggle-1.2.3.tar.gz, libstraggle-dev_1.2.3_all.deb, straggle 1.2
MENTION = re.compile(r"straggle(?:-dev)?[ /_@-]v?(\d+\.\d+(?:\.\d+)?)\b")
HEADING = re.compile(r"^## .*?(\d+\.\d+\.\d+)", re.MULTILINE)


def version_of(text):
    numbers = dict(re.findall(r"^#define STRAGGLE_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$", text, re.MULTILINE))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def matches(mention, version):
    """1.2 speaks of 1.2.3 as well as 1.2.3 does."""
    return version == mention or version.startswith(mention + ".")


def documents(root):
    """What people read. The change log speaks of old versions, too."""
    yield root / "README.md"
    for folder in "docs", "packaging", "examples":
        yield from sorted((root / folder).rglob("*.md"))
    yield from (root / name for name in READERS)


def check(root=headers.ROOT):
    root, complaints = Path(root), []
    version = version_of((root / SOURCE).read_text())
    for name in MANIFESTS:
        found = json.loads((root / name).read_text()).get("version")
        if found != version:
            complaints.append(f"{name}: version {found}, but {SOURCE} says {version}")
    archive = re.search(r'^  "([\d.]+)":\n    url: "\S+/v([\d.]+)\.tar\.gz"', (root / ARCHIVE).read_text(), re.MULTILINE)
    if not archive or {archive[1], archive[2]} != {version}:
        complaints.append(f"{ARCHIVE}: its first archive is not that of {version}")
    heading = HEADING.search((root / "CHANGELOG.md").read_text())
    if not heading or heading[1] != version:
        complaints.append(f"CHANGELOG.md: the newest heading says {heading and heading[1]}, but {SOURCE} {version}")
    for name, words in READERS.items():
        text = (root / name).read_text()
        if words not in text:
            complaints.append(f"{name}: must take the version from {SOURCE} (there is no `{words}`)")
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.]*\d)", line):
                complaints.append(f"{name}:{number}: repeats the version, which it can read")
    for document in documents(root):
        if not document.exists():
            continue
        for number, line in enumerate(document.read_text().splitlines(), 1):
            for mention in MENTION.findall(line):
                if not matches(mention, version):
                    where = document.relative_to(root).as_posix()
                    complaints.append(f"{where}:{number}: speaks of straggle {mention}, but {SOURCE} says {version}")
    return complaints


if __name__ == "__main__":
    headers.main(check)
