#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Looks for mistakes without running anything: clang-tidy and cppcheck over the library and the examples, or with
# --tests over the tests (half an hour). Installs what is missing first; works from any folder; logs to build/lint/;
# ends with every finding named once, and with status 1 if there was any.
#
# The library is read as a whole (straggle.hpp includes it all), and each header once more alone to see that it
# includes what it uses. The files of one program are read together: that saves reading the same headers twenty
# times, and means that names in their unnamed namespaces must differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/ensure-packages.sh
source cmake/ensure-packages.sh
ensure_packages build examples lint

logs=build/lint
rm -rf "$logs"
mkdir -p "$logs"
mapfile -t headers < <(find include -name '*.hpp' | sort)

# A line per job: name of its log, and the command. Slow ones come first.
jobs=()
job() { jobs+=("$1 $(printf '%q ' "${@:2}")"); }

# Files that only include others are suspicious, and only of headers we ask that they include what they use: for a
# program to be lifted, few lines count more.
not_here=-bugprone-suspicious-include,-misc-include-cleaner

# tidy NAME FILE FLAGS...
tidy() { job "$1" clang-tidy-19 --quiet "--checks=$not_here" "$2" -- -x c++ -std=c++20 -Iinclude "${@:3}"; }

can_include() { printf '#include <%s>\n' "$1" | g++ -E -x c++ "${@:2}" - >/dev/null 2>&1; }

library_and_examples() {
    local folder name source flags mpi=() count=8 part
    if command -v mpicxx >/dev/null; then
        read -ra mpi <<<"$(mpicxx --showme:compile 2>/dev/null || true)"
        mpi=("${mpi[@]/#-I/-isystem}" -DOMPI_SKIP_MPICXX)
    fi
    for folder in examples/*/ examples/programs/*/; do
        compgen -G "$folder*.cpp" >/dev/null || continue
        name=$(basename "$folder") flags=()
        case $name in
            mpi) flags=("${mpi[@]}") && can_include mpi.h "${flags[@]}" ;;
            xgboost) can_include xgboost/c_api.h ;;
        esac || {
            echo "left out: $folder (its library is not installed)"
            continue
        }
        for source in "$folder"*.cpp; do echo "#include \"$PWD/$source\""; done >"$logs/$name.cpp"
        tidy "$name" "$logs/$name.cpp" "-I$folder" "${flags[@]}"
    done
    tidy library include/straggle/straggle.hpp
    for source in examples/*.cpp; do
        tidy "$(basename "$source" .cpp)" "$source"
    done
    for ((part = 0; part < count; ++part)); do
        local some=()
        for ((i = part; i < ${#headers[@]}; i += count)); do some+=("${headers[i]}"); done
        job "includes-$part" clang-tidy-19 --quiet '--checks=-*,misc-include-cleaner' "${some[@]}" \
            -- -x c++ -std=c++20 -Iinclude
    done
}

tests() {
    local source
    while read -r source; do
        tidy "${source//\//-}" "$source" -Itests -Iexamples -I. '-DSTRAGGLE_SHARED_DIR=""'
    done < <(find tests -name '*.cpp' -not -path '*/compile_fail/*' -not -path '*/packaging/*' \
        -not -path '*/consumers/*' -not -path '*/fuzz/*' | sort)
}

# cppcheck 2.10 does not get through the library as one: it reads each file by itself, with the library's macros.
cppcheck_files() {
    job "cppcheck" cppcheck --std=c++20 --language=c++ --enable=warning,performance,portability,style --quiet \
        --error-exitcode=1 --suppressions-list=tests/cppcheck-suppressions.txt --include=include/straggle/base/config.hpp \
        -D__GNUC__=12 -D__SIZEOF_INT128__=16 -D__x86_64__=1 '--template={file}:{line}: error: {message} [{id}]' "$@"
}

case ${1:-} in
    "")
        library_and_examples
        mapfile -t sources < <(find examples -name '*.cpp' | sort)
        cppcheck_files "${headers[@]}" "${sources[@]}"
        ;;
    --tests) tests ;;
    *)
        echo "usage: tests/lint.sh [--tests]" >&2
        exit 2
        ;;
esac

# Each job leaves its log, and a file beside it if it failed.
# shellcheck disable=SC2317 # called by xargs
run() {
    local name=${1%% *} command=${1#* }
    if ! eval "nice -n 5 $command" >"$logs/$name.log" 2>&1; then
        touch "$logs/$name.failed"
    fi
}
export -f run
export logs
started=$SECONDS
# shellcheck disable=SC2016 # bash -c expands it
printf '%s\0' "${jobs[@]}" | xargs -0 -P "${STRAGGLE_LINT_JOBS:-$(nproc)}" -I{} bash -c 'run "$1"' - {}

failed=("$logs"/*.failed)
if [[ ! -e ${failed[0]} ]]; then
    echo "nothing found in ${#jobs[@]} runs, $((SECONDS - started)) s"
    exit 0
fi
cat "${failed[@]/%.failed/.log}" | sed "s#$PWD/##g; s#examples/programs/[a-z-]*/\.\./#examples/programs/#" |
    grep -E '^[^ ]+:[0-9]+(:[0-9]+)?: (error|warning): ' | sort -u
echo "${#failed[@]} of ${#jobs[@]} runs found something, $((SECONDS - started)) s; their logs are in $logs/"
exit 1
