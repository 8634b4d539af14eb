# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""What the tests of the example programs share: running one, its JSON, its complaints, its page."""

import html.parser
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SHARED = pathlib.Path(os.environ.get("STRAGGLE_SHARED_DIR") or "/nonexistent")
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "job,task,attempt,node,start_ms,end_ms,status,speculative,input_bytes\n"


def program(path):
    """A function that runs the program with arguments, an input and an environment."""
    def run(*arguments, stdin=b"", **environment):
        return subprocess.run([path, *map(str, arguments)], input=stdin, capture_output=True, timeout=300,
                              env={**os.environ, **environment})
    return run


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def document(done):
    """The JSON document that a program printed."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=no_constant)


class Folder(unittest.TestCase):
    """Tests with a folder of their own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content=b""):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def shared(self, name):
        """A history of the reference data."""
        path = SHARED / "data" / name
        if not path.exists():
            self.skipTest("reference data absent")
        return path

    def histories(self):
        """All of them."""
        files = sorted(f for f in (SHARED / "data").glob("*.csv") if "progress" not in f.name)
        if not files:
            self.skipTest("reference data absent")
        return files


class BadInput(Folder):
    """Tests of a program, `run`, that says in one line of its own what is wrong."""

    def refuses(self, status, message, *arguments, stdin=b""):
        done = self.run_program(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        self.assertEqual(done.stdout, b"")
        text = done.stderr.decode(errors="replace")
        self.assertTrue(text.startswith(f"{self.name}: ") and text.endswith("\n") and text.count("\n") == 1, text)
        self.assertRegex(text, message)


class _Scripts(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.inside, self.tags = [], None, []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("type", "text/javascript") if tag == "script" else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside:
            self.found.append((self.inside, text))


def data_of_page(test, done, report):
    """The data of the page that a program wrote, after making sure that nothing in it is taken for markup or fetched."""
    if done.returncode == 1 and b"without D3" in done.stderr:
        test.skipTest("built without D3")
    test.assertEqual(done.returncode, 0, done.stderr)
    page = report.read_text(encoding="utf-8")
    parser = _Scripts()
    parser.feed(page)
    data = [text for kind, text in parser.found if kind == "application/json"]
    test.assertEqual(len(data), 1)
    test.assertNotIn("<", data[0])
    test.assertEqual(sum(tag == "script" for tag, _ in parser.tags), 3)
    test.assertFalse([a for _, a in parser.tags if "src" in a or str(a.get("href", "#"))[0] != "#"])
    test.assertIn("Michael Bostock", page)
    test.assertEqual(page.count("Redistributions of source code"), 1)
    return json.loads(data[0])
