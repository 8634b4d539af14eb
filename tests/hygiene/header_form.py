# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every public header starts with the licence and a comment that says what it is for, and fits a sitting."""
import re

import headers

LICENCE = """\
// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// """
LINES_AT_MOST = 400


def check(root=headers.ROOT):
    complaints = []
    for header in headers.headers(root):
        text = header.read_text()
        if not text.startswith(LICENCE):
            complaints.append(f"{header}:1: must start with the two licence lines, a blank one, `/// @file` and text")
        if not re.search(r"^///[^\n]*\n#pragma once\n", text, re.MULTILINE):
            complaints.append(f"{header}: `#pragma once` must follow the file comment")
        if (lines := text.count("\n")) > LINES_AT_MOST:
            complaints.append(f"{header}: {lines} lines, at most {LINES_AT_MOST}: split it by what its parts answer")
    return complaints


if __name__ == "__main__":
    headers.main(check)
