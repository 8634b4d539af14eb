#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# The laboratory: runs policies on simulated clusters that obey them, and reports in docs/reference/effectiveness.md
# which of them shorten jobs. Raw results stay in build/effectiveness/ and are reused.
#
#   bench/effectiveness.sh                12 seeds of all scenarios: an hour on two cores
#   bench/effectiveness.sh --smoke        the checks, and a few scenarios: a minute; writes no docs
#   bench/effectiveness.sh --full         adds seeds until each comparison is decided, at most 400: a night
#   bench/effectiveness.sh --drawn 80     80 random scenarios, 3 seeds each: a table for the page; with --tuning 3, other
#                                         scenarios, which may be used for tuning; writes no docs
#   bench/effectiveness.sh --gangs        jobs whose ranks wait for each other: the table of docs/guide/gangs.md, two minutes
#   bench/effectiveness.sh --simgrid      one cluster in both simulators, ours and that of bench/papers, a minute
#   ... --policies late,library --scenarios 'quiet*,*-80'   only these; writes no docs (--list: all of them)
#   ... --tuning 8                        8 tuning seeds, for choosing defaults; writes no docs
#   ... --fresh                           forgets earlier results
#   ... --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh

mode=report seeds=(--reporting 12) chosen=() fresh=0 drawn=0
while (($# > 0)); do
    case $1 in
        --smoke) mode=smoke ;;
        --gangs) mode=gangs ;;
        --simgrid) mode=simgrid ;;
        --full) seeds=(--reporting 12 --until-sure 400) ;;
        --policies | --scenarios | --workers)
            [[ $1 == --workers ]] || mode=look
            chosen+=("$1" "${2:?$1 of what?}")
            shift
            ;;
        --tuning)
            mode=look seeds=(--tuning "${2:?how many seeds?}")
            shift
            ;;
        --drawn)
            drawn=${2:?how many?}
            shift
            ;;
        --list) mode=list ;;
        --fresh) fresh=1 ;;
        *)
            sed -n '5,19s/^# \{0,1\}//p' "$0" >&2
            [[ $1 == --help ]] && exit 0
            exit 2
            ;;
    esac
    shift
done

ensure_packages build tests
here=bench/effectiveness out=build/effectiveness
configure=(cmake --preset effectiveness)
if [[ $mode == simgrid ]]; then
    ensure_packages papers
    configure+=(-DSTRAGGLE_BUILD_PAPERS=ON)
fi
"${configure[@]}" >/dev/null
gangs() {
    "$out/$here/gangs" "$here/scenarios/gangs.csv" reporting >"$out/gangs.md"
    python3 -B bench/fill_tables.py docs/guide/gangs.md "$out"
    echo docs/guide/gangs.md
}
if [[ $mode == gangs ]]; then
    cmake --build --preset effectiveness --target gangs
    gangs
    exit
fi
cmake --build --preset effectiveness
lab=("$out/$here/effectiveness" --table "$here/scenarios/scenarios.csv"
    --histories "${STRAGGLE_SHARED_DIR:-../shared}/data")

if ((drawn > 0)) && [[ $mode == look ]]; then
    exec "${lab[@]}" --drawn "$drawn" "${seeds[@]}" --policies library "${chosen[@]}"
fi
if ((drawn > 0)); then # from unseen seeds, as the page says; those up to 23001 and 25001 are used up
    "${lab[@]}" --drawn "$drawn" --draw-seed 24001 --list >"$out/drawn.txt"
    exec "${lab[@]}" --drawn "$drawn" --draw-seed 24001 --reporting 3 --policies library --out "$out/drawn.csv"
fi
case $mode in
    list) exec "${lab[@]}" --list ;;
    look) exec "${lab[@]}" "${seeds[@]}" "${chosen[@]}" ;;
    simgrid) exec "$out/$here/effectiveness_papers" ;;
    smoke)
        "$out/$here/effectiveness_checks"
        exec "${lab[@]}" --tuning 1 "${chosen[@]}" \
            --scenarios 'quiet-80,generations-80,few-slow-80,hung-60,hole-60,pareto-size-60'
        ;;
esac
((fresh == 0)) || rm -f "$out/results.csv"
"${lab[@]}" "${seeds[@]}" "${chosen[@]}" --out "$out/results.csv"
told=()
[[ ! -e $out/drawn.csv ]] || told=("$out/drawn.csv" "$out/drawn.txt")
python3 -B "$here/report/report.py" "$out/results.csv" "$here/scenarios/scenarios.csv" docs/reference "${told[@]}"
echo docs/reference/effectiveness.md
gangs
