# SPDX-License-Identifier: BSL-1.0
# shellcheck shell=bash
# Shared by cluster-up.sh, cluster-down.sh and record.sh: the CPU quota of a node, and processes known by pid file.

# A node is a cgroup with a CPU quota. Debian 12 boots with cgroup v2; older hosts and some containers have v1.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  CGROUP_VERSION=2
  CGROUP=/sys/fs/cgroup/straggle
else
  CGROUP_VERSION=1
  CGROUP=/sys/fs/cgroup/cpu/straggle
fi
PERIOD_US=50000   # short, so that a task of a second or two sees a smooth rate rather than a few long stalls

cgroup_create_parent() {
  mkdir "$CGROUP"   # no -p: an existing group belongs to another run
  # A very large weight, so that other work on the machine barely disturbs the recording.
  if [ "$CGROUP_VERSION" = 2 ]; then
    echo +cpu > /sys/fs/cgroup/cgroup.subtree_control
    echo +cpu > "$CGROUP/cgroup.subtree_control"
    echo 10000 > "$CGROUP/cpu.weight"
  else
    echo 200000 > "$CGROUP/cpu.shares"
  fi
}

# set_quota NODE PERCENT: percent of one core, takes effect at once
set_quota() {
  local quota_us=$(($2 * PERIOD_US / 100))
  mkdir -p "$CGROUP/$1"
  if [ "$CGROUP_VERSION" = 2 ]; then
    echo "$quota_us $PERIOD_US" > "$CGROUP/$1/cpu.max"
  else
    echo "$PERIOD_US" > "$CGROUP/$1/cpu.cfs_period_us"
    echo "$quota_us" > "$CGROUP/$1/cpu.cfs_quota_us"
  fi
}

# alive PID NAME: it runs, is not a zombie, and is still the program we started (the pid has not been reused)
alive() {
  local comm state
  read -r comm < "/proc/$1/comm" || return 1
  state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat") || return 1
  [ "$comm" = "$2" ] && [ "$state" != Z ]
} 2> /dev/null

# stop_daemon PIDFILE NAME
stop_daemon() {
  local pid
  [ -s "$1" ] || return 0
  pid=$(< "$1")
  if alive "$pid" "$2"; then
    kill "$pid"
    for _ in $(seq 200); do
      alive "$pid" "$2" || break
      sleep 0.05
    done
    if alive "$pid" "$2"; then kill -KILL "$pid"; fi
  fi
  rm -f "$1"
}

# wait_for SECONDS COMMAND...: waits until the command succeeds
wait_for() {
  local limit=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    if [ "$SECONDS" -ge "$limit" ]; then
      echo "gave up waiting for: $*" >&2
      return 1
    fi
    sleep 0.2
  done
}
