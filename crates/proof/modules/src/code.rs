//! The flat form: instructions with resolved names, types and widths.
//!
//! A register is a slot of 64 bits, of which its width is used and the rest is zero. An operand is a register or a
//! constant of the kernel. An arithmetic instruction is a function on such bits, so a new one is a row of the decoder
//! alone; an instruction that needs its thread's owner has a member of [`Op`] and of [`Effect`](crate::Effect).

pub use crate::exchange::{Combine, CombinedLanes, Combiner, Exchange, Match, Vote};
pub use crate::functions::{Bin, Join, Quad, Tern, Test, Un};
pub use crate::meaning::exact::Rounded;
pub use crate::module::{Global, Kernel, LocalVariable, Module, Parameter, PlacedVariable, Source};
pub use crate::op::{AtObject, Copied, Gather, Lanes, Meeting, Next, Op, Outline, Step, TableJoin, TestJoin, Transfer};
pub use crate::operand::{
    Access, Carry, Convert, Fence, Guard, Integral, LaneMask, NO_REG, Ordering, Reg, Rmw, Rounding, Special, Src,
    Strength,
};
pub use crate::value::Bitwise;
