//! Reads SPIR-V modules, as text or as words, and lowers a launch of an entry point to the flat form.
//!
//! [`text`] and [`binary`] give the same list of instructions; [`Spirv::lower`] is for both. It knows the numbers of
//! threads, the values of specialization constants and the sizes of buffers, so that these are constants of the kernel.
//! The names of instructions and enumerations are rspirv's tables; the meaning of each instruction is taken from the
//! SPIR-V specification, and that of its memory operands from the Vulkan memory model.
//!
//! # What is assumed and refused
//! An undefined result, and a thread's own variable that nobody has written, may be anything, which is carried along
//! ([`Deferred::Any`](crate::Deferred::Any)). Floats are rounded once for each operation: Vulkan lets a quotient be off
//! by 2.5 units in the last place, and a product and a sum be fused, and this is one of the results. Addresses are
//! logical, or of 64 bits in the OpenCL environment; images, atomic operations on less than 32 bits, pointers whose
//! storage class the text does not show, and extended instructions without one exact result are refused by line.

mod approximate;
mod arithmetic;
mod contents;
mod edit;
mod floats;
mod instruction;
mod labels;
mod language;
mod library;
mod loop_bounds;
mod lower;
mod module;
mod parts;
mod setting;
mod subgroups;
mod text;
mod types;
mod undefined;
mod unknown;

pub use contents::{Contents, scalar_bits};
pub use edit::{Added, Edit, Orders, Synchronization};
pub use instruction::Id;
pub use language::SourceLanguage;
pub use lower::{BoundBuffer, Given, Interface, Lowered, Place, PushMember, Variable, address_of, item_by_word};
pub use module::Spirv;
pub use parts::{Member, Parts};
pub use setting::{Bound, BoundMemory, BuiltInVariable, Setting, Shape};
pub use types::{Kind, Leaf, Scalar, Type, Types};

use crate::refused::Refused;

/// Reads a module as text, with the name of its file.
///
/// # Errors
/// The text is no module.
pub fn text(file: &str, text: &str) -> Result<Spirv, Refused> {
    let read = text::assemble(text).and_then(|listing| Spirv::of(listing, text.to_owned()));
    read.map_err(|refused| refused.within(file, text))
}

/// Reads a module as bytes, with the name of its file. The lines of places are the numbers of instructions.
///
/// # Errors
/// The bytes are no module.
pub fn binary(file: &str, bytes: &[u8]) -> Result<Spirv, Refused> {
    let listing = instruction::binary(bytes).map_err(|refused| refused.within(file, ""))?;
    let text: String = listing.instructions.iter().map(|instruction| listing.line(instruction) + "\n").collect();
    let lines = text.clone();
    Spirv::of(listing, text).map_err(|refused| refused.within(file, &lines))
}
