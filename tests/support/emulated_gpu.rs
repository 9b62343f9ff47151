//! The GPU that is none (`c-tests/emulated_gpu`): its driver and its compiler, built in a folder, and what a program has to be told
//! to use them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that it was built in.
pub struct EmulatedGpu {
    folder: PathBuf,
}

impl EmulatedGpu {
    /// Builds it with the C++ compiler.
    pub fn build(sources: &Path, folder: &Path) -> EmulatedGpu {
        for inside in ["objects", "cache"] {
            std::fs::create_dir_all(folder.join(inside)).unwrap();
        }
        for (source, library) in [("driver.cpp", "libcuda.so"), ("compiler.cpp", "libnvrtc.so.13")] {
            let mut command = Command::new("c++");
            command.args([
                "-std=c++17",
                "-O2",
                "-Wall",
                "-Wextra",
                "-fPIC",
                "-shared",
                "-U_FORTIFY_SOURCE",
                "-o",
            ]);
            command.arg(folder.join(library)).arg(sources.join(source)).args(["-ldl", "-pthread"]);
            let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
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
