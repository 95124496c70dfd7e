//! GPU programs that come from elsewhere, read into one flat form.
//!
//! [`ptx::read`] makes a [`Module`](code::Module) of PTX text: registers, jumps, memory by address, each instruction
//! with the line that it stands on, and with the place in the source that `.loc` names. [`step`] carries out one
//! instruction of a thread on its registers, and returns as an [`Effect`] what is left to the thread's owner: a load or
//! a store with its address, a fence or an atomic operation with its order and scope, a barrier. The owner's part
//! (memory, schedules, the models' events) is not here. Registers hold words, or for a checker [`Deferred`] words.
//!
//! [`spirv::text`] and [`spirv::binary`] read a SPIR-V module, which [`spirv::Spirv::lower`] makes a kernel of the same
//! form for one launch.
//!
//! The meaning of each instruction is taken from the PTX ISA, by section, or from the SPIR-V specification. Nothing
//! here knows the code generators, so that this reader can judge what they write.
//!
//! # Modules
//! - [`code`]: the flat form, as data.
//! - [`meaning`]: arithmetic, as functions on bits.
//! - [`spirv`]: words and text, types and their layout, and the lowering.
//! - [`ptx`]: tokens, statements, and the decoder, whose table of names is the one place that lists the instructions.
//!
//! ```
//! use std::collections::HashMap;
//! use wattle_modules::{Effect, Thread, ptx};
//!
//! let text = ".version 8.6\n.target sm_90\n.entry k(.param .u64 at)\n{ .reg .u64 %a; .reg .u32 %x;\n\
//!             ld.param.u64 %a, [at];\n mov.u32 %x, 20;\n add.u32 %x, %x, 22;\n\
//!             st.release.gpu.global.u32 [%a+4], %x; }";
//! let module = ptx::read("k.ptx", text, ptx::Limits::NONE, &HashMap::new())?;
//! let kernel = &module.kernels[0];
//! let mut thread: Thread = Thread::new(kernel);
//! let Effect::Load { access, to, .. } = thread.run(kernel, 100) else { panic!("the parameter is read first") };
//! thread.answer(to, Some(access), &[1000]);
//! let Effect::Store { address, values, .. } = thread.run(kernel, 100) else { panic!("then it stores") };
//! assert_eq!((address, thread.values(kernel, values).collect()), (1004, vec![42]));
//! # Ok::<(), wattle_modules::Refused>(())
//! ```
//!
//! # What is refused
//! Text that the PTX ISA does not allow (undeclared names, types that disagree, operands too many or too few, orders
//! and fences that the target or the version lacks), and what this reader does not support: calls of other modules'
//! functions, recursion, 8-bit floats, operations of matrices but `ldmatrix`, `stmatrix` and `mma`, textures, clusters.
//! Modifiers must stand in the order that the ISA gives, but for those of `atom` and `red`, which compilers write in
//! others. A [`Refused`] names file, line and instruction, and gives the reason.

pub mod address;
mod assigned;
pub mod code;
mod exchange;
mod functions;
pub mod meaning;
mod module;
mod op;
mod operand;
pub mod ptx;
mod refused;
pub mod spirv;
mod thread;
pub mod types;
mod value;

pub use refused::{Refused, RefusedKind};
pub use thread::{Cursor, Effect, Thread, step};
pub use value::{Deferred, Value};
