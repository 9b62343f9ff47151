#!/usr/bin/env bash
# The whole GPU suite, on a machine with an NVIDIA GPU, nvcc, NVRTC and compute-sanitizer, over the programs that
# benches/prepare.sh built. In this order: every program and input with each log method, all output compared byte by byte
# with the cc build (sums in free order: with the same program where nothing runs elsewhere); random programs; planted conflicts; compute-sanitizer memcheck; a table of times. Prints a summary that closes with
# "N passed, N failed"; with OUT set, leaves tables and logs there. SECTIONS names the parts to run (bytes, random, planted, faults, coherence, lost,
# memcheck, racecheck, times), all of them by default, ONLY the programs whose bytes are compared (a regular expression); times are worth nothing on a machine that does something else meanwhile.
set -u -o pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=${OUT:-$root/build/gpu-results}
mkdir -p "$out"
programs=$root/build/gpu
[ -d "$programs" ] || tar -C build -xf build/gpu.tar.xz
export PARAGON_RT=$programs/libparagon_rt.so
export PARAGON_DEVICE=cuda programs
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$root/build/cache}
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda/targets/x86_64-linux/lib; do
  [ -e "$folder/libnvrtc.so" ] && export PARAGON_NVRTC=${PARAGON_NVRTC:-$folder}
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
passed=0 failed=0
sections=" ${SECTIONS:-bytes random planted faults coherence lost memcheck racecheck times} "
has() { case $sections in *" $1 "*) ;; *) return 1 ;; esac; }
fail() { echo "FAILED  $*"; failed=$((failed + 1)); }
pass() { passed=$((passed + 1)); }

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
echo "NVRTC: ${PARAGON_NVRTC:-loader path}"

small_size() { sed -n 's/.*test size: *\([0-9]*\).*/\1/p' "$1" | head -n 1; }

