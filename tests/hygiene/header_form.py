# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every header starts with the license and a comment that says what it is for, has at most 800 lines or says why it
is longer, and includes <algorithm> and <utility> where it uses them: another standard library may not bring them along."""
import re

import headers

LICENCE = """\
// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// """
# A longer file says why: a line of its file comment begins with "Length:".
LINES_AT_MOST = 800
# What nothing else is sure to bring.
USES = {
    "<algorithm>": r"""(?<!ranges::)\bstd::(?:sort|stable_sort|nth_element|partial_sort|lower_bound|upper_bound|clamp|copy|copy_n|fill
        |fill_n|find|find_if|any_of|all_of|none_of|count_if|rotate|reverse|equal|make_heap|push_heap|pop_heap|sort_heap
        |min_element|max_element|unique|remove_if|is_sorted)\( | \(std::(?:min|max)\)""",
    "<utility>": r"\bstd::(?:move|forward|exchange|swap|pair|declval|as_const|make_pair|index_sequence)\b",
}


def check(root=headers.ROOT):
    complaints = []
    for header in headers.headers(root):
        text = header.read_text()
        if not text.startswith(LICENCE):
            complaints.append(f"{header}:1: must start with the two license lines, a blank one, `/// @file` and text")
        if not re.search(r"^///[^\n]*\n#pragma once\n", text, re.MULTILINE):
            complaints.append(f"{header}: `#pragma once` must follow the file comment")
        file_comment = text.partition("#pragma once")[0]
        if (lines := text.count("\n")) > LINES_AT_MOST and not re.search(r"^/// Length: \S", file_comment, re.MULTILINE):
            complaints.append(f"{header}: {lines} lines, above {LINES_AT_MOST}: split it by what its parts answer, "
                              "or say in the file comment why it is one noun (`/// Length: ...`)")
        code, included = headers.without_comments(text), {name for _, name in headers.includes(text)}
        complaints += [f"{header}: uses {name} and does not include it" for name, use in USES.items()
                       if name not in included and re.search(use, code, re.VERBOSE)]
    return complaints


if __name__ == "__main__":
    headers.main(check)
