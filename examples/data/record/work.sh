#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# The task programs: each is one process tree that uses CPU time in proportion to SIZE and writes nothing.
#
# Needs: awk, coreutils, gzip; the input files made by make_inputs in record.sh, in the folder INPUT.
# Usage: INPUT=folder ./work.sh KIND SIZE
#   burn    SIZE steps of integer arithmetic, no input
#   sort    sorts the first SIZE bytes of a file of random numbers
#   gzip    compresses the first SIZE bytes of a text
#   words   counts the distinct words in the first SIZE bytes of a text
#   matrix  multiplies the rows in the first SIZE bytes of a matrix (40 columns) by a 40 x 40 matrix
set -euo pipefail
export LC_ALL=C
kind=$1
size=$2

case $kind in
  burn) awk -v n="$size" 'BEGIN { x = 1; for (i = 0; i < n; ++i) x = (x * 75 + 74) % 65537; if (x < 0) print x }' ;;
  sort) head -c "$size" "$INPUT/numbers.txt" | sort -n --parallel=1 --buffer-size=64M > /dev/null ;;
  gzip) head -c "$size" "$INPUT/text.txt" | gzip -6 > /dev/null ;;
  words)
    head -c "$size" "$INPUT/text.txt" |
      awk '{ for (i = 1; i <= NF; ++i) ++count[$i] } END { for (w in count) print count[w], w }' | sort -rn > /dev/null
    ;;
  matrix)
    head -c "$size" "$INPUT/matrix.txt" | awk -v n=40 '
      BEGIN { srand(1); for (i = 1; i <= n; ++i) for (j = 1; j <= n; ++j) b[i, j] = rand() }
      { for (j = 1; j <= n; ++j) { c = 0; for (i = 1; i <= n; ++i) c += $i * b[i, j]; row[j] = c } }
      END { if (row[1] < 0) print row[1] }'
    ;;
  *)
    echo "unknown kind: $kind" >&2
    exit 2
    ;;
esac
