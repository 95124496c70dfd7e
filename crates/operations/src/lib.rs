//! What kernels can compute, as tables: the types of values, the operations on numbers, the atomic operations, those of
//! warps, and what kernels ask of their device.
//!
//! Each table is a macro that hands its rows to another one: `operations!(each more)` becomes `each!(more rows)`. From
//! the rows come the enumerations with their names and typing rules, the evaluator, the methods of numbers on the host
//! and in the builder, and the names that the kernel macro knows. A new operation of `operations!` that is an
//! instruction of its own is a row, and an arm in each code generator, which does not compile without it; one that is
//! computed by others (`by`, `fast`, `compositions!`) or that can fail (`faulting!`) is a row and its computation
//! (README.md, "The workspace", has the rest). A new type is a row, with its meaning in Rust in `ir::scalar`.
//!
//! The tables are a crate of their own because the kernel macro reads them too. What never will live here: code.

#![no_std]

mod devices;
mod expressions;
mod methods;
mod threads;
mod types;
