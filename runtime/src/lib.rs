//! The run-time half of Paragon. Objects that `paragon-cc` made load this library at the first loop worth it and call
//! [`__pg_rt_attach`]; the table that it returns is all they know. Start reading at [`entry`].
//!
//! Promises to the program: no panic leaves this library, `errno` is what the program's own code would have left, nothing is printed unless the user
//! should mend something, and whatever goes wrong here, the loop runs as it stood.

pub mod abi;
pub mod cache_folder;
pub mod config;
pub mod device;
pub mod entry;
pub mod errno;
pub mod floating_point;
pub mod history;
pub mod last_thread;
pub mod leaving;
pub mod memory;
pub mod objects;
pub mod own_threads;
pub mod policy;
pub mod process;
pub mod recipe;
pub mod signals;
pub mod speculation;
pub mod stacks;
#[path = "../include/texts.rs"]
pub mod texts;
pub mod trace;

use abi::{Api, Entry, Loop, PG_ABI_VERSION, PG_ATTACH_IN_ORDER, Part, Value};
use memory::coherence::interception::Inside;
use signals::Deferred;
use speculation::parts;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static MEMORY: memory::own::Memory = memory::own::Memory;

static ENGINE: OnceLock<entry::Engine> = OnceLock::new();
/// Set when something here panicked: then no loop is entered any more.
static BROKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the calling thread is between our handlers of `fork`, where the program's own run while allocators are locked: loops run as they stand, and allocations aren't recorded.
    static IS_FORKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with `errno` preserved and panics turned into `otherwise`.
fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    guarded_but_for_errno(otherwise, |_| work())
}

/// The same for `work` that may change the program's `errno`, which it is given.
fn guarded_but_for_errno<T>(otherwise: T, work: impl FnOnce(&mut c_int) -> T) -> T {
    let mut errno = errno::get();
    let result = if BROKEN.load(Ordering::Relaxed) || IS_FORKING.get() {
        otherwise
    } else {
        without_panic(|| work(&mut errno)).unwrap_or(otherwise)
    };
    errno::set(errno);
    result
}

/// The same where something has panicked before, too: what a device still has is the program's.
fn at_any_rate(work: impl FnOnce()) {
    let errno = errno::get();
    without_panic(work);
    errno::set(errno);
}

/// Runs `work`. `None`: it panicked, so that no loop is entered any more.
fn without_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if result.is_err() {
        BROKEN.store(true, Ordering::Relaxed);
        trace::complain("paragon: internal error; loops run as they stood from now on");
    }
    result.ok()
}

/// Whether a thread that blocks these signals, a bit for each, may be in a handler of one of them.
fn in_signal_handler(blocked: u64) -> bool {
    ENGINE.get().is_none_or(|engine| engine.in_signal_handler(blocked))
}

/// Runs `work` where there is room for it; elsewhere nothing happens, and the answer is `otherwise`.
#[inline(always)]
fn where_there_is_room<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    /// Its frame is taken once it is known that there is room.
    #[inline(never)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    if stacks::has_room(in_signal_handler) { apart(work) } else { otherwise }
}

/// The runtime is entered for a loop. Nothing is elsewhere for which the caller would have to be the program's only thread.
fn inside_for_loops() -> (Inside, Deferred) {
    let inside = Inside::begin();
    at_any_rate(memory::coherence::make_way);
    (inside, Deferred::new())
}

/// Has an entry served, unless too much was looked at in vain.
fn looked_at(the_loop: *const Loop, serve: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: null, or generated code's static loop, whose facts are static, too.
    let known = unsafe { the_loop.as_ref().and_then(|the_loop| Some((the_loop, the_loop.info.as_ref()?))) };
    let known = known.filter(|(_, info)| info.abi == PG_ABI_VERSION);
    let counted = known.zip(ENGINE.get()).and_then(|((the_loop, info), engine)| {
        let account = engine.account(info)?;
        Some((the_loop, account))
    });
    let Some((the_loop, account)) = counted else { return serve() };
    let Some(look) = account.look_at(the_loop) else { return 0 };
    let done = serve();
    account.note(the_loop, &look, done != 0);
    done
}

