//! Names that are made while a program runs.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Keeps a text for as long as the process runs; equal texts are kept once.
pub(crate) fn intern(text: String) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text.as_str()) {
        return known;
    }
    let text: &'static str = text.leak();
    kept.insert(text);
    text
}
