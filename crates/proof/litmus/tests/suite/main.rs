//! Litmus files: read, judged, written.

mod chains;
mod emit;
mod emit_warps;
mod errors;
mod lasso;
mod limits;
mod own;
mod roundtrip;
mod shared;
mod tables;
mod threads;
