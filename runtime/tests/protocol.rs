//! The race, stop, commit and discard protocol under a model checker: `speculation/protocol.rs`, the very file that the runtime has, compiled against
//! `loom`, which runs each scenario in every order that two or three threads can have (up to so many changes from one to another where they could go on),
//! and with every value that the memory model lets a load see. Loom also notices accesses of plain memory that nothing keeps apart, threads that
//! wait for ever and what is never freed.
//!
//! The program's memory is two elements, each of which is a strip; its library is a cell that every use of the loop's code reads, and unloading writes. So
//! there is a finding where the device reads what the worker stores to, or uses code that may be unloaded.
//! `docs/measurements/2026-11-25-race.md` says what is left out.

#[allow(dead_code, unused_imports)]
#[path = "../src/speculation/protocol.rs"]
mod protocol;

use loom::cell::UnsafeCell;
use protocol::{Caller, End, Event, Rule, Seat, Side, Turn, play, sides};
use std::cell::Cell;
use sync::{Arc, AtomicBool, AtomicU32, Ordering};

/// What can be broken, to see that it is noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plant {
    /// Both sides say and look without a fence in between.
    NoFences,
    /// The job doesn't look once more whether it is wanted, when it has said that it is inside of the code.
    NoSecondLook,
    /// The calling thread doesn't wait until the code has been left.
    NobodyWaits,
    /// Leaving the code publishes nothing.
    RelaxedEnd,
    /// The job looks into the library before it says that it is there, as it did for its tables.
    TablesOutside,
    /// The kernel is compiled inside of what the calling thread waits for, as that of a second attempt was.
    CompilesInside,
    /// The worker may start before the copies are made.
    EarlyPermission,
    /// A job that has failed says nothing.
    SilentFailure,
    /// A driving thread that dies keeps its end of the channel.
    KeptSeat,
    /// The turn is given back without publishing what the job has done.
    RelaxedTurn,
}

thread_local! {
    // All threads of a model are run by one.
    static PLANTED: Cell<Option<Plant>> = const { Cell::new(None) };
}

fn planted(plant: Plant) -> bool {
    PLANTED.get() == Some(plant)
}

/// What stands for `speculation::sync`.
mod sync {
    use super::{Plant, planted};
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::Ordering;
    use loom::sync::{Condvar, Mutex, atomic};
    pub use loom::thread::yield_now;
    use std::collections::VecDeque;

    pub fn fence(ordering: Ordering) {
        if !planted(Plant::NoFences) {
            atomic::fence(ordering);
        }
    }

    #[derive(Default)]
    pub struct AtomicBool(atomic::AtomicBool);

    impl AtomicBool {
        pub fn new(value: bool) -> AtomicBool {
            AtomicBool(atomic::AtomicBool::new(value))
        }
        pub fn load(&self, ordering: Ordering) -> bool {
            self.0.load(ordering) && !planted(Plant::NobodyWaits)
        }
        pub fn store(&self, value: bool, ordering: Ordering) {
            let is_weak = planted(Plant::RelaxedEnd) || planted(Plant::RelaxedTurn);
            self.0.store(value, if is_weak { Ordering::Relaxed } else { ordering });
        }
        pub fn swap(&self, value: bool, ordering: Ordering) -> bool {
            self.0.swap(value, ordering)
        }
    }

    pub struct AtomicU32(atomic::AtomicU32);