if has bytes; then
# ---- same bytes; "learnt": nothing is inspected, and what logs have shown counts in later entries
# ---- sums in free order: the bits of the same program where nothing runs elsewhere
# To open a GPU takes a quarter of a second, and one process waits for the other: so programs run in groups, which benches/together.c runs in
# one process, with all of their inputs; each group once for each log method.
mkdir traces references
reference() {
  kind=$1 name=$2 size=$3 input=$4
  program=$programs/$name.cc run=$work/references/%s.$kind.$name.$input
  [ $kind = licence ] && program=$programs/$name.licence && export PARAGON_DEVICE=off
  (exec -a program "$program" --size "$size" --input "$input" --dump "${run/\%s/bin}") >"${run/\%s/txt}" 2>&1
}
# What the runs find in their environment, of a log method and for a trace. Threads run several iterations together, though tests have too few for it;
# few threads with long iterations take their time.
settings() {
  export PARAGON_LOG=$1 PARAGON_INSPECTIONS=on PARAGON_TRACE=$2 PARAGON_RACE=device PARAGON_MONITOR=off PARAGON_GROUPS=always PARAGON_PATIENCE=5000
  [ $1 = learnt ] && export PARAGON_INSPECTIONS=off PARAGON_LOG=auto
}
group_of_bytes() (
  method=$1 group=$2 folder=$(mktemp -d)
  settings $method "$folder/trace"
  cd "$folder" || exit
  awk 'NR == FNR { mine[$0]; next } $1 " " $2 " " $4 in mine' <("$group" --list) "$work/runs" >runs
  timeout -s KILL 300 "$group" runs "$folder" >said 2>&1
  while read -r kind name size input; do
    run=$kind.$name.$input
    # What has ended the process, or was to come behind that, runs alone.
    if [ ! -e bin.$run ]; then
      program=$programs/$name.paragon
      [ $kind = licence ] && program=$programs/$name.licence
      rm -f trace.$run
      (settings $method "$folder/trace.$run" && timeout 100 "$program" --size "$size" --input "$input" --dump bin.$run) >txt.$run 2>&1
    fi
    if cmp -s "$work/references/bin.$run" bin.$run && cmp -s "$work/references/txt.$run" txt.$run; then
      echo same
    else
      echo "$kind $name $input $method: $(tail -n 1 txt.$run)"
    fi
    [ $kind = plain ] && [ $method = auto ] && cp trace.$run "$work/traces/$name.$input" 2>/dev/null
    cat trace.$run >"$work/traces/all.$run.$method" 2>/dev/null
  done <runs
  rm -rf "$folder"
)
export -f reference settings group_of_bytes
export work
{
  for source in "$root"/c-tests/chapter/*.c "$root"/c-tests/features/*.c; do
    name=$(basename "$source" .c) size=$(small_size "$source")
    for input in $("$programs/$name.cc" --list); do echo "plain $name ${size:-1003} $input"; done
  done
  for source in "$root"/c-tests/licence/*.c; do
    name=$(basename "$source" .c)
    for input in $("$programs/$name.licence" --list); do echo "licence $name $(small_size "$source") $input"; done
  done
} | grep -E "^[a-z]+ ${ONLY:-.*} " >runs
xargs -P "$(nproc)" -L 1 bash -c 'reference $0 $1 $2 $3' <runs
for method in auto atomic reduction bitmap stamp learnt; do
  for group in "$programs"/together/*.run; do echo "$method $group"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'group_of_bytes $0 $1' >"$out/bytes.txt"
while read -r line; do case $line in same) pass ;; *) fail "$line" ;; esac; done <"$out/bytes.txt"
[ "$(grep -c . "$out/bytes.txt")" = $((6 * $(grep -c . runs))) ] || fail "bytes: some runs are missing"
cat traces/all.* >"$out/traces.jsonl"
echo "same bytes: $passed passed, $failed failed"
python3 - "$out/traces.jsonl" <<'P'
import collections, json, sys
kinds = collections.Counter()
why = collections.Counter()
groups = collections.Counter()
for line in open(sys.argv[1]):
    r = json.loads(line)
    kinds[r["decision"], r["device"], r["log"], "+".join(r["fail"])] += 1
    if r["decision"] == "cuda":
        groups["%d by %d" % tuple(r["group"])] += 1
    if r["decision"] in ("sequential", "worker") and not r["fail"]:
        why[r["why"].split(" in line")[0]] += 1
print("loop entries by (decision, device, log, failure):")
for key, count in sorted(kinds.items()):
    print("  ", count, *key)
print("iterations of a thread together:", *(f"{group}: {count};" for group, count in sorted(groups.items())))
print("not on the GPU because:")
for key, count in why.most_common(8):
    print("  ", count, key)
P

# ---- what the programs' comments expect to run, ran on the GPU, all iterations at once or level by level
python3 - "$root" traces <<'P' >expected.txt
import json, os, re, sys
root, traces = sys.argv[1:]
met = 0
for folder in ("chapter", "features"):
    for file in sorted(os.listdir(f"{root}/c-tests/{folder}")):
        name, lines, expected = file[:-2], {}, []
        for number, line in enumerate(open(f"{root}/c-tests/{folder}/{file}"), 1):
            if found := re.search(r"/\* loop (\S+) \*/", line):
                lines[found[1]] = number
            if found := re.search(r"\* expect (.+?): (runs|levels) on (.+?)(?: \*/)?$", line):
                expected.append((found[1].split(" or "), found[2], found[3].split()))
        for loops, event, inputs in expected:
            for input in inputs:
                try:
                    records = [json.loads(line) for line in open(f"{traces}/{name}.{input}")]
                except FileNotFoundError:
                    records = []
                here = [r for r in records if r["file"].endswith(file) and r["line"] in [lines[loop] for loop in loops]]
                logged = folder == "chapter" and any(r["log"] in ("atomic", "reduction", "bitmap", "stamp") for r in here)
                if not logged and any(r["decision"] == "cuda" and (r["inspection"] in ("levels", "chain")) == (event == "levels") for r in here):
                    met += 1
                elif any("the same bits" not in r["why"] for r in here) or not here:
                    print("not on the GPU:", name, "/".join(loops), input, *{r["why"] for r in here})
print("expected loops on the GPU:", met)
P
[ -n "${ONLY:-}" ] || cat expected.txt
python3 - "$out/traces.jsonl" <<'P'
import collections, json, sys
found, logged, levels = collections.Counter(), collections.Counter(), 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["inspection"]:
        found[r["inspection"], r["decision"]] += 1
        levels = max(levels, r["levels"] if r["decision"] == "cuda" else 0)
print("inspections by (finding, decision):", *(f"{' '.join(key)}: {count};" for key, count in sorted(found.items())),
      "most levels in a run on the GPU:", levels)
P
fi

if has random; then
# ---- random programs, some at a time: most of their time goes into compiling kernels
random_program() {
  name=$1 folder=$(mktemp -d)
  "$programs/random/$name.cc" >"$folder/reference" 2>&1
  for log in auto atomic reduction bitmap stamp; do
    PARAGON_TRACE=$folder/trace PARAGON_LOG=$log PARAGON_RACE=device PARAGON_MONITOR=off \
      timeout 200 "$programs/random/$name.paragon" >"$folder/got" 2>&1
    code=$?
    entries=$(grep -c '"decision":"cuda"' "$folder/trace")
    conflicts=$(grep -c '"fail":\["' "$folder/trace")
    if cmp -s "$folder/reference" "$folder/got"; then echo "same $entries $conflicts"; else echo "OTHER $name $log: code $code"; fi
    rm -f "$folder/trace"
  done
  rm -rf "$folder"
}
export -f random_program
if [ -d "$programs/random" ]; then
  ls "$programs/random" | sed -n 's/\.paragon$//p' | xargs -P 8 -I{} bash -c 'random_program {}' >random.txt
  while read -r line; do case $line in same*) pass ;; *) fail "random: $line" ;; esac; done <random.txt
  awk '$1 == "same" { n++; e += $2; c += $3 }
    END { printf "random programs: %d runs with the result of cc, %d loop entries on cuda, %d with a conflict\n", n, e, c }' random.txt
