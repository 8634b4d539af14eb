#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# All headers, and the programs, through compilers and warnings that the builds do not have: what a user with stricter
# flags, an older compiler or another platform meets first. Nothing is linked; three minutes. Compilers that are not there
# are skipped.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The faces of the rooms, and the papers, which have none.
(cd include && printf '#include <%s>\n' straggle/*.hpp straggle/papers/*.hpp) >"$work/all.cpp"
{ echo '#include <windows.h>'; cat "$work/all.cpp"; } >"$work/windows.cpp"
all="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wdouble-promotion"
failed=0

# check NAME SOURCES COMPILER [FLAG...]: a source, or a file that lists some, called *.list
check() {
    local name=$1 sources=$2 compiler=$3
    shift 3
    if ! command -v "$compiler" >/dev/null || ! echo '#include <string>' | "$compiler" "$@" -x c++ -fsyntax-only - 2>/dev/null; then
        echo "$name: skipped: no $compiler that can do that"
        return
    fi
    # shellcheck disable=SC2086
    { if [[ $sources == *.list ]]; then cat "$sources"; else echo "$sources"; fi; } |
        xargs -P "$(nproc)" -n 1 "$compiler" -std=c++20 -fsyntax-only -Iinclude $all "$@" 2>&1 |
        grep -E '(error|warning):' | sort -u >"$work/complaints"
    if [[ -s $work/complaints ]]; then
        echo "$name: $(wc -l <"$work/complaints") complaints"
        head -n 30 "$work/complaints"
        failed=1
    else
        echo "$name: clean"
    fi
}

check "useless casts" "$work/all.cpp" g++ -Wuseless-cast
check "32 bits" "$work/all.cpp" g++ -m32
check "GCC 11" "$work/all.cpp" g++-11
check "commas and documentation" "$work/all.cpp" clang++-19 -Wcomma -Wdocumentation
# As a compiler sees it that has none of the extensions we use where they are there.
check "no extensions" "$work/all.cpp" clang++-19 -Wgnu -DSTRAGGLE_NO_INT128 -DSTRAGGLE_NO_VECTOR_TYPES -DSTRAGGLE_NO_PREFETCH
# Clang bounds the steps of what is computed at compile time, and checks in the containers add to them. The files of a
# program are read together, where their names hide each other's.
for folder in examples/programs/*/; do
    printf "#include \"$PWD/%s\"\n" "$folder"*.cpp >"$work/$(basename "$folder").cpp"
done
ls "$work"/straggle-*.cpp "$work/readers.cpp" "$work/common.cpp" >"$work/programs.list"
check "programs with clang" "$work/programs.list" clang++-19 -D_GLIBCXX_ASSERTIONS -Wno-shadow -Iexamples/programs -Iexamples/programs/readers
# Its macros are min, max, near, far and small.
check "MinGW behind windows.h" "$work/windows.cpp" x86_64-w64-mingw32-g++-posix
exit $failed
