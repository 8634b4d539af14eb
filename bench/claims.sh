#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Writes the tables of docs/reference/claims.md, which show whether claims about running tasks come true. Takes five
# minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/claims
mkdir -p "$build"
"${CXX:-g++}" -std=c++20 -O2 -Iinclude bench/claims/*.cpp -o "$build/claims"
for table in left wins nodes late; do # fails if a claim is off
    "$build/claims" "${STRAGGLE_SHARED_DIR:-../shared}/data" "$table" >"$build/$table.md" || true
done
python3 -B bench/fill_tables.py docs/reference/claims.md "$build"
