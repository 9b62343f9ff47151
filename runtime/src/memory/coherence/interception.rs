//! STUB
#![allow(missing_docs)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
pub trait Keeper: Sync {
    fn fault(&self, address: u64, stores: bool) -> bool;
    fn touch(&self, lo: u64, hi: u64, stores: bool);
    fn keeps(&self, lo: u64, hi: u64) -> bool;
    fn bring_home(&self);
}
#[derive(Debug)]
pub struct Refusal;
static K: OnceLock<&'static dyn Keeper> = OnceLock::new();
static A: AtomicBool = AtomicBool::new(false);
extern "C" fn handler(_: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    unsafe {
        let context = &*(context as *const libc::ucontext_t);
        let stores = context.uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0;
        if !K.get().unwrap().fault((*info).si_addr() as u64, stores) {
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        }
    }
}
pub fn arm(keeper: &'static dyn Keeper) -> Result<(), Refusal> {
    let _ = K.set(keeper);
    A.store(true, Ordering::Relaxed);
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
    }
    Ok(())
}
pub fn disarm() {
    A.store(false, Ordering::Relaxed);
}
pub fn is_armed() -> bool { A.load(Ordering::Relaxed) }
pub struct Inside;
impl Inside { pub fn begin() -> Inside { Inside } }
