//! The flat machine: its interpreter against the others, and deferred values.

mod common;
mod deferred;
mod domains;
mod generator;
mod loop_heads;
mod random;
mod statements;
