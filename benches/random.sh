#!/usr/bin/env bash
# Random programs on a machine with an NVIDIA GPU that may have no Rust: runs each as cc and as paragon-cc have built it, each entry of a loop
# with every log method (PARAGON_LOG=all), and compares what it prints, until SECONDS_LEFT (default 400) are over or all are done. Where many
# machines or days share the work, FIRST says which program of the list to begin with; the last line says where to go on.
#
#   benches/random.sh sources N     elsewhere, after `make all`: N programs of each kind, paragon-cc and the runtime into build/random.tar.xz
#   benches/random.sh objects [N]   elsewhere, then: has them, or the first N, compiled there already (half a second each, of the time of JOBS
#                                   processors; 15 KB each in the archive), and takes today's runtime. Without, a fifth of the GPU machine's
#                                   time goes into that
#   benches/random.sh kernels [N]   elsewhere, then: has the kernels of them, or of the first N, compiled, too, for an H100 or H200 (several seconds for a program, of
#                                   the time of JOBS processors, which is nearly all that it takes; 46 KB each in the archive). Needs PARAGON_NVRTC
#   benches/random.sh               on the GPU machine
#
# To open a GPU takes a quarter of a second, and one process waits for the other: so programs run in groups, whose main functions one process
# calls one after the other, and JOBS groups (default: one for each processor) at a time.
#
# Where there are several GPUs, groups take them in turn; with GPUS=N the first N of them.
#
# With OUT set, leaves the programs that differed, and random.txt with a line for each, there.
set -u -o pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/random
export work JOBS=${JOBS:-$(nproc)} GROUP=${GROUP:-12}

# All programs, kinds in turn, so that the first ones are like all of them: a number and a name on each line.
list() {
  ls "$work/sources" | sort -t- -k2n -s | awk '{ sub(/\.c$/, ""); print NR, $0 }'
}

# The names of the first so many. (All of the list is read: what is still writing when a reader ends fails, and with it the whole line.)
first_ones() {
  list | awk -v many="$1" 'NR <= many { print $2 }'
}

# Has programs compiled, whose main function gets their name: NAME.o by paragon-cc, with nothing that only threads need, NAME.cc.o by cc.
compile() {
  local folder=$1 name sources=()
  shift
  mkdir -p "$folder"
  for name in "$@"; do sources+=("$work/sources/$name.c"); done
  (cd "$folder" && cc -w -O1 -c "${sources[@]}" && for name in "$@"; do mv "$name.o" "$name.cc.o"; done &&
    "$work/paragon-cc" -w -O1 -fparagon-threshold=1 -c "${sources[@]}") || return
  for name in "$@"; do
    for object in "$folder/$name.cc.o" "$folder/$name.o"; do
      objcopy --redefine-sym "main=random_${name//-/_}" --keep-global-symbol "random_${name//-/_}" --strip-unneeded "$object"
    done
  done
}

# Links objects of programs, by names and ending, to one that runs them all, or the one that its argument names.
link() {
  local target=$1 folder=$2 ending=$3 name objects=()
  shift 3
  for name in "$@"; do objects+=("$folder/$name$ending"); done
  {
    printf '#include <stdio.h>\n#include <string.h>\n'
    printf 'int random_%s(void);\n' "${@//-/_}"
    printf 'static const struct { const char *name; int (*run)(void); } all[] = {\n'
    for name in "$@"; do printf '  { "%s", random_%s },\n' "$name" "${name//-/_}"; done
    cat <<'DRIVER'
};
int main(int count, char **arguments)
{
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
    if (count < 2 || strcmp(arguments[1], all[k].name) == 0) {
      printf("== %s\n", all[k].name);
      fflush(stdout);
      all[k].run();
      fflush(stdout);
    }
  puts("== end");
  return 0;
}
DRIVER
  } >"$target.c"
  cc -w -O1 "$target.c" "${objects[@]}" -o "$target" -lm
}

# What a program has printed, by its name; nothing if it hasn't come to its end.
section() {
  awk -v name="$2" '/^== / { if (mine) done = 1; mine = $2 == name && !done; next } mine { text = text $0 "\n" } END { if (done) printf "%s", text }' "$1"
}