    impl AtomicU32 {
        pub fn new(value: u32) -> AtomicU32 {
            AtomicU32(atomic::AtomicU32::new(value))
        }
        pub fn load(&self, ordering: Ordering) -> u32 {
            if planted(Plant::NoSecondLook) { 0 } else { self.0.load(ordering) }
        }
        pub fn store(&self, value: u32, ordering: Ordering) {
            self.0.store(value, ordering);
        }
        /// As the watch does.
        pub fn set_once(&self, value: u32) {
            let _ = self.0.compare_exchange(0, value, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    struct Queue<T> {
        /// What was sent, and how many can send.
        state: Mutex<(VecDeque<T>, usize)>,
        came: Condvar,
    }

    /// Who is awake while it waits sees nothing else.
    pub fn receive_awake<T>(from: &Receiver<T>) -> Result<T, ()> {
        from.recv()
    }

    pub struct Sender<T>(Arc<Queue<T>>);
    pub struct Receiver<T>(Arc<Queue<T>>);

    pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let queue = Arc::new(Queue { state: Mutex::new((VecDeque::new(), 1)), came: Condvar::new() });
        (Sender(queue.clone()), Receiver(queue))
    }

    impl<T> Sender<T> {
        pub fn send(&self, message: T) -> Result<(), ()> {
            self.0.state.lock().unwrap().0.push_back(message);
            self.0.came.notify_one();
            Ok(())
        }
    }

    impl<T> Clone for Sender<T> {
        fn clone(&self) -> Sender<T> {
            self.0.state.lock().unwrap().1 += 1;
            Sender(self.0.clone())
        }
    }

    impl<T> Drop for Sender<T> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                return;
            }
            self.0.state.lock().unwrap().1 -= 1;
            self.0.came.notify_one();
        }
    }

    impl<T> Receiver<T> {
        pub fn recv(&self) -> Result<T, ()> {
            let mut state = self.0.state.lock().unwrap();
            loop {
                match state.0.pop_front() {
                    Some(message) => return Ok(message),
                    None if state.1 == 0 => return Err(()),
                    None => state = self.0.came.wait(state).unwrap(),
                }
            }
        }
        pub fn try_recv(&self) -> Result<T, ()> {
            self.0.state.lock().unwrap().0.pop_front().ok_or(())
        }
    }
}

const STRIPS: usize = 2;
/// What the program's memory holds before the loop, and what one iteration makes of it: nothing that could be done twice.
const BEFORE: [u32; STRIPS] = [3, 5];
fn iteration(value: u32) -> u32 {
    value * 2
}

/// What the process has.
struct World {
    memory: [UnsafeCell<u32>; STRIPS],
    /// Whether the library is loaded.
    library: UnsafeCell<bool>,
    /// What a job uses of the device, and the calling thread sets between jobs.
    settings: UnsafeCell<u32>,
    is_entry_over: AtomicBool,
    turn: Turn,
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            memory: BEFORE.map(UnsafeCell::new),
            library: UnsafeCell::new(true),
            settings: UnsafeCell::new(0),
            is_entry_over: AtomicBool::new(false),
            turn: Turn::default(),
        })
    }
    fn use_library(&self) {
        // SAFETY: loom tells if somebody writes it meanwhile.
        self.library.with(|loaded| assert!(unsafe { *loaded }, "the library was used when it was gone"));
    }
    fn unload(&self) {
        // SAFETY: as above.
        self.library.with_mut(|loaded| unsafe { *loaded = false });
    }
    fn read(&self) -> [u32; STRIPS] {
        // SAFETY: as above.
        std::array::from_fn(|k| self.memory[k].with(|value| unsafe { *value }))
    }
}

/// What a job tells.
struct Told {
    result: Option<[u32; STRIPS]>,
}

/// What becomes of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Succeeds,
    Fails,
    /// The first attempt is refuted.
    Retries,
    /// Its result lies where the program may not store.
    Unwritable,
    /// Its loop doesn't end unless it is told to stop.
    Endless,
    /// Its kernel is compiled for longer than the entry takes.
    Compiles,
    /// Its thread dies before the worker may start, or after that.
    DiesEarly,
    DiesLate,
    /// Its code is its own, and is never left.
    Elsewhere,
}