extern "C" fn enter(the_loop: *mut Loop, loop_entry: *mut Entry) -> c_int {
    where_there_is_room(0, || looked_at(the_loop, || enter_here(the_loop, loop_entry)))
}

fn enter_here(the_loop: *mut Loop, loop_entry: *mut Entry) -> c_int {
    let (_inside, signals) = inside_for_loops();
    guarded_but_for_errno(0, |errno| {
        // SAFETY: generated code passes its static loop and an entry on its stack.
        let (Some(the_loop), Some(loop_entry)) = (unsafe { (the_loop.as_ref(), loop_entry.as_mut()) }) else {
            return 0;
        };
        // SAFETY: as above.
        ENGINE
            .get()
            .is_some_and(|engine| unsafe { engine.enter(the_loop, loop_entry, errno, &signals) })
            .into()
    })
}

extern "C" fn start(the_loop: *mut Loop, numbers: *mut Value) -> c_int {
    where_there_is_room(0, || looked_at(the_loop, || start_here(the_loop, numbers)))
}

fn start_here(the_loop: *mut Loop, numbers: *mut Value) -> c_int {
    let (_inside, signals) = inside_for_loops();
    guarded_but_for_errno(0, |errno| {
        // SAFETY: generated code passes its static loop, whose facts are static, too.
        let Some((the_loop, info)) =
            (unsafe { the_loop.as_ref().and_then(|the_loop| Some((the_loop, the_loop.info.as_ref()?))) })
        else {
            return 0;
        };
        if info.abi != PG_ABI_VERSION || numbers.is_null() {
            return 0;
        }
        // A signal handler may have interrupted the allocator.
        if !parts::is_ordered(info)
            && ENGINE.get().is_none_or(|engine| engine.in_signal_handler(signals.blocked_before()))
        {
            return 0;
        }
        // SAFETY: generated code passes as many numbers as the loop's facts say, on its stack.
        let numbers = unsafe { std::slice::from_raw_parts_mut(numbers, recipe::numbers(info)) };
        let (Some(engine), Some(mut prepared)) = (ENGINE.get(), recipe::prepare(info, numbers)) else {
            return 0;
        };
        let mut entry = prepared.entry(info, numbers);
        // SAFETY: as above; the entry's tables outlive the call.
        let done = unsafe { engine.enter(the_loop, &mut entry, errno, &signals) };
        if done {
            // A loop that is left early isn't complete.
            let trip = entry.trip;
            prepared.conclude(info, trip, numbers);
        }
        done.into()
    })
}

extern "C" fn start_parts(parts: *const Part, n: u32) -> c_int {
    // SAFETY: null, or a table of generated code's, of the loop itself and its parts.
    let the_loop = unsafe { parts.as_ref() }.map_or(std::ptr::null_mut(), |part| part.the_loop);
    where_there_is_room(0, || looked_at(the_loop, || start_parts_here(parts, n)))
}

