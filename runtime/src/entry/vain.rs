//! What entries take that come to nothing: the loop runs as it stood, and all that was looked at was looked at in vain. Nests of a hundred accesses take some microseconds to look at, and may be
//! entered at every step of a program's, some thousand times a second, fifty of them; each for itself is not worth a thought, and together they make the program twice as slow. So all loops of
//! a process share an account: once it is overdrawn, those that came to nothing the last time are not looked at, until so much time has passed that it isn't any more. Those that come again
//! and again meanwhile, sooner than anything could have been gained, have their guards told not to ask any more, with so few iterations or at all.
//!
//! It says nothing else about whether a loop pays; that is [`crate::policy`]'s matter.

use crate::abi::Loop;
use crate::history;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What may be lost at any rate.
const FREE: Duration = Duration::from_millis(1);
/// One part in so many of all that has passed since the first entry may be lost besides.
const PARTS: u32 = 100;
/// Loops that are told apart. Others are taken for one of them, and looked at a little later than they might.
const LOOPS: usize = 1024;

/// A loop that so many entries of were refused, less than this time apart, is over too soon to be worth an entry.
const REFUSALS: u32 = 64;
const APART: Duration = Duration::from_micros(50);

/// What is known of a loop.
#[derive(Debug)]
struct Idler {
    /// Its address. Where two loops share a place, it is the last one's that came.
    whose: AtomicUsize,
    /// Whether its last entry that was looked at came to nothing.
    is_idle: AtomicBool,
    /// When that was, in nanoseconds since the first loop was entered, and how many entries were refused since then.
    since_ns: AtomicU64,
    refused: AtomicU32,
    /// The trip count that it had; 0: not known.
    trip: AtomicI64,
}

impl Idler {
    const fn new() -> Idler {
        Idler {
            whose: AtomicUsize::new(0),
            is_idle: AtomicBool::new(false),
            since_ns: AtomicU64::new(0),
            refused: AtomicU32::new(0),
            trip: AtomicI64::new(0),
        }
    }
}

/// The account of a process.
#[derive(Debug)]
pub struct Vain {
    /// When the first loop was entered.
    began: OnceLock<Instant>,
    /// Nanoseconds of entries that came to nothing.
    spent_ns: AtomicU64,
    idlers: [Idler; LOOPS],
}

impl Default for Vain {
    fn default() -> Vain {
        Vain { began: OnceLock::new(), spent_ns: AtomicU64::new(0), idlers: [const { Idler::new() }; LOOPS] }
    }
}

impl Vain {
    /// How long ago the first loop was entered.
    pub fn passed(&self) -> Duration {
        self.passed_at(Instant::now())
    }

