#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Replaces the text between `<!-- NAME begin -->` and `<!-- NAME end -->` of a page with the measured table FOLDER/NAME.md.

    fill_tables.py PAGE FOLDER
"""
import os
import re
import sys
from pathlib import Path


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, folder = map(Path, sys.argv[1:])

    def table(match):
        name = match[1]
        return f"<!-- {name} begin -->\n{(folder / f'{name}.md').read_text().strip()}\n<!-- {name} end -->"

    filled = re.sub(r"<!-- (\w+) begin -->\n.*?<!-- \1 end -->", table, page.read_text(), flags=re.S)
    beside = page.with_suffix(".new")
    beside.write_text(filled)
    os.replace(beside, page)


if __name__ == "__main__":
    main()
