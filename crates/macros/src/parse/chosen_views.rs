//! Views that a kernel would choose while it runs: they are chosen when it is built.

use syn::{Error, Result};

use super::Parser;
use crate::ast::{Block, Expr, ExprKind, Place};

/// What is said where it shows. Where it does not, the builder says it of the kernel that it builds.
const REFUSED: &str = "a kernel's views stay what they are while it runs: choose a number and not a view. Of two halves of one array \
                       `tile[from + i]` is read, and `(from, to) = (to, from)` swaps them; of two views write the accesses of each \
                       way, `if c { a[i] } else { b[i] }`";

impl Parser {
    /// Refuses to assign to views, and to choose between them by a condition.
    pub(super) fn check_views(&self, body: &Block) -> Result<()> {
        let mut found = None;
        let mut refuse = |x: &Expr| {
            found.get_or_insert(x.span);
        };
        body.walk(&mut |x| match &x.kind {
            ExprKind::Assign(place, value) => {
                let is_view = matches!(&**place, Place::Variable(local, _) if self.views.contains_key(&local.number));
                if is_view || self.gives_view(value) {
                    refuse(x);
                }
            }
            ExprKind::If { then, otherwise: Some(otherwise), .. } if !then.diverges() && !otherwise.diverges() => {
                let of_then = then.value.as_deref().filter(|value| self.gives_view(value));
                of_then
                    .into_iter()
                    .chain(Some(&**otherwise).filter(|value| self.gives_view(value)))
                    .for_each(&mut refuse);
            }
            ExprKind::Match { arms, .. } if arms.iter().filter(|arm| !arm.body.diverges()).count() > 1 => {
                let values = arms.iter().filter_map(|arm| arm.body.value.as_deref());
                values.filter(|value| self.gives_view(value)).for_each(&mut refuse);
            }
            ExprKind::Break { value: Some(value), .. } | ExprKind::Return(Some(value)) if self.gives_view(value) => {
                refuse(value);
            }
            // Whatever else gives one of several views, the builder refuses.
            _ => {}
        });
        found.map_or(Ok(()), |span| Err(Error::new(span, REFUSED)))
    }

    /// Whether the value of an expression is a view, or has one among its parts.
    fn gives_view(&self, x: &Expr) -> bool {
        match &x.kind {
            ExprKind::Tuple(all) => all.iter().any(|x| self.gives_view(x)),
            ExprKind::Block(block) => block.value.as_deref().is_some_and(|value| self.gives_view(value)),
            _ => self.view(x).is_some(),
        }
    }
}
