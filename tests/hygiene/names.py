# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""`straggle::` itself has the spine's nouns and no more than MOST names; everything else is in the namespace of its
room."""
import sys

import headers

sys.path.insert(0, str(headers.ROOT / "packaging/module"))

from make_module import public_names  # noqa: E402  (needs the path)

MOST = 60


def check(root=headers.ROOT):
    names = {name for header in headers.headers(root) for scope, name in public_names(header.read_text())
             if scope == "straggle"}
    if len(names) <= MOST:
        return []
    return [f"straggle:: has {len(names)} names, at most {MOST}: {', '.join(sorted(names))}"]


if __name__ == "__main__":
    headers.main(check)
