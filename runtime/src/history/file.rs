//! The file with a program's records: one for each program, in [`cache_folder`](crate::cache_folder), named by a hash of the program's path.
//!
//! Nothing in it is trusted. It has to be a plain file of the effective user's that nobody else may write to, opened without following a link
//! and without waiting for anybody (a fifo in its place), of a length that its own header agrees with, with a checksum over everything, and with
//! numbers that are in range. Otherwise there is no history, and the next program to write makes a new file.
//!
//! Who writes reads first what others have written meanwhile, replaces its own rows there, and puts a new file in the old one's place by
//! renaming it. The name that the new file has until then is the same for all, and made only where there is none: so of two
//! programs that write at once one does, and the other keeps its numbers for the next time. One that has been left behind is removed
//! when it is old.
//!
//! A program whose files may not grow is sent SIGXFSZ, which would end it: that signal waits meanwhile and is taken back. Failures say nothing,
//! and leave the file as it was.

use super::records::{BYTES, Row};
use crate::cache_folder;
use crate::own_threads::BlockSignals;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// First bytes, with the format's version.
const MAGIC: &[u8; 8] = b"pgruns\x00\x01";
/// [`MAGIC`], the checksum of all that follows it, and the number of rows.
const HEADER: usize = 8 + 8 + 4;
/// Rows that are kept: 30 KiB.
pub const MOST_ROWS: usize = 256;
/// What nobody can be at work at any more.
const ABANDONED: Duration = Duration::from_secs(60);

/// The name of the calling program's file in the cache's folder. `None`: the system doesn't tell which program it is.
pub fn name() -> Option<String> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let mut names = [0u64; 2];
    for (salt, name) in names.iter_mut().enumerate() {
        let mut hasher = DefaultHasher::new();
        (salt, &program).hash(&mut hasher);
        *name = hasher.finish();
    }
    Some(format!("{:016x}{:016x}.runs", names[0], names[1]))
}

/// The rows of a file; none where anything about it is wrong.
pub fn read(path: &Path) -> Vec<Row> {
    parse(&content(path).unwrap_or_default()).unwrap_or_default()
}

fn content(path: &Path) -> Option<Vec<u8>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = own(OpenOptions::new().read(true).custom_flags(flags).open(path))?;
    let found = file.metadata().ok()?;
    let most = HEADER + MOST_ROWS * BYTES;
    if !found.is_file() || !cache_folder::is_ours(&found) || found.len() > most as u64 {
        return None;
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A file that was opened, unless it has become the program's standard input, output or error: those are closed for good here, and what the program writes to
/// them must not come into a file of ours.
fn own(opened: std::io::Result<File>) -> Option<File> {
    opened.ok().filter(|file| file.as_raw_fd() > 2)
}

fn parse(bytes: &[u8]) -> Option<Vec<Row>> {
    let (sum, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let (count, rows) = rest.split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    if count > MOST_ROWS || rows.len() != count * BYTES || u64::from_le_bytes(*sum) != checksum(rest) {
        return None;
    }
    rows.as_chunks::<BYTES>().0.iter().map(Row::read).collect()
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn bytes_of(rows: &[Row]) -> Vec<u8> {
    let mut rest = Vec::with_capacity(HEADER + rows.len() * BYTES);
    rest.extend((rows.len() as u32).to_le_bytes());
    rows.iter().for_each(|row| row.write(&mut rest));
    [&MAGIC[..], &checksum(&rest).to_le_bytes(), &rest].concat()
}

/// Replaces what is known about the same by `news`, and lets the oldest go where there is no room. Rows of programs stay: they count the runs
/// after which nothing is believed any more, and without them each run would open the driver in vain.
fn merge(rows: &mut Vec<Row>, news: &[Row]) {
    for new in news {
        rows.retain(|row| !row.is_about(new));
        rows.push(*new);
    }
    if rows.len() > MOST_ROWS {
        rows.sort_by_key(|row| (row.the_loop != 0, std::cmp::Reverse(row.when)));
        rows.truncate(MOST_ROWS);
    }
}

/// Adds rows to the file in the cache's folder, which is made where it is missing. False: it stays as it was.
pub fn add(name: &str, news: &[Row]) -> bool {
    let _waiting = GrowthBlocked::new();
    cache_folder::folder(true).is_some_and(|folder| add_to(&folder.join(name), news))
}

fn add_to(path: &Path, news: &[Row]) -> bool {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = PathBuf::from(temporary);
    let create = || {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(&temporary)
    };
    let mut opened = create();
    if opened.is_err() && is_abandoned(&temporary) && std::fs::remove_file(&temporary).is_ok() {
        opened = create();
    }
    let is_made = opened.is_ok();
    let is_done = own(opened).is_some_and(|mut file| {
        cache_folder::permit(&file, 0o600);
        // From here on nobody else writes.
        let mut rows = read(path);
        merge(&mut rows, news);
        file.write_all(&bytes_of(&rows)).and_then(|()| std::fs::rename(&temporary, path)).is_ok()
    });
    if is_made && !is_done {
        let _ = std::fs::remove_file(&temporary);
    }
    is_done
}

fn is_abandoned(temporary: &Path) -> bool {
    let since = std::fs::symlink_metadata(temporary).ok().and_then(|found| {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(found.mtime()).ok()?))
    });
    // What comes from the future says nothing, so it isn't waited for either.
    since.is_some_and(|since| since.elapsed().map_or(true, |age| age > ABANDONED))
}

/// While it lives signals wait on the calling thread, and a SIGXFSZ that came meanwhile is taken back at its end.
struct GrowthBlocked {
    _signals: BlockSignals,
    was_pending: bool,
}

impl GrowthBlocked {
    fn new() -> GrowthBlocked {
        GrowthBlocked { _signals: BlockSignals::new(), was_pending: is_pending() }
    }
}

impl Drop for GrowthBlocked {
    fn drop(&mut self) {
        if self.was_pending || !is_pending() {
            return;
        }
        // SAFETY: plain calls on local variables; the signal is blocked and pending, so nothing is waited for.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut set, libc::SIGXFSZ);
            let at_most = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const at_most);
        }
    }
}