# Compiles some programs, and keeps what they print as cc has built them.
prepare() {
  local folder=$work/objects name
  compile "$folder" "$@" || exit 255
  for name in "$@"; do
    link "$folder/$name.run" "$folder" .cc.o "$name" && timeout 100 "$folder/$name.run" >"$folder/$name.txt" 2>&1
    rm -f "$folder/$name.run" "$folder/$name.run.c" "$folder/$name.cc.o"
  done
}

# Whether all of some programs were compiled beforehand.
made_before() {
  local name
  for name in "$@"; do [ -e "$work/objects/$name.o" ] || return 1; done
}

# Has the kernels of some programs compiled: they run where a GPU does nothing (idle.cpp), ask for kernels, and find them in the cache later.
prepare_kernels() {
  made_before "$@" && link "$work/idle/$1" "$work/objects" .o "$@" || exit 255
  LD_LIBRARY_PATH=$work/idle IDLE_SAYS=conflict PARAGON_LOG=all timeout 1000 "$work/idle/$1" >/dev/null 2>&1
  rm -f "$work/idle/$1" "$work/idle/$1.c"
}

# Runs a group of programs: numbers and names in turn.
group() {
  local folder names=() name number verdict log left
  declare -A numbers
  left=$((deadline - $(date +%s)))
  [ "$left" -gt 0 ] || exit 0
  export CUDA_VISIBLE_DEVICES=$(($1 / GROUP % gpus))
  while [ $# -gt 0 ]; do
    names+=("$2") numbers[$2]=$1
    shift 2
  done
  folder=$(mktemp -d)
  if made_before "${names[@]}"; then
    for name in "${names[@]}"; do cat "$work/objects/$name.txt"; done >"$folder/reference"
    link "$folder/paragon" "$work/objects" .o "${names[@]}"
  else
    compile "$folder" "${names[@]}" && link "$folder/cc" "$folder" .cc.o "${names[@]}" &&
      timeout 100 "$folder/cc" >"$folder/reference" 2>&1 && link "$folder/paragon" "$folder" .o "${names[@]}"
  fi || { echo "OTHER ${numbers[${names[0]}]} ${names[*]}: not compiled"; exit 0; }
  left=$((deadline - $(date +%s)))
  PARAGON_TRACE=$folder/trace PARAGON_LOG=all timeout --foreground -s KILL $((left > 0 ? left : 1)) "$folder/paragon" >>"$folder/got" 2>&1
  left=$((deadline - $(date +%s)))
  for name in "${names[@]}"; do
    section "$folder/got" "$name" >"$folder/own"
    section "$folder/reference" "$name" >"$folder/expected"
    # What the end of the time has cut off isn't judged; what another program's end has, runs alone.
    if [ ! -s "$folder/own" ]; then
      [ "$left" -gt 0 ] || continue
      PARAGON_TRACE=$folder/trace PARAGON_LOG=all timeout -s KILL 100 "$folder/paragon" "$name" >"$folder/alone" 2>&1
      section "$folder/alone" "$name" >"$folder/own"
    fi
    verdict=same
    if ! cmp -s "$folder/own" "$folder/expected"; then
      # Another C library may print something else.
      if [ ! -e "$folder/$name.cc.o" ]; then
        compile "$folder" "$name"
        link "$folder/cc" "$folder" .cc.o "$name" && timeout 100 "$folder/cc" >"$folder/reference.own" 2>&1
        section "$folder/reference.own" "$name" >"$folder/expected"
      fi
      if ! cmp -s "$folder/own" "$folder/expected"; then
        verdict=OTHER
        cp "$work/sources/$name.c" "$out/"
        cp "$folder/own" "$out/$name.got"
        cp "$folder/expected" "$out/$name.expected"
        for log in all auto atomic reduction bitmap stamp; do
          PARAGON_LOG=$log timeout -s KILL 60 "$folder/paragon" "$name" >"$folder/alone" 2>&1
          section "$folder/alone" "$name" | cmp -s - "$folder/expected" || verdict+=" $log"
        done
        echo "OTHER ${numbers[$name]} $name: ${verdict#OTHER}"
      fi
    fi
    [ "$verdict" = same ] && grep -sa "/$name\.c\"" "$folder/trace" | awk -v number="${numbers[$name]}" '
      { match($0, /"line":[0-9]+/); line = substr($0, RSTART, RLENGTH); all[line] }
      /"device":"cuda"/ { entries++; tried[line] }
      /"decision":"cuda"/ { there[line] }
      /"fail":\["/ { conflicts++ }
      END { printf "same %d %d %d %d %d\n", number, length(all), length(there), entries, conflicts }'
  done
  rm -rf "$folder"
}
export -f compile link section prepare made_before prepare_kernels group

# What runs use, here and on the GPU machine. NVRTC takes and gives back memory all the time: in large pages, and kept.
settings() {
  export PARAGON_RT=$work/libparagon_rt.so PARAGON_DEVICE=cuda PARAGON_RACE=device PARAGON_MONITOR=off XDG_CACHE_HOME=$work/cache
  export MALLOC_TOP_PAD_=$((64 << 20)) MALLOC_TRIM_THRESHOLD_=$((4 << 30)) MALLOC_MMAP_THRESHOLD_=$((32 << 20)) GLIBC_TUNABLES=glibc.malloc.hugetlb=1
}
# How many kernels are in the cache.
kernels() {
  find "$work/cache" -name '*.cubin' 2>/dev/null | wc -l
}

case ${1:-} in
sources)
  rm -rf "$work"
  mkdir -p "$work/sources"
  PARAGON_SOURCES=$work/sources PARAGON_RANDOM=$2 cargo test --release --quiet --test random sources >/dev/null || exit
  ;;
objects)
  [ -d "$work" ] || tar -C build -xJf build/random.tar.xz || exit
  rm -rf "$work/objects" "$work/cache"
  ;;