/// A job, as `cmt::drive` goes through it.
fn drive(world: &World, seat: &Seat<Told>, fate: Fate) -> Option<Told> {
    let failed = Some(Told { result: None });
    if fate == Fate::DiesEarly {
        return None;
    }
    if planted(Plant::EarlyPermission) {
        seat.let_worker_start();
    }
    let copies = world.read();
    if !planted(Plant::EarlyPermission) {
        seat.let_worker_start();
    }
    if fate == Fate::DiesLate {
        return None;
    }
    if seat.is_unwanted() {
        return failed;
    }
    let compile = || {
        while fate == Fate::Compiles && !world.is_entry_over.load(Ordering::Acquire) {
            sync::yield_now();
        }
    };
    if !planted(Plant::CompilesInside) {
        compile();
    }
    if planted(Plant::TablesOutside) {
        world.use_library();
    }
    for is_last in [fate != Fate::Retries, true] {
        if fate == Fate::Elsewhere {
            while !seat.is_unwanted() {
                sync::yield_now();
            }
            return failed;
        }
        let code = || {
            if planted(Plant::CompilesInside) {
                compile();
            }
            world.use_library();
            while fate == Fate::Endless && !seat.is_unwanted() {
                sync::yield_now();
            }
            // It may have used the code until now.
            world.use_library();
        };
        if seat.in_code(code).is_none() {
            return failed;
        }
        if is_last {
            break;
        }
    }
    // SAFETY: as above.
    world.settings.with(|settings| unsafe { *settings });
    let is_right = !matches!(fate, Fate::Fails | Fate::Endless) && !seat.is_unwanted();
    Some(Told { result: is_right.then(|| copies.map(iteration)) })
}

/// Serves a job, as `cmt::serve` does.
fn serve(world: &World, seat: Seat<Told>, fate: Fate) {
    match drive(world, &seat, fate) {
        Some(told) => {
            let has_succeeded = told.result.is_some();
            if has_succeeded || !planted(Plant::SilentFailure) {
                seat.end(&world.turn, told, has_succeeded);
            } else {
                // Its end of the channel stays open as long as its thread does.
                std::mem::forget(seat);
            }
        }
        None if planted(Plant::KeptSeat) => std::mem::forget(seat),
        None => {}
    }
}

/// The calling thread.
struct Standing<'a> {
    world: &'a World,
    fate: Fate,
    done: usize,
    is_kept: bool,
    is_committed: bool,
}

impl<'a> Standing<'a> {
    fn new(world: &'a World, fate: Fate) -> Standing<'a> {
        Standing { world, fate, done: 0, is_kept: false, is_committed: false }
    }
}

impl Side<Told> for Standing<'_> {
    fn work(&mut self, is_told: &dyn Fn() -> bool) -> bool {
        assert!(!self.is_committed && !self.is_kept);
        while self.done < STRIPS && !is_told() {
            // SAFETY: as above.
            self.world.memory[self.done].with_mut(|value| unsafe { *value = iteration(*value) });
            self.done += 1;
        }
        self.done == STRIPS
    }
    fn may_commit(&mut self, told: &Told) -> bool {
        told.result.is_some() && self.fate != Fate::Unwritable
    }
    fn commit(&mut self, told: &Told) {
        assert!(!self.is_committed && !self.is_kept, "a second result");
        self.is_committed = true;
        for (place, value) in self.world.memory.iter().zip(told.result.expect("only what is right")) {
            // SAFETY: as above.
            place.with_mut(|place| unsafe { *place = value });
        }
    }
    fn keep(&mut self) {
        assert!(!self.is_committed && !self.is_kept, "a second result");
        assert_eq!(self.done, STRIPS);
        self.is_kept = true;
    }
    fn may_leave_behind(&mut self, stop: &Arc<AtomicU32>) -> bool {
        // The library stays with the job; somebody ends it some time.
        if self.fate == Fate::Endless || self.fate == Fate::Elsewhere {
            stop.set_once(2);
        }
        true
    }
}

