#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Stops what cluster-up.sh started, identified by its pid files only, and removes its cgroups.
#
# Needs: root.
# Usage: SCRATCH=... ./cluster-down.sh          keeps the scratch folder (logs)
#        SCRATCH=... ./cluster-down.sh purge    removes it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source ./lib.sh

: "${SCRATCH:?set SCRATCH to the folder given to cluster-up.sh}"
export SLURM_CONF=$SCRATCH/etc/slurm.conf
if [ ! -d "$SCRATCH/run" ]; then
  echo "$SCRATCH is not a folder of cluster-up.sh" >&2
  exit 1
fi

if [ -s "$SCRATCH/run/slurmctld.pid" ] && alive "$(< "$SCRATCH/run/slurmctld.pid")" slurmctld; then
  timeout 10 scancel --quiet --user=root || true
fi
# Clients before servers: a daemon whose peer is gone waits for it before it exits.
for pid_file in "$SCRATCH"/run/slurmd.*.pid; do stop_daemon "$pid_file" slurmd; done
stop_daemon "$SCRATCH/run/slurmctld.pid" slurmctld
stop_daemon "$SCRATCH/run/slurmdbd.pid" slurmdbd
stop_daemon "$SCRATCH/run/mariadbd.pid" mariadbd
stop_daemon "$SCRATCH/run/munged.pid" munged

# Only slurmds of this cluster ever entered these cgroups, so any process left inside is theirs (a task that did not end).
for dir in "$CGROUP"/n*/; do
  [ -d "$dir" ] || continue
  while read -r pid; do kill -KILL "$pid" 2> /dev/null || true; done < "$dir/cgroup.procs"
  wait_for 10 rmdir "$dir"
done
if [ -d "$CGROUP" ]; then rmdir "$CGROUP"; fi

if [ "${1:-}" = purge ]; then rm -rf "$SCRATCH"; fi
