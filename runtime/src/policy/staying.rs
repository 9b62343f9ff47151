//! Whether arrays are to stay on the GPU behind loops (`memory::coherence`): decided for all loops together, because one that runs elsewhere, in the same time loop, has
//! everything brought home.
//!
//! Nobody can tell beforehand what the program does between two loops. So it is tried, once so much time has passed that what a trial may lose is a small part of it, or at once where
//! it has saved many times as much in an earlier run; and
//! goes on as long as loops, with all that comes back in between, take less than the fastest way that was measured before. Loops that nobody waits for take no time at first, and
//! somebody waits for them later; so what they would have taken counts once they are known to be over.

use crate::speculation::cmt::MOST_FOLLOWING;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// So small a part of the time that has passed may be lost, with bringing arrays home.
const LOST: f64 = 0.02;
/// And so small a part of what an earlier run has saved.
const RISKED: f64 = 0.02;
/// Faster by so much, or arrays don't stay: what the program itself waits for isn't all measured.
const MARGIN: f64 = 0.9;
/// How often arrays are moved there and back at least, before it can be seen that it does not pay.
const AT_LEAST: f64 = 2.5;
/// The same where the program is hardly ever outside of its loops: it has no time to touch much of what they store, so that moving arrays in, with some faults, is all there is.
const AT_LEAST_INSIDE: f64 = 1.6;
/// Such a part of the time are loops under way there.
const INSIDE: f64 = 0.9;
/// Entries whose kernels were all there, before a trial begins: a kernel that has yet to be compiled would be waited for.
const CALM: u32 = 32;
/// The same where an earlier run has had them: they need not be compiled again.
const CALM_AGAIN: u32 = 4;
/// The first entries of a trial, which move arrays to the GPU.
const MOVING: u32 = 32;
/// Entries that are judged together, at least ...
const WINDOW: u32 = 32;
/// ... and nanoseconds that they would have taken.
const WINDOW_NS: f64 = 5_000_000.0;
/// What it takes to hand over a loop that nobody waits for, in nanoseconds: so much of a trial is no loss as long as it isn't known what the loop would have taken.
const HANDED_NS: f64 = 20_000.0;
/// How much longer is waited after each trial that has come to nothing.
const LONGER: f64 = 4.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    #[default]
    Off,
    /// Arrays move in.
    Moving,
    /// It is being found out whether that pays, or whether it still does.
    On,
}

/// What an entry is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// It runs where it pays otherwise.
    Elsewhere,
    /// The same; meanwhile its kernel is to be compiled.
    Prepare,
    /// Its arrays stay on the GPU.
    Stay,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Staying {
    mode: Mode,
    /// Loops whose kernels were asked for.
    prepared: HashSet<usize>,
    calm: u32,
    /// When the first of those began, and the nanoseconds that all of them but the last take.
    calm_since: Duration,
    calm_ns: f64,
    /// Nanoseconds that it takes to move the arrays of a loop there and back, of which bringing them home is a half.
    moving: f64,
    entries: u32,
    /// Nanoseconds that the entries of a window would have taken, and those that they have.
    expected: f64,
    actual: f64,
    /// What a trial has lost so far.
    lost: f64,
    /// How many times as much time must have passed as for the first trial.
    patience: f64,
    /// Nanoseconds that an earlier run has saved, as far as nothing speaks against it; `None`: nobody has said.
    earlier: Option<f64>,
    /// Nanoseconds that were saved so far, or lost; `None`: nothing has stayed.
    saved: Option<f64>,
    /// What loops would have taken that may still be on their way.
    under_way: VecDeque<f64>,
}

impl Default for Staying {
    fn default() -> Staying {
        Staying {
            mode: Mode::Off,
            prepared: HashSet::new(),
            calm: 0,
            calm_since: Duration::ZERO,
            calm_ns: 0.0,
            moving: 0.0,
            entries: 0,
            expected: 0.0,
            actual: 0.0,
            lost: 0.0,
            patience: 1.0,
            earlier: None,
            saved: None,
            under_way: VecDeque::new(),
        }
    }
}

