//! The exported functions for events.

use super::must;
use crate::driver::{context, event};

exports! {
    cuEventCreate(to: *mut usize, flags: u32) -> to => event::create(flags)?;
    cuEventDestroy_v2(event: usize) => context::initialized().and_then(|()| event::destroy(event));
    cuEventRecord(event: usize, on: usize) => event::record(event, on);
    cuEventRecordWithFlags(event: usize, on: usize, flags: u32) =>
        must(flags <= 1).and_then(|()| event::record(event, on));
    cuEventQuery(event: usize) => event::query(event);
    cuEventSynchronize(event: usize) => event::synchronize(event);
    cuEventElapsedTime(milliseconds: *mut f32, from: usize, to: usize) -> milliseconds => event::elapsed(from, to)?;
    cuEventElapsedTime_v2(milliseconds: *mut f32, from: usize, to: usize) -> milliseconds => event::elapsed(from, to)?;
}
