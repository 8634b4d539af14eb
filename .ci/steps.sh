# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# shellcheck shell=bash

# What .ci/run and .ci/full share: steps that log to build/ci/ and are counted, and the tally at the end. Names of steps
# as arguments leave out all others.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source cmake/ensure-packages.sh

export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
exec </dev/null
logs=build/ci
mkdir -p "$logs"
passed=0 failed=0 skipped=0
only=("$@")

# Whether the step $1 was asked for: all are if none is named.
wanted() { ((${#only[@]} == 0)) || [[ " ${only[*]} " == *" $1 "* ]]; }

# The number called $1 in the JUnit file $2.
junit_number() { sed -n "/<testsuite /,/>/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

# step NAME JUNIT COMMAND... counts every test in the file JUNIT, or itself if JUNIT is "-". Status 77 says that it cannot
# be done here, and why in its last line.
step() {
    local name=$1 junit=$2 log="$logs/$1.log" before=$SECONDS status=0 told
    wanted "$name" || return 0
    shift 2
    [[ $junit == - ]] || rm -f "$junit"
    printf '%-16s ' "$name"
    timeout ${STEP_SECONDS:-1800} "$@" >"$log" 2>&1 || status=$?
    if [[ $junit != - && -s $junit ]]; then
        local all bad idle
        all=$(junit_number tests "$junit") bad=$(junit_number failures "$junit")
        idle=$(($(junit_number skipped "$junit") + $(junit_number disabled "$junit")))
        ((status != 0 && bad == 0)) && ((bad++, all++))
        ((passed += all - bad - idle, failed += bad, skipped += idle))
        told="$((all - bad - idle)) of $all passed"
    elif ((status == 0)); then
        ((passed++))
        told=passed
    elif ((status == 77)); then
        ((skipped++))
        status=0
        told="skipped: $(tail -n 1 "$log" | sed 's/^skipped: //')"
    else
        ((failed++))
        told="FAILED (status $status)"
    fi
    printf '%-24s %4d s\n' "$told" $((SECONDS - before))
    ((status == 0)) || { tail -n 60 "$log" | sed 's/^/    /'; }
}

skip() {
    wanted "$1" || return 0
    ((skipped++))
    printf '%-16s skipped: %s\n' "$1" "$2"
}

# For `timeout`, which runs programs only.
in_bash() { echo "set -euo pipefail; source cmake/ensure-packages.sh; $1"; }

# One fuzzer, $2, for $1 seconds. New inputs go to a scratch folder: the corpus in the tree stays as it is.
fuzz_one() {
    local name corpora
    name=$(basename "$2")
    mkdir -p "$logs/$name-new"
    corpora=("$logs/$name-new")
    [[ -d tests/fuzz/corpus/${name#fuzz_} ]] && corpora+=("tests/fuzz/corpus/${name#fuzz_}")
    timeout $(($1 + 600)) "$2" -max_total_time="$1" -artifact_prefix="$logs/$name-" "${corpora[@]}" \
        >"$logs/$name-run.log" 2>&1
    echo $? >"$logs/$name.status"
}
# Every fuzzer for so many seconds, as many at a time as there are cores.
fuzz_for() {
    local fuzzer name
    wanted fuzzers || return 0
    local only=()
    rm -f "$logs"/fuzz_*.status
    export logs
    export -f fuzz_one
    find build/fuzz/tests/fuzz -name 'fuzz_*' -type f -executable -print0 |
        xargs -0 -P "$(nproc)" -I{} bash -c "fuzz_one $1 {}"
    for fuzzer in build/fuzz/tests/fuzz/fuzz_*; do
        [[ -x $fuzzer && -f $fuzzer ]] || continue
        name=$(basename "$fuzzer")
        # Not the status itself: a fuzzer that crashes ends with 77.
        step "$name" - bash -c "cat '$logs/$name-run.log'; exit \$((\$(cat '$logs/$name.status') != 0))"
    done
}

# Prints the tally; the status says whether all is well.
tally() {
    if ((passed + failed + skipped == 0)); then
        echo "there is no step of that name" >&2
        return 1
    fi
    echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
    if ((skipped > 0)); then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    ((failed == 0))
}
