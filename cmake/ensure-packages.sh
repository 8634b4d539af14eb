# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
# shellcheck shell=bash

# Sourced by the scripts that promise to do their own set-up. `ensure_packages group...` looks for what the groups
# need (milliseconds when all is there), installs what is missing where that is possible - Debian or Ubuntu, as root
# or with a sudo that asks nothing - and otherwise says exactly what to install.

# A line per need: group, Debian package, how to see that it is there.
straggle_needs='
build    cmake               command cmake
build    ninja-build         command ninja
build    g++                 command g++
examples nlohmann-json3-dev  header  nlohmann/json.hpp
examples libcli11-dev        header  CLI/CLI.hpp
examples libsimdjson-dev     header  simdjson.h
examples libzstd-dev         header  zstd.h
examples zlib1g-dev          header  zlib.h
examples libtbb-dev          file    /usr/include/oneapi/tbb/version.h
examples libjs-d3            file    /usr/share/javascript/d3/d3.min.js
tests    doctest-dev         header  doctest/doctest.h
tests    python3             command python3
tests    python3-jsonschema  file    /usr/lib/python3/dist-packages/jsonschema/__init__.py
tests    pkgconf             command pkg-config
bench    libbenchmark-dev    header  benchmark/benchmark.h
bench    libboost-math-dev   header  boost/math/distributions/students_t.hpp
bench    libboost-graph-dev  header  boost/graph/adjacency_list.hpp
bench    libgsl-dev          header  gsl/gsl_cdf.h
bench    libnanoflann-dev    header  nanoflann.hpp
bench    libabsl-dev         header  absl/container/flat_hash_map.h
bench    robin-map-dev       header  tsl/robin_map.h
bench    valgrind            command valgrind
docs     doxygen             command doxygen
docs     python3             command python3
docs     cmark-gfm           command cmark-gfm
papers   libsimgrid-dev      header  simgrid/s4u.hpp
papers   pkgconf             command pkg-config
papers   python3             command python3
learners python3-sklearn     file    /usr/lib/python3/dist-packages/sklearn/__init__.py
pictures python3-matplotlib  file    /usr/lib/python3/dist-packages/matplotlib/__init__.py
pictures zstd                command zstdcat
ci       clang-19            command clang++-19
ci       cmark-gfm           command cmark-gfm
ci       clang-format-19     command clang-format-19
ci       libclang-rt-19-dev  glob    /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan*
ci       libc++-19-dev       file    /usr/lib/llvm-19/include/c++/v1/version
ci       libc++abi-19-dev    glob    /usr/lib/llvm-19/lib/libc++abi.*
ci       g++-multilib        glob    /usr/lib/gcc/*/*/32/libstdc++.a
ci       g++-11              command g++-11
ci       g++-mingw-w64-x86-64-posix command x86_64-w64-mingw32-g++-posix
ci       lintian             command lintian
ci       libopenmpi-dev      command mpicxx
ci       openmpi-bin         command mpirun
engines  haproxy             command haproxy
engines  python3-distributed file    /usr/lib/python3/dist-packages/distributed/__init__.py
engines  slurmctld           file    /usr/sbin/slurmctld
engines  slurmd              file    /usr/sbin/slurmd
engines  slurmdbd            file    /usr/sbin/slurmdbd
engines  slurm-client        command scontrol
engines  slurm-wlm-mysql-plugin glob /usr/lib/*/slurm-wlm/accounting_storage_mysql.so
engines  slurm-wlm-basic-plugins glob /usr/lib/*/slurm-wlm/select_cons_tres.so
engines  munge               file    /usr/sbin/munged
engines  mariadb-server      file    /usr/sbin/mariadbd
engines  coop-computing-tools command work_queue_worker
engines  coop-computing-tools-dev file /usr/include/cctools/work_queue.h
coverage clang-19            command clang++-19
coverage llvm-19             command llvm-cov-19
coverage libclang-rt-19-dev  glob    /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.profile*
lint     clang-tidy-19       command clang-tidy-19
lint     cppcheck            command cppcheck
lint     python3             command python3
'

# The packages of the groups that are not there.
missing_packages() {
    local group package kind thing
    while read -r group package kind thing; do
        [[ " $* " == *" $group "* ]] || continue
        case $kind in
            command) command -v "$thing" ;;
            header) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$thing" | g++ -E -x c++ - ;;
            file) test -e "$thing" ;;
            glob) compgen -G "$thing" ;;
        esac >/dev/null 2>&1 || echo "$package"
    done <<<"$straggle_needs"
}

ensure_packages() {
    local missing as_root=() still
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]} > 0)); then
        if [[ $(id -u) != 0 ]]; then
            as_root=(sudo -n)
        fi
        if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
            echo "installing: ${missing[*]}"
            # The index may be old or absent, so a first failure is not the end.
            export DEBIAN_FRONTEND=noninteractive
            local install=("${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}")
            "${install[@]}" >/dev/null 2>&1 </dev/null ||
                { "${as_root[@]}" apt-get update -q </dev/null && "${install[@]}" </dev/null; } || true
        fi
        # One is enough to fail, but all are named.
        mapfile -t still < <(missing_packages "$@")
        if ((${#still[@]} > 0)); then
            echo "missing (names of the Debian packages): ${still[*]}" >&2
            echo "install them, for example with: sudo apt-get install ${still[*]}" >&2
            return 1
        fi
    fi
    # `cmake --workflow` is that young.
    local have
    have=$(cmake --version | sed -n '1s/[^0-9]*//p')
    if [[ $(printf '%s\n' 3.25 "$have" | sort -V | head -n 1) != 3.25 ]]; then
        echo "cmake 3.25 or newer is needed, $(command -v cmake) is $have" >&2
        return 1
    fi
}
