//! Handles: numbers that stand for the driver's objects, so that a wrong one is an error and not a crash.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::lock::lock;
use super::status::{Done, Status};

/// The live objects of one kind, by handle.
pub struct Handles<T> {
    objects: OnceLock<Mutex<HashMap<usize, Arc<T>>>>,
}

static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

impl<T> Handles<T> {
    /// A table without objects.
    pub const fn new() -> Handles<T> {
        Handles { objects: OnceLock::new() }
    }

    fn objects(&self) -> &Mutex<HashMap<usize, Arc<T>>> {
        self.objects.get_or_init(Mutex::default)
    }

    /// Adds an object that `make` makes, given its handle; returns both.
    pub fn add(&self, make: impl FnOnce(usize) -> T) -> (usize, Arc<T>) {
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        let object = Arc::new(make(handle));
        lock(self.objects()).insert(handle, object.clone());
        (handle, object)
    }

    /// The object with this handle.
    ///
    /// # Errors
    /// There is no such object.
    pub fn get(&self, handle: usize) -> Done<Arc<T>> {
        lock(self.objects()).get(&handle).cloned().ok_or(Status::ERROR_INVALID_HANDLE)
    }

    /// Removes an object from the table.
    ///
    /// # Errors
    /// There is no such object.
    pub fn remove(&self, handle: usize) -> Done<Arc<T>> {
        lock(self.objects()).remove(&handle).ok_or(Status::ERROR_INVALID_HANDLE)
    }

    /// All live objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        lock(self.objects()).values().cloned().collect()
    }

    /// Keeps the objects that `keep` picks.
    pub fn retain(&self, keep: impl Fn(&T) -> bool) {
        lock(self.objects()).retain(|_, object| keep(object));
    }
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles::new()
    }
}
