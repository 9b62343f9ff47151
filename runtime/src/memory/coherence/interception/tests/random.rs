//! The same random work with and without interception: every result and all bytes are the same.

use super::*;
use std::ffi::c_void;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// What has come out.
fn add(sum: &mut u64, value: u64) {
    *sum = (*sum ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(5);
}

/// Random steps on the mapping; what they have come to.
fn work(fake: &'static Fake, keeps: bool, steps: usize, folder: &str) -> (u64, u64) {
    let (mut random, mut sum, mut armed) = (Random(7), 14695981039346656037, 0);
    // SAFETY: descriptors of its own.
    let file = unsafe { libc::memfd_create(c"test".as_ptr(), 0) };
    let path = format!("{folder}/file\0");
    let _ = std::fs::remove_file(path.trim_end_matches('\0'));
    for _ in 0..steps {
        // A loop has left some pages elsewhere.
        if random.below(8) == 0 {
            let pages: Vec<usize> = (0..random.below(PAGES)).map(|_| random.below(PAGES)).collect();
            if keeps {
                let _inside = Inside::begin();
                arm(fake).unwrap();
                pages.iter().for_each(|page| fake.keep(*page));
            }
        }
        armed += u64::from(is_armed());
        let (at, length) = (random.below(BYTES - 9000), random.below(9000));
        let other = random.below(BYTES - 9000);
        let (from, to) = (fake.pointer::<c_void>(at), fake.pointer::<c_void>(other));
        errno::set(0);
        // SAFETY: all of the mapping, which isn't looked at otherwise meanwhile.
        let result = unsafe {
            match random.below(26) {
                0 => libc::pwrite(file, from, length, other as i64),
                1 => libc::pread(file, from, length, other as i64),
                2 => libc::read(file, from, length),
                3 => libc::write(file, from, length),
                4 => libc::lseek(file, other as i64, libc::SEEK_SET) as isize,
                5 => {
                    let vectors = [(at, length), (other, 100), (at + 7, 1)]
                        .map(|(at, bytes)| libc::iovec { iov_base: fake.pointer(at), iov_len: bytes });
                    libc::pwritev(file, vectors.as_ptr(), 3, 50)
                }
                6 => {
                    let vectors = [(at, 100), (other, length)]
                        .map(|(at, bytes)| libc::iovec { iov_base: fake.pointer(at), iov_len: bytes });
                    libc::preadv(file, vectors.as_ptr(), 2, 9)
                }
                7 => libc::memmove(to, from, length) as isize - to as isize,
                8 => libc::memset(from, length as i32, length) as isize - from as isize,
                9 => libc::memcmp(from, to, length).signum() as isize,
                10 => {
                    libc::memcpy(from, path.as_ptr().cast(), path.len());
                    let file = libc::open(from.cast(), libc::O_CREAT | libc::O_RDWR, 0o600);
                    let result = libc::write(file, to, length);
                    libc::close(file);
                    result
                }
                11 => {
                    libc::memcpy(from, path.as_ptr().cast(), path.len());
                    libc::unlink(from.cast()) as isize
                }
                12 => libc::ftruncate(file, length as i64) as isize,
                13 => {
                    libc::snprintf(to.cast(), length, c"%s %d %f".as_ptr(), path.as_ptr(), at as i32, 0.1f64)
                        as isize
                }
                14 => libc::write(-1, from, length),
                15 => libc::pread(file, 0x1000 as *mut c_void, length, 0),
                16 => {
                    let mut ends = [0i32; 2];
                    libc::pipe(ends.as_mut_ptr());
                    let written = libc::write(ends[1], from, length + 1);
                    let read = libc::read(ends[0], to, 4096);
                    ends.iter().for_each(|end| assert_eq!(libc::close(*end), 0));
                    written * 10000 + read
                }
                17 => libc::getcwd(from.cast(), length).is_null().into(),
                18 if random.below(50) == 0 => {
                    let mut set: libc::sigset_t = std::mem::zeroed();
                    libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) as isize
                }
                19 if random.below(50) == 0 => {
                    let child = libc::fork();
                    if child == 0 {
                        libc::_exit(i32::from(from.cast::<u8>().read()));
                    }
                    let mut status = 0;
                    libc::waitpid(child, &raw mut status, 0);
                    status as isize
                }
                20 if random.below(50) == 0 => {
                    libc::madvise(fake.pointer(at & !4095), 4096, libc::MADV_DONTNEED) as isize
                }
                _ => {
                    for step in 0..length / 64 {
                        let byte = fake.byte(at + step * 64);
                        let value = byte.load(Ordering::Relaxed);
                        add(&mut sum, u64::from(value));
                        fake.byte(other + step).store(value.wrapping_add(3), Ordering::Relaxed);
                    }
                    0
                }
            }
        };
        add(&mut sum, result as u64);
        add(&mut sum, errno::get() as u64);
    }
    for at in 0..BYTES {
        add(&mut sum, u64::from(fake.byte(at).load(Ordering::Relaxed)));
    }
    (sum, armed)
}

#[test]
fn random_work_comes_to_the_same() {
    const STEPS: usize = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let results = [false, true].map(|keeps| {
        let mut ends = [0; 2];
        // SAFETY: a pipe.
        unsafe { libc::pipe(ends.as_mut_ptr()) };
        child(|| {
            let result = work(Fake::new(), keeps, STEPS, folder.path().to_str().unwrap());
            // SAFETY: as long as it is.
            unsafe { libc::write(ends[1], (&raw const result).cast(), size_of_val(&result)) };
        })
        .succeeds();
        let mut result = (0u64, 0u64);
        // SAFETY: as above.
        unsafe { libc::read(ends[0], (&raw mut result).cast(), size_of_val(&result)) };
        result
    });
    assert_eq!(results[0].0, results[1].0);
    assert!(results[0].1 == 0 && results[1].1 > STEPS as u64 / 2, "{results:?}");
}
