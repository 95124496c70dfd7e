//! The types of the functions on bits that arithmetic instructions are.

/// A function with one operand.
pub type Un = fn(u64) -> u64;
/// A function with two operands.
pub type Bin = fn(u64, u64) -> u64;
/// A function with three operands.
pub type Tern = fn(u64, u64, u64) -> u64;
/// A function with four operands.
pub type Quad = fn(u64, u64, u64, u64) -> u64;
/// A comparison of two operands.
pub type Test = fn(u64, u64) -> bool;
/// A function that joins a comparison with a predicate.
pub type Join = fn(bool, bool) -> bool;
