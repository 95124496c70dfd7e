//! Questions to a kernel that every generator asks.

use wattle_ir::{Kernel, Place, SharedLen, Stmt};
use wattle_memory::Classes;

/// How many elements an array in shared memory or of the thread's own has; none where only a launch knows.
pub fn known_len(kernel: &Kernel, place: Place) -> Option<u32> {
    match place {
        Place::Param(_) => None,
        Place::Local(id) => Some(kernel.locals[id.index()].len),
        Place::Shared(id) => match kernel.shared[id.index()].len {
            SharedLen::Static(len) => Some(len),
            SharedLen::AtLaunch => None,
        },
    }
}

/// Whether there is a loop without a bound, which asks now and then whether the launch shall end.
pub fn has_unbounded_loop(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.walk(&mut |stmt| found |= matches!(stmt, Stmt::Loop { bounded: false, .. }));
    found
}

/// The class of memory that a place which atomic operations reach is in.
pub fn class_of(place: Place) -> Classes {
    match place {
        Place::Shared(_) => Classes::BLOCK,
        _ => Classes::BUFFER,
    }
}

/// A name with all but ASCII letters and digits replaced by `_`: what every target can write.
pub fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
