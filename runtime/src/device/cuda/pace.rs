//! How much of a loop one launch does. A launch of a tenth of a second would freeze a display that hangs on the same GPU, and a
//! loop that is no longer wanted would hold the GPU as long; so long loops are carried out in portions.
//!
//! The unit is a *wave*: as many iterations as the GPU has threads for at once. A kernel that nobody has timed yet begins with one,
//! and goes on with a multiple of what is known. Launches are queued until together they would take [`WANTED_NS`], so that a kernel
//! that is known pays nothing for it. What iterations themselves take is not bounded here: whoever waits tells the kernel to stop.
//!
//! A second portion costs 20 to 30 microseconds: data that lies in L1 is loaded anew, processors idle at the end of the first one, and the host
//! takes its time for the launch. So a kernel that nobody has timed isn't unknown where another one of the loop has been timed that does
//! the same and more ([`Pace::of_part`]), nor where something is known of how many turns its iterations have
//! ([`Pace::by_turns`]).

/// What launches that nobody has waited for may take together, in nanoseconds. Several times less than the longest that a launch may
/// take: the next iterations may have more to do.
pub const WANTED_NS: f64 = 20e6;
/// The next portion may be so many times what has been timed.
const GROWTH: f64 = 16.0;
/// What is expected of a kernel by what something else has taken may be so many times too little: it has fewer registers, or fewer
/// threads at work.
const DOUBT: f64 = 4.0;
/// Nanoseconds that an operation takes in a row by itself, where loads are some of them. Lanes wait for many loads at once, so what is measured is a
/// fiftieth of what follows from it (`docs/measurements/2026-11-26-rows-6.md`).
const OPERATION_NS: f64 = 50.0;
/// Turns that compilers take each inner loop for when they estimate an iteration's operations (`loops::access::inner_loops`).
const ESTIMATED_TURNS: f64 = 32.0;
/// Waves that may come at once where turns were counted, ...
const COUNTED: f64 = GROWTH;
/// ... and where nobody has counted them.
const SUPPOSED: f64 = 4.0;

/// What is known of a kernel's speed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Speed {
    /// Nanoseconds of a wave.
    wave_ns: f64,
    /// Waves in the largest portion that was timed.
    timed: f64,
}

/// The pace of one kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    speed: Option<Speed>,
    /// Waves that have been launched since the last wait.
    queued: f64,
    /// Places of a wave, at the last launch.
    wave: f64,
    /// Nanoseconds of a wave in the slowest portion since [`Pace::begins`].
    slowest_ns: f64,
}

impl Pace {
    /// What is expected of a kernel that does a part of what this one does for the same places, where one of its waves has so many.
    pub fn of_part(&self, wave: f64) -> Option<Pace> {
        let known = self.speed.filter(|_| self.wave > 0.0)?;
        let waves = (wave / self.wave).max(1.0);
        let speed = Speed { wave_ns: DOUBT * known.wave_ns * waves, timed: (known.timed / waves).max(1.0) };
        Some(Pace { speed: Some(speed), wave, ..Pace::default() })
    }

    /// What is expected of a kernel by the turns of its longest iteration, and by the operations that the compiler has estimated for one. What turns take that
    /// nobody has counted isn't known, so at most as much comes at once as would behind a first wave.
    pub fn by_turns(longest: u64, are_counted: bool, operations: u64) -> Pace {
        let of_turn = (operations as f64 / ESTIMATED_TURNS).max(1.0);
        let wave_ns = longest.max(1) as f64 * of_turn * OPERATION_NS;
        let timed = if are_counted { COUNTED } else { SUPPOSED } / GROWTH;
        Pace { speed: Some(Speed { wave_ns, timed }), ..Pace::default() }
    }

    /// Nanoseconds for a place; none where nobody has timed any.
    pub fn place_ns(&self) -> Option<f64> {
        self.speed.filter(|_| self.wave > 0.0).map(|speed| speed.wave_ns / self.wave)
    }

    /// Nanoseconds that so many places are expected to take, where a wave has so many of them; none where nobody has timed nearly as many.
    pub fn of_all(&self, places: u64, wave: f64) -> Option<f64> {
        // Less than a wave takes as long as one.
        let waves = (places as f64 / wave).max(1.0);
        let speed = self.speed.filter(|speed| waves <= speed.timed * GROWTH)?;
        Some(waves * speed.wave_ns)
    }

