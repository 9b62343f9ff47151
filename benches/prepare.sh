#!/usr/bin/env bash
# Builds into build/gpu what benches/gpu.sh needs on a GPU machine that has no Rust: every C program by cc and by paragon-cc,
# the runtime, and the tools. Run it after `make all`.
set -eu -o pipefail
cd "$(dirname "$0")/.."
out=build/gpu
# Every loop, however short, and on threads, too.
forced="-fparagon-threshold=1 -fparagon-checked-threads"
rm -rf $out
mkdir -p $out/kernels
cp target/release/libparagon_rt.so $out/
strip --strip-debug $out/libparagon_rt.so
for file in c-tests/chapter/*.c c-tests/features/*.c; do
  name=$(basename "$file" .c)
  cc -O2 "$file" -o "$out/$name.cc" -lm
  target/release/paragon-cc -O2 $forced --paragon-save-temps=$out/kernels "$file" -o "$out/$name.paragon" -lm
done
# Sums in free order: compared with themselves where nothing runs elsewhere.
for file in c-tests/licence/*.c; do
  name=$(basename "$file" .c)
  target/release/paragon-cc -O2 -fparagon-reassoc $forced --paragon-save-temps=$out/kernels "$file" -o "$out/$name.licence" -lm
done
cc -O2 c-tests/planted/*.c -o $out/planted.cc -lm
cc -O2 -c c-tests/planted/reference.c -o $out/reference.o
target/release/paragon-cc -O2 $forced c-tests/planted/planted.c $out/reference.o -o $out/planted.paragon -lm
cc -O2 -c c-tests/faults/reference.c -o $out/faults-reference.o
target/release/paragon-cc -O2 $forced c-tests/faults/faults.c $out/faults-reference.o -o $out/faults.paragon
for name in fdtd seidel jacobi1d jacobi2d gemm tmv saxpy house ipvec ger gemver fwd sor; do
  cc -O3 "c-tests/chapter/$name.c" -o "$out/$name.o3.cc" -lm
  target/release/paragon-cc -O3 "c-tests/chapter/$name.c" -o "$out/$name.o3.paragon" -lm
done
# Random programs; RANDOM_PROGRAMS says how many.
mkdir -p $out/random/sources
PARAGON_SOURCES=$PWD/$out/random/sources PARAGON_RANDOM=${RANDOM_PROGRAMS:-60} \
  cargo test --release --quiet --test random sources >/dev/null
for file in "$out"/random/sources/*.c; do
  name=$(basename "$file" .c)
  cc -w -O2 "$file" -o "$out/random/$name.cc" -lm
  target/release/paragon-cc -w -O2 $forced "$file" -o "$out/random/$name.paragon" -lm
done
ls $out | wc -l
