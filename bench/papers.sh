#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The papers' experiments on a simulated cluster: builds them, runs them, leaves CSV files and report.html in
# build/papers/. Installs what is missing, as tests/run.sh does.
#
#   bench/papers.sh           six runs of everything, under three minutes
#   bench/papers.sh --full    24 runs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh

if (($# > 1)) || [[ ${1:---full} != --full ]]; then
    sed -n '5,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
ensure_packages build papers

out=build/papers
cmake --preset papers >/dev/null
cmake --build --preset papers
for paper in dsb evaluation riski together ml_na; do
    before=$SECONDS
    "$out/bench/papers/paper_$paper" "$@" --out "$out"
    echo "$paper: $((SECONDS - before)) s"
done
python3 -B bench/papers/report/report.py "$out"
echo "$out/report.html"
