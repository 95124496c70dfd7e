//! Loops, labelled blocks, and the jumps that leave them.

use syn::Result;

use super::scope::Name;
use super::{Parser, error};
use crate::ast::BreakTarget;

/// A loop or a labelled block around what is parsed.
pub(super) struct Around {
    target: BreakTarget,
    label: Option<Name>,
    kind: AroundKind,
}

/// What a jump leaves, which decides whether `break` takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AroundKind {
    /// `loop`, whose value `break` gives.
    Loop,
    /// `while`, also `while let`.
    While,
    /// `for`.
    For,
    /// A labelled block, whose value `break` gives.
    Block,
}

impl AroundKind {
    fn is_loop(self) -> bool {
        self != AroundKind::Block
    }
}

impl Parser {
    /// Parses what is within a loop, or within a labelled block.
    pub(super) fn within<T>(
        &mut self,
        label: &Option<syn::Label>,
        kind: AroundKind,
        parse: impl FnOnce(&mut Self, BreakTarget) -> Result<T>,
    ) -> Result<T> {
        let (target, label) = (self.targets, label.as_ref().map(|label| Name::of(&label.name.ident)));
        self.targets += 1;
        self.around.push(Around { target, label, kind });
        let parsed = parse(self, target);
        self.around.pop();
        parsed
    }

    /// Refuses a `break` with a value out of a loop that gives none.
    pub(super) fn check_break(&self, leave: &syn::ExprBreak, target: BreakTarget) -> Result<()> {
        let around = self.around.iter().find(|around| around.target == target);
        let name = match around.map(|around| around.kind) {
            Some(AroundKind::While) => "while",
            Some(AroundKind::For) => "for",
            Some(AroundKind::Loop | AroundKind::Block) | None => return Ok(()),
        };
        if leave.expr.is_none() {
            return Ok(());
        }
        let message = format!(
            "a `{name}` gives no value, only `loop` and labelled blocks do; assign to a variable before it, `result = …; break;`"
        );
        error(leave, &message)
    }

    /// The loop or block that a jump names.
    pub(super) fn target(
        &self,
        jump: &syn::Expr,
        label: &Option<syn::Lifetime>,
        is_break: bool,
    ) -> Result<BreakTarget> {
        let name = label.as_ref().map(|label| Name::of(&label.ident));
        let mut around = self.around.iter().rev();
        let found = around.find(|around| if name.is_some() { around.label == name } else { around.kind.is_loop() });
        match (found, label) {
            (Some(found), _) if is_break || found.kind.is_loop() => Ok(found.target),
            (Some(_), _) => error(jump, "`continue` is for loops, and this label is a block's"),
            (None, Some(label)) => error(label, "no loop or block around has this label"),
            (None, None) => error(jump, "there is no loop around this"),
        }
    }
}