fi
fi

if has planted; then
# ---- planted conflicts, of indirect stores and of rows with inner loops; some processes at a time, most of whose time goes into opening the GPU
# ---- of stamps with each kind of guess, too, and without one; of rows under bitmaps with a range and with bits, a process for each conflict: behind it the
# ---- loop has another log
planted_case() {
  loop=$1 kind=$2 runs=$3 seed=$4 log=$5 guesses=${6:-auto} name="$1 $2 $5${6:+ $6}"
  folder=$(mktemp -d)
  [ $runs = 1 ] && export PARAGON_GROUPS=always
  if ! PARAGON_TRACE=$folder/trace PARAGON_LOG=$log PARAGON_GUESSES=$guesses PARAGON_RACE=device PARAGON_MONITOR=off \
    timeout 200 "$programs/planted.paragon" --runs $runs --kind $kind --loop $loop --seed $seed >"$folder/said" 2>&1; then
    echo "OTHER planted $name $seed: $(tail -n 1 "$folder/said")"
  else
    found=$(grep "\"function\":\"$loop" "$folder/trace" | grep '"device":"cuda"' | grep -c '"fail":\["')
    # To stamps only what an earlier iteration has stored is a conflict: rows add to what they store to; of those of mixed widths some read what is stored behind them.
    least=$runs most=$runs
    case "$log $kind $loop" in "stamp raw "* | "stamp waw rows") ;; "stamp mixed-width rows") least=1 most=$((runs - 1)) ;; "stamp "*) least=0 most=0 ;; esac
    verdict=OTHER
    [ "$found" -ge $least ] && [ "$found" -le $most ] && verdict=same
    # Two writers are a conflict whatever is guessed; bits instead of a range are what comes next.
    refuted=0
    [ $runs = 1 ] && [ "$guesses" = bits ] && [ $kind != waw ] && refuted=1
    [ $runs != 1 ] || [ "$(grep "\"function\":\"$loop" "$folder/trace" | grep -c '"guess":"refuted"')" = $refuted ] || verdict=OTHER
    echo "$verdict planted $name on cuda: $found of $runs detected, every run with the sequential result"
  fi
  rm -rf "$folder"
}
export -f planted_case
{
  for kind in waw raw war mixed-width; do
    for log in atomic reduction bitmap stamp "stamp off" "stamp bits" "stamp numbers" "stamp twice" "stamp order" "stamp launches"; do
      echo "indirect $kind 1000 11 $log"
      # Rows are long.
      echo "rows $kind 100 12 $log"
    done
    for seed in 31 32 33; do for log in "bitmap bits" "bitmap off"; do echo "rows $kind 1 $seed $log"; done; done
  done
} | TMPDIR=$work xargs -P "$(nproc)" -L 1 bash -c 'planted_case "$@"' planted_case >planted.txt
while read -r verdict line; do if [ $verdict = same ]; then pass; else fail "$line"; fi; done <planted.txt
[ "$(grep -c . planted.txt)" = 104 ] || fail "planted: some runs are missing"
sort planted.txt | sed -n 's/^same //p' | uniq -c
fi

