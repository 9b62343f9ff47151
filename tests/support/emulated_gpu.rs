//! The GPU that is none (`c-tests/emulated_gpu`): its driver and its compiler, built in a folder, and what a program has to be told
//! to use them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the libraries are built with; the libraries' names and sources come on top.
const FLAGS: [&str; 6] = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared"];

/// The folder that it is in, with its kernels.
pub struct EmulatedGpu {
    folder: PathBuf,
}

const LIBRARIES: [(&str, &str); 2] = [("driver.cpp", "libcuda.so"), ("compiler.cpp", "libnvrtc.so.13")];

/// The libraries of these sources, which some twenty tests use: built by the first one, by whichever process, in a folder whose name is what they are
/// made of, and never changed.
fn libraries(sources: &Path) -> PathBuf {
    let mut made_of = DefaultHasher::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        (file.file_name(), std::fs::read(&file).unwrap()).hash(&mut made_of);
    }
    (FLAGS, Command::new("c++").arg("--version").output().unwrap().stdout).hash(&mut made_of);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated_gpu");
    let built = all.join(format!("{:016x}", made_of.finish()));
    // Who builds it at the same time as another one finds the other's, or puts the same in its place.
    if !built.exists() {
        std::fs::create_dir_all(&all).unwrap();
        let own = tempfile::tempdir_in(&all).unwrap();
        for (source, library) in LIBRARIES {
            let mut command = Command::new("c++");
            command.args(FLAGS).args(["-U_FORTIFY_SOURCE", "-o"]).arg(own.path().join(library));
            command.arg(sources.join(source)).args(["-ldl", "-pthread"]);
            let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
        }
        let renamed = std::fs::rename(own.path(), &built);
        assert!(renamed.is_ok() || built.exists(), "{renamed:?}");
    }
    built
}

impl EmulatedGpu {
    /// Builds it with the C++ compiler, unless that was done, in a folder of the test's own.
    pub fn build(sources: &Path, folder: &Path) -> EmulatedGpu {
        for inside in ["objects", "cache"] {
            std::fs::create_dir_all(folder.join(inside)).unwrap();
        }
        let built = libraries(sources);
        for (_, library) in LIBRARIES {
            std::os::unix::fs::symlink(built.join(library), folder.join(library)).unwrap();
        }
        EmulatedGpu { folder: folder.into() }
    }

    /// Tells a program where it is. Kernels that were compiled once are found again by later runs.
    pub fn apply(&self, command: &mut Command) {
        command
            .env("LD_LIBRARY_PATH", &self.folder)
            .env("PARAGON_NVRTC", &self.folder)
            .env("EMULATED_CXX", "c++")
            .env("EMULATED_FOLDER", self.folder.join("objects"))
            .env("XDG_CACHE_HOME", self.folder.join("cache"));
    }
}
