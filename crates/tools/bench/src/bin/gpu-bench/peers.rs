//! The peers in CUDA C++, as `gpu.sh` builds them from `peers/peers.cu`.

use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::{Library, Symbol};

/// The peers' library, which stays loaded: the runtime in it takes its code back when it goes, and what it needs for
/// that may be gone before. Times are in seconds, by the device's events; `None` if a peer could not run.
pub struct Peers(ManuallyDrop<Library>);

type Sized = unsafe extern "C" fn(usize) -> f64;
type Counting = unsafe extern "C" fn(usize, u32) -> f64;
type Launches = unsafe extern "C" fn(u32) -> i32;
type Fences = unsafe extern "C" fn(i32, i32, u32, u32, u32, u32) -> f64;
type Release = unsafe extern "C" fn();

impl Peers {
    /// Loads the library.
    ///
    /// # Errors
    /// Why it cannot be loaded.
    pub fn load(file: &Path) -> Result<Peers, libloading::Error> {
        // SAFETY: the library was built from this folder's source, and does nothing when it is loaded.
        unsafe { Library::new(file) }.map(ManuallyDrop::new).map(Peers)
    }

    fn time(&self, name: &str, n: usize) -> Option<f64> {
        // SAFETY: the functions of these names have this type in `peers.cu`, and take any number.
        let time = unsafe {
            let function: Symbol<'_, Sized> = self.0.get(name.as_bytes()).ok()?;
            function(n)
        };
        (time > 0.0).then_some(time)
    }

    pub fn copy(&self, n: usize) -> Option<f64> {
        self.time("peer_copy", n)
    }

    pub fn triad(&self, n: usize) -> Option<f64> {
        self.time("peer_triad", n)
    }

    pub fn sum(&self, n: usize) -> Option<f64> {
        self.time("peer_sum", n)
    }

    pub fn scan(&self, n: usize) -> Option<f64> {
        self.time("peer_scan", n)
    }

    pub fn transposition(&self, side: usize) -> Option<f64> {
        self.time("peer_transposition", side)
    }

    pub fn stencil(&self, side: usize) -> Option<f64> {
        self.time("peer_stencil", side)
    }

    pub fn product(&self, side: usize) -> Option<f64> {
        self.time("peer_product", side)
    }

    pub fn histogram(&self, n: usize, blocks: usize) -> Option<f64> {
        // SAFETY: as above.
        let time = unsafe { self.0.get::<Counting>(b"peer_histogram").ok()?(n, blocks as u32) };
        (time > 0.0).then_some(time)
    }

    /// Launches `n` empty kernels and waits; returns whether that succeeded.
    pub fn launches(&self, n: u32) -> bool {
        // SAFETY: as above.
        unsafe { self.0.get::<Launches>(b"peer_launches").is_ok_and(|function| function(n) == 0) }
    }

    /// How long a loop of `turns` turns with a fence takes; see `peers.cu` for the numbers.
    pub fn fences(&self, order: i32, scope: i32, writes: u32, blocks: u32, threads: u32, turns: u32) -> Option<f64> {
        // SAFETY: as above; the numbers are those that the table has.
        let time = unsafe {
            let function: Symbol<'_, Fences> = self.0.get(b"peer_fences").ok()?;
            function(order, scope, writes, blocks, threads, turns)
        };
        (time > 0.0).then_some(time)
    }

    /// The last error of the peers, if there was one.
    pub fn error(&self) -> Option<String> {
        type Error = unsafe extern "C" fn() -> *const std::ffi::c_char;
        // SAFETY: as above; the text is one of the runtime's own, or null.
        unsafe {
            let text = self.0.get::<Error>(b"peer_error").ok()?();
            (!text.is_null()).then(|| std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// Frees what the peers hold.
    pub fn release(&self) {
        // SAFETY: as above.
        if let Ok(function) = unsafe { self.0.get::<Release>(b"peer_release") } {
            // SAFETY: nothing of the peers' is in use between two calls.
            unsafe { function() };
        }
    }
}