if has coherence; then
# ---- programs whose results stay on the GPU between their loops, and that try to see it: what they print, and how they end
one_of_coherence() (
  name=$1 folder=$(mktemp -d)
  export PARAGON_STAYING=on PARAGON_RACE=device PARAGON_MONITOR=off PARAGON_HISTORY=off PARAGON_PATIENCE=5000
  for compiler in cc paragon; do
    mkdir "$folder/$compiler" && cd "$folder/$compiler" || exit
    # What the shell itself says of how it ends would name it.
    (exec 2>/dev/null; timeout -s KILL 60 "$programs/coherence/$compiler/$name" >../$compiler.out 2>../$compiler.said)
    echo $? >>../$compiler.out
  done
  cd "$folder"
  if cmp -s cc.out paragon.out && cmp -s cc.said paragon.said; then
    echo same
  else
    echo "coherence: $name: $(diff cc.out paragon.out | head -n 3 | cut -c 1-100 | tr '\n' ' ') $(diff cc.said paragon.said | head -n 2 | cut -c 1-100 | tr '\n' ' ')"
  fi
  rm -rf "$folder"
)
export -f one_of_coherence
ls "$programs/coherence/cc" | grep -v '\.so$' | xargs -P 8 -I NAME bash -c 'one_of_coherence NAME' >coherence
while read -r line; do
  if [ "$line" = same ]; then pass; else fail "$line"; fi
done <coherence
fi

if has lost; then
# ---- a GPU that is lost at some moment between the first launch and the last one (c-tests/lost): what a program prints, and how it ends; with one line more at most. Two at a time: where eight were lost at once the driver had no GPU any more, for anybody
lost_program() (
  name=$1 folder=$(mktemp -d) program=$programs/coherence/paragon/$1
  export PARAGON_STAYING=on PARAGON_RACE=device PARAGON_MONITOR=off PARAGON_HISTORY=off PARAGON_PATIENCE=5000
  mkdir "$folder/run"
  once() {
    rm -rf "$folder/run" && mkdir "$folder/run" && cd "$folder/run" || exit
    (exec 2>/dev/null; timeout -s KILL 60 "$@" >../out 2>../said)
    echo $? >>../out
  }
  once "$programs/coherence/cc/$name"
  mv ../out ../cc.out && mv ../said ../cc.said
  once env LD_LIBRARY_PATH="$programs/lost:${LD_LIBRARY_PATH:-}" LOST_LAUNCHES="$folder/launches" "$program"
  launches=$(cat "$folder/launches" 2>/dev/null || echo 0)
  [ "$launches" -gt 0 ] || echo "lost: $name: no launch"
  for part in 0 1 2 3 4 5 6 7; do
    at=$((1 + launches * part / 8))
    once env LD_LIBRARY_PATH="$programs/lost:${LD_LIBRARY_PATH:-}" LOST_AT=$at PARAGON_TRACE="$folder/trace" "$program"
    more=$(($(wc -l <../said) - $(wc -l <../cc.said)))
    again=$(grep -c '"run_again":[1-9]' "$folder/trace")
    rm -f "$folder/trace"
    if cmp -s ../cc.out ../out && [ $more -le 1 ] && grep -v '^paragon: ' ../said | cmp -s - ../cc.said; then
      echo "same $again"
    else
      echo "lost: $name, at launch $at of $launches: $(diff ../cc.out ../out | head -n 3 | cut -c 1-100 | tr '\n' ' ') $(diff ../cc.said ../said | head -n 2 | cut -c 1-100 | tr '\n' ' ')"
    fi
  done
  cd /
  rm -rf "$folder"
)
export -f lost_program
xargs -P 2 -I NAME bash -c 'lost_program NAME' <"$programs/lost/programs" >lost
while read -r line; do
  case $line in same*) pass ;; *) fail "$line" ;; esac
