#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The numeric rooms on other machines, under qemu: big-endian s390x, and aarch64 and riscv64, whose vectors differ.
#
#   tests/platforms.sh [ARCHITECTURE...]      s390x aarch64 riscv64
#   ROOMS="stats rank" tests/platforms.sh     some of: stats rank monitor predict learn
#   RUN="rank/p_cores" tests/platforms.sh     some test files only
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
else
    for room in ${ROOMS:-stats rank monitor predict learn}; do files+=("tests/$room"/*.cpp); done
fi

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
    # How long something takes says nothing here.
    timeout 600 "qemu-$architecture-static" "$build/tests" --minimal=true || failed[$architecture]=testing
    [[ ${failed[$architecture]:-} ]] || echo "$architecture: all passed"
done
for architecture in "${!failed[@]}"; do echo "$architecture: ${failed[$architecture]} failed"; done
((${#failed[@]} == 0))
