//! A library of the program's may be unloaded whenever none of its loops is entered: also while a job that has lost is still at work
//! on one of them (`speculation::facts`). On the GPU that is none, whose compiler takes as long as the program wants.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Compiles like the C++ compiler, but a loop's kernel not before the program has unloaded the library that it is of.
const COMPILER: &str = r#"#!/bin/sh
here=$(dirname "$0")
for argument; do
  case $argument in
    *.cpp) if grep -q __pg_kernel "$argument"; then ours=1; fi ;;
  esac
done
touch "$here/compiling"
if [ -n "$ours" ]; then
  touch "$here/begun"
  turns=0
  while [ ! -e "$here/unloaded" ] && [ $turns -lt 400 ]; do
    sleep 0.05
    turns=$((turns + 1))
  done
fi
c++ "$@"
status=$?
rm -f "$here/compiling"
exit $status
"#;

#[test]
fn a_library_is_unloaded_while_its_loop_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let sources = root.join("c-tests/emulated_gpu");
    let gpu = EmulatedGpu::build(&sources, &at("gpu"));
    let compile = |compiler: &str, name: &str, flags: &[&str]| {
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-o"]).arg(at(name)).args(flags);
        let output = command.arg(sources.join("unloaded.c")).arg("-ldl").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let ours = env!("CARGO_BIN_EXE_paragon-cc");
    let library = ["-DPLUG", "-shared", "-fPIC"];
    // Where its arrays end is known only of what we have compiled.
    compile(ours, "program", &[]);
    compile("cc", "reference.so", &library);
    compile(ours, "ours.so", &[&library[..], &["-fparagon-threshold=1"]].concat());
    let wanted =
        Command::new(at("program")).arg(at("reference.so")).env("PARAGON_DEVICE", "off").output().unwrap();
    assert!(wanted.status.success(), "{wanted:?}");

    std::fs::write(at("compiler"), COMPILER).unwrap();
    std::fs::set_permissions(at("compiler"), PermissionsExt::from_mode(0o700)).unwrap();
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "900"]).arg(at("program")).arg(at("ours.so"));
    command.args([at("begun"), at("compiling"), at("unloaded")]);
    gpu.apply(&mut command);
    // One thread: there is no other way than the GPU.
    command.env("PARAGON_DEVICE", "cuda").env("PARAGON_THREADS", "1").env("EMULATED_CXX", at("compiler"));
    command.env("PARAGON_MONITOR", "off").env("PARAGON_TRACE", at("trace"));
    let output = command.output().unwrap();
    let trace = std::fs::read_to_string(at("trace")).unwrap_or_default();
    assert!(output.status.success(), "{output:?}: {trace}");
    assert!(output.stdout == wanted.stdout, "other results");
    assert!(trace.contains("\"device\":\"cuda\""), "{trace}");
}
