#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Starts the slurmd of a node in its cgroup: this script moves itself there first, so slurmd and all its tasks follow.
#
# Usage: slurmd-in-cgroup.sh -N NODE
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
echo "$BASHPID" > "$CGROUP/$2/cgroup.procs"
exec slurmd "$@"
