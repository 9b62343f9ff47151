#!/usr/bin/env bash
# Builds into build/gpu what benches/gpu.sh needs on a GPU machine that has no Rust: every C program by cc and by paragon-cc,
# the runtime, and the tools. Run it after `make all`. With the argument `packed` all of it is in build/gpu.tar.xz, too: 11 MB instead of 160 to carry, and benches/gpu.sh takes
# it from there.
set -eu -o pipefail
cd "$(dirname "$0")/.."
out=build/gpu
# Every loop, however short, and on threads, too.
forced="-fparagon-threshold=1 -fparagon-checked-threads"
rm -rf $out
mkdir -p $out/kernels
cp target/release/libparagon_rt.so $out/
strip --strip-debug $out/libparagon_rt.so
# Every program by itself, and so that benches/together.c runs some of them, each with each of its inputs, in one process: by an object for each
# run, whose main function has the run's name. So many processes:
together=16
mkdir -p $out/together
number=0
run_together() {
  local kind=$1 name=$2 program=$3 input run group
  group=$out/together/$((number++ % together))
  mkdir -p $group
  for input in $("$program" --list); do
    run=${kind}_${name}_$input
    objcopy --redefine-sym "main=run_$run" --keep-global-symbol "run_$run" --strip-debug "$out/$name.$kind.o" "$group/$run.o"
    echo "RUN($kind, $name, $input)" >>$group/together.h
  done
  rm "$out/$name.$kind.o"
}
for file in c-tests/chapter/*.c c-tests/features/*.c; do
  name=$(basename "$file" .c)
  cc -O2 "$file" -o "$out/$name.cc" -lm
  target/release/paragon-cc -O2 $forced --paragon-save-temps=$out/kernels -c "$file" -o "$out/$name.plain.o"
  cc "$out/$name.plain.o" -o "$out/$name.paragon" -lm
  run_together plain "$name" "$out/$name.cc"
done
# Sums in free order: compared with themselves where nothing runs elsewhere.
for file in c-tests/licence/*.c; do
  name=$(basename "$file" .c)
  target/release/paragon-cc -O2 -fparagon-reassoc $forced --paragon-save-temps=$out/kernels -c "$file" -o "$out/$name.licence.o"
  cc "$out/$name.licence.o" -o "$out/$name.licence" -lm
  run_together licence "$name" "$out/$name.licence"
done
for group in $out/together/*/; do
  cc -O2 -I "$group" benches/together.c "$group"/*.o -o "${group%/}.run" -lm
  rm -r "$group"
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
# A driver behind which GPUs are lost, and the programs that bear that. Behind it comes the machine's own one, which need not be here: only its name is noted.
mkdir -p $out/lost
cc -shared -Wl,-soname,libcuda.so.1 -o $out/lost/stub.so -x c /dev/null
cc -O2 -shared -fPIC c-tests/lost/libcuda.c -o $out/lost/libcuda.so -Wl,--no-as-needed $out/lost/stub.so -ldl
rm $out/lost/stub.so
sed -n '/fn a_gpu_that_is_lost/,/\];/s/^ *"\([a-z_]*\)",$/\1/p' tests/coherence.rs >$out/lost/programs
# Programs that look for what isn't in their memory, and their libraries.
for compiler in cc paragon; do
  mkdir -p $out/coherence/$compiler
  build="cc"
  [ $compiler = paragon ] && build="target/release/paragon-cc $forced"
  for file in c-tests/coherence/*.c; do
    name=$(basename "$file" .c)
    case $name in
      *.library) $build -std=gnu11 -O2 -shared -fPIC "$file" -o "$out/coherence/$compiler/$name.so" ;;
      *.*) ;;
      *) $build -std=gnu11 -O2 $(ls c-tests/coherence/$name.c c-tests/coherence/$name.step.c 2>/dev/null) \
        -o "$out/coherence/$compiler/$name" -pthread -ldl '-Wl,-rpath,$ORIGIN' ;;
    esac
  done
done
# Random programs; RANDOM_PROGRAMS says how many.
mkdir -p $out/random/sources
PARAGON_SOURCES=$PWD/$out/random/sources PARAGON_RANDOM=${RANDOM_PROGRAMS:-60} \
  cargo test --release --quiet --test random sources >/dev/null
shopt -s nullglob
for file in "$out"/random/sources/*.c; do
  name=$(basename "$file" .c)
  cc -w -O2 "$file" -o "$out/random/$name.cc" -lm
  target/release/paragon-cc -w -O2 $forced "$file" -o "$out/random/$name.paragon" -lm
done
ls $out | wc -l
if [ "${1:-}" = packed ]; then
  # What isn't a program or a library has nothing to strip.
  find $out -type f -exec strip --strip-debug {} + 2>/dev/null || true
  tar -C build -c gpu | xz -T0 -1 >build/gpu.tar.xz
fi
