#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The numeric rooms on other machines, under qemu: big-endian s390x, and aarch64 and riscv64, whose vectors differ.
#
#   tests/platforms.sh [ARCHITECTURE...]      s390x aarch64 riscv64; a selection of tests that takes minutes
#   ROOMS="stats rank" tests/platforms.sh     all tests of some of: stats rank predict learn
#   RUN="rank/p_cores" tests/platforms.sh     some test files only
#
# And integers and stored bytes are the same everywhere: tests/platforms/bits.cpp prints hashes of them, which are
# compared with those of this machine.
#
# Sets itself up on Debian as root. The cross compilers displace g++-multilib (not g++-12-multilib, which compiles for
# 32 bits all the same), so that this is no part of .ci/run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
architectures=("$@")
((${#architectures[@]})) || architectures=(s390x aarch64 riscv64)
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
declare -A failed=()

packages=()
for architecture in "${architectures[@]}"; do
    compiler=$(compgen -c "$architecture-linux-gnu-g++" | head -n 1)
    [[ $compiler ]] || packages+=("g++-$architecture-linux-gnu")
    command -v "qemu-$architecture-static" >/dev/null || packages+=(qemu-user-static)
done
if ((${#packages[@]})); then
    echo "installing: ${packages[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}" >/dev/null ||
        { echo "install them, for example with: sudo apt-get install ${packages[*]}" >&2; exit 1; }
fi

files=()
if [[ ${RUN:-} ]]; then
    for name in $RUN; do files+=("tests/$name.cpp"); done
elif [[ ${ROOMS:-} ]]; then
    for room in $ROOMS; do files+=("tests/$room"/*.cpp); done
else
    # Where bytes, wide integers and vectors are, without what takes long under an emulator.
    for name in stats/tick_moments stats/wide_integer rank/p_cores property/rank_window \
        rank/monitor_counts rank/monitor_options predict/profile_bytes learn/kmeans learn/tree_node; do
        [[ -e tests/$name.cpp ]] && files+=("tests/$name.cpp")
    done
fi

mkdir -p build/platforms
"${CXX:-g++}" -std=c++20 -O1 -Iinclude tests/platforms/bits.cpp -o build/platforms/bits || exit 1
build/platforms/bits >build/platforms/bits.txt || exit 1

# What has to be seen on a little-endian machine, too, is in the tests: golden files hold the same bits for all.
for architecture in "${architectures[@]}"; do
    compiler=$(compgen -c "$architecture-linux-gnu-g++" | head -n 1)
    build=build/platforms/$architecture
    mkdir -p "$build"
    printf '%s\n' tests/main.cpp tests/support/allocations.cpp "${files[@]}" |
        xargs -P "$jobs" -I{} bash -c '
            object=$3/$(tr / _ <<<"$1").o
            "$2" -std=c++20 -O1 -Iinclude -Itests -DSTRAGGLE_SHARED_DIR="\"\"" -c "$1" -o "$object" || exit 255' \
            compile {} "$compiler" "$build" || { failed[$architecture]=compiling; continue; }
    objects=()
    for file in tests/main.cpp tests/support/allocations.cpp "${files[@]}"; do objects+=("$build/${file//\//_}.o"); done
    "$compiler" -static -pthread "${objects[@]}" -o "$build/tests" || { failed[$architecture]=linking; continue; }
    if "$compiler" -std=c++20 -O1 -Iinclude -static tests/platforms/bits.cpp -o "$build/bits" &&
        "qemu-$architecture-static" "$build/bits" | diff build/platforms/bits.txt - ; then
        echo "$architecture: integers and bytes are those of this machine"
    else
        failed[$architecture]="the same bits"
        continue
    fi
    # How long something takes says nothing here; the fuzzing of stored bytes takes longest, and is done natively.
    timeout 600 "qemu-$architecture-static" "$build/tests" --minimal=true -tce="*what the fuzzer does*" || failed[$architecture]=testing
    [[ ${failed[$architecture]:-} ]] || echo "$architecture: all passed"
done
for architecture in "${!failed[@]}"; do echo "$architecture: ${failed[$architecture]} failed"; done
((${#failed[@]} == 0))
