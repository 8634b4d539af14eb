#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Starts a private Slurm cluster of eight nodes on this machine: each node is a slurmd in a cgroup with a CPU quota.
# Everything listens on the loopback interface only and is kept in one scratch folder.
#
# Needs: Debian 12, root, the cpu cgroup controller, and
#          apt-get install --no-install-recommends slurmctld slurmd slurm-client slurmdbd \
#            slurm-wlm-mysql-plugin munge mariadb-server
#        Stop the system's own services of these packages if apt started them (systemctl stop slurmd ...).
# The cluster itself is that of examples/engines/slurm/cluster.sh.
# Usage: SCRATCH=$(mktemp -d) PORT=18000 ./cluster-up.sh
#        Prints the SLURM_CONF to export. Undone by cluster-down.sh with the same SCRATCH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source ./lib.sh

: "${SCRATCH:?set SCRATCH to a new folder, e.g. SCRATCH=\$(mktemp -d)}"
PORT=${PORT:-18000}             # uses PORT .. PORT+7 and PORT+80 .. PORT+90
QUOTA_FAST=${QUOTA_FAST:-22}    # percent of one core; 6 * 22 + 2 * 8 = 148 leaves room on a machine with two cores
QUOTA_SLOW=${QUOTA_SLOW:-8}
SLOW_NODES=${SLOW_NODES:-n2 n5}

cgroup_create_parent
for i in 0 1 2 3 4 5 6 7; do
  case " $SLOW_NODES " in
    *" n$i "*) set_quota "n$i" "$QUOTA_SLOW" ;;
    *) set_quota "n$i" "$QUOTA_FAST" ;;
  esac
done
START_SLURMD=$PWD/slurmd-in-cgroup.sh ../../engines/slurm/cluster.sh up "$SCRATCH" "$PORT" 8
