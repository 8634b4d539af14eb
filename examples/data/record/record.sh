#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Records a real task history on a private Slurm cluster of eight nodes on this machine (cluster-up.sh): overlapping
# array jobs of five kinds; two nodes are slow all the time (n2, n5), one in the middle third only (n6). Then compares
# what the tasks wrote with sacct, and takes the cluster down.
#
# Needs: as cluster-up.sh, and awk, gzip, coreutils; about 100 MB in the scratch folder; two cores.
# Usage: ./record.sh [OUT_DIR]     default: the current folder
#          THIRD_SECONDS=320       how long each third lasts (at least 60)
#          CANCELS_PER_THIRD=4     running tasks to cancel
#          SCRATCH=folder          default: a new folder from mktemp, removed at the end
#          SEED=1                  of the order of the kinds, and of the tasks to fail and to cancel
# Writes: OUT_DIR/slurm-8-nodes.csv, OUT_DIR/slurm-8-nodes.truth.csv
set -euo pipefail
out_dir=$(realpath "${1:-.}")
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source ./lib.sh

THIRD_SECONDS=${THIRD_SECONDS:-320}
CANCELS_PER_THIRD=${CANCELS_PER_THIRD:-4}
RANDOM=${SEED:-1}
export QUOTA_FAST=22 QUOTA_SLOW=8 SLOW_NODES="n2 n5"
changing_node=n6
if [ "$THIRD_SECONDS" -lt 60 ]; then
  echo "THIRD_SECONDS must be 60 or more" >&2
  exit 2
fi
if [ -n "${SCRATCH:-}" ]; then purge=; else purge=purge; SCRATCH=$(mktemp -d -t straggle-record.XXXXXX); fi
export SCRATCH SLURM_CONF=$SCRATCH/etc/slurm.conf
record_dir=$PWD

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo "${t%???}"; }

make_inputs() {
  mkdir -p "$SCRATCH/input" "$SCRATCH/out"
  awk 'BEGIN { srand(1); for (i = 0; i < 2500000; ++i) printf "%d\n", rand() * 1e9 }' > "$SCRATCH/input/numbers.txt"
  # Words by a rough power law, so that the text compresses and repeats somewhat like a real one.
  awk 'BEGIN {
    srand(2)
    for (i = 1; i < 4000; ++i) {
      w = ""
      for (k = 2 + rand() * 9; k > 0; --k) w = w sprintf("%c", 97 + rand() * 26)
      word[i] = w
    }
    for (i = 0; i < 5000000; ++i) printf "%s%s", word[int(exp(rand() * log(3999)))], i % 12 == 11 ? "\n" : " "
  }' > "$SCRATCH/input/text.txt"
  awk 'BEGIN {
    srand(3)
    for (i = 0; i < 40000; ++i) for (j = 1; j <= 40; ++j) printf "%d%s", rand() * 1000, j == 40 ? "\n" : " "
  }' > "$SCRATCH/input/matrix.txt"
}

# calibrate KIND TRIAL_SIZE CPU_MS FILE: the size that takes about CPU_MS of CPU time on this machine
calibrate() {
  local cpu_s size limit
  cpu_s=$(TIMEFORMAT='%U %S'; { time INPUT=$SCRATCH/input ./work.sh "$1" "$2"; } 2>&1 | awk '{ print $1 + $2 }')
  size=$(awk -v trial="$2" -v want="$3" -v got="$cpu_s" 'BEGIN { printf "%d", trial * want / (1000 * got) }')
  if [ -n "$4" ]; then
    limit=$(($(stat -c %s "$SCRATCH/input/$4") * 10 / 11))   # a task takes up to 110 %
    if [ "$size" -gt "$limit" ]; then size=$limit; fi
  fi
  echo "$size"
}

