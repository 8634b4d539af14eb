#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Checks an adapter against the real engine, on the loopback interface, within three minutes.
#   check.sh haproxy|dask|slurm|work_queue   status 0: it works; 1: it does not; 77: the engine is not installed
#   check.sh ENGINE --installed              only checks whether it is installed; Slurm and Work Queue also need root
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engine=${1:?haproxy, dask, slurm or work_queue}
export PATH=$PATH:/usr/sbin
is_there() {
    case $engine in
        haproxy) command -v haproxy ;;
        dask) /usr/bin/python3 -c 'import distributed' ;;
        slurm) [[ $(id -u) == 0 ]] && for p in slurmctld slurmd slurmdbd munged mariadbd; do command -v $p || return; done ;;
        work_queue) [[ $(id -u) == 0 && -f /usr/include/cctools/work_queue.h ]] && command -v work_queue_worker ;;
    esac >/dev/null 2>&1
}
if ! is_there; then
    echo "skipped: $engine is not installed, or not for this user"
    exit 77
fi
[[ ${2:-} != --installed ]] || exit 0

if [[ $engine == work_queue ]]; then # its manager links to the library
    cmake --preset dev >/dev/null && cmake --build --preset dev --target work_queue_manager
    exec timeout 240 /usr/bin/python3 -B examples/c_shim/work_queue_measure.py --out build/ci/engine-work_queue --check
fi
watch=build/dev/examples/programs/straggle-watch/straggle-watch
watch=${STRAGGLE_WATCH_PROGRAM:-$PWD/$watch}
if [[ ! -x $watch ]]; then
    cmake --preset dev >/dev/null && cmake --build --preset dev --target straggle-watch
fi
out=build/ci/engine-$engine
mkdir -p "$out"
case $engine in
    haproxy | dask) options="--windows-per-error 100000 --longest-exclusion 20 --probes-with-tasks" ;;
    slurm) options="--share-of-slots 0.3 --left-alone 0" ;;
esac
measure=(timeout 240 /usr/bin/python3 -B "examples/engines/$engine/measure.py" --watch "$watch $options" --out "$out")
if [[ $engine == slurm ]]; then "${measure[@]}" --check-copies; fi
exec "${measure[@]}" --check