    /// How many of `left` (at least one) places the next launch may do, where a wave has so many; 0: those that are under way have to
    /// be waited for.
    pub fn next(&self, left: u64, wave: f64) -> u64 {
        let most = match self.speed {
            None if self.queued > 0.0 => return 0,
            None => 1.0,
            Some(speed) => {
                let room = (WANTED_NS / speed.wave_ns.max(1.0)).min(speed.timed * GROWTH) - self.queued;
                match room < 1.0 {
                    true if self.queued > 0.0 => return 0,
                    true => 1.0,
                    false => room,
                }
            }
        };
        ((most * wave) as u64).clamp(1, left)
    }

    /// Notes a launch.
    pub fn launched(&mut self, places: u64, wave: f64) {
        // Less than a wave takes as long as one.
        self.queued += (places as f64 / wave).max(1.0);
        self.wave = wave;
    }

    /// Notes that everything launched has ended, and that it took so many nanoseconds.
    pub fn waited(&mut self, ns: f64) {
        let measured = Speed { wave_ns: ns / self.queued.max(1.0), timed: self.queued.max(1.0) };
        self.slowest_ns = self.slowest_ns.max(measured.wave_ns);
        self.speed = match self.speed {
            // A small portion says little of a large one, unless it is slower.
            Some(known) if measured.timed * GROWTH < known.timed && measured.wave_ns < known.wave_ns => {
                Some(known)
            }
            Some(known) => Some(Speed { timed: known.timed.max(measured.timed), ..measured }),
            None => Some(measured),
        };
        self.queued = 0.0;
    }

    /// All iterations come next, from the first one on.
    pub fn begins(&mut self) {
        self.slowest_ns = 0.0;
    }

    /// They are over, and those that take longest came first: what was timed last says nothing of how the next time begins.
    pub fn ends_with_the_shortest(&mut self) {
        if let Some(speed) = &mut self.speed {
            speed.wave_ns = speed.wave_ns.max(self.slowest_ns);
        }
    }

    /// Notes that what was launched took so long that it was stopped, or that what was timed says nothing any more: the next time begins carefully.
    pub fn stopped(&mut self) {
        *self = Pace::default();
    }

