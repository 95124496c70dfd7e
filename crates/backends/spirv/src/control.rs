//! The control block of a launch: the words with which it reports errors and is asked to stop; and behind them its
//! arguments, where they are no push constants. In 32-bit words.
//!
//! Each launch has one. The host clears the words before [`ARGUMENTS`] before the launch. The queue's gate is a buffer
//! of one word.

pub use wattle_ir::control::*;

/// The first of the argument words, where they are no push constants.
pub const ARGUMENTS: u32 = SHARED_WORDS;
/// The number of words of a control block.
pub const WORDS: u32 = 1024;
