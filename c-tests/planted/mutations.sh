#!/usr/bin/env bash
# Does the planted-conflict test notice when a check is missing?
#
# For each mutation below, the check that it names is taken out of a copy of the sources, the copy is built, and the
# planted-conflict program is run with the log method that the check belongs to. The mutation is caught if that program
# then ends with a wrong result, or if not every planted conflict is detected. The unchanged sources must pass. Prints one line per mutation and closes with
# "N passed, N failed". Takes some minutes, because every mutation is a build; `make mutations` runs it. With KEEP set to a
# folder, each build is left there, for benches/gpu.sh to do the same on a GPU; ONLY picks those whose name and method it is a part of.
set -u -o pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=${RUNS:-200}

# name | log method | files | sed expression
body=runtime/include/body
reads=$body/launch.h
iterations=$body/iterations.h
threads=runtime/src/device/threads.rs
cuda=runtime/src/device/cuda
driver=runtime/src/speculation/cmt.rs
mutations="
nothing|atomic||
nothing|reduction||
nothing|bitmap||
no write-write check on the spot|atomic|$body/logs.h $body/updates.h|s/c->fail |= PG_FAIL_WAW;/;/
counts not compared|bitmap|$threads $cuda/launches.rs|s/\&\& total != \(counted\|written\)/\&\& total == u64::MAX/
counts not compared|reduction|$threads $cuda/launches.rs|s/\&\& total != \(counted\|written\)/\&\& total == u64::MAX/
reads not logged|atomic|$reads|s/^  ((logged) \&\&/  (0 \&\&/
reads not logged|reduction|$reads|s/^  ((logged) \&\&/  (0 \&\&/
reads not logged|bitmap|$reads|s/^  ((logged) \&\&/  (0 \&\&/
bits of reads not looked at|bitmap|$threads $cuda/logs.rs|s/met += \(u64::from((w \& r).count_ones())\|__popc(w \& r)\)/met += 0/
thread instead of iteration in the log|atomic|$iterations|s/c->iteration = (__pg_u32)k + 1;/c->iteration = 1;/
thread instead of iteration in the log|reduction|$iterations|s/c->iteration = (__pg_u32)k + 1;/c->iteration = 1;/
nothing|stamp||
reads not logged|stamp|$reads|s/^  ((logged) \&\&/  (0 \&\&/
readers behind the first writer not looked at|stamp|$threads $cuda/logs.rs|s/r > first || /false || /
last writers not settled|stamp twice|$driver|s/outcome.unsettled != 0/outcome.unsettled == u64::MAX/
thread instead of iteration in the log|stamp|$iterations|s/c->iteration = (__pg_u32)k + 1;/c->iteration = 1;/
nothing|stamp off||
nothing|stamp bits||
nothing|stamp numbers||
nothing|stamp twice||
counts not compared|stamp bits|$threads $cuda/launches.rs|s/\&\& total != \(counted\|written\)/\&\& total == u64::MAX/
counts not compared|stamp numbers|$threads $cuda/launches.rs|s/\&\& total != \(counted\|written\)/\&\& total == u64::MAX/
reads not logged|stamp numbers|$reads|s/^  ((logged) \&\&/  (0 \&\&/
readers behind the only writer not looked at|stamp numbers|$threads $cuda/logs.rs|s/r > first || /false || /
no second run|stamp bits|$driver|s/fail \& PG_FAIL_WAW != 0/fail == u32::MAX/
no second run|stamp numbers|$driver|s/fail \& PG_FAIL_WAW != 0/fail == u32::MAX/
"
mkdir "$work/copy"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$work/copy")
cd "$work/copy" || exit 1
export CARGO_TARGET_DIR=$root/target/mutations
built=$CARGO_TARGET_DIR/release
cc -O2 -c c-tests/planted/reference.c -o "$work/reference.o"

passed=0 failed=0
while read -r line; do
  # The expression may hold the separator itself.
  name=${line%%|*} line=${line#*|} method=${line%%|*} line=${line#*|} files=${line%%|*} expression=${line#*|}
  [ -n "$name" ] || continue
  case "$name $method" in *"${ONLY:-}"*) ;; *) continue ;; esac
  for file in $body/*.h $threads $cuda/*.rs $driver; do cp "$root/$file" "$file"; done
  applies=1
  for file in $files; do
    [ -n "$expression" ] || continue
    sed -i "$expression" "$file"
    if cmp -s "$root/$file" "$file"; then
      echo "FAILED  $name ($method): the mutation no longer applies to $file"
      applies=0
    fi
  done
  if [ $applies = 0 ]; then
    failed=$((failed + 1))
    continue
  fi
  touch src/lib.rs runtime/src/lib.rs
  if ! cargo build --release --quiet 2>"$work/build.log"; then
    echo "FAILED  $name ($method): does not build"; tail -5 "$work/build.log"
    failed=$((failed + 1))
    continue
  fi
  make_planted() {
    "$built/paragon-cc" -O2 -fparagon-threshold=1 -fparagon-checked-threads c-tests/planted/planted.c "$work/reference.o" -o "$work/planted"
  }
  wrong=0
  if ! make_planted >"$work/build.log" 2>&1; then
    echo "FAILED  $name ($method): the program does not build"; tail -5 "$work/build.log"
    failed=$((failed + 1))
    continue
  fi
  if [ -n "${KEEP:-}" ]; then
    kept="$KEEP/$(echo "$name" | tr ' ' '-')@$(echo "$method" | tr ' ' '-')"
    mkdir -p "$kept"
    cp "$work/planted" "$built/libparagon_rt.so" "$kept"
    strip --strip-debug "$kept/libparagon_rt.so"
  fi
  for kind in waw raw war mixed-width; do
    rm -f "$work/trace.json"
    guesses=auto
    case $method in *" "*) guesses=${method#* } ;; esac
    PARAGON_DEVICE=threads PARAGON_THREADS=4 PARAGON_MEMORY=separate PARAGON_LOG=${method% *} PARAGON_RACE=device PARAGON_GUESSES=$guesses \
      PARAGON_MONITOR=off PARAGON_TRACE=$work/trace.json \
      "$work/planted" --runs "$runs" --kind "$kind" --seed 7 >"$work/out.log" 2>&1 || wrong=1
    detected=$(grep '"function":"indirect' "$work/trace.json" | grep -c '"fail":\["')
    # To stamps only what an earlier iteration has stored is a conflict.
    case "$method $kind" in
      "stamp raw" | "stamp "*" raw") [ "$detected" = "$runs" ] || wrong=1 ;;
      "stamp "*) [ "$detected" = 0 ] || wrong=1 ;;
      *) [ "$detected" = "$runs" ] || wrong=1 ;;
    esac
    # Two writers refute a guess, every time.
    refuted=$(grep '"function":"indirect' "$work/trace.json" | grep -c '"guess":"refuted"')
    case "$method $kind" in
      "stamp bits waw" | "stamp bits mixed-width" | "stamp numbers waw" | "stamp numbers mixed-width") [ "$refuted" = "$runs" ] || wrong=1 ;;
    esac
  done
  if { [ -z "$expression" ] && [ $wrong = 0 ]; } || { [ -n "$expression" ] && [ $wrong = 1 ]; }; then
    echo "ok      $name ($method): $([ $wrong = 1 ] && echo 'noticed' || echo 'passes')"
    passed=$((passed + 1))
  else
    echo "FAILED  $name ($method): $([ $wrong = 1 ] && echo 'the unchanged sources fail' || echo 'NOT noticed')"
    failed=$((failed + 1))
  fi
done <<<"$mutations"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