impl Staying {
    /// About an entry of a loop whose arrays may stay. `moving`: nanoseconds that it takes to move them there and back; `expected`: those that the fastest way takes without; `passed`:
    /// since the first entry; `is_busy`: the GPU has something to do, or to compile.
    pub fn advise(
        &mut self,
        the_loop: usize,
        moving: f64,
        expected: f64,
        passed: Duration,
        is_busy: bool,
    ) -> Advice {
        let may_lose = self.may_lose(passed);
        if self.mode == Mode::Off && AT_LEAST_INSIDE * moving > may_lose {
            // Who runs elsewhere has everything brought home, so nobody else begins without it.
            self.calm = 0;
            return Advice::Elsewhere;
        }
        if is_busy {
            self.calm = 0;
            return Advice::Elsewhere;
        }
        if self.prepared.insert(the_loop) {
            self.calm = 0;
            return Advice::Prepare;
        }
        if self.mode == Mode::Off && self.calm == 0 {
            (self.calm_since, self.calm_ns, self.moving) = (passed, 0.0, 0.0);
        }
        // What comes to a trial that others have begun may be much more than that can lose.
        if self.mode == Mode::Moving && AT_LEAST_INSIDE * moving > may_lose {
            return Advice::Elsewhere;
        }
        self.moving = self.moving.max(moving);
        if self.mode != Mode::Off {
            return Advice::Stay;
        }
        self.calm += 1;
        let is_inside = self.calm_ns > INSIDE * passed.saturating_sub(self.calm_since).as_nanos() as f64;
        self.calm_ns += expected;
        let at_least = if is_inside { AT_LEAST_INSIDE } else { AT_LEAST };
        let calm = if self.risked() > AT_LEAST * moving { CALM_AGAIN } else { CALM };
        if self.calm < calm || at_least * moving > may_lose {
            return Advice::Elsewhere;
        }
        self.turn(Mode::Moving, self.patience);
        Advice::Stay
    }

    /// Begins with a mode.
    fn turn(&mut self, mode: Mode, patience: f64) {
        let prepared = std::mem::take(&mut self.prepared);
        let (earlier, saved, moving) = (self.earlier, self.saved, self.moving);
        *self = Staying { mode, prepared, patience, moving, earlier, saved, ..Staying::default() };
    }

    /// Whether a trial begins with the entry that was advised last.
    pub fn begins(&self) -> bool {
        self.mode == Mode::Moving && self.entries == 0
    }

    /// Nothing can stay at present, as is known before anything has moved.
    pub fn give_up(&mut self) {
        self.turn(Mode::Off, self.patience * LONGER);
    }

    /// What may be lost for what an earlier run has saved.
    fn risked(&self) -> f64 {
        RISKED * self.earlier.unwrap_or(0.0)
    }

    /// What a trial may lose.
    fn may_lose(&self, passed: Duration) -> f64 {
        LOST * passed.as_nanos() as f64 / self.patience + self.risked()
    }

    /// Whether it isn't known yet what an earlier run has saved.
    pub fn asks_for_earlier(&self) -> bool {
        self.earlier.is_none()
    }

    /// An earlier run has saved so many nanoseconds, or none.
    pub fn know_earlier(&mut self, saved: f64) {
        self.earlier = Some(saved);
    }

    /// Nanoseconds that were saved so far, for later runs. `None`: it wasn't tried.
    pub fn saved(&self) -> Option<f64> {
        self.saved.map(|saved| saved.max(0.0))
    }

    /// The GPU is known to be done with all loops so far.
    pub fn has_answered(&mut self) {
        let expected = self.under_way.drain(..).sum();
        self.would_have_taken(expected);
    }

    /// Loops that are over would have taken so long.
    fn would_have_taken(&mut self, expected: f64) {
        self.expected += expected;
        self.lost -= expected;
        *self.saved.get_or_insert(0.0) += expected;
    }

    /// It has taken so long until everything was home, when arrays didn't stay any more.
    pub fn took_home(&mut self, actual: f64) {
        *self.saved.get_or_insert(0.0) -= actual;
    }

