#!/usr/bin/env bash
# Random programs on a machine with an NVIDIA GPU that may have no Rust: builds each by cc and by paragon-cc there, runs it with every
# log method, and compares what it prints, until SECONDS_LEFT (default 400) are over or all are done. Where many machines or days share
# the work, FIRST says which program of the list to begin with; the last line says where to go on.
#
#   benches/random.sh sources N     elsewhere, after `make all`: N programs, paragon-cc and the runtime into build/random.tar.xz
#   benches/random.sh               on the GPU machine
#
# With OUT set, leaves the programs that differed, and random.txt with a line for each, there.
set -u -o pipefail
cd "$(dirname "$0")/.."
work=build/random
if [ "${1:-}" = sources ]; then
  rm -rf $work
  mkdir -p $work/sources
  PARAGON_SOURCES=$PWD/$work/sources PARAGON_RANDOM=$2 cargo test --release --quiet --test random sources >/dev/null || exit
  cp target/release/paragon-cc target/release/libparagon_rt.so $work/
  strip $work/paragon-cc
  strip --strip-debug $work/libparagon_rt.so
  tar -C build -cJf build/random.tar.xz random && rm -rf $work && ls -l build/random.tar.xz
  exit
fi
[ -d $work ] || tar -C build -xJf build/random.tar.xz
work=$PWD/$work out=${OUT:-$PWD/build/random-results}
mkdir -p "$out"
export work out
export PARAGON_RT=$work/libparagon_rt.so PARAGON_DEVICE=cuda PARAGON_RACE=device PARAGON_MONITOR=off XDG_CACHE_HOME=$work/cache
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda/targets/x86_64-linux/lib; do
  [ -e "$folder/libnvrtc.so" ] && export PARAGON_NVRTC=${PARAGON_NVRTC:-$folder}
done
deadline=$(($(date +%s) + ${SECONDS_LEFT:-400}))
export deadline
one() {
  number=$1 source=$2 folder=$(mktemp -d)
  [ "$(date +%s)" -ge "$deadline" ] && exit
  cc -w -O2 "$source" -o "$folder/cc" -lm &&
    "$work/paragon-cc" -w -O2 -fparagon-threshold=1 -fparagon-checked-threads "$source" -o "$folder/paragon" -lm ||
    { echo "OTHER $number $source: is not compiled"; exit; }
  "$folder/cc" >"$folder/reference" 2>&1
  verdict=same
  for log in auto atomic reduction bitmap stamp; do
    PARAGON_TRACE=$folder/trace PARAGON_LOG=$log timeout 200 "$folder/paragon" >"$folder/got" 2>&1 || true
    cmp -s "$folder/reference" "$folder/got" || { verdict=OTHER; echo "OTHER $number $source $log"; cp "$source" "$out/"; }
  done
  entries=$(grep -c '"decision":"cuda"' "$folder/trace") conflicts=$(grep -c '"fail":\["' "$folder/trace")
  loops=$(grep '"decision":"cuda"' "$folder/trace" | grep -o '"line":[0-9]*' | sort -u | wc -l)
  all=$(grep -o '"line":[0-9]*' "$folder/trace" | sort -u | wc -l)
  [ $verdict = same ] && echo "same $number $all $loops $entries $conflicts"
  rm -rf "$folder"
}
export -f one
# Kinds of programs in turn, so that the first ones are like all of them.
ls "$work/sources" | sort -t- -k2n -s | awk -v first="${FIRST:-1}" -v folder="$work/sources/" 'NR >= first { print NR, folder $0 }' |
  xargs -P "$(nproc)" -L 1 bash -c 'one "$0" "$1"' >"$out/random.txt" 2>&1
grep -v '^same' "$out/random.txt" | head -n 20
awk '$1 == "same" { n++; all += $3; loops += $4; entries += $5; conflicts += $6 } $1 == "OTHER" { other++ }
  $2 > last { last = $2 }
  END {
    printf "%d programs with the output of cc, each with five log methods: %d loops, %d of them on the GPU in %d entries, %d with a conflict; %d failures\n",
      n, all, loops, entries, conflicts, other
    printf "to go on: FIRST=%d\n", last + 1 }' "$out/random.txt"
! grep -q '^OTHER' "$out/random.txt"
