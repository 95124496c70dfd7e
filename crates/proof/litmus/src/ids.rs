//! The numbers by which a program calls its parts.

/// The number of a register in its thread.
pub type RegisterId = usize;
/// The number of a name of memory in its program.
pub type ReferenceId = usize;
/// The number of a label in its thread.
pub type LabelId = usize;
