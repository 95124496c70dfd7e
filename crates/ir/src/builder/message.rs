//! The messages of assertions and `println!`, while a kernel is built.

use super::Val;
use crate::message::{Message, Text};
use crate::{ExprId, Scalar};

/// A value that stands in a message.
#[derive(Clone, Copy, Debug)]
pub struct Argument(ExprId);

/// What can stand in a message: a number or a truth value.
#[diagnostic::on_unimplemented(
    message = "a message of a kernel takes numbers and truth values",
    label = "neither a number nor a truth value",
    note = "write each element of an array, tuple or view by itself: `pair.0`, `array[2]`"
)]
pub trait Printable {
    #[doc(hidden)]
    fn argument(self) -> Argument;
}

impl<T: Scalar> Printable for Val<'_, T> {
    fn argument(self) -> Argument {
        Argument(self.id)
    }
}

/// A value as it stands in a message.
pub fn argument(value: impl Printable) -> Argument {
    value.argument()
}

pub(super) fn message(text: Text, arguments: &[Argument]) -> Message {
    Message { text, arguments: arguments.iter().map(|argument| argument.0).collect() }
}
