//! Modules of others in several threads, and refusals.

mod debug;
mod meanings;
mod refusals;
mod rounding;
mod threads;