fn start_parts_here(parts: *const Part, n: u32) -> c_int {
    let (_inside, signals) = inside_for_loops();
    guarded_but_for_errno(0, |errno| {
        if parts.is_null() {
            return 0;
        }
        // A signal handler may have interrupted the allocator.
        let Some(engine) = ENGINE.get().filter(|engine| !engine.in_signal_handler(signals.blocked_before()))
        else {
            return 0;
        };
        // SAFETY: generated code passes a table of so many rows.
        let parts = unsafe { std::slice::from_raw_parts(parts, n as usize) };
        let mut entries = Vec::with_capacity(parts.len());
        for part in parts {
            // SAFETY: as for `start`: static loops with static facts.
            let Some((the_loop, info)) = (unsafe {
                part.the_loop.as_ref().and_then(|the_loop| Some((the_loop, the_loop.info.as_ref()?)))
            }) else {
                return 0;
            };
            // Nobody goes on in the middle of several loops.
            if info.abi != PG_ABI_VERSION || part.numbers.is_null() || info.search.is_some() {
                return 0;
            }
            // SAFETY: as many numbers as the loop's facts say, on the caller's stack.
            let numbers = unsafe { std::slice::from_raw_parts_mut(part.numbers, recipe::numbers(info)) };
            let Some(prepared) = recipe::prepare(info, numbers) else { return 0 };
            entries.push((the_loop, info, prepared, numbers));
        }
        let mut visits: Vec<_> = entries
            .iter_mut()
            .map(|(the_loop, info, prepared, numbers)| (*the_loop, prepared.entry(info, numbers)))
            .collect();
        // SAFETY: as above; the entries' tables outlive the call.
        let done = unsafe { engine.enter_parts(&mut visits, errno, &signals) };
        if done && let Some((_, info, prepared, numbers)) = entries.first_mut() {
            prepared.conclude(info, prepared.trip(), numbers);
        }
        done.into()
    })
}

/// The process is about to have a child, which has none of our threads. The C library's allocator, and ours, are locked from here on until it has.
extern "C" fn fork() {
    stacks::with_room(&mut || {
        let _inside = Inside::begin();
        at_any_rate(memory::coherence::bring_home);
    });
    IS_FORKING.set(true);
}

/// The process has a child, or is it: allocators are unlocked.
extern "C" fn forked() {
    IS_FORKING.set(false);
}

/// The program is about to end.
fn end() {
    let _inside = Inside::begin();
    at_any_rate(|| ENGINE.get().into_iter().for_each(entry::Engine::end));
}

extern "C" fn allocated(start: *mut c_void, bytes: u64) {
    where_there_is_room((), || {
        let _inside = Inside::begin();
        guarded((), || {
            if let Some(engine) = ENGINE.get() {
                engine.record(start as u64, bytes);
            }
        });
    });
}

extern "C" fn freed(start: *mut c_void) {
    where_there_is_room((), || {
        let _inside = Inside::begin();
        guarded((), || {
            if let Some(engine) = ENGINE.get() {
                engine.forget(start as u64);
            }
        });
    });
}

static API: Api = Api { abi: PG_ABI_VERSION, start, enter, start_parts, allocated, freed, object: allocated };

extern "C" fn ignored(_: *mut c_void, _: u64) {}

extern "C" fn ignored_end(_: *mut c_void) {}

/// What objects get that are served although loops may run nowhere else: see `PG_ATTACH_IN_ORDER`.
static IN_ORDER_ONLY: Api = Api {
    abi: PG_ABI_VERSION,
    start,
    enter,
    start_parts,
    allocated: ignored,
    freed: ignored_end,
    object: ignored,
};

/// Gives an object the runtime's functions; null if this library can't serve `abi` or is switched off. `blocked`: the signals that the
/// calling thread blocks but for this call, a bit for each.
#[unsafe(no_mangle)]
pub extern "C" fn __pg_rt_attach(abi: u32, blocked: u64) -> *const Api {
    // A thread that has been told to end would do so here, in what opens files, and unwind through what nobody may.
    let _signals = Deferred::new();
    guarded(std::ptr::null(), || {
        let engine = ENGINE.get_or_init(|| {
            std::panic::set_hook(Box::new(|_| {}));
            stacks::look_ahead();
            memory::own::bear_children();
            // Before that, because the thread that brings memory back needs some.
            // SAFETY: a function of this library, which is never unloaded.
            unsafe { libc::pthread_atfork(Some(fork), Some(forked), Some(forked)) };
            entry::Engine::new(config::Config::from_environment(), blocked)
        });
        match (abi == PG_ABI_VERSION, abi == PG_ABI_VERSION | PG_ATTACH_IN_ORDER) {
            (true, _) | (_, true) if engine.serves() => &raw const API,
            (_, true) => &raw const IN_ORDER_ONLY,
            _ => std::ptr::null(),
        }
    })
}
