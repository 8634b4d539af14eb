#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Builds and runs the papers' experiments on a simulated cluster, and writes CSV files and report.html to build/papers/.
# Installs what is missing, as tests/run.sh does.
#
#   bench/papers.sh            six runs of everything: five minutes on two idle cores, once built
#   bench/papers.sh --full     24 runs, and longer ones
#   bench/papers.sh --smoke    one run of each, to check that everything works: a minute; the results mean nothing
#   bench/papers.sh --runs N   this many runs
#   ... --publish              copies the results to docs/notes/results and updates the pages that quote them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh

how=() publish=0
while (($# > 0)); do
    case $1 in
        --full | --smoke) how+=("$1") ;;
        --runs)
            how+=("$1" "${2:?how many?}")
            shift
            ;;
        --publish) publish=1 ;;
        *)
            sed -n '5,12s/^# \{0,1\}//p' "$0" >&2
            exit 2
            ;;
    esac
    shift
done
ensure_packages build papers

out=build/papers
cmake --preset papers >/dev/null
cmake --build --preset papers
rm -f "$out"/*.csv "$out"/*.data # not *.txt, as CMakeCache.txt is one
for paper in dsb evaluation riski together ml_na; do
    before=$SECONDS
    "$out/bench/papers/paper_$paper" "${how[@]}" --out "$out" | tee "$out/$paper.txt"
    echo "$paper: $((SECONDS - before)) s"
done
# The classifiers of table II that are not in the library.
if ensure_packages learners; then
    /usr/bin/python3 -B bench/papers/ml_na/classifiers.py "$out"
else
    echo "skipped: five classifiers of table II of ML-NA, which are scikit-learn's" >&2
fi
rm -f "$out"/*.data
python3 -B bench/papers/report/report.py "$out"
if ((publish)); then
    find docs/notes/results -name '*.csv' ! -name histories.csv -delete
    cp "$out"/*.csv docs/notes/results/
    cp "$out/ml_na.txt" docs/notes/results/ml-na-printed.txt
    python3 -B docs/results.py --update
fi
echo "$out/report.html"