/// Whether a SIGXFSZ waits.
fn is_pending() -> bool {
    // SAFETY: plain calls on a local variable.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&raw mut set) == 0 && libc::sigismember(&raw const set, libc::SIGXFSZ) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::row;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn what_was_added_is_there_and_newer_numbers_stand() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        assert!(read(&path).is_empty());
        assert!(add_to(&path, &[row(1), row(2)]));
        assert!(add_to(&path, &[Row { gain_ns: 4.0, ..row(1) }, row(3)]));
        assert_eq!(read(&path), [row(2), Row { gain_ns: 4.0, ..row(1) }, row(3)]);
        // Another machine or class is another row.
        assert!(add_to(&path, &[Row { machine: 8, ..row(2) }, Row { class: 1, ..row(2) }]));
        assert_eq!(read(&path).len(), 5);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        let many: Vec<Row> = (1..=MOST_ROWS as u64 + 10).map(row).collect();
        assert!(add_to(&path, &many));
        let kept = read(&path);
        assert_eq!((kept.len(), kept.iter().map(|row| row.when).min()), (MOST_ROWS, Some(11)));
    }

    #[test]
    fn a_program_with_many_loops_is_known_all_the_same() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        let program = Row { the_loop: 0, runs: 5, ..row(9) };
        let loops = (1..=2 * MOST_ROWS as u64).map(|number| Row { when: 9, ..row(number) });
        assert!(add_to(&path, &loops.chain([program]).collect::<Vec<_>>()));
        assert!(read(&path).contains(&program) && read(&path).len() == MOST_ROWS);
    }

    #[test]
    fn masks_of_modes_take_nothing_from_the_owner() {
        let folder = folder();
        let inner = folder.path().join("cache").join("paragon");
        let path = inner.join("a.runs");
        // SAFETY: as in `files_that_may_not_grow_end_nobody`; the mask is the child's.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::umask(0o777);
                cache_folder::make(&inner);
                libc::_exit(i32::from(!add_to(&path, &[row(1)])));
            }
            let mut status = -1;
            libc::waitpid(child, &raw mut status, 0);
            status
        };
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(status, 0);
        assert_eq!([&folder.path().join("cache"), &inner].map(|path| mode(path)), [0o700; 2]);
        assert_eq!((mode(&path), read(&path)), (0o600, vec![row(1)]));
    }

    #[test]
    fn damage_anywhere_means_no_history() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        let bytes = bytes_of(&[row(1), row(2)]);
        assert_eq!(parse(&bytes).unwrap().len(), 2);
        for at in 0..bytes.len() {
            for flipped in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flipped;
                assert_eq!(parse(&damaged), None, "byte {at}");
            }
            assert_eq!(parse(&bytes[..at]), None, "{at} bytes");
        }
        assert_eq!(parse(&[&bytes[..], &[0]].concat()), None);
        // What is wrong is replaced.
        std::fs::write(&path, &bytes[..50]).unwrap();
        assert!(add_to(&path, &[row(3)]));
        assert_eq!(read(&path), [row(3)]);
    }

    #[test]
    fn numbers_that_nobody_measured_are_refused_with_their_checksum() {
        assert_eq!(parse(&bytes_of(&[Row { gain_ns: f64::NAN, ..row(1) }])), None);
        let many: Vec<Row> = (0..=MOST_ROWS as u64).map(row).collect();
        assert_eq!(parse(&bytes_of(&many)), None);
    }

    #[test]
    fn what_is_no_file_of_ours_is_not_read() {
        let folder = folder();
        let (path, other) = (folder.path().join("a.runs"), folder.path().join("b.runs"));
        assert!(add_to(&other, &[row(1)]));
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(read(&path).is_empty());
        // It is replaced, not written through.
        assert!(add_to(&path, &[row(2)]));
        assert_eq!((read(&path), read(&other)), (vec![row(2)], vec![row(1)]));
        for mode in [0o620, 0o602, 0o666] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(read(&path).is_empty(), "{mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        // A fifo without a writer would keep whoever opens it waiting.
        let fifo = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a terminated string.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        assert!(read(&path).is_empty());
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(read(&path).is_empty() && !add_to(&path, &[row(1)]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn files_of_others_are_not_read() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        assert!(add_to(&path, &[row(1)]));
        // Only the superuser can give files away.
        if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
            assert!(read(&path).is_empty());
        }
    }

    #[test]
    fn of_two_that_write_one_does() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        let new = folder.path().join("a.runs.new");
        std::fs::write(&new, "somebody's").unwrap();
        assert!(!add_to(&path, &[row(1)]) && new.exists() && !path.exists());
        let old = SystemTime::now() - 2 * ABANDONED;
        File::options().write(true).open(&new).unwrap().set_modified(old).unwrap();
        assert!(add_to(&path, &[row(1)]) && !new.exists());
        let written: usize = std::thread::scope(|scope| {
            let write = |n: u64| {
                let path = &path;
                scope.spawn(move || {
                    let mut written = 0;
                    for i in 0..50 {
                        written += usize::from(add_to(path, &[row(100 * n + i)]));
                        // At every moment there is a whole file.
                        assert!(read(path).iter().any(|found| *found == row(1)));
                    }
                    written
                })
            };
            let all: Vec<_> = (1..=4).map(write).collect();
            all.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        // What was written is there: nobody's rows are lost to somebody else's.
        assert_eq!(read(&path).len(), 1 + written);
    }

    #[test]
    fn standard_output_is_never_a_file_of_ours() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        assert!(add_to(&path, &[row(1)]));
        // SAFETY: as in `files_that_may_not_grow_end_nobody`.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                for descriptor in 0..3 {
                    libc::close(descriptor);
                }
                let is_done = add_to(&path, &[row(2)]) || !read(&path).is_empty();
                libc::_exit(i32::from(is_done));
            }
            let mut status = -1;
            libc::waitpid(child, &raw mut status, 0);
            status
        };
        assert_eq!((status, read(&path).len()), (0, 1));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// `cargo test --release -p paragon_rt --lib -- --ignored --nocapture what_records_cost`
    #[test]
    #[ignore = "a measurement"]
    fn what_records_cost() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        let best = |work: &dyn Fn()| {
            let once = || {
                let started = std::time::Instant::now();
                work();
                started.elapsed()
            };
            (0..50).map(|_| once()).min().unwrap()
        };
        println!(
            "machine {:?}",
            best(&|| {
                std::hint::black_box(super::super::records::machine(&[1]));
            })
        );
        for rows in [1, 10, MOST_ROWS as u64] {
            let rows: Vec<Row> = (1..=rows).map(row).collect();
            let written = best(&|| assert!(add_to(&path, &rows)));
            let found = best(&|| assert_eq!(read(&path).len(), rows.len()));
            println!("{} rows: read {found:?}, written {written:?}", rows.len());
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn files_that_may_not_grow_end_nobody() {
        let folder = folder();
        let path = folder.path().join("a.runs");
        assert!(add_to(&path, &[row(1)]));
        // SAFETY: the child limits itself, writes and ends; what it needs of the allocator no other thread of these tests holds for long.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                let limit = libc::rlimit { rlim_cur: 30, rlim_max: 30 };
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
                let waiting = GrowthBlocked::new();
                let is_done = add_to(&path, &[row(2)]);
                drop(waiting);
                libc::_exit(i32::from(is_done));
            }
            let mut status = -1;
            libc::waitpid(child, &raw mut status, 0);
            status
        };
        assert_eq!(status, 0);
        assert_eq!(read(&path), [row(1)]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
