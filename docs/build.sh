#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# Builds the guide and the reference as a site, build/site/index.html, and follows all its links; installs what is
# missing first. Works from any folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/ensure-packages.sh
ensure_packages build docs

site=build/site work=build/site-work
rm -rf "$site" "$work"
mkdir -p "$site" "$work"
# Doxygen looks for comments of everything but concepts and enumerators.
python3 -B tests/hygiene/doc_comments.py
python3 -B docs/site/prepare.py "$work/input"
version=$(sed -n 's/^#define STRAGGLE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/straggle/version.hpp | paste -sd .)
{
    cat docs/site/Doxyfile
    echo "PROJECT_NUMBER = $version"
} | doxygen -
# All tables and pictures of the papers' experiments, from the results that were published.
cp docs/notes/results/*.csv "$site/"
python3 -B bench/papers/report/report.py docs/notes/results "$site/experiments-report.html"
python3 -B docs/site/finish.py "$site" "$work/names.xml"
echo "The site: $PWD/$site/index.html"
