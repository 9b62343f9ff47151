//! What earlier runs have measured, and what later ones will know of this one (`history::records`, `history::file`).
//!
//! A program whose loops have hardly anything to do neither reads nor writes: the file is read once loops have had [`READ_FROM_NS`] to do, and written,
//! inside of an entry, whenever what they have had to do has doubled since, or a loop has decided something. Never where the process ends: who ends may stand
//! in a signal handler that has interrupted the allocator, or have been forbidden to open files; and programs that are ended by a signal learn, too.
//!
//! That the driver is opened is written down before it is, as in vain; when a GPU has saved what that costs, it is taken back. Now and then a run
//! goes by nothing that is known, and what it finds takes the place of that.

use super::{Declined, Engine, Visit, lock};
use crate::config::RaceChoice;
use crate::history::file;
use crate::history::records::{self, Row};
use crate::policy::{self, Situation};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// So much the loops of a process must have to do, in nanoseconds, before it reads, which takes 0.2 ms where nothing like it has been
/// done before, most of it for the first use of code and of files.
const READ_FROM_NS: u64 = 2_000_000;
/// And so much for each time that it writes, which takes 0.1 ms.
const WRITE_EVERY_NS: u64 = 40_000_000;
/// Which part of the time since it has read a process may spend writing, as one of so many: a folder may be far away (network file systems), and
/// loops on a GPU have much to do in no time.
const WRITING_PART: u32 = 50;
/// What the driver costs a process that has opened it beside its loops: about so much at the end, where it is torn down.
const PAID_NS: u64 = 100_000_000;
/// Every so many runs nothing is remembered.
const LOOKS_AGAIN: u32 = 64;

/// What one process remembers of others.
pub(super) struct Remembered {
    /// What the process was confined to when the runtime was loaded.
    confinement: [i32; 2],
    /// Nanoseconds that the calling thread alone would have taken for all entries.
    spent_ns: AtomicU64,
    /// Nanoseconds that a GPU has saved.
    gained_ns: AtomicU64,
    /// `None` inside: there is no place for a file.
    known: OnceLock<Option<Mutex<Known>>>,
}

impl Default for Remembered {
    fn default() -> Remembered {
        Remembered {
            confinement: confinement(),
            spent_ns: AtomicU64::default(),
            gained_ns: AtomicU64::default(),
            known: OnceLock::default(),
        }
    }
}