    /// Whether anything is under way.
    pub fn is_waited_for(&self) -> bool {
        self.queued == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Carries out `n` places with so many nanoseconds for each wave, and says how long each time until a wait was, in waves.
    fn run(pace: &mut Pace, n: u64, wave: u64, wave_ns: f64) -> Vec<f64> {
        let (mut at, mut waits) = (0, Vec::new());
        while at < n || !pace.is_waited_for() {
            let places = if at < n { pace.next(n - at, wave as f64) } else { 0 };
            if places == 0 {
                waits.push(pace.queued);
                let ns = pace.queued * wave_ns;
                assert!(ns <= WANTED_NS.max(wave_ns) * 1.001, "{ns}");
                pace.waited(ns);
                continue;
            }
            assert!(places <= n - at);
            pace.launched(places, wave as f64);
            at += places;
        }
        waits
    }

    #[test]
    fn unknown_kernels_begin_with_a_wave_and_grow() {
        let mut pace = Pace::default();
        assert_eq!(run(&mut pace, 10_000, 10, 1000.0), [1.0, 16.0, 256.0, 727.0]);
        // It is known now.
        assert_eq!(run(&mut pace, 10_000, 10, 1000.0), [1000.0]);
        assert_eq!(run(&mut pace, 5, 10, 1000.0), [1.0]);
        assert_eq!(run(&mut pace, 10_000, 10, 1000.0), [1000.0]);
    }

    #[test]
    fn what_does_a_part_is_expected_to_take_no_longer() {
        // Two microseconds for each wave of ten places.
        let mut whole = Pace::default();
        run(&mut whole, 1000, 10, 2000.0);
        assert_eq!(whole.place_ns(), Some(200.0));
        let mut part = whole.of_part(10.0).unwrap();
        assert_eq!(run(&mut part, 1000, 10, 1000.0), [100.0]);
        // Where a wave has twice as many places, it may take twice as long.
        let part = whole.of_part(20.0).unwrap();
        assert_eq!(part.place_ns(), Some(4.0 * 200.0));
        // All together: no less than a wave, and nothing where only a small part has been timed.
        assert_eq!([5, 1000].map(|places| whole.of_all(places, 10.0)), [Some(2e3), Some(2e5)]);
        assert_eq!(whole.of_all(100_000_000, 10.0), None);
        assert_eq!(Pace::default().of_all(1, 10.0), None);
        // A part of what is slow: as slow, or slower. Three milliseconds, of which four times as many would be too many.
        let mut slow = Pace::default();
        run(&mut slow, 100, 10, 3e6);
        assert_eq!(slow.next(100, 10.0), 66);
        assert_eq!(slow.of_part(10.0).unwrap().next(100, 10.0), 16);
        // Nothing follows from what has not been timed, or was stopped.
        slow.stopped();
        assert!(slow.of_part(10.0).is_none() && Pace::default().of_part(10.0).is_none());
    }

    #[test]
    fn counted_turns_spare_a_first_wave() {
        // Four waves are one launch, which is fifty times as fast as that.
        let counted = |longest| Pace::by_turns(longest, true, 1415);
        assert_eq!(run(&mut counted(656), 40, 10, 20e3), [4.0]);
        // Twenty milliseconds, or sixteen waves, are the most where nobody has timed anything.
        assert_eq!(counted(656).next(1000, 10.0), 137);
        assert_eq!(counted(100).next(1000, 10.0), 160);
        assert_eq!(counted(100_000).next(1000, 10.0), 10);
        // Where turns weren't counted, four waves.
        assert_eq!(Pace::by_turns(100, false, 1415).next(1000, 10.0), 40);
        // What is measured counts from then on, and what was stopped begins with a wave.
        let mut pace = counted(656);
        assert_eq!(run(&mut pace, 80, 10, 2e6), [8.0]);
        assert_eq!(pace.place_ns(), Some(2e5));
        pace.stopped();
        assert_eq!(pace.next(80, 10.0), 10);
    }

    #[test]
    fn slow_kernels_are_waited_for() {
        // Four milliseconds for each wave: five at a time.
        let mut pace = Pace::default();
        assert_eq!(run(&mut pace, 120, 10, 4e6), [1.0, 5.0, 5.0, 1.0]);
        // Half a second for each: one at a time; who waits will stop it.
        let mut pace = Pace::default();
        assert_eq!(run(&mut pace, 30, 10, 5e8), [1.0, 1.0, 1.0]);
        pace.stopped();
        assert_eq!(pace.next(30, 10.0), 10);
    }

    #[test]
    fn what_begins_with_the_longest_begins_so_the_next_time() {
        // Eighty milliseconds in eight waves, the slowest first.
        let waves = [50e6, 15e6, 6e6, 4e6, 2e6, 1e6, 1e6, 0.5e6];
        // The longest that was waited for.
        let longest = |pace: &mut Pace| {
            let (mut at, mut queued, mut longest) = (0, 0.0, 0f64);
            pace.begins();
            while at < 80 || !pace.is_waited_for() {
                let places = if at < 80 { pace.next(80 - at, 10.0) } else { 0 };
                if places == 0 {
                    longest = longest.max(queued);
                    pace.waited(std::mem::take(&mut queued));
                    continue;
                }
                queued += (at..at + places).map(|place| waves[place as usize / 10] / 10.0).sum::<f64>();
                pace.launched(places, 10.0);
                at += places;
            }
            pace.ends_with_the_shortest();
            longest
        };
        let mut pace = Pace::default();
        for _ in 0..4 {
            assert!((longest(&mut pace) - 50e6).abs() < 1.0);
        }
        // What was slow once isn't so for ever.
        pace.begins();
        run(&mut pace, 80, 10, 1000.0);
        pace.ends_with_the_shortest();
        assert_eq!(run(&mut pace, 80, 10, 1000.0), [8.0]);
    }

    #[test]
    fn many_small_launches_are_queued() {
        let mut pace = Pace::default();
        run(&mut pace, 1000, 10, 5000.0);
        let mut queued = 0;
        while pace.next(3, 10.0) == 3 {
            pace.launched(3, 10.0);
            queued += 1;
        }
        assert!((100..=1344).contains(&queued), "{queued}");
    }
}
