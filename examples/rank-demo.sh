#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Ranks the nodes of a recorded cluster run, decides minute by minute which to avoid, and draws the report. Installs what
# is missing first. Works from any folder, and shares the build folder of the tests, so that nothing is built twice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh
ensure_packages build examples tests
cmake --workflow --preset rank-demo
