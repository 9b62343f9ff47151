//! A terminal of our own. Compilers colour and link their messages when these go to a terminal; when we catch what would
//! have gone to the user's, they must find one, too.
//!
//! Not here: who is run with it (`driver::interruption`).

use std::fs::File;
use std::io::{Error, Read, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The two ends: what is written to the second, which is a terminal, is read from the first.
pub fn open() -> Result<(File, OwnedFd)> {
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: the two numbers are ours to be written; no name, settings or size are given.
    let status = unsafe {
        libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), std::ptr::null())
    };
    if status != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: both are open, and nobody else has them.
    let (ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let (first, second) = (ours.as_raw_fd(), theirs.as_raw_fd());
    // SAFETY: plain calls on open files with structures for which zero is a valid value.
    unsafe {
        for end in [first, second] {
            libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        // Bytes are to come out as they went in, and the size is the user's terminal's.
        let mut settings: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(second, &mut settings) == 0 {
            libc::cfmakeraw(&mut settings);
            libc::tcsetattr(second, libc::TCSANOW, &settings);
        }
        let mut size: libc::winsize = std::mem::zeroed();
        if libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) == 0 {
            libc::ioctl(second, libc::TIOCSWINSZ, &size);
        }
    }
    Ok((ours, theirs))
}

/// Everything that was written until the last writer closed the other end.
pub fn read_all(mut ours: File) -> Vec<u8> {
    let mut text = Vec::new();
    // The end of a terminal shows as an error; what was read before it is kept.
    let _ = ours.read_to_end(&mut text);
    text
}