clean_up() {
  if [ -d "$SCRATCH/run" ]; then ./cluster-down.sh $purge; elif [ -n "$purge" ]; then rm -rf "$SCRATCH"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

echo "inputs and sizes ..."
make_inputs
declare -A size=(
  [burn]=$(calibrate burn 5000000 600 "")
  [sort]=$(calibrate sort 8000000 550 numbers.txt)
  [gzip]=$(calibrate gzip 8000000 600 text.txt)
  [words]=$(calibrate words 8000000 500 text.txt)
  [matrix]=$(calibrate matrix 1000000 550 matrix.txt)
)
kinds=(burn sort gzip words matrix)
for kind in "${kinds[@]}"; do echo "  $kind ${size[$kind]}"; done

echo "cluster ..."
./cluster-up.sh

# --- the recording
: > "$SCRATCH/out/records.csv"
declare -A since   # when the quota now in force began
begin=$(now_ms)
for i in 0 1 2 3 4 5 6 7; do since[n$i]=$begin; done
third_ms=$((THIRD_SECONDS * 1000))
cancel_every_ms=$((third_ms / CANCELS_PER_THIRD))
truth=$SCRATCH/out/truth.csv
: > "$truth"
phase=1 arrays=0 tasks=0 cancels=0 next_cancel=$((begin + cancel_every_ms / 2))
quota_now=$QUOTA_FAST

change_quota() {
  local t
  set_quota "$changing_node" "$1"
  t=$(now_ms)
  echo "$changing_node,${since[$changing_node]},$t,$quota_now" >> "$truth"
  since[$changing_node]=$t
  quota_now=$1
  echo "  $(((t - begin) / 1000)) s: $changing_node now $1 %"
}

submit_array() {
  local kind count broken=0 at_once i j
  # All kinds in turn, in a new random order each round.
  if [ $((arrays % ${#kinds[@]})) = 0 ]; then
    order=("${kinds[@]}")
    for ((i = ${#order[@]} - 1; i > 0; --i)); do
      j=$((RANDOM % (i + 1))) kind=${order[i]}
      order[i]=${order[j]} order[j]=$kind
    done
  fi
  kind=${order[arrays % ${#kinds[@]}]}
  count=$((24 + RANDOM % 25))
  at_once=$((3 + RANDOM % 3))   # a limit per array, so that two or three arrays always share the nodes
  if [ $((arrays % 4)) = 3 ]; then broken=$((1 + RANDOM % count)); fi
  sbatch --quiet --job-name="$kind" --array="1-$count%$at_once" --output="$SCRATCH/log/task.%A_%a.txt" \
    task.sh "$record_dir" "$SCRATCH" "$kind" "${size[$kind]}" "$broken" "$arrays"
  arrays=$((arrays + 1))
  tasks=$((tasks + count))
}

cancel_one() {
  local running
  # Not in its first second (its trap may not be set yet), and not shortly before its end.
  mapfile -t running < <(squeue -h -r -t RUNNING -o '%M %i' | awk '$1 ~ /^0:0[123]$/ { print $2 }')
  if [ "${#running[@]}" = 0 ]; then return 1; fi
  scancel "${running[RANDOM % ${#running[@]}]}"
  cancels=$((cancels + 1))
}

queue_empty() { local queue; queue=$(squeue -h) && [ -z "$queue" ]; }

echo "recording for $((3 * THIRD_SECONDS)) s ..."
last_submit=$((begin + 3 * third_ms - 40000))   # the arrays waiting then fill the rest of the last third
while now=$(now_ms); [ "$now" -lt "$last_submit" ]; do
  if [ $phase = 1 ] && [ "$now" -ge $((begin + third_ms)) ]; then
    change_quota "$QUOTA_SLOW"
    phase=2
  elif [ $phase = 2 ] && [ "$now" -ge $((begin + 2 * third_ms)) ]; then
    change_quota "$QUOTA_FAST"
    phase=3
  fi
  # Keep three arrays waiting for nodes, so that no node is idle and kinds overlap.
  waiting=$(squeue -h -r -t PENDING -o %F | sort -u | wc -l)
  if [ "$waiting" -lt 3 ]; then submit_array; fi
  if [ "$now" -ge "$next_cancel" ] && cancel_one; then next_cancel=$((next_cancel + cancel_every_ms)); fi
  sleep 0.5
done
echo "submitted $arrays arrays, $tasks tasks, canceled $cancels; waiting for the last ..."
# Lift the limit, so that the last arrays use all nodes.
for array in $(squeue -h -r -t PENDING -o %F | sort -u); do
  scontrol update "JobId=$array" ArrayTaskThrottle=0 > /dev/null 2>&1 || true   # it complains about tasks that have ended
done
wait_for 600 queue_empty

end=$(now_ms)
for i in 0 1 2 3 4 5 6 7; do
  quota=$QUOTA_FAST
  case " $SLOW_NODES " in *" n$i "*) quota=$QUOTA_SLOW ;; esac
  echo "n$i,${since[n$i]},$end,$quota" >> "$truth"
done
{
  echo node,from_ms,to_ms,quota_percent
  sort -t , -k 1,1 -k 2,2n "$truth"
} > "$out_dir/slurm-8-nodes.truth.csv"
{
  echo job,task,attempt,node,start_ms,end_ms,status,speculative,input_bytes
  sort -t , -k 6,6n -k 5,5n "$SCRATCH/out/records.csv"
} > "$out_dir/slurm-8-nodes.csv"

# --- the cross-check: job, node and state of every task, as written by the task and as reported by sacct
sacct_tasks() {
  sacct -X -n -P --starttime=now-1day --format=JobID,NodeList,State |
    awk -F '|' '{ split($1, id, "_"); split($3, s, " "); print id[1], id[2], $2, s[1] }'
}
finished() { [ "$(sacct_tasks | grep -c -E ' (COMPLETED|FAILED|CANCELLED)$')" = "$tasks" ]; }
wait_for 60 finished || true   # sacct lags behind squeue by seconds
sacct_tasks | sort > "$SCRATCH/out/sacct.txt"
awk -F , 'BEGIN { name["success"] = "COMPLETED"; name["failed"] = "FAILED"; name["killed"] = "CANCELLED" }
  { split($1, job, "/"); print job[1], $2, $4, name[$7] }' "$SCRATCH/out/records.csv" | sort > "$SCRATCH/out/own.txt"
echo "tasks: submitted $tasks, sacct $(wc -l < "$SCRATCH/out/sacct.txt"), records $(wc -l < "$SCRATCH/out/own.txt")"
echo "tasks that differ between sacct (<) and the records (>) in job, index, node or state:"
diff "$SCRATCH/out/sacct.txt" "$SCRATCH/out/own.txt" || true
echo "done: $out_dir/slurm-8-nodes.csv"