    /// An entry whose arrays have stayed took so long, with what had to come back since the last one; the fastest way without would have taken `expected`. `follows`: nobody has
    /// waited for it. False: from now on arrays don't stay any more.
    pub fn took(&mut self, expected: f64, actual: f64, passed: Duration, follows: bool) -> bool {
        self.entries += 1;
        self.actual += actual;
        self.lost += actual;
        *self.saved.get_or_insert(0.0) -= actual;
        self.under_way.push_back(expected);
        // Where so many others are waiting it is done, or one of those that the device has begun behind each other, which take it milliseconds in all (`Device::run_behind`).
        if !follows {
            self.has_answered();
        } else if self.under_way.len() > MOST_FOLLOWING
            && let Some(first) = self.under_way.pop_front()
        {
            self.would_have_taken(first);
        }
        let handed = HANDED_NS * self.under_way.len() as f64;
        let home = self.moving / 2.0;
        let has_lost = self.lost + home > LOST * passed.as_nanos() as f64 + self.risked() + handed;
        let is_due = match self.mode {
            Mode::Off => return false,
            Mode::Moving => self.entries >= MOVING,
            Mode::On => self.entries >= WINDOW && self.expected >= WINDOW_NS,
        };
        // Who has lost too much, but gains by now, makes good for it.
        let has_lost = has_lost && actual > MARGIN * expected;
        let pays = self.mode == Mode::Moving || self.actual < MARGIN * self.expected;
        if has_lost || is_due && !pays {
            // It isn't as it was then.
            self.earlier = Some(0.0);
            self.turn(Mode::Off, self.patience * LONGER);
            return false;
        }
        if is_due {
            // What moving in has cost is paid for by what follows, or was within what may be lost.
            let lost = if self.mode == Mode::On { self.lost.min(0.0) } else { self.lost };
            (self.mode, self.entries, self.expected, self.actual, self.lost) = (Mode::On, 0, 0.0, 0.0, lost);
        }
        true
    }

