# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""A header has no names of its own per translation unit: constants of a namespace are `inline`, functions are
not `static`, and there is no unnamed namespace. (What this misses, linking two units finds.)"""
import headers
from declarations import declarations


def check(root=headers.ROOT):
    complaints = []
    for header in headers.headers(root):
        for d in declarations(header.read_text()):
            where = f"{header}:{d.line}"
            if d.kind == "namespace" and not d.name:
                complaints.append(f"{where}: an unnamed namespace differs in every translation unit")
            elif d.in_class or "extern" in d.words:
                continue
            elif d.kind == "variable" and not d.is_template and d.name and "inline" not in d.words:
                complaints.append(f"{where}: variable {d.name} must be inline")
            elif d.kind in ("function", "variable") and "static" in d.words:
                complaints.append(f"{where}: {d.name} must not be static")
    return complaints


if __name__ == "__main__":
    headers.main(check)
