//! Generic addressing (PTX ISA 8.8, 5.1 and 9.7.9.20): the positions of the small spaces in the one address space of 64
//! bits.
//!
//! Addresses of global memory are chosen by the owner of the threads, outside of the windows.

use crate::types::Space;

/// The first generic address of a block's shared memory.
pub const SHARED_WINDOW: u64 = 2 << 56;
/// The first generic address of a thread's local memory.
pub const LOCAL_WINDOW: u64 = 3 << 56;
/// The first generic address of constant memory.
pub const CONST_WINDOW: u64 = 4 << 56;
/// The first generic address of a kernel's parameters.
pub const PARAM_WINDOW: u64 = 5 << 56;
/// The first address of functions, where there is no memory.
pub const FUNCTION_WINDOW: u64 = 6 << 56;
/// The size of a window in bytes: a power of two, of which the first address of each window is a multiple.
pub const WINDOW: u64 = 1 << 56;

/// The space of a generic address, and the address in that space.
#[inline]
pub fn generic(address: u64) -> (Space, u64) {
    match address & !(WINDOW - 1) {
        SHARED_WINDOW => (Space::Shared, address - SHARED_WINDOW),
        LOCAL_WINDOW => (Space::Local, address - LOCAL_WINDOW),
        CONST_WINDOW => (Space::Const, address - CONST_WINDOW),
        PARAM_WINDOW => (Space::Param, address - PARAM_WINDOW),
        _ => (Space::Global, address),
    }
}

/// The first generic address of a space's window; 0 for spaces whose addresses are generic ones.
#[inline]
pub(crate) fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Const => CONST_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Generic | Space::Global => 0,
    }
}