    fn passed_at(&self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.began.get_or_init(|| now))
    }

    /// Whether more was lost than may be.
    pub fn is_overdrawn(&self) -> bool {
        self.is_overdrawn_at(Instant::now())
    }

    fn is_overdrawn_at(&self, now: Instant) -> bool {
        let spent = Duration::from_nanos(self.spent_ns.load(Ordering::Relaxed));
        spent > FREE + self.passed_at(now) / PARTS
    }

    fn idler(&self, the_loop: &Loop) -> &Idler {
        let whose = std::ptr::from_ref(the_loop) as usize;
        let idler = &self.idlers[whose / size_of::<Loop>() % LOOPS];
        if idler.whose.load(Ordering::Relaxed) != whose {
            idler.is_idle.store(false, Ordering::Relaxed);
            idler.trip.store(0, Ordering::Relaxed);
            idler.whose.store(whose, Ordering::Relaxed);
        }
        idler
    }

    /// A loop is entered. `None`: it came to nothing the last time, and the account is overdrawn.
    pub fn look_at(&self, the_loop: &Loop) -> Option<Look> {
        self.look_at_at(the_loop, Instant::now())
    }

    fn look_at_at(&self, the_loop: &Loop, now: Instant) -> Option<Look> {
        let idler = self.idler(the_loop);
        if !idler.is_idle.load(Ordering::Relaxed) || !self.is_overdrawn_at(now) {
            return Some(Look { since: now });
        }
        if idler.refused.fetch_add(1, Ordering::Relaxed) + 1 >= REFUSALS {
            let passed = self.passed_at(now).as_nanos() as u64;
            let since = idler.since_ns.swap(passed, Ordering::Relaxed);
            idler.refused.store(0, Ordering::Relaxed);
            if Duration::from_nanos(passed.saturating_sub(since)) < APART * REFUSALS {
                history::too_short(the_loop, idler.trip.load(Ordering::Relaxed));
            }
        }
        None
    }

    /// Notes the trip count of a loop that is looked at.
    pub fn saw(&self, the_loop: &Loop, trip: i64) {
        self.idler(the_loop).trip.store(trip, Ordering::Relaxed);
    }

    /// Notes how an entry ended.
    pub fn note(&self, the_loop: &Loop, look: &Look, came_to_something: bool) {
        self.note_at(the_loop, look, came_to_something, Instant::now());
    }

    fn note_at(&self, the_loop: &Loop, look: &Look, came_to_something: bool, now: Instant) {
        let idler = self.idler(the_loop);
        idler.is_idle.store(!came_to_something, Ordering::Relaxed);
        if !came_to_something {
            let took = now.saturating_duration_since(look.since);
            self.spent_ns.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
            idler.refused.store(0, Ordering::Relaxed);
            idler.since_ns.store(self.passed_at(now).as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

/// An entry that is being looked at.
#[derive(Debug)]
pub struct Look {
    since: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize};

    fn a_loop() -> Loop {
        Loop {
            threshold: AtomicI64::new(0),
            info: std::ptr::null(),
            state: AtomicUsize::new(0),
            stays: AtomicU32::new(0),
        }
    }

    #[test]
    fn who_comes_to_nothing_waits_until_the_account_is_in_balance() {
        let (vain, loops) = (Vain::default(), [a_loop(), a_loop()]);
        let [idle, other] = &loops;
        // On a clock of its own: under a checker of memory nothing takes as long as it does.
        let begun = Instant::now();
        let later = |ms| begun + Duration::from_millis(ms);
        let look = vain.look_at_at(idle, begun).expect("nothing is lost yet");
        vain.note_at(idle, &look, false, begun);
        assert!(vain.look_at_at(idle, begun).is_some(), "so little may be lost at any rate");
        vain.note_at(idle, &look, false, later(3));
        assert!(vain.is_overdrawn_at(later(3)) && vain.look_at_at(idle, later(3)).is_none());
        // Nobody knows yet of what came to nothing elsewhere.
        assert!(vain.look_at_at(other, later(3)).is_some());
        // One part in a hundred of 0.2 s is what was lost beyond the first millisecond.
        assert!(vain.is_overdrawn_at(later(190)) && !vain.is_overdrawn_at(later(210)));
    }

    #[test]
    fn guards_of_loops_that_are_over_too_soon_ask_no_more() {
        let (vain, one) = (Vain::default(), a_loop());
        vain.saw(&one, 10);
        let look = vain.look_at(&one).expect("nothing is lost yet");
        vain.note(&one, &look, false);
        vain.spent_ns.store(1 << 50, Ordering::Relaxed);
        let begun = Instant::now();
        let come = |number: u32, apart: Duration| vain.look_at_at(&one, begun + apart * number);
        // A tenth of a second each is long enough for anything.
        assert!((1..1000).all(|number| come(number, Duration::from_millis(100)).is_none()));
        assert_eq!(one.threshold.load(Ordering::Relaxed), 0);
        vain.note(&one, &look, false);
        assert!((1..REFUSALS).all(|number| come(number, Duration::from_micros(1)).is_none()));
        assert_eq!(one.threshold.load(Ordering::Relaxed), 0);
        assert!(come(REFUSALS, Duration::from_micros(1)).is_none());
        assert_eq!(one.threshold.load(Ordering::Relaxed), 20);
        // This one asks all the same.
        assert!((1..2 * REFUSALS).all(|number| come(REFUSALS + number, Duration::from_micros(1)).is_none()));
        assert_eq!(one.threshold.load(Ordering::Relaxed), i64::MAX);
    }

    #[test]
    fn who_comes_to_something_is_looked_at_at_once() {
        let (vain, one) = (Vain::default(), a_loop());
        vain.spent_ns.store(1 << 40, Ordering::Relaxed);
        let look = vain.look_at(&one).expect("the first time");
        vain.note(&one, &look, true);
        assert_eq!(vain.spent_ns.load(Ordering::Relaxed), 1 << 40);
        let look = vain.look_at(&one).expect("it came to something");
        vain.note(&one, &look, false);
        assert!(vain.look_at(&one).is_none());
    }
}
