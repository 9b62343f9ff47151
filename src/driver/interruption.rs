//! Children that can be ended before their time: one that is no longer wanted ([`Cancellation`]), and all of them, with our
//! folder, when we are interrupted (Ctrl-C, SIGTERM and the like) and die by the same signal.
//!
//! A handler may do next to nothing, so it only wakes a thread through a pipe; that thread ends the children, removes
//! the folder and raises the signal again. Everyone else stops where they next touch a child. Not here: what the
//! children are (`driver::toolchain`).

use super::terminal;
use std::collections::BTreeSet;
use std::fs;
use std::io::{IsTerminal, PipeReader, Read};
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The signals that end a compilation.
const SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
/// How long children may take to end before they are killed.
const PATIENCE: Duration = Duration::from_secs(3);

/// The signal that arrived, or 0.
static ARRIVED: AtomicI32 = AtomicI32::new(0);
/// Where the handler writes.
static WAKE: AtomicI32 = AtomicI32::new(-1);

struct State {
    folder: Option<PathBuf>,
    children: BTreeSet<u32>,
}

static STATE: Mutex<State> = Mutex::new(State { folder: None, children: BTreeSet::new() });
/// A child has ended.
static ENDED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn arrived(signal: libc::c_int) {
    ARRIVED.store(signal, Ordering::SeqCst);
    // SAFETY: write is allowed in handlers; errno is put back as the interrupted code expects it.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        libc::write(WAKE.load(Ordering::SeqCst), [0u8].as_ptr().cast(), 1);
        *errno = saved;
    }
}

/// A temporary folder that doesn't outlive us, however we end.
pub struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Makes one and begins to watch for signals. There is at most one at a time.
    pub fn new() -> std::io::Result<Folder> {
        watch()?;
        // Under the lock, so that no signal falls between the folder and its note.
        let mut state = state();
        let folder = tempfile::Builder::new().prefix("paragon-").tempdir()?;
        state.folder = Some(folder.path().to_owned());
        Ok(Folder { folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        stop_if_interrupted();
        // Under the lock, so that no signal falls between the folder's end and its note.
        let mut state = state();
        let _ = fs::remove_dir_all(self.folder.path());
        state.folder = None;
    }
}

/// Lets one thread end the child that another one is waiting for in [`run`].
#[derive(Default)]
pub struct Cancellation {
    state: Mutex<(bool, Option<u32>)>,
}

impl Cancellation {
    fn state(&self) -> MutexGuard<'_, (bool, Option<u32>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Ends the child, and sees that none is started.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.0 = true;
        if let Some(child) = state.1 {
            end(child, libc::SIGTERM);
        }
    }
}

/// Runs `command` to its end, or until it is cancelled, as our child and catches what it says on standard error.
pub fn run(
    mut command: Command,
    cancellation: Option<&Cancellation>,
) -> std::io::Result<(ExitStatus, Vec<u8>)> {
    let caught = if std::io::stderr().is_terminal() { terminal::open().ok() } else { None };
    let caught = caught.map(|(ours, theirs)| {
        command.stderr(theirs);
        ours
    });
    if caught.is_none() {
        command.stderr(Stdio::piped());
    }
    let mut child = {
        let mut state = state();
        if ARRIVED.load(Ordering::SeqCst) != 0 {
            drop(state);
            stop_if_interrupted();
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let mut cancellation = cancellation.map(Cancellation::state);
        if cancellation.as_ref().is_some_and(|state| state.0) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let child = command.spawn()?;
        if let Some(state) = &mut cancellation {
            state.1 = Some(child.id());
        }
        state.children.insert(child.id());
        child
    };
    // Only without our copy of it does the other end ever close.
    drop(command);
    let mut messages = Vec::new();
    match (caught, child.stderr.take()) {
        (Some(ours), _) => messages = terminal::read_all(ours),
        (None, Some(mut pipe)) => drop(pipe.read_to_end(&mut messages)),
        (None, None) => {}
    }
    // It has closed its standard error, and is as good as gone: from here on its number may be somebody else's.
    if let Some(cancellation) = cancellation {
        cancellation.state().1 = None;
    }
    let status = child.wait();
    state().children.remove(&child.id());
    ENDED.notify_all();
    // The child may have died of the signal that we are dying of: nothing may be concluded from that.
    stop_if_interrupted();
    Ok((status?, messages))
}

/// Ends the watch, before we become another program: from here on a signal ends us at once, and one that arrived before
/// is not forgotten.
pub fn release() {
    for signal in SIGNALS {
        // SAFETY: the structure is plain data for which zero is a valid value.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) == 0 && old.sa_sigaction == handler() {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
    stop_if_interrupted();
}

fn handler() -> libc::sighandler_t {
    arrived as extern "C" fn(libc::c_int) as libc::sighandler_t
}

/// Waits for the end if a signal has arrived.
fn stop_if_interrupted() {
    while ARRIVED.load(Ordering::SeqCst) != 0 {
        std::thread::park();
    }
}

/// Installs the handlers (once) and starts the thread. A signal that is ignored stays so, as under nohup.
fn watch() -> std::io::Result<()> {
    if WAKE.load(Ordering::SeqCst) >= 0 {
        return Ok(());
    }
    let (reader, writer) = std::io::pipe()?;
    std::thread::Builder::new().name("interruption".into()).spawn(move || wait(reader))?;
    WAKE.store(writer.into_raw_fd(), Ordering::SeqCst);
    for signal in SIGNALS {
        // SAFETY: the structures are plain data for which zero is a valid value, and the handler is allowed as one.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler();
            new.sa_flags = libc::SA_RESTART;
            if libc::sigaction(signal, std::ptr::null(), &mut old) == 0 && old.sa_sigaction != libc::SIG_IGN {
                libc::sigaction(signal, &new, std::ptr::null_mut());
            }
        }
    }
    Ok(())
}

/// The thread: waits for a signal, and ends everything.
fn wait(mut pipe: PipeReader) {
    if pipe.read_exact(&mut [0]).is_err() {
        return;
    }
    let signal = ARRIVED.load(Ordering::SeqCst);
    let state = state();
    let send = |state: &State, signal: i32| {
        for child in &state.children {
            end(*child, signal);
        }
    };
    send(&state, signal);
    let alive = |state: &mut State| !state.children.is_empty();
    let (mut state, _) =
        ENDED.wait_timeout_while(state, PATIENCE, alive).unwrap_or_else(PoisonError::into_inner);
    send(&state, libc::SIGKILL);
    if let Some(folder) = state.folder.take() {
        // Whoever removes it first: it is gone.
        let _ = fs::remove_dir_all(folder);
    }
    // SAFETY: plain calls; the signal's own action is restored, and it is not blocked here.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
    // It was for the whole process; should it be delivered late, this is what a shell would call it.
    std::thread::sleep(Duration::from_secs(1));
    std::process::exit(128 + signal);
}

/// Sends `signal` to `process` and to all processes that it started.
fn end(process: u32, signal: i32) {
    let mut below = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        below.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
    }
    if let Ok(process) = i32::try_from(process) {
        // SAFETY: a plain call; the process is our child or was one of its a moment ago.
        unsafe {
            libc::kill(process, signal);
        }
    }
    for child in below {
        end(child, signal);
    }
}
