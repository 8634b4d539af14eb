# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Words that a native engineer would not write, and British spelling, in pages and in comments of headers and scripts."""
import ast
import re

import headers

WORDS = re.compile(r"""\b(
    nobody | another\ one | the\ other\ one | for\ ever | reckon\w* | whoever | told | what\ there\ is | beyond\ doubt
  | somebody | so\ often | put\ right | per\ cent | in\ brackets
  | whilst | learnt
  | normalis\w+ | neighbour\w* | behaviour\w* | colou?rise\w* | colours? | favour\w* | serialis\w+ | initialis\w+
  | recognis\w+ | optimis(?:e[sd]?|ing|ation) | cancell(?:ed|ing)
)\b""", re.VERBOSE | re.IGNORECASE)
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/**/*.md")
SCRIPTS = ("examples/**/*.py", "examples/**/*.sh", "bench/**/*.py", "bench/**/*.sh")


def comments(text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.search(r"(?<![:\"])//(.*)", line):
            yield number, match[1]


def script_comments(text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.search(r"(?:^|\s)#(.*)", line):
            yield number, match[1]


def docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            first = node.body[0]
            for number, line in enumerate(first.value.value.splitlines(), first.lineno):
                yield number, line


def prose(text):
    """Lines of a page outside listings; names in backticks do not count."""
    listing = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            listing = not listing
        elif not listing:
            yield number, re.sub(r"`[^`]*`|<!--.*?-->", "", line)


def check(root=headers.ROOT):
    complaints = []
    places = [(page, prose) for pattern in PAGES for page in sorted(root.glob(pattern))]
    places += [(header, comments) for header in headers.headers(root)]
    for script in sorted(path for pattern in SCRIPTS for path in root.glob(pattern)):
        places += [(script, script_comments)] + [(script, docstrings)] * (script.suffix == ".py")
    for path, lines in places:
        for number, line in lines(path.read_text()):
            for match in WORDS.finditer(line):
                complaints.append(f"{path}:{number}: write something else than {match[0]!r}")
    return complaints


if __name__ == "__main__":
    headers.main(check)
