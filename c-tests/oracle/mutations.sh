#!/usr/bin/env bash
# Does the oracle notice when the analysis forgets something?
#
# For each mutation below, one kind of dependence, one condition or one obligation is taken out of a copy of the sources, and
# the oracle (tests/oracle) is run on them: it must fail. The unchanged sources must pass. Prints one line per mutation and
# closes with "N passed, N failed". LOOPS says how many loops each gets, ONLY (a regular expression) which mutations are tried.
# It takes minutes, because each mutation is a build.
set -u -o pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name | file | sed expression
mutations='
nothing|src/analysis/pairs.rs|
stores meet stores|src/analysis/pairs.rs|s/if accesses.sites\[b\].is_store \&\& b < a {/if accesses.sites[b].is_store {/
stores meet loads|src/analysis/pairs.rs|s/if accesses.sites\[b\].is_store \&\& b < a {/if !accesses.sites[b].is_store || b < a {/
loads before stores|src/analysis/pairs.rs|s/if accesses.sites\[b\].is_store \&\& b < a {/if b < a {/
loads after stores|src/analysis/pairs.rs|s/if accesses.sites\[b\].is_store \&\& b < a {/if accesses.sites[b].is_store \&\& b < a || !accesses.sites[b].is_store \&\& b > a {/
unknown subscripts|src/analysis/pairs.rs|s/_ => Check::Logs,/_ => continue,/
ranges of pointers|runtime/src/speculation/predicate.rs|s/^    a_hi <= b_lo || b_hi <= a_lo$/    a_hi <= b_lo || b_hi <= a_lo + 8/
windows within strides|runtime/src/speculation/predicate.rs|s/if stride < reach {/if stride * 2 < reach {/
arguments of calls are read again|src/loops/inline.rs|s/ExprKind::Load(place) => is_scalar(self.unit, place).is_some(),/ExprKind::Load(_) => true,/
words that bounds are read from|runtime/src/speculation/predicate.rs|s/if site.has(flag) \&\& meet(/if site.has(flag) \&\& false \&\& meet(/
equal strides|runtime/src/speculation/predicate.rs|s/true => k != l,/true => false,/
different strides|runtime/src/speculation/predicate.rs|s/false => times > 0 ||/false => times > 1 ||/
what a test has moved|src/loops/access/secondary.rs|s/moved.map_or(0, |(_, by)| by)/moved.map_or(0, |_| 0)/
loads before stores, by numbers|runtime/src/speculation/predicate.rs|s/^    not_before == Some(false)/    not_before == Some(false) || true/
loads before stores, by isl|src/analysis/pairs.rs|s/\&\& dependence::comes_first(dims, \&y, \&x);/;/
other stores to what a snapshot has|src/analysis/pairs.rs|s/|| both.is_some_and(|(load, store)| dependence::comes_first/|| both.is_none_or(|(load, store)| true || dependence::comes_first/
what is loaded for calls|src/codegen/body/expressions.rs|s/Ok(unknown(kind, \&texts.join(", ")))/Ok(unknown(kind, "0"))/
updates of another kind|src/analysis/pairs.rs|s/if p == q \&\& accesses/if accesses/
inspections: stores after loads|runtime/src/speculation/inspector/levels.rs|s/(true, _) . (_, true) => stored.max(loaded).max(updated.level)/(true, _) | (_, true) => stored.max(updated.level)/
inspections: after stores|runtime/src/speculation/inspector/levels.rs|s/(false, false) => stored.max(updated.level)/(false, false) => updated.level/
inspections: addresses that a store changes|runtime/src/speculation/inspector/levels.rs|s%cell.stored |= PENDING%cell.stored |= 0%
marks: stores of two threads|runtime/src/speculation/inspector/marks/together.rs|s/met |= add(&mut self.stored/let _ = add(\&mut self.stored/
marks: loads of another iteration|runtime/src/speculation/inspector/marks/together.rs|s/met |= stored & (loaded | updated)/met |= stored \& updated/
marks: own stores|runtime/src/speculation/inspector/marks/marker.rs|s/Ok(cells & !own == 0)/Ok(true)/
marks: addresses that a store changes|runtime/src/speculation/inspector/marks/together.rs|s/any(|(changed, fed)| changed & fed != 0)/any(|_| false)/
marks: what is known|runtime/src/speculation/inspector/marks/together.rs|s/^        !hit$/        let _ = hit; true/
marks: known pairs that are open|runtime/src/speculation/inspector/marks/known.rs|s/open.iter().map(|(a, b)| (.a as usize, .b as usize)).chain(feeding).collect()/feeding.filter(|_| open.len() > 99).collect()/
statements that come before others|src/analysis/distribution.rs|s/first\[v\]\[u\] |= backward || together/first[v][u] |= together/
statements in one inner loop|src/analysis/distribution.rs|s/let together = mixed/let together = false \&\& mixed/
statements of two arrays|src/verdict/alternatives.rs|s/let pairs = found.conditions(&groups);/let pairs: Vec<Pair> = found.conditions(\&groups).drain(..0).collect();/
stamps: loads behind the first store|runtime/src/device/threads.rs|s/r > first || r == first/r == first/
stamps: own stores that others overwrite|runtime/src/device/threads.rs|s/(r > first || r == first \&\& first != w)/r > first/
stamps: the last store|runtime/src/speculation/cmt.rs|s/outcome.unsettled != 0/outcome.unsettled == u64::MAX/
residues|runtime/src/speculation/predicate.rs|s/shift >= a.hi - a.lo \&\& shift + (b.hi - b.lo) <= modulus/shift + (b.hi - b.lo) <= modulus/
'
mkdir "$work/copy"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$work/copy")
cd "$work/copy" || exit 1
export CARGO_TARGET_DIR=$root/target/mutations
# One file changes at a time, and what is built is used once.
export CARGO_INCREMENTAL=1 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_OPT_LEVEL=1
# What is generated for a loop is the same at each level.
export PARAGON_LEVEL=${PARAGON_LEVEL:--O0}
passed=0 failed=0
while read -r line; do
  name=${line%%|*} line=${line#*|} file=${line%%|*} expression=${line#*|}
  [ -n "$name" ] && [[ $name =~ ${ONLY:-.} ]] || continue
  sed -i "$expression" "$file"
  if [ -n "$expression" ] && cmp -s "$root/$file" "$file"; then
    echo "FAILED  $name: the mutation no longer applies to $file"
    failed=$((failed + 1))
    continue
  fi
  touch src/lib.rs runtime/src/lib.rs
  wrong=0
  if ! cargo build --release --quiet 2>"$work/log" || ! cargo test --release --test oracle --no-run --quiet 2>>"$work/log"; then
    echo "FAILED  $name: does not build"; tail -5 "$work/log"
    failed=$((failed + 1))
    cp "$root/$file" "$file"
    continue
  fi
  # What several threads do of an inspection: loops of the oracle are over before a second one has woken.
  if [[ $name == marks* ]]; then
    cargo test --release --quiet -p paragon_rt --lib inspector >"$work/log" 2>&1 || wrong=1
  fi
  if [ $wrong = 0 ]; then
    PARAGON_ORACLE=${LOOPS:-1000} cargo test --release --quiet --test oracle >"$work/log" 2>&1 || wrong=1
  fi
  cp "$root/$file" "$file"
  if { [ -z "$expression" ] && [ $wrong = 0 ]; } || { [ -n "$expression" ] && [ $wrong = 1 ]; }; then
    echo "ok      $name: $([ $wrong = 1 ] && echo "noticed ($(grep -o '[0-9]* failures' "$work/log" | head -n 1))" || echo 'passes')"
    passed=$((passed + 1))
  else
    echo "FAILED  $name: $([ $wrong = 1 ] && echo 'the unchanged sources fail' || echo 'NOT noticed')"
    failed=$((failed + 1))
  fi
done <<<"$mutations"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
