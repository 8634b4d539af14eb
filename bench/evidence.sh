#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Writes docs/reference/evidence.md: what is found, how soon, how often wrongly, and how often intervals contain the
# true value.
#
#   bench/evidence.sh [SCALE]     SCALE 50, the default, means 1000 runs: about ten minutes on one core
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scale=${1:-50}
build=build/evidence
mkdir -p "$build"
compiler=${CXX:-g++}
"$compiler" -std=c++20 -O2 -Iinclude -Ibench bench/blacklist/dynamic_blacklist.cpp -o "$build/decisions"
"$compiler" -std=c++20 -O2 -Iinclude -Itests tests/main.cpp tests/property/slowdown_coverage.cpp -o "$build/coverage"
for table in windows stuck episodes running hard detection errors recovery; do
    "$build/decisions" "$scale" "$table" >"$build/$table.md"
done
STRAGGLE_COVERAGE_RUNS=$((20 * scale)) "$build/coverage" | grep '^|' >"$build/coverage.md"
python3 -B bench/fill_tables.py docs/reference/evidence.md "$build"