    /// Whether arrays stay at present.
    #[cfg(test)]
    fn is_on(&self) -> bool {
        self.mode != Mode::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Enters a loop so often, which takes `each`; what stays takes `actual`. How often it has stayed.
    fn enter(
        staying: &mut Staying,
        passed: &mut Duration,
        times: u32,
        each: f64,
        actual: impl Fn(u32) -> f64,
    ) -> u32 {
        let mut stayed = 0;
        for _ in 0..times {
            match staying.advise(7, 4.0 * MS, each, *passed, false) {
                Advice::Stay => {
                    staying.took(each, actual(stayed), *passed, false);
                    *passed += Duration::from_nanos(actual(stayed) as u64);
                    stayed += 1;
                }
                _ => *passed += Duration::from_nanos(each as u64),
            }
        }
        stayed
    }

    #[test]
    fn what_pays_goes_on_and_nothing_is_tried_early() {
        let (mut staying, mut passed) = (Staying::default(), Duration::ZERO);
        assert_eq!(enter(&mut staying, &mut passed, 300, MS, |_| 0.1 * MS), 0);
        assert!(!staying.is_on());
        let stayed = enter(&mut staying, &mut passed, 5000, MS, |n| if n < 2 { 2.0 * MS } else { 0.1 * MS });
        assert!(staying.is_on() && stayed > 4000, "{stayed}");
    }

    /// Of two programs with the same loop, which takes a half of the time of one of them.
    #[test]
    fn a_program_that_is_hardly_outside_of_its_loops_is_tried_earlier() {
        let began = [0.0, MS].map(|outside| {
            let (mut staying, mut passed) = (Staying::default(), Duration::ZERO);
            while enter(&mut staying, &mut passed, 1, MS, |_| 0.1 * MS) == 0 {
                passed += Duration::from_nanos(outside as u64);
            }
            passed
        });
        let least = |times: f64| Duration::from_nanos((times * 4.0 * MS / LOST) as u64);
        let [inside, outside] = began;
        assert!(inside >= least(AT_LEAST_INSIDE) && outside >= least(AT_LEAST), "{began:?}");
        let calm = Duration::from_millis(2 * u64::from(CALM));
        assert!(inside < least(AT_LEAST_INSIDE) + calm && outside < least(AT_LEAST) + calm, "{began:?}");
    }

    /// It would have stayed within its limit, but what has come to the GPU has to come home, too.
    #[test]
    fn what_it_takes_home_is_counted_before_it_is_lost() {
        let mut staying = Staying::default();
        let mut passed = Duration::from_millis(500);
        while staying.advise(7, 4.0 * MS, MS, passed, false) != Advice::Stay {
            passed += Duration::from_millis(1);
        }
        let limit = LOST * passed.as_nanos() as f64;
        assert!(staying.took(MS, limit - 2.0 * MS, passed, false));
        // Whoever gains goes on.
        assert!(staying.clone().took(4.0 * MS, 3.0 * MS, passed, false));
        assert!(!staying.took(MS, 3.0 * MS, passed, false));
    }

    /// What does not pay first has a thousand times as much to bring home as what pays behind it.
    #[test]
    fn large_arrays_of_before_cost_nothing_any_more() {
        let mut staying = Staying::default();
        let mut passed = Duration::from_secs(100);
        while staying.advise(7, 1000.0 * MS, MS, passed, false) != Advice::Stay {
            passed += Duration::from_millis(1);
        }
        assert!(!staying.took(MS, 2000.0 * MS, passed, false));
        // As much time has passed as a trial of something small needs.
        passed += Duration::from_secs(10);
        assert!(enter(&mut staying, &mut passed, 200, MS, |n| if n < 2 { 2.0 * MS } else { 0.1 * MS }) > 100);
    }

    /// A loop of large arrays doesn't join what one of small arrays has begun.
    #[test]
    fn a_trial_is_as_large_as_it_was_begun() {
        let mut staying = Staying::default();
        let mut passed = Duration::from_millis(500);
        while staying.advise(7, 1.0 * MS, MS, passed, false) != Advice::Stay {
            passed += Duration::from_millis(1);
        }
        assert!(staying.begins() && staying.took(MS, MS, passed, false) && !staying.begins());
        assert_eq!(staying.advise(8, 1000.0 * MS, MS, passed, false), Advice::Prepare);
        assert_eq!(staying.advise(8, 1000.0 * MS, MS, passed, false), Advice::Elsewhere);
        assert_eq!(staying.advise(7, 1.0 * MS, MS, passed, false), Advice::Stay);
        // By turns they wait for the larger one.
        let mut by_turns = Staying::default();
        for _ in 0..500 {
            for (number, moving) in [(7, 1.0 * MS), (8, 1000.0 * MS)] {
                assert_ne!(by_turns.advise(number, moving, MS, passed, false), Advice::Stay);
            }
        }
        // Where nothing can stay, the next trial comes as late as behind one that has failed.
        staying.give_up();
        assert!(!staying.is_on() && enter(&mut staying, &mut passed, 300, MS, |_| 0.1 * MS) == 0);
    }

    #[test]
    fn what_does_not_pay_loses_little() {
        for actual in [1.0, 3.0, 30.0] {
            let (mut staying, mut passed) = (Staying::default(), Duration::ZERO);
            let stayed = enter(&mut staying, &mut passed, 50_000, MS, |_| actual * MS);
            let lost = f64::from(stayed) * (actual - 1.0) * MS;
            assert!(stayed != 0 && lost < 0.02 * passed.as_nanos() as f64, "{actual} {stayed} {lost}");
            assert!(f64::from(stayed) < 0.02 * 50_000.0, "{actual} {stayed}");
        }
    }

    #[test]
    fn what_pays_no_more_ends() {
        let (mut staying, mut passed) = (Staying::default(), Duration::from_secs(10));
        enter(&mut staying, &mut passed, 1000, MS, |_| 0.1 * MS);
        assert!(staying.is_on());
        let stayed = enter(&mut staying, &mut passed, 1000, MS, |_| 2.0 * MS);
        assert!(!staying.is_on() && stayed < 200, "{stayed}");
    }

    #[test]
    fn what_has_paid_in_an_earlier_run_is_tried_at_once() {
        let steps = |staying: &mut Staying| {
            let mut passed = Duration::from_millis(50);
            enter(staying, &mut passed, 20, 10.0 * MS, |n| if n < 2 { 20.0 * MS } else { 0.1 * MS })
        };
        let mut first = Staying::default();
        assert!(first.asks_for_earlier() && first.saved().is_none());
        assert_eq!(steps(&mut first), 0);
        let mut passed = Duration::from_secs(2);
        enter(&mut first, &mut passed, 200, 10.0 * MS, |_| 0.1 * MS);
        let saved = first.saved().unwrap();
        assert!((1000.0 * MS..2000.0 * MS).contains(&saved), "{saved}");
        let mut second = Staying::default();
        second.know_earlier(saved);
        assert!(!second.asks_for_earlier());
        assert_eq!(steps(&mut second), 20 - CALM_AGAIN);
        // It has saved too little for what it may lose.
        let mut third = Staying::default();
        third.know_earlier(AT_LEAST * 4.0 * MS / RISKED / 2.0);
        assert_eq!(steps(&mut third), 0);
    }

    #[test]
    fn what_pays_no_more_in_a_later_run_loses_little_and_is_said() {
        let mut staying = Staying::default();
        staying.know_earlier(1000.0 * MS);
        let mut passed = Duration::from_millis(50);
        let stayed = enter(&mut staying, &mut passed, 100, 10.0 * MS, |_| 15.0 * MS);
        let lost = f64::from(stayed) * 5.0;
        assert!(stayed != 0 && lost < RISKED * 1000.0 + 8.0, "{stayed}");
        assert!(!staying.is_on() && staying.saved() == Some(0.0));
        // And then not before as much time has passed as without.
        assert_eq!(enter(&mut staying, &mut passed, 40, 10.0 * MS, |_| 0.1 * MS), 0);
    }

    /// Entries return at once until so many are on their way, and then each waits for one that takes twice as long as it would have taken elsewhere.
    #[test]
    fn what_is_on_its_way_has_saved_nothing_yet() {
        let run = |entries: u32| {
            let mut staying = Staying::default();
            staying.know_earlier(1000.0 * MS);
            let mut passed = Duration::from_millis(50);
            let mut stayed = 0;
            for _ in 0..entries {
                let is_staying = staying.advise(7, 4.0 * MS, 5.0 * MS, passed, false) == Advice::Stay;
                let took = match stayed < MOST_FOLLOWING {
                    _ if !is_staying => 5.0 * MS,
                    true => 0.05 * MS,
                    false => 10.0 * MS,
                };
                passed += Duration::from_nanos(took as u64);
                if is_staying {
                    stayed += 1;
                    staying.took(5.0 * MS, took, passed, true);
                }
            }
            (stayed, staying.saved(), staying.is_on())
        };
        assert_eq!(run(39), (39 - CALM_AGAIN as usize, Some(0.0), true));
        let (stayed, saved, is_on) = run(200);
        assert!(stayed < MOST_FOLLOWING + 8 && saved == Some(0.0) && !is_on, "{stayed}");
        // Once somebody has waited for them they count.
        let mut staying = Staying::default();
        staying.took(5.0 * MS, 1.0 * MS, Duration::from_secs(1), true);
        assert_eq!(staying.saved(), Some(0.0));
        staying.has_answered();
        assert_eq!(staying.saved(), Some(4.0 * MS));
        staying.took_home(3.0 * MS);
        assert_eq!(staying.saved(), Some(1.0 * MS));
    }

    #[test]
    fn kernels_come_first() {
        let (mut staying, passed) = (Staying::default(), Duration::from_secs(100));
        assert_eq!(staying.advise(1, MS, MS, passed, false), Advice::Prepare);
        for _ in 0..100 {
            assert_eq!(staying.advise(1, MS, MS, passed, true), Advice::Elsewhere);
        }
        for _ in 1..CALM {
            assert_eq!(staying.advise(1, MS, MS, passed, false), Advice::Elsewhere);
        }
        assert_eq!(staying.advise(2, MS, MS, passed, false), Advice::Prepare);
        let mut calm = 0;
        while staying.advise(1 + u64::from(calm % 2 == 0) as usize, MS, MS, passed, false) != Advice::Stay {
            calm += 1;
        }
        assert_eq!(calm + 1, CALM);
        // Another one, later.
        assert_eq!(staying.advise(3, MS, MS, passed, false), Advice::Prepare);
        assert_eq!(staying.advise(3, MS, MS, passed, false), Advice::Stay);
    }
}
