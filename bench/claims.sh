#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Writes the tables of docs/reference/claims.md: whether what is claimed of running tasks comes true. Five minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/claims
mkdir -p "$build"
"${CXX:-g++}" -std=c++20 -O2 -Iinclude bench/claims/claims.cpp -o "$build/claims"
for table in left wins late; do # it fails where a claim is off
    "$build/claims" "${STRAGGLE_SHARED_DIR:-../shared}/data" "$table" >"$build/$table.md" || true
done
python3 - "$build" <<'PYTHON'
import re, sys
from pathlib import Path
page, build = Path("docs/reference/claims.md"), Path(sys.argv[1])
def table(match):
    return f"<!-- {match[1]} begin -->\n{(build / (match[1] + '.md')).read_text().strip()}\n<!-- {match[1]} end -->"
page.write_text(re.sub(r"<!-- (\w+) begin -->\n.*?<!-- \1 end -->", table, page.read_text(), flags=re.S))
PYTHON
