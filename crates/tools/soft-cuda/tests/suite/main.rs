//! The CUDA driver in software, through the functions that it exports.

mod arithmetic;
mod contexts;
mod damaged;
mod driver;
mod environment;
mod floats;
mod halves;
mod memory;
mod refused;
mod spaces;
mod tools;
mod warps;
