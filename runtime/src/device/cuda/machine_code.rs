//! The machine code of kernels, wherever it comes from: compiled by an earlier run, compiled ahead by a thread that does nothing else
//! (`speculation::cmt::ahead`), or compiled now. Nothing is compiled twice: who asks for what is being compiled waits for it.
//!
//! A compiler takes most of a second of a core, and maps and unmaps memory, which holds up the program's threads; so nobody compiles ahead while another one
//! compiles, unless cores have nothing to do ([`has_idle_cores`]). The GPU's thread, which has a loop waiting, doesn't wait for that.

use super::{cache, nvrtc, zeros};
use crate::leaving;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often who waits for a compiler looks whether there is a core for it, or the process is about to end.
const PAUSE: Duration = Duration::from_millis(20);

/// What a kernel is compiled from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Recipe {
    pub source: String,
    pub options: Vec<String>,
}

/// A kernel's machine code.
pub struct Made {
    pub code: Vec<u8>,
    /// Whether no earlier run has kept it.
    pub is_new: bool,
}

/// What has become of a recipe.
enum State {
    UnderWay,
    /// It waits for the GPU's thread.
    Made(Result<Made, String>),
}

#[derive(Default)]
struct Shop {
    states: Option<HashMap<Recipe, State>>,
    /// What the GPU's thread has: it won't ask again. By [`Recipe::name`]; who has another one's name is made when it is needed.
    taken: Option<HashSet<u64>>,
    compilers: usize,
}

static SHOP: Mutex<Shop> = Mutex::new(Shop { states: None, taken: None, compilers: 0 });
static CHANGED: Condvar = Condvar::new();

impl Shop {
    fn lock() -> MutexGuard<'static, Shop> {
        SHOP.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn wait(shop: MutexGuard<'static, Shop>) -> MutexGuard<'static, Shop> {
        CHANGED.wait_timeout(shop, PAUSE).unwrap_or_else(PoisonError::into_inner).0
    }
    fn states(&mut self) -> &mut HashMap<Recipe, State> {
        self.states.get_or_insert_default()
    }
}

/// Somebody is at a recipe. However that ends, nobody waits for it any more.
struct UnderWay<'a>(&'a Recipe);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut shop = Shop::lock();
        if matches!(shop.states().get(self.0), Some(State::UnderWay)) {
            shop.states().remove(self.0);
        }
        CHANGED.notify_all();
    }
}

/// Whoever has it compiles.
struct Turn;

impl Turn {
    /// `waits`: until nobody else compiles, or there are cores for it. `None`: it has waited, and the process is about to end.
    fn take(waits: bool) -> Option<Turn> {
        let mut shop = Shop::lock();
        while waits && shop.compilers != 0 && !has_idle_cores() {
            if leaving::is_leaving() {
                return None;
            }
            shop = Shop::wait(shop);
        }
        shop.compilers += 1;
        Some(Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        Shop::lock().compilers -= 1;
        CHANGED.notify_all();
    }
}

/// Whether more than half of the cores would have nothing to do, with another compiler: what runs is the program and whoever else is on this machine, and a
/// loop that is about to be split over threads wants them.
fn has_idle_cores() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    cores > 2
        && std::fs::read_to_string("/proc/loadavg")
            .ok()
            .and_then(|load| running(&load))
            .is_some_and(|running| running < cores / 2)
}

/// How many threads run on the machine, the one that asks among them, by what the kernel says.
fn running(load: &str) -> Option<usize> {
    load.split_whitespace().nth(3)?.split('/').next()?.parse().ok()
}

/// What tells the code of one compiler from another's, and what has been looked for in it.
fn version() -> Result<String, String> {
    Ok(format!("{:?} {} {}", nvrtc::get()?.version, env!("CARGO_PKG_VERSION"), zeros::RULES))
}

impl Recipe {
    /// Does something with the name that the code has in the cache.
    fn with_key<T>(&self, version: &str, act: impl FnOnce(&[&[u8]; 3]) -> T) -> T {
        let joined = self.options.join(" ");
        act(&[self.source.as_bytes(), joined.as_bytes(), version.as_bytes()])
    }

    fn make(&self) -> Result<Made, String> {
        if let Some(code) = self.with_key(&version()?, |key| cache::load(key)) {
            return Ok(Made { code, is_new: false });
        }
        Ok(Made { code: nvrtc::get()?.compile(&self.source, &self.options)?, is_new: true })
    }

    /// The code, for the GPU's thread.
    pub fn get(&self) -> Result<Made, String> {
        self.get_by(Recipe::make)
    }