/// Whether system calls are filtered, and whether rights have been given up, as whoever filters them has to. A program that has done so since the
/// runtime was loaded may be ended for opening a file; containers have done so before.
fn confinement() -> [i32; 2] {
    // SAFETY: plain queries of the process.
    [libc::PR_GET_SECCOMP, libc::PR_GET_NO_NEW_PRIVS].map(|query| unsafe { libc::prctl(query, 0, 0, 0, 0) })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

struct Known {
    /// Of the file.
    name: String,
    /// Whose effective user it was that found it.
    user: u32,
    /// What stood there.
    rows: Vec<Row>,
    machine: u64,
    /// Of the program: what is to be written.
    program: Row,
    /// What the last run has said of that.
    saved_by_staying: f64,
    /// What had been spent when it was written last; how often it was.
    written_ns: u64,
    writes: u64,
    /// Whether something was decided since.
    has_news: bool,
    /// When it was read, and how long all writing has taken since.
    since: Instant,
    writing: Duration,
}

fn user() -> u32 {
    // SAFETY: a plain query of the process.
    unsafe { libc::geteuid() }
}

impl Known {
    fn read(settings: &[usize]) -> Option<Known> {
        let name = file::name()?;
        let machine = records::machine(settings);
        // Where there is no folder yet there is no file either.
        let path: Option<PathBuf> = crate::cache_folder::folder(false).map(|folder| folder.join(&name));
        let mut rows = path.map(|path| file::read(&path)).unwrap_or_default();
        let own = Row { machine, ..Row::default() };
        let before = rows.iter().find(|row| row.is_about(&own)).copied().unwrap_or(own);
        let runs = before.runs.wrapping_add(1);
        let looks_again = runs % LOOKS_AGAIN == 0;
        let vain = if looks_again { 0 } else { before.vain };
        if looks_again {
            rows.clear();
        }
        let program = Row { runs, vain, ..before };
        let now = now();
        rows.iter_mut().for_each(|row| *row = row.at(now));
        Some(Known {
            name,
            user: user(),
            rows,
            machine,
            program,
            saved_by_staying: if looks_again { 0.0 } else { before.gain_ns },
            written_ns: 0,
            writes: 0,
            has_news: false,
            since: Instant::now(),
            writing: Duration::ZERO,
        })
    }
}

/// Whether there is time to write, so long after the file was read, where all writing has taken so long.
fn has_time(writing: Duration, since: Duration) -> bool {
    writing.saturating_mul(WRITING_PART) <= since
}

impl Engine {
    /// Whether this process reads and writes records at all: where somebody has asked for a way nothing is to be learned.
    fn remembers(&self) -> bool {
        self.config.history && self.config.race == RaceChoice::Auto && self.config.logs == [None]
    }

    fn known(&self) -> Option<&Mutex<Known>> {
        let settings = [self.config.threads, self.config.device as usize, usize::from(self.config.in_place)];
        let may = || confinement() == self.remembered.confinement;
        let read = || may().then(|| Known::read(&settings)).flatten();
        self.remembered.known.get_or_init(|| read().map(Mutex::new)).as_ref()
    }

    /// Goes on from what is known of the loop, the first time that it comes here after the file was worth reading. `Err`: so it runs as it stood.
    pub(super) fn remember_earlier_runs(
        &self,
        visit: &mut Visit<'_>,
        s: &Situation,
        is_proven: bool,
    ) -> Result<(), Declined> {
        if !self.remembers() {
            return Ok(());
        }
        let worker = policy::worker_ns(&visit.history, s) as u64;
        let spent = self.remembered.spent_ns.fetch_add(worker, Ordering::Relaxed).saturating_add(worker);
        // Whatever inner loops hide, most of them are short.
        let is_early = !self.config.at_once && policy::is_early(&visit.history, s, false, self.passed());
        if visit.history.has_looked() || spent < READ_FROM_NS || is_early {
            return Ok(());
        }
        let Some(known) = self.known() else { return Ok(()) };
        let about = Row {
            the_loop: records::identity(visit.info),
            class: records::class(visit.iterations),
            ..Row::default()
        };
        let row = {
            let known = lock(known);
            let about = Row { machine: known.machine, ..about };
            known.rows.iter().find(|row| row.is_about(&about)).copied()
        };
        visit.history.go_on_from(about.the_loop, visit.iterations, row.as_ref(), visit.the_loop);
        visit.record.remembered = row.is_some();
        if visit.history.is_too_small(visit.entry.trip[0]) {
            // Nobody knows any more why; an inspection may have found that iterations depend on each other.
            visit.is_slower_elsewhere = match (is_proven, visit.info.inspect) {
                (true, _) => Some(1),
                (false, None) => Some(2),
                (false, Some(_)) => Some(0),
            };
            return Err("it has not paid in an earlier run".into());
        }
        if visit.history.category == crate::history::Category::Sequential && !is_proven {
            return Err("conflicts were found in an earlier run".into());
        }
        Ok(())
    }

    /// How many runs in a row have opened the GPU's driver in vain.
    pub(super) fn openings_in_vain(&self) -> u32 {
        match self.remembered.known.get() {
            Some(Some(known)) => lock(known).program.vain,
            _ => 0,
        }
    }

    /// What arrays that stay on a device have saved in an earlier run, in nanoseconds. `None`: no record was looked for yet.
    pub(super) fn saved_by_staying(&self) -> Option<f64> {
        match self.remembered.known.get()? {
            Some(known) => Some(lock(known).saved_by_staying),
            None => Some(0.0),
        }
    }

    /// Notes that the driver is about to be opened.
    pub(super) fn opens(&self) {
        self.note(|program| program.vain = program.vain.saturating_add(1));
    }

    /// Notes what a GPU has saved, in nanoseconds: when that is more than it costs, its driver wasn't opened in vain.
    pub(super) fn has_gained(&self, ns: f64) {
        let before = self.remembered.gained_ns.fetch_add(ns as u64, Ordering::Relaxed);
        if before < PAID_NS && before.saturating_add(ns as u64) >= PAID_NS {
            self.note(|program| program.vain = 0);
        }
    }

    fn note(&self, change: impl FnOnce(&mut Row)) {
        if self.remembers()
            && let Some(known) = self.known()
        {
            let mut known = lock(known);
            change(&mut known.program);
            self.write(&mut known);
        }
    }

    /// Writes, where it is time to. `has_decided`: the entry that is over has decided something about its loop.
    pub(super) fn keep_for_later_runs(&self, has_decided: bool) {
        let Some(Some(known)) = self.remembered.known.get() else { return };
        let Ok(mut known) = known.try_lock() else { return };
        known.has_news |= has_decided;
        let spent = self.remembered.spent_ns.load(Ordering::Relaxed);
        let may = spent / WRITE_EVERY_NS > known.writes && has_time(known.writing, known.since.elapsed());
        if may && (known.has_news || spent / 2 >= known.written_ns) {
            self.write(&mut known);
        }
    }

    fn write(&self, known: &mut Known) {
        if known.user != user() || confinement() != self.remembered.confinement {
            return;
        }
        let (when, started) = (now(), Instant::now());
        let mut rows: Vec<Row> = lock(&self.histories)
            .values()
            .filter_map(|history| history.row(known.machine))
            .map(|row| Row { when, ..row })
            .collect();
        known.program.when = when;
        if let Some(saved) = lock(&self.staying).saved() {
            known.program.gain_ns = saved.min(records::LONGEST_NS);
        }
        rows.push(known.program);
        known.has_news = !file::add(&known.name, &rows);
        known.written_ns = self.remembered.spent_ns.load(Ordering::Relaxed);
        known.writes += 1;
        known.writing += started.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_takes_a_small_part_of_the_time() {
        let milliseconds = Duration::from_millis;
        assert!(has_time(Duration::ZERO, Duration::ZERO));
        assert!(has_time(milliseconds(1), milliseconds(50)) && !has_time(milliseconds(1), milliseconds(49)));
        assert!(!has_time(Duration::MAX, milliseconds(50)));
    }
}