kernels)
  [ -d "$work" ] || tar -C build -xJf build/random.tar.xz || exit
  mkdir -p "$work/idle"
  g++ -std=c++17 -O2 -fPIC -shared -o "$work/idle/libcuda.so" benches/idle.cpp || exit
  settings
  first_ones "${2:-1000000}" | xargs -n "$GROUP" -P "$JOBS" bash -c 'prepare_kernels "$@"' prepare_kernels || exit
  echo "$(kernels) kernels"
  rm -rf "$work/idle"
  tar -C build -cf - random | xz -9e >build/random.tar.xz && rm -rf "$work" && ls -l build/random.tar.xz
  exit
  ;;
esac
case ${1:-} in
sources | objects)
  cp target/release/paragon-cc target/release/libparagon_rt.so "$work/"
  strip "$work/paragon-cc"
  strip --strip-debug "$work/libparagon_rt.so"
  if [ "$1" = objects ]; then
    first_ones "${2:-1000000}" | xargs -n 16 -P "$JOBS" bash -c 'prepare "$@"' prepare || exit
  fi
  tar -C build -cf - random | xz -9e >build/random.tar.xz && rm -rf "$work" && ls -l build/random.tar.xz
  exit
  ;;
esac

[ -d "$work" ] || tar -C build -xJf build/random.tar.xz || exit
out=${OUT:-$PWD/build/random-results}
mkdir -p "$out"
export out
settings
before=$(kernels)
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda/targets/x86_64-linux/lib; do
  [ -e "$folder/libnvrtc.so" ] && export PARAGON_NVRTC=${PARAGON_NVRTC:-$folder}
done
deadline=$(($(date +%s) + ${SECONDS_LEFT:-400}))
gpus=${GPUS:-$(nvidia-smi --list-gpus 2>/dev/null | grep -c .)}
[ "$gpus" -gt 0 ] || gpus=1
export deadline gpus
list | awk -v first="${FIRST:-1}" '$1 >= first' | xargs -n $((2 * GROUP)) -P "$JOBS" bash -c 'group "$@"' group >"$out/random.txt" 2>&1
grep -v '^same' "$out/random.txt" | head -n 20
awk '$1 == "same" { n++; all += $3; loops += $4; entries += $5; conflicts += $6 } $1 == "OTHER" { other++ }
  ($1 == "same" || $1 == "OTHER") && $2 > last { last = $2 }
  END {
    printf "%d programs with the output of cc, each entry with five log methods: %d loops, %d of them on the GPU in %d runs, %d with a conflict; %d failures\n",
      n, all, loops, entries, conflicts, other
    printf "to go on: FIRST=%d\n", last + 1 }' "$out/random.txt"
echo "$before kernels were compiled before, $(($(kernels) - before)) here"
! grep -q '^OTHER' "$out/random.txt"
