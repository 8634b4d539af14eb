#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Ablation: runs the library without one of its mechanisms at a time, on both frozen tables of the laboratory. Prints
# what each contributes, in points of the mean and of p99, and where; docs/notes/ablation.md has the results. Mechanisms
# are chosen by these results, so the seeds are the tuning seeds, and held-out scenarios are left out. Raw results stay
# in build/effectiveness/ablation-*.csv and are reused.
#
#   bench/ablation.sh                     2 seeds of all scenarios
#   bench/ablation.sh --quick             1 seed of a few
#   ... --seeds 4 --scenarios 'stages*'   4 seeds; only these scenarios
#   ... --without progress,races          only these mechanisms
#   ... --held-out                        1 reporting seed of the held-out scenarios: only when all is decided
#   ... --fresh                           forgets earlier results
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh

seeds=2 kind=--tuning scenarios=() policies='' fresh=0 held=()
while (($# > 0)); do
    case $1 in
        --quick)
            seeds=1
            scenarios=(--scenarios '*-slow-60,few-slow-*,hole-60,quiet-120,stages-3-60,swing-80,fifth-plan-60')
            ;;
        --seeds) seeds=${2:?how many?} && shift ;;
        --scenarios) scenarios=(--scenarios "${2:?which?}") && shift ;;
        --without) policies=${2:?what?} && shift ;;
        --held-out) kind=--reporting held=(--held-out) ;;
        --fresh) fresh=1 ;;
        *)
            sed -n '5,18s/^# \{0,1\}//p' "$0" >&2
            [[ $1 == --help ]] && exit 0
            exit 2
            ;;
    esac
    shift
done

ensure_packages build
here=bench/effectiveness out=build/effectiveness
cmake --preset effectiveness >/dev/null
cmake --build --preset effectiveness --target ablation
[[ -n $policies ]] || policies=$(sed -n 's/^ *ablation{"\([a-z_]*\)".*/\1/p' $here/ablation/policies.cpp | paste -sd,)
results=()
for table in scenarios wild; do
    [[ ${#held[@]} == 0 || $table == wild ]] || continue
    file=$out/ablation-$table${held:+-held-out}.csv
    ((fresh == 0)) || rm -f "$file"
    "$out/$here/ablation" --table $here/scenarios/$table.csv --histories "${STRAGGLE_SHARED_DIR:-../shared}/data" \
        "${held[@]}" $kind "$seeds" "${scenarios[@]}" --policies "all,late,oracle,$policies" --out "$file" --workers "${STRAGGLE_WORKERS:-1}" >/dev/null
    results+=("$file")
done
python3 -B $here/report/ablation.py include "${results[@]}"
