#!/usr/bin/env bash
# Does the planted-conflict test notice when a check is missing?
#
# For each mutation below, the check that it names is taken out of a copy of the sources, the copy is built, and the
# planted-conflict program is run with the log method that the check belongs to. The mutation is caught if that program
# then ends with a wrong result. The unchanged sources must pass. Prints one line per mutation and closes with
# "N passed, N failed". Takes some minutes, because every mutation is a build; `make mutations` runs it. With KEEP set to a
# folder, each build is left there, for benches/gpu.sh to do the same on a GPU.
set -u -o pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=${RUNS:-200}

# name | log method | file | sed expression
header=runtime/include/paragon_body.h
mutations="
nothing|atomic|$header|
nothing|reduction|$header|
no write-write check on the spot|atomic|$header|s/c->fail |= PG_FAIL_WAW;/;/
writes not counted|reduction|$header|s/c->writes++;/;/
reads not logged|atomic|$header|s/^    if (logged \&\& __PG_LOG_METHOD/    if (0 \&\& __PG_LOG_METHOD/
reads not logged|reduction|$header|s/^    if (logged \&\& __PG_LOG_METHOD/    if (0 \&\& __PG_LOG_METHOD/
thread instead of iteration in the log|atomic|$header|s/c->iteration = (__pg_u32)k + 1;/c->iteration = 1;/
thread instead of iteration in the log|reduction|$header|s/c->iteration = (__pg_u32)k + 1;/c->iteration = 1;/
"
mkdir "$work/copy"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$work/copy")
cd "$work/copy" || exit 1
export CARGO_TARGET_DIR=$root/target/mutations
built=$CARGO_TARGET_DIR/release
cc -O2 -c c-tests/planted/reference.c -o "$work/reference.o"

passed=0 failed=0
while IFS='|' read -r name method file expression; do
  [ -n "$name" ] || continue
  cp "$root/$file" "$file"
  if [ -n "$expression" ]; then
    sed -i "$expression" "$file"
    if cmp -s "$root/$file" "$file"; then
      echo "FAILED  $name ($method): the mutation no longer applies to $file"
      failed=$((failed + 1))
      continue
    fi
  fi
  touch src/lib.rs runtime/src/lib.rs
  if ! cargo build --release --quiet 2>"$work/build.log"; then
    echo "FAILED  $name ($method): does not build"; tail -5 "$work/build.log"
    failed=$((failed + 1))
    continue
  fi
  make_planted() {
    "$built/paragon-cc" -O2 -fparagon-threshold=1 c-tests/planted/planted.c "$work/reference.o" -o "$work/planted"
  }
  wrong=0
  if ! make_planted >"$work/build.log" 2>&1; then
    echo "FAILED  $name ($method): the program does not build"; tail -5 "$work/build.log"
    failed=$((failed + 1))
    continue
  fi
  if [ -n "${KEEP:-}" ]; then
    kept="$KEEP/$(echo "$name" | tr ' ' '-')@$method"
    mkdir -p "$kept"
    cp "$work/planted" "$built/libparagon_rt.so" "$kept"
    strip --strip-debug "$kept/libparagon_rt.so"
  fi
  for kind in waw raw war mixed-width; do
    PARAGON_DEVICE=threads PARAGON_THREADS=4 PARAGON_MEMORY=separate PARAGON_LOG=$method PARAGON_RACE=device \
      PARAGON_MONITOR=off "$work/planted" --runs "$runs" --kind "$kind" --seed 7 >"$work/out.log" 2>&1 || wrong=1
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
