//! The SPIR-V that is emitted: its text, and what spirv-val says of it.

mod halves;
mod lint;
mod one_buffer;
mod orderings;
mod permitted;
mod printing;
mod random;
mod redundant;
mod scenarios;
mod specialized;
mod text;
mod val;
mod warps;