/// One entry, at whose end the program unloads its library, and what it has to come to.
fn enter(rule: Rule, fate: Fate) {
    let world = World::new();
    let (caller, seat): (Caller<Told>, Seat<Told>) = sides();
    assert!(world.turn.take());
    let stop = caller.stop().clone();
    let driving = loom::thread::spawn({
        let world = world.clone();
        move || serve(&world, seat, fate)
    });
    let is_waited_for =
        matches!(rule, Rule::DeviceUnlessItFails | Rule::DeviceOrNothing | Rule::WorkerAlways);
    let never_ends = matches!(fate, Fate::Endless | Fate::Elsewhere);
    let watch = (is_waited_for && never_ends).then(|| loom::thread::spawn(move || stop.set_once(2)));
    let mut standing = Standing::new(&world, fate);
    let End { device_won, report, pending } = play(rule, caller, &mut standing);
    assert_eq!(
        (standing.is_committed, standing.is_kept),
        (device_won, !device_won && rule != Rule::DeviceOrNothing)
    );
    let has_ended = report.is_some();
    assert!(
        !has_ended || !world.turn.is_taken(),
        "the next loop finds the device busy with a job that is over"
    );
    world.is_entry_over.store(true, Ordering::Release);
    let is_left_behind = pending.is_some();
    if !is_left_behind {
        world.unload();
    }
    let is_untouched = rule == Rule::DeviceOrNothing && !device_won;
    assert_eq!(world.read(), if is_untouched { BEFORE } else { BEFORE.map(iteration) });
    let is_right = matches!(fate, Fate::Succeeds | Fate::Retries);
    let dies = matches!(fate, Fate::DiesEarly | Fate::DiesLate);
    match rule {
        Rule::DeviceUnlessItFails | Rule::DeviceOrNothing => assert_eq!(device_won, is_right),
        Rule::WorkerAlways => assert_eq!(has_ended, !dies),
        Rule::Monitor => assert!(!device_won && (has_ended || is_left_behind)),
        Rule::FirstWins => assert!(is_right || !device_won),
    }
    driving.join().unwrap();
    watch.into_iter().for_each(|watch| watch.join().unwrap());
    if let Some(pending) = pending {
        let mut ends = 0;
        while let Ok(event) = pending.recv() {
            ends += usize::from(matches!(event, Event::Done(_)));
        }
        assert_eq!(ends, usize::from(!dies));
    }
}

/// Two entries in a row: the second finds the device busy with what the first has left behind, or has a race of its own.
fn enter_twice(fates: [Fate; 2]) {
    let world = World::new();
    let (jobs, inbox) = sync::channel::<(Seat<Told>, Fate)>();
    let driving = loom::thread::spawn({
        let world = world.clone();
        move || {
            while let Ok((seat, fate)) = inbox.recv() {
                serve(&world, seat, fate);
            }
        }
    });
    for fate in fates {
        let mut standing = Standing::new(&world, fate);
        if world.turn.is_taken() {
            assert!(standing.work(&|| false));
            continue;
        }
        // SAFETY: as above: no job uses them.
        world.settings.with_mut(|settings| unsafe { *settings += 1 });
        assert!(world.turn.take());
        let (caller, seat) = sides();
        jobs.send((seat, fate)).unwrap();
        let end = play(Rule::FirstWins, caller, &mut standing);
        assert_eq!((standing.is_committed, standing.is_kept), (end.device_won, !end.device_won));
    }
    drop(jobs);
    driving.join().unwrap();
    assert_eq!(world.read(), BEFORE.map(iteration).map(iteration));
    assert!(!world.turn.is_taken());
}

/// Goes through a scenario in all orders, or those with at most so many changes to another thread where one could go on. How many there were.
fn explore(preemptions: Option<usize>, scenario: impl Fn() + Send + Sync + 'static) -> u64 {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 2000;
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = count.clone();
    builder.check(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        scenario();
    });
    count.load(std::sync::atomic::Ordering::Relaxed)
}

