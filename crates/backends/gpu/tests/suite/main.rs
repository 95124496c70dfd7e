//! What the GPU back ends share.

mod queue;
mod report;
