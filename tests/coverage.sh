#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Builds the tests so that they count, runs them, and tells how many lines and branches of the library were reached,
# room by room; installs what is missing first. Status 1 below 95 % of the lines or 85 % of the branches, or if a test
# failed. `build/coverage/html/` shows them in their places. Works from any folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh
ensure_packages build tests coverage

folder=build/coverage
cmake --preset coverage
cmake --build --preset coverage
rm -rf "$folder/profiles" "$folder/html"
mkdir -p "$folder/profiles"
programs=() failed=0
for program in "$folder"/tests/test_*; do
    [[ -x $program && -f $program ]] || continue
    programs+=("$program")
    # One file per program, also if it starts others.
    LLVM_PROFILE_FILE="$PWD/$folder/profiles/$(basename "$program")-%m.profraw" "$program" --minimal=true || failed=1
done
((${#programs[@]} > 0))
llvm-profdata-19 merge -sparse "$folder"/profiles/*.profraw -o "$folder/tests.profdata"
exports=() objects=()
for program in "${programs[@]}"; do
    exports+=("$folder/profiles/$(basename "$program").json")
    objects+=(-object "$program")
    llvm-cov-19 export -skip-functions -skip-expansions -instr-profile="$folder/tests.profdata" "$program" \
        include/straggle >"${exports[-1]}" 2>/dev/null
done
llvm-cov-19 show -format=html -show-branches=count -show-instantiations=false -output-dir="$folder/html" \
    -instr-profile="$folder/tests.profdata" "${programs[0]}" "${objects[@]:2}" include/straggle >/dev/null 2>&1
python3 -B tests/coverage.py "${exports[@]}" --lines 95 --branches 85 || failed=1
exit "$failed"