/// Changes to another thread where one could go on: MODEL_BOUND sets another number of them; 0: any number.
fn bound() -> Option<usize> {
    let asked = std::env::var("MODEL_BOUND").ok().and_then(|bound| bound.parse().ok());
    Some(asked.unwrap_or(3)).filter(|bound| *bound != 0)
}

const RULES: [Rule; 5] =
    [Rule::FirstWins, Rule::DeviceUnlessItFails, Rule::DeviceOrNothing, Rule::WorkerAlways, Rule::Monitor];
const FATES: [Fate; 9] = [
    Fate::Succeeds,
    Fate::Fails,
    Fate::Retries,
    Fate::Unwritable,
    Fate::Endless,
    Fate::Compiles,
    Fate::DiesEarly,
    Fate::DiesLate,
    Fate::Elsewhere,
];

#[test]
fn every_order_ends_as_the_loop_would() {
    for rule in RULES {
        for fate in FATES {
            // Only where nobody waits for it may a kernel be compiled for longer than the entry takes.
            if fate == Fate::Compiles && !matches!(rule, Rule::FirstWins | Rule::Monitor) {
                continue;
            }
            let started = std::time::Instant::now();
            let orders = explore(bound(), move || enter(rule, fate));
            println!("{rule:?} {fate:?}: {orders} orders, {:?}", started.elapsed());
        }
    }
}

#[test]
fn a_second_entry_finds_the_device_free_or_busy() {
    for fates in
        [[Fate::Succeeds, Fate::Succeeds], [Fate::Endless, Fate::Succeeds], [Fate::Fails, Fate::Fails]]
    {
        let started = std::time::Instant::now();
        let orders = explore(bound(), move || enter_twice(fates));
        println!("{fates:?}: {orders} orders, {:?}", started.elapsed());
    }
}

/// What shows each plant.
const PLANTS: [(Plant, Rule, Fate); 10] = [
    (Plant::NoFences, Rule::FirstWins, Fate::Succeeds),
    (Plant::NoSecondLook, Rule::FirstWins, Fate::Succeeds),
    (Plant::NobodyWaits, Rule::FirstWins, Fate::Succeeds),
    (Plant::RelaxedEnd, Rule::FirstWins, Fate::Succeeds),
    (Plant::TablesOutside, Rule::FirstWins, Fate::Succeeds),
    (Plant::CompilesInside, Rule::FirstWins, Fate::Compiles),
    (Plant::EarlyPermission, Rule::FirstWins, Fate::Succeeds),
    (Plant::SilentFailure, Rule::WorkerAlways, Fate::Fails),
    (Plant::KeptSeat, Rule::DeviceUnlessItFails, Fate::DiesLate),
    (Plant::RelaxedTurn, Rule::FirstWins, Fate::Succeeds),
];

/// The plant that the environment asks for: what loom finds may end the process.
#[test]
#[ignore = "only with something planted"]
fn planted_scenario() {
    let Some((plant, rule, fate)) =
        std::env::var("PLANT").ok().and_then(|n| PLANTS.get(n.parse::<usize>().ok()?)).copied()
    else {
        return;
    };
    PLANTED.set(Some(plant));
    match plant {
        Plant::RelaxedTurn => explore(bound(), move || enter_twice([fate, fate])),
        _ => explore(bound(), move || enter(rule, fate)),
    };
}

#[test]
fn what_is_planted_is_found() {
    for (number, (plant, ..)) in PLANTS.iter().enumerate() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["planted_scenario", "--exact", "--ignored", "--nocapture"]);
        let output = command.env("PLANT", number.to_string()).env("RUST_BACKTRACE", "0").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{plant:?} isn't noticed");
        let found = ["Causality violation", "exceeded maximum number of branches", "deadlock"];
        let found = found.iter().find(|found| text.contains(**found));
        println!(
            "{plant:?}: {}",
            found.unwrap_or_else(|| panic!("{plant:?} ends for another reason: {text}"))
        );
    }
}
