//! What fences cost: what is emitted for them, and reports of measurements.

mod devices;
mod emitted;
mod reports;