done <lost
[ "$(grep -c ^same lost)" -gt 0 ] || fail "lost: nothing was run"
awk '$1 == "same" { n += 1; again += $2 > 0 } END { printf "lost: %d runs, %d of them with loops that were run again\n", n, again }' lost
fi

if has faults; then
# ---- faults that only speculation makes: FAULT_RUNS of each kind with each log; what crashes has a process of its own, so fewer
fault_kind() {
  kind=$1 log=$2 folder=$(mktemp -d) began=$SECONDS
  runs=$FAULT_RUNS
  case $kind in crash-*) runs=$((FAULT_RUNS / 10)) ;; esac
  # "auto" inspects; for as long as is asked where loops are endless, or nearly.
  case $kind in endless-* | row-length-*) export PARAGON_PATIENCE=200 ;; esac
  PARAGON_TRACE=$folder/trace PARAGON_LOG=$log PARAGON_RACE=device PARAGON_MONITOR=off \
    timeout 200 "$programs/faults.paragon" --runs $runs --kind "$kind" --seed 29 >"$folder/said" 2>&1
  code=$?
  hurt=$(grep -cE '"fail":\[[^]]*"(out of range|no array|misaligned|arithmetic|NaN|too long)"' "$folder/trace")
  [ $code = 0 ] && echo "same $runs $hurt $(grep -c '"fail":\["' "$folder/trace") $kind $log $((SECONDS - began))" || echo "OTHER $kind $log: code $code: $(tail -n 1 "$folder/said")"
  rm -rf "$folder"
}
export -f fault_kind
export FAULT_RUNS=${FAULT_RUNS:-90}
for log in atomic bitmap stamp auto; do "$programs/faults.paragon" --list | sed "s/\$/ $log/"; done |
  xargs -P 16 -L 1 bash -c 'fault_kind $0 $1' >faults.txt
while read -r line; do case $line in same*) pass ;; *) fail "faults: $line" ;; esac; done <faults.txt
awk '$1 == "same" { n += $2; h += $3; c += $4 }
  END { printf "faults: %d runs with the sequential result or the sequential crash, %d launches failed, %d of them at an address, operation or loop that the program never comes to\n", n, c, h }' faults.txt
echo "longest, in seconds:" $(sort -k 7nr faults.txt | awk '$1 == "same" { print $5, $6, $7 ";" }' | head -n 5)
fi

