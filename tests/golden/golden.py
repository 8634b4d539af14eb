# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the scripts that make golden tables have in common."""
import pathlib
import sys


def write_or_check(script, text):
    """Writes the table beside a script, or with --check compares it with the one that is there."""
    path = pathlib.Path(script).with_suffix(".csv")
    if "--check" in sys.argv:
        sys.exit(0 if path.read_text() == text else f"{path} differs from what the script makes")
    path.write_text(text)
