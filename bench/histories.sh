#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Repeats on recorded histories what section 3 of the DSB paper and section 4 of the RiskI paper do on their clusters:
# how many stragglers there are, where, how long they take, and how the times of equal tasks differ. Writes
# docs/notes/histories.md with its pictures, and docs/notes/results/histories.csv. Installs what is missing, as
# tests/run.sh does.
#
#   bench/histories.sh [FOLDER]    FOLDER has the histories as CSV files, and in raw/ Spark's event logs; half a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh

folder=${1:-${STRAGGLE_SHARED_DIR:-../shared}/data}
if (($# > 1)) || [[ ${1:-} == -* ]]; then
    sed -n '5,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
if [[ ! -d $folder ]]; then
    echo "skipped: there are no histories in $folder" >&2
    exit 0
fi
ensure_packages build pictures
/usr/bin/python3 -B bench/papers/histories/histories.py "$folder" docs/notes
python3 -B docs/results.py --update
echo docs/notes/histories.md
