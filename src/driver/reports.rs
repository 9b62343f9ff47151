//! Where reports go: to standard error, to a file, or to files of their own in a folder.
//!
//! A file is put in place as a whole, so several compilations at the same time can't mix what they write; of those that write one
//! file the last one stands. In a folder each thing that is made has a file of its own. Not here: what a report says (`remarks`).

use super::arguments::{Input, Invocation, Mode, ReportRequest};
use crate::remarks::{Format, Report};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Longest name of a file that is made of a path; the system allows 255 bytes.
const LONGEST_NAME: usize = 240;

/// Writes what the command's options ask for; there is a report for each input. A report that can't be written is no reason for
/// anything to fail: there is a warning.
pub fn deliver(invocation: &Invocation, reports: Vec<Report>) {
    if !invocation.own.wants_report() {
        return;
    }
    let mut whole = Report::default();
    for report in &reports {
        whole.extend(report.clone());
    }
    // Nobody to tell if standard error is closed.
    let tell = |text: String| drop(io::stderr().write_all(text.as_bytes()));
    if invocation.own.remarks.any() {
        tell(whole.remarks(invocation.own.remarks));
    }
    for ReportRequest { format, to } in &invocation.own.reports {
        let Some(path) = to else {
            tell(whole.render(*format));
            continue;
        };
        let written = if is_folder(path) {
            fs::create_dir_all(path).and_then(|()| {
                invocation.inputs.iter().zip(&reports).try_for_each(|(input, report)| {
                    put(&path.join(name_in_folder(invocation, input, *format)), &report.render(*format))
                })
            })
        } else {
            put(path, &whole.render(*format))
        };
        if let Err(error) = written {
            tell(format!("paragon-cc: warning: {}: {error}\n", path.display()));
        }
    }
}

fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/") || path.is_dir()
}

/// The name of the report on what is made of `input` (the file itself where it is linked at once): the absolute path with `#`
/// between its parts.
fn name_in_folder(invocation: &Invocation, input: &Input, format: Format) -> OsString {
    let made = match (invocation.mode, &invocation.output) {
        (Mode::Link, _) => input.path.clone(),
        (_, Some(output)) => output.clone(),
        (_, None) => invocation.output_name(input),
    };
    let path = std::path::absolute(&made).unwrap_or(made);
    let bytes: Vec<u8> =
        path.as_os_str().as_bytes().iter().map(|byte| if *byte == b'/' { b'#' } else { *byte }).collect();
    let mut name = String::from_utf8_lossy(&bytes).into_owned();
    if name.len() > LONGEST_NAME {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let mut start = name.len() - LONGEST_NAME + 20;
        while !name.is_char_boundary(start) {
            start += 1;
        }
        name = format!("{:016x}#{}", hasher.finish(), &name[start..]);
    }
    format!("{name}.{}", format.ending()).into()
}

/// Puts a file in place as a whole. What is no plain file is written to.
fn put(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|entry| !entry.is_file()) {
        return fs::write(path, text);
    }
    // A link goes on leading to the file that it leads to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let folder: PathBuf = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    };
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
