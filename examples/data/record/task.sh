#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Run by a Slurm array task: runs one work.sh and writes one line about it, in milliseconds (sacct has whole seconds only).
#
# Needs: bash 5 (EPOCHREALTIME); the environment of a Slurm array task.
# Usage: sbatch --array=... task.sh RECORD_DIR SCRATCH KIND BASE_SIZE BROKEN_INDEX NUMBER
#   BASE_SIZE     input bytes (for burn: steps), which each task multiplies by 0.90 .. 1.10
#   BROKEN_INDEX  the task with this index finds no input and fails (0: none)
#   NUMBER        the array's place in the recording, seeds the sizes
set -uo pipefail   # no -e: a failed task program is a result to record
record_dir=$1 scratch=$2 kind=$3 base=$4 broken=$5 number=$6
index=$SLURM_ARRAY_TASK_ID
export INPUT=$scratch/input

# Not seeded with the job id, which depends on timing. Similar seeds have similar first draws: take the fifth.
RANDOM=$((number * 64 + index))
for _ in 1 2 3 4 5; do draw=$RANDOM; done
size=$((base * (900 + draw % 201) / 1000))
if [ "$kind" = burn ]; then input_bytes=; else input_bytes=$size; fi
if [ "$index" = "$broken" ]; then
  INPUT=$scratch/missing
  input_bytes=
fi

# Without the trap a canceled task would leave no record. Unlike a foreground command, wait returns at the signal.
cancelled=
child=
trap 'cancelled=1; [ -z "$child" ] || kill -TERM "$child" 2> /dev/null' TERM
start=$EPOCHREALTIME
"$record_dir/work.sh" "$kind" "$size" &
child=$!
wait "$child"
code=$?
end=$EPOCHREALTIME

if [ -n "$cancelled" ] || [ "$code" = 143 ]; then   # 143: the signal reached the task program first
  status=killed
elif [ "$code" = 0 ]; then
  status=success
else
  status=failed
fi
start_us=${start/[.,]/}   # the decimal sign follows the locale
end_us=${end/[.,]/}
# One short append per task, so that lines of tasks that end together do not mix.
printf '%s/%s,%s,%s,%s,%s,%s,%s,0,%s\n' "$SLURM_ARRAY_JOB_ID" "$kind" "$index" "${SLURM_RESTART_COUNT:-0}" \
  "$SLURMD_NODENAME" "${start_us%???}" "${end_us%???}" "$status" "$input_bytes" >> "$scratch/out/records.csv"
exit "$code"