if has planted; then
# ---- the same with a check taken out (c-tests/planted/mutations.sh made these): the test must notice
for folder in "$root"/build/mutated/*; do
  [ -e "$folder/planted" ] || continue
  name=$(basename "$folder")
  wrong=0
  for kind in waw raw war mixed-width; do
    rm -f trace.json
    # Behind stamps stands what they guess.
    log=${name##*@} guesses=auto
    case $log in *-*) guesses=${log#*-} log=${log%-*} ;; esac
    PARAGON_RT=$folder/libparagon_rt.so PARAGON_LOG=$log PARAGON_GUESSES=$guesses PARAGON_RACE=device PARAGON_MONITOR=off \
      PARAGON_TRACE=$work/trace.json timeout 200 "$folder/planted" --runs 100 --kind $kind --seed 7 >planted.txt 2>&1 || wrong=1
    case "$log $kind" in "stamp raw") found=100 ;; "stamp "*) found=0 ;; *) found=100 ;; esac
    [ "$(grep '"function":"indirect' trace.json | grep -c '"fail":\["')" = $found ] || wrong=1
    refuted=$(grep '"function":"indirect' trace.json | grep -c '"guess":"refuted"')
    case "$guesses $kind" in "bits waw" | "bits mixed-width" | "numbers waw" | "numbers mixed-width") [ "$refuted" = 100 ] || wrong=1 ;; esac
  done
  case $name in nothing@*) wanted=0 ;; *) wanted=1 ;; esac
  if [ $wrong = $wanted ]; then pass; else fail "taken out: $name: noticed: $wrong"; fi
  echo "taken out: $name: $([ $wrong = 1 ] && echo noticed || echo 'every conflict detected')"
done
fi

# ---- the sanitizers: memory and, between threads of a block, races; some programs at a time, since they make everything many
# times slower
sanitized() {
  tool=$1 name=$2 size=$3 log=$4 folder=$(mktemp -d)
  cd "$folder" || exit
  if PARAGON_LOG=$log PARAGON_RACE=device PARAGON_MONITOR=off PARAGON_GROUPS=always PARAGON_PATIENCE=60000 \
    timeout 240 compute-sanitizer --tool "$tool" --error-exitcode 99 \
    "$programs/$name.paragon" --size "$size" --input clean --dump out.bin >said 2>&1; then
    echo "same $(grep 'SUMMARY' said)"
  else
    echo "OTHER $tool $name $log: $(grep -m 1 -i 'error' said)"
    cat said >>"$folder.log"
  fi
  rm -rf "$folder"
}
export -f sanitized
for tool in memcheck racecheck; do
  has $tool && command -v compute-sanitizer >/dev/null || continue
  for source in "$root"/c-tests/chapter/*.c; do
    size=$(small_size "$source")
    for log in auto bitmap atomic stamp; do
      # Under racecheck one of them is enough: only the kernel that checks logs has memory that a block shares.
      [ $tool = memcheck ] || [ $log = bitmap ] || continue
      echo "$tool $(basename "$source" .c) ${size:-203} $log"
    done
  done | TMPDIR=$work xargs -P 8 -L 1 bash -c 'sanitized $0 $1 $2 $3' >sanitized.txt
  cat "$work"/*.log >>"$out/sanitizer.log" 2>/dev/null
  while read -r line; do case $line in same*) pass ;; *) fail "$line" ;; esac; done <sanitized.txt
  echo "$tool: $(sort sanitized.txt | uniq -c | sort -nr | head -n 2 | tr '\n' ';')"
done

if ! has times; then
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
fi

# ---- times
if command -v nvcc >/dev/null; then
  nvcc -O3 -arch=native -fmad=false -o unsafe "$root/benches/cuda/unsafe.cu" && ./unsafe >unsafe.jsonl
  cp unsafe.jsonl "$out/unsafe.jsonl"
fi
for name in fdtd seidel jacobi1d jacobi2d gemm tmv saxpy house ipvec ger gemver fwd sor; do
  size=""
  [ $name = gemm ] && size="--size 1024"
  timeout 60 "$programs/$name.o3.cc" $size --input clean --dump /dev/null --time >"$name.cc.txt" 2>&1
  rm -f "$name.json"
  PARAGON_TRACE="$work/$name.json" PARAGON_RACE=device PARAGON_MONITOR=off timeout 60 \
    "$programs/$name.o3.paragon" $size --input clean --dump /dev/null --repeat 3 --time >"$name.paragon.txt" 2>&1
done
python3 - "$work" <<'P' | tee "$out/table.md"
import json, os, re, sys
work = sys.argv[1]
unsafe = {}
try:
    for line in open(os.path.join(work, "unsafe.jsonl")):
        r = json.loads(line)
        unsafe[r["application"]] = r
except OSError:
    pass
def ms(path):
    try:
        numbers = re.findall(r"time_ms ([0-9.]+)", open(path).read())
        return float(numbers[-1]) if numbers else None
    except OSError:
        return None
def cell(v):
    return "-" if v is None else f"{v:.3g}"
print("| application | sequential ms (cc -O3) | unsafe CUDA resident ms | end to end ms | Paragon ms (whole) | its kernels ms | its checks ms | log | where |")
print("|---|---|---|---|---|---|---|---|---|")
for name in "fdtd seidel jacobi1d jacobi2d gemm tmv saxpy house ipvec ger gemver fwd sor".split():
    kernels = checks = 0.0
    logs, where = set(), set()
    runs = 3
    try:
        for line in open(os.path.join(work, name + ".json")):
            r = json.loads(line)
            where.add(r["decision"])
            if r["decision"] == "cuda":
                kernels += r["execute_ns"] / 1e6
                checks += r["check_ns"] / 1e6
                logs.add(r["log"])
    except OSError:
        pass
    u = unsafe.get(name, {})
    print(f"| {name} | {cell(ms(os.path.join(work, name + '.cc.txt')))} | {cell(u.get('resident_ms'))} | {cell(u.get('end_to_end_ms'))} "
          f"| {cell(ms(os.path.join(work, name + '.paragon.txt')))} | {cell(kernels)} | {cell(checks)} | {'+'.join(sorted(logs)) or '-'} | {'+'.join(sorted(where)) or '-'} |")
P
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
