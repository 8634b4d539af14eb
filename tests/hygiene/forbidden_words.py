# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Words that have no place in the library: no exceptions, no RTTI, no heavy includes, nothing a user's macro
can break, no macros of our own outside config.hpp and version.hpp."""
import re

import headers

WORDS = {
    "throw": "the library does not throw",
    "try": "the library does not catch",
    "catch": "the library does not catch",
    "typeid": "no RTTI",
    "dynamic_cast": "no RTTI",
    "virtual": "nothing is virtual",
    "goto": "no goto",
}
INCLUDES = {
    "iostream", "istream", "ostream", "sstream", "fstream", "iomanip", "locale", "format", "print", "regex",
    "random", "chrono", "memory_resource", "memory", "functional", "thread", "mutex", "future",
    "condition_variable", "filesystem", "cstdio", "stdio.h", "ctime", "any", "typeinfo", "map", "set", "list",
}
MACROS_LIVE_IN = {"straggle/base/config.hpp", "straggle/version.hpp"}
# A function-like macro `max` strikes wherever the word is followed by a parenthesis.
BARE_MIN_MAX = re.compile(r"\b(min|max)\s*\(")


def check(root=headers.ROOT):
    complaints = []
    for header in headers.headers(root):
        name, text = headers.name_of(header, root), header.read_text()
        for number, line in enumerate(headers.without_comments(text).splitlines(), 1):
            where = f"{header}:{number}"
            for word in re.findall(r"[A-Za-z_]\w*", line):
                if word in WORDS:
                    complaints.append(f"{where}: {word}: {WORDS[word]}")
            if match := BARE_MIN_MAX.search(line):
                complaints.append(f"{where}: {match[1]}( falls to a user's macro, write (std::{match[1]})(")
            if re.match(r"\s*#\s*define\b", line) and name not in MACROS_LIVE_IN:
                complaints.append(f"{where}: macros live in config.hpp")
        for number, target in headers.includes(text):
            # A broken contract has to say which, and <cstdio> is the lightest way.
            if target[1:-1] in INCLUDES and (name, target) != ("straggle/base/contract.hpp", "<cstdio>"):
                complaints.append(f"{header}:{number}: {target} is too much for a library header")
    return complaints


if __name__ == "__main__":
    headers.main(check)
