//! Generic addressing (PTX ISA 8.8, 5.1 and 9.7.9.20): where in the one address space of 64 bits the small spaces lie.
//!
//! Addresses of global memory are what the owner of the threads says, outside of both windows.

use crate::types::Space;

/// Where generic addressing has a block's shared memory.
pub const SHARED_WINDOW: u64 = 2 << 56;
/// Where generic addressing has a thread's local memory.
pub const LOCAL_WINDOW: u64 = 3 << 56;
/// Size of a window.
pub const WINDOW: u64 = 1 << 32;

/// The space and the address in it that a generic address means.
#[inline]
pub fn generic(address: u64) -> (Space, u64) {
    match address {
        SHARED_WINDOW.. if address < SHARED_WINDOW + WINDOW => (Space::Shared, address - SHARED_WINDOW),
        LOCAL_WINDOW.. if address < LOCAL_WINDOW + WINDOW => (Space::Local, address - LOCAL_WINDOW),
        _ => (Space::Global, address),
    }
}

/// Where the window of a space begins; 0 for the spaces whose addresses are generic ones.
#[inline]
pub(crate) fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Generic | Space::Global | Space::Param | Space::Const => 0,
    }
}
