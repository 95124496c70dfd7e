//! Modules of others in several threads, and refusals.

mod debug;
mod refusals;
mod threads;
