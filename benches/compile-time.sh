#!/usr/bin/env bash
# Compile time of paragon-cc against cc at -O2, summed over the C files of each project in a folder (as for
# scripts/functions-lowered), one file after the other. Prints a table with the ratio; only the ratio means something.
set -eu -o pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "${1:?usage: benches/compile-time.sh FOLDER}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
seconds() {
  local compiler=$1 start
  shift
  start=$(date +%s%N)
  for file in $files; do "$compiler" -O2 -w "$@" -c "$file" -o "$out/o.o"; done
  echo $(($(date +%s%N) - start))
}
row() {
  local name=$1 theirs ours
  shift
  [ -d "$name" ] || return 0
  theirs=$(seconds cc "$@")
  ours=$(seconds "$root/target/release/paragon-cc" "$@")
  awk -v n="$name" -v f="$(echo $files | wc -w)" -v a="$theirs" -v b="$ours" \
    'BEGIN { printf "| %s | %d | %.2f | %.2f | %.2f |\n", n, f, a / 1e9, b / 1e9, b / a }'
}
echo "| project | files | cc s | paragon-cc s | ratio |"
echo "|---|---|---|---|---|"
files=$(ls zlib/*.c 2>/dev/null || true); row zlib -DHAVE_UNISTD_H
files=$(ls lua/*.c 2>/dev/null | grep -v onelua || true); row lua -DLUA_USE_LINUX
files=$(ls lz4/lib/*.c 2>/dev/null || true); row lz4
files=$(ls cJSON/cJSON*.c 2>/dev/null || true); row cJSON
files=$(ls libpng/png*.c 2>/dev/null || true); row libpng -Izlib
files=$(find zstd/lib -name '*.c' 2>/dev/null || true); row zstd -DZSTD_MULTITHREAD -Izstd/lib -Izstd/lib/common
files=$(ls sqlite/sqlite3.c 2>/dev/null || true); row sqlite
