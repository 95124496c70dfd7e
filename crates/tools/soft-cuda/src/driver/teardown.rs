//! The end of contexts.

use super::context::{self, Context};
use super::status::Done;
use super::{allocate, event, module};

/// Ends a context: waits for its work, and frees its objects.
pub fn destroy(context: &Context) {
    context.idle();
    for stream in context.streams() {
        stream.close();
    }
    event::forget(context.handle);
    module::forget(context.handle);
    allocate::forget(context.handle);
    context::forget(context.handle);
}

/// Removes a user from the primary context, which ends after the last one.
///
/// # Errors
/// The primary context has no users.
pub fn release_primary(device: u32) -> Done {
    if let Some(context) = context::release_primary(device)? {
        destroy(&context);
    }
    Ok(())
}

/// Ends the primary context even if it has users; the next user gets a new one.
pub fn reset_primary(device: u32) {
    if let Some(context) = context::take_primary(device) {
        destroy(&context);
    }
}
