# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Proves that versions.py can fail: each test spoils one file of a copy of the tree."""
import shutil
import tempfile
import unittest
from pathlib import Path

import headers
import versions


class Versions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name in (versions.SOURCE, *versions.MANIFESTS, *versions.READERS, versions.ARCHIVE, "CHANGELOG.md", "README.md"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(headers.ROOT / name, self.root / name)
        self.version = versions.version_of((self.root / versions.SOURCE).read_text())

    def spoil(self, name, old, new):
        file = self.root / name
        self.assertIn(old, file.read_text())
        file.write_text(file.read_text().replace(old, new))

    def assert_one(self, *words):
        found = versions.check(self.root)
        self.assertEqual(1, len(found), found)
        for word in words:
            self.assertIn(word, found[0])

    def test_the_tree_itself(self):
        self.assertEqual([], versions.check(self.root))

    def test_each_manifest(self):
        for name in versions.MANIFESTS:
            self.spoil(name, f'"{self.version}"', '"9.9.9"')
            self.assert_one(f"{name}: version 9.9.9")
            self.spoil(name, '"9.9.9"', f'"{self.version}"')

    def test_change_log(self):
        self.spoil("CHANGELOG.md", "\n## ", "\n## [9.9.9] - 2099-01-01\n\n## ")
        self.assert_one("CHANGELOG.md: the newest heading says 9.9.9")

    def test_a_new_version_is_asked_for_everywhere(self):
        (self.root / versions.SOURCE).write_text("".join(
            f"#define STRAGGLE_VERSION_{part} 7\n" for part in ("MAJOR", "MINOR", "PATCH")))
        found = "\n".join(versions.check(self.root))
        for name in (*versions.MANIFESTS, versions.ARCHIVE, "CHANGELOG.md", "README.md"):
            self.assertIn(name, found)

    def test_a_reader_that_does_not_read(self):
        self.spoil("conanfile.py", '"version.hpp"', '"numbers.hpp"')
        self.assert_one("conanfile.py: must take the version from")

    def test_a_reader_that_repeats(self):
        self.spoil("conanfile.py", '    name = "straggle"\n', f'    name = "straggle"\n    version = "{self.version}"\n')
        self.assert_one("conanfile.py:", "repeats the version")

    def test_documents(self):
        for text in ("find_package(straggle 9.9 REQUIRED)", "straggle/9.9.9", "libstraggle-dev_9.9.9_all.deb",
                     "straggle-9.9.9.tar.gz"):
            (self.root / "docs/guide").mkdir(parents=True, exist_ok=True)
            (self.root / "docs/guide/start.md").write_text(f"# Start\n\n{text}\n")
            self.assert_one("docs/guide/start.md:3: speaks of straggle 9.9")
        for text in ("find_package(straggle 9.9 REQUIRED)".replace("9.9", self.version.rpartition(".")[0]),
                     f"straggle/{self.version}", "slurm-8-nodes, straggle-rank 1.5 times, straggle 3 nodes"):
            (self.root / "docs/guide/start.md").write_text(text)
            self.assertEqual([], versions.check(self.root))


if __name__ == "__main__":
    unittest.main()
