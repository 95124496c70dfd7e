//! Variables that are declared without a value, `let x;`.

use std::cell::OnceCell;

use super::{Builder, IrValue, Variable};

/// A variable without a value: the first of its assignments in the source makes it. On every way to where it is read
/// there is one, which rustc has seen in the host's function.
pub struct Later<'b, V: IrValue<'b>> {
    builder: &'b Builder,
    name: &'static str,
    variable: OnceCell<V::Var>,
}

impl Builder {
    /// Builds `let name;`.
    pub fn later<'b, V: IrValue<'b>>(&'b self, name: &'static str) -> Later<'b, V> {
        Later { builder: self, name, variable: OnceCell::new() }
    }
}

impl<'b, V: IrValue<'b>> Later<'b, V> {
    /// The variable that the first assignment has made.
    #[track_caller]
    pub fn variable(&self) -> V::Var {
        // One without an assignment is read nowhere, and in code that is never reached.
        *self.variable.get_or_init(|| V::unreachable(self.builder).variable(self.builder, Some(self.name)))
    }
}

impl<'b, V: IrValue<'b>> Variable<'b> for &Later<'b, V> {
    type Value = V;
    fn get(&self) -> V {
        self.variable().get()
    }
    #[track_caller]
    fn snapshot(&self) -> V {
        self.variable().snapshot()
    }
    #[track_caller]
    fn set(&self, value: V) {
        match self.variable.get() {
            Some(variable) => variable.set(value),
            None => {
                self.variable.get_or_init(|| value.variable(self.builder, Some(self.name)));
            }
        }
    }
}