    fn name(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn get_by(&self, make: impl FnOnce(&Recipe) -> Result<Made, String>) -> Result<Made, String> {
        let mut shop = Shop::lock();
        shop.taken.get_or_insert_default().insert(self.name());
        loop {
            match shop.states().get(self) {
                None => break,
                Some(State::Made(_)) => {
                    if let Some(State::Made(made)) = shop.states().remove(self) {
                        return made;
                    }
                }
                Some(State::UnderWay) => shop = Shop::wait(shop),
            }
        }
        shop.states().insert(self.clone(), State::UnderWay);
        drop(shop);
        let _under_way = UnderWay(self);
        let _turn = Turn::take(false);
        make(self)
    }

    /// Makes the code ahead of that. Nothing happens where it is there, was there, or is being made.
    pub fn make_ahead(&self) {
        self.make_ahead_by(Recipe::make);
    }

    /// Whether nobody has it, had it, or is at it.
    fn is_untouched(&self, shop: &mut Shop) -> bool {
        !shop.states().contains_key(self) && !shop.taken.get_or_insert_default().contains(&self.name())
    }

    fn make_ahead_by(&self, make: impl FnOnce(&Recipe) -> Result<Made, String>) {
        if !self.is_untouched(&mut Shop::lock()) {
            return;
        }
        // Who asks for it meanwhile doesn't wait for whoever has the turn.
        let Some(_turn) = Turn::take(true) else { return };
        let mut shop = Shop::lock();
        if !self.is_untouched(&mut shop) {
            return;
        }
        shop.states().insert(self.clone(), State::UnderWay);
        drop(shop);
        let _under_way = UnderWay(self);
        let made = make(self);
        Shop::lock().states().insert(self.clone(), State::Made(made));
    }

    /// Keeps code for later runs that the driver has taken; failing to is no error.
    pub fn keep(&self, made: &Made) {
        if let (true, Ok(version)) = (made.is_new, version()) {
            self.with_key(&version, |key| cache::store(key, &made.code));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    fn recipe(source: &str) -> Recipe {
        Recipe { source: source.into(), options: vec!["-a".into(), "-b".into()] }
    }

    fn made(code: u8) -> Result<Made, String> {
        Ok(Made { code: vec![code], is_new: true })
    }

    #[test]
    fn nothing_is_made_twice() {
        let _alone = leaving::alone();
        let (recipe, times) = (recipe("once"), AtomicUsize::new(0));
        let slowly = |_: &Recipe| {
            times.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
            made(7)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| recipe.make_ahead_by(slowly));
            while times.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            scope.spawn(|| recipe.make_ahead_by(slowly));
            assert_eq!(recipe.get_by(slowly).unwrap().code, [7]);
        });
        assert_eq!(times.load(Ordering::SeqCst), 1);
        // The GPU's thread has it now; if it asks again, it does so for a reason.
        recipe.make_ahead_by(|_| panic!("made in vain"));
        assert_eq!(recipe.get_by(|_| made(8)).unwrap().code, [8]);
    }

    #[test]
    fn what_fails_is_told_once_and_who_dies_is_not_waited_for() {
        let _alone = leaving::alone();
        let (recipe, other) = (recipe("fails"), recipe("dies"));
        recipe.make_ahead_by(|_| Err("no".into()));
        assert_eq!(recipe.get_by(|_| made(1)).err().unwrap(), "no");
        assert_eq!(recipe.get_by(|_| made(1)).unwrap().code, [1]);
        let died = std::panic::catch_unwind(|| other.make_ahead_by(|_| panic!("on purpose")));
        assert!(died.is_err());
        assert_eq!(other.get_by(|_| made(2)).unwrap().code, [2]);
    }

    #[test]
    fn nobody_waits_for_who_waits_for_a_core() {
        let _alone = leaving::alone();
        let recipe = recipe("wanted meanwhile");
        std::thread::scope(|scope| {
            let turn = Turn::take(false).unwrap();
            let ahead = scope.spawn(|| recipe.make_ahead_by(|_| made(1)));
            std::thread::sleep(Duration::from_millis(50));
            // Where cores are idle it is made by now.
            let is_made = ahead.is_finished();
            let asks = scope.spawn(|| recipe.get_by(|_| made(2)).unwrap().code);
            let until = Instant::now() + Duration::from_secs(10);
            while !asks.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(asks.is_finished(), "it waits for the turn");
            drop(turn);
            assert_eq!(asks.join().unwrap(), [if is_made { 1 } else { 2 }]);
        });
    }

    #[test]
    fn there_is_one_compiler_where_cores_are_busy() {
        let _alone = leaving::alone();
        assert_eq!(running("0.87 5.93 8.05 3/234 4711\n"), Some(3));
        assert_eq!((running(""), running("0 0 0 x/1 2")), (None, None));
        let (at_once, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = Turn::take(true).unwrap();
                    most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    at_once.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        let cores = std::thread::available_parallelism().unwrap().get();
        assert!(cores > 2 || most.load(Ordering::SeqCst) == 1);
    }
}
