//! Branches on a loop's index, as `if t >= distance { … }`: what is compared moves along with the index, so the
//! condition holds for one run of a row's numbers, and the loop is written without the branch for that run and for the
//! numbers around it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::BinOp;

use super::Host;
use super::decided::Decided;
use super::windows::{Follows, Moving};
use crate::ast::{Block, Expr, ExprKind, Operator};
use crate::names::private;

/// A branch whose condition holds for one run of a row.
pub(super) struct Cut {
    branch: *const Expr,
    /// Narrows the numbers of a row to those for which it holds.
    pub(super) narrow: TokenStream,
}

impl Cut {
    /// The first such branch of a loop.
    pub(super) fn of(host: &mut Host, moving: &Moving, body: &Block) -> Option<Cut> {
        let mut conditions = Vec::new();
        body.walk(&mut |x| {
            if let ExprKind::If { condition, .. } = &x.kind {
                conditions.push((x, &**condition));
            }
        });
        conditions.into_iter().find_map(|(branch, condition)| {
            let (mut parts, row, index) = (Parts::default(), private("row"), moving.pattern());
            parts.add(host, moving, condition)?;
            let Parts { narrow, moves } = parts;
            moves.then(|| Cut { branch, narrow: quote!(#index = #row.index(0); #narrow) })
        })
    }

    pub(super) fn decided(&self, holds: bool) -> Decided {
        Decided { branch: self.branch, holds }
    }
}

/// What the comparisons of a condition leave.
#[derive(Default)]
struct Parts {
    narrow: TokenStream,
    /// Whether one of them is of the index.
    moves: bool,
}

impl Parts {
    /// Adds those of `condition`; none where a part of it is something else.
    fn add(&mut self, host: &mut Host, moving: &Moving, condition: &Expr) -> Option<()> {
        let ExprKind::Binary(Operator { op, .. }, x, y) = &condition.kind else { return None };
        if matches!(op, BinOp::And(_)) {
            self.add(host, moving, x)?;
            return self.add(host, moving, y);
        }
        let (name, mirrored) = match op {
            BinOp::Lt(_) => ("lt", "gt"),
            BinOp::Le(_) => ("le", "ge"),
            BinOp::Gt(_) => ("gt", "lt"),
            BinOp::Ge(_) => ("ge", "le"),
            _ => return None,
        };
        let follows = |x: &Expr| moving.follows(x, &mut String::new());
        let (cut, span) = (private("cut"), condition.span);
        let narrows = |name: &str, x: TokenStream, y: TokenStream| {
            let name = Ident::new(name, span);
            quote_spanned!(span=> #cut.#name(#x, #y);)
        };
        let narrow = match (follows(x)?, follows(y)?) {
            (Follows::Stays, Follows::Stays) => {
                let condition = host.expr(condition);
                quote_spanned!(span=> #cut.when(#condition);)
            }
            (Follows::Moves, Follows::Stays) => {
                self.moves = true;
                narrows(name, host.expr(x), host.expr(y))
            }
            (Follows::Stays, Follows::Moves) => {
                self.moves = true;
                narrows(mirrored, host.expr(y), host.expr(x))
            }
            (Follows::Moves, Follows::Moves) => return None,
        };
        self.narrow.extend(narrow);
        Some(())
    }
}
