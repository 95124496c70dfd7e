//! Reads that move along with a loop's index, as `x[i - 1]` and `x[[y + 1, x]]` do: where they are in bounds for a whole
//! run of indices, they are checked once.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::BinOp;

use super::{Host, support};
use crate::ast::{Block, Expr, ExprKind, Local, Pattern};
use crate::names::private;

/// The reads that move along with the index of the loop that is being written.
pub(super) struct Windows {
    /// The variables of the index: the last one moves along a row.
    index: Vec<Option<Local>>,
    /// Whether the index is taken apart.
    is_array: bool,
    /// The reads, by what they are.
    pub(super) reads: BTreeMap<String, Read>,
    /// Whether all of them are read at the top of an iteration, so that branches within it need not read.
    pub(super) at_top: bool,
}

/// A read of a view whose index advances with the loop, so that its bounds are checked once for a row.
pub(super) struct Read {
    number: usize,
    /// The view's name.
    view: Local,
    /// Which dimension moves, where it is not the last one.
    dimension: Option<usize>,
    /// The index of a row's first read.
    first: TokenStream,
}

impl Read {
    /// The elements for the whole row, as far as there are any.
    pub(super) fn window(&self) -> Ident {
        private(&format!("window{}", self.number))
    }

    /// The elements for a part of the row.
    pub(super) fn line(&self) -> Ident {
        private(&format!("line{}", self.number))
    }

    /// The element of an iteration.
    fn element(&self) -> Ident {
        private(&format!("read{}", self.number))
    }

    /// Finds the window, and narrows the stretch to it.
    pub(super) fn find(&self, stretch: &Ident) -> TokenStream {
        let (window, view, first) = (self.window(), &self.view.name, &self.first);
        let support = support(view.span());
        let (last, dimension) = (self.dimension.is_none(), self.dimension.unwrap_or_default());
        quote_spanned! {view.span()=>
            let #window = #support::window::<#last, _, _>(&#view, #first, #dimension, &mut #stretch);
        }
    }

    pub(super) fn at_top(&self, number: &Ident) -> TokenStream {
        let (line, element) = (self.line(), self.element());
        quote!(let #element = #line[#number];)
    }
}

/// How an index follows the one that moves.
#[derive(Clone, Copy, PartialEq)]
enum Follows {
    /// It stays as it is along a row.
    Stays,
    /// It goes on by one.
    Moves,
}

impl Windows {
    /// The reads of `body` that move along with `pattern`, an index; `reads` are the parameters that are `Read` views.
    pub(super) fn of(host: &mut Host, pattern: Option<&Pattern>, body: &Block) -> Windows {
        let is_array = matches!(pattern, Some(Pattern::Array(_)));
        let index = match pattern {
            Some(whole @ Pattern::Local(_)) => vec![part(whole)],
            Some(Pattern::Array(parts)) => parts.iter().map(part).collect(),
            _ => Vec::new(),
        };
        let branches = |x: &Expr| matches!(x.kind, ExprKind::If { .. } | ExprKind::Match { .. });
        let mut windows = Windows { index, is_array, reads: BTreeMap::new(), at_top: body.any(&branches) };
        let mut found = Vec::new();
        body.walk(&mut |x| {
            if let ExprKind::Index(base, at) = &x.kind
                && let Some((key, view, dimension)) = windows.key(host, base, at)
            {
                found.push((key, view, dimension, &**at));
            }
        });
        for (key, view, dimension, at) in found {
            if !windows.reads.contains_key(&key) {
                let (number, first) = (windows.reads.len(), host.expr(at));
                windows.reads.insert(key, Read { number, view, dimension, first });
            }
        }
        windows
    }

    /// Binds the variables of the index; its value follows.
    pub(super) fn pattern(&self) -> TokenStream {
        let parts: Vec<_> = self
            .index
            .iter()
            .map(|part| match part {
                Some(Local { name, .. }) => quote!(#name),
                None => quote!(_),
            })
            .collect();
        match (&parts[..], self.is_array) {
            ([only], false) => quote!(let #only),
            (parts, _) => quote!(let [#(#parts),*]),
        }
    }

    /// Names the variables of the index, which are perhaps used in reads alone.
    pub(super) fn used(&self) -> TokenStream {
        let names = self.index.iter().flatten().map(|index| &index.name);
        quote!(#(let _ = #names;)*)
    }

    /// What a read is, if it moves along: a text that is the same for the same read, its view, and the dimension that moves
    /// where it is not the last.
    fn key(&self, host: &Host, base: &Expr, at: &Expr) -> Option<(String, Local, Option<usize>)> {
        let ExprKind::Local(view) = &base.kind else { return None };
        if !host.reads.contains(&view.number) {
            return None;
        }
        let mut key = format!("{}:", view.number);
        let dimension = match &at.kind {
            ExprKind::Array(parts) => {
                let mut moving = None;
                for (d, part) in parts.iter().enumerate() {
                    if self.follows(part, &mut key)? == Follows::Moves && moving.replace(d).is_some() {
                        return None;
                    }
                    key.push(',');
                }
                moving.map(|d| (d + 1 < parts.len()).then_some(d))?
            }
            _ if self.follows(at, &mut key)? == Follows::Moves => None,
            _ => return None,
        };
        Some((key, view.clone(), dimension))
    }

    /// How a number follows the index, and what it is.
    fn follows(&self, x: &Expr, key: &mut String) -> Option<Follows> {
        match &x.kind {
            ExprKind::Literal(literal) => key.push_str(&quote!(#literal).to_string()),
            ExprKind::Constant(path) => key.push_str(&quote!(#path).to_string()),
            ExprKind::Cast(constant, ty) => {
                let ExprKind::Constant(path) = &constant.kind else { return None };
                key.push_str(&quote!(#path as #ty).to_string());
            }
            ExprKind::Local(local) => {
                let (last, others) = self.index.split_last()?;
                let is = |index: &Option<Local>| index.as_ref().is_some_and(|index| index.number == local.number);
                // What is declared in the body comes after the index.
                let least = self.index.iter().flatten().map(|index| index.number).min()?;
                key.push_str(&format!("v{}", local.number));
                if is(last) {
                    return Some(Follows::Moves);
                }
                let is_outer = local.number < least && !local.mutable && !local.is_reference && !local.is_view;
                if !others.iter().any(is) && !is_outer {
                    return None;
                }
            }
            ExprKind::Binary(op, x, y) => {
                let sign = match op {
                    BinOp::Add(_) => '+',
                    BinOp::Sub(_) => '-',
                    BinOp::Mul(_) => '*',
                    _ => return None,
                };
                key.push('(');
                let x = self.follows(x, key)?;
                key.push(sign);
                let y = self.follows(y, key)?;
                key.push(')');
                return match (x, sign, y) {
                    (Follows::Stays, _, Follows::Stays) => Some(Follows::Stays),
                    (Follows::Moves, '+' | '-', Follows::Stays) | (Follows::Stays, '+', Follows::Moves) => {
                        Some(Follows::Moves)
                    }
                    _ => None,
                };
            }
            // Whatever else an index is made of, the read is checked by itself.
            _ => return None,
        }
        Some(Follows::Stays)
    }

    /// The element that a read gives in this loop, as a place, if it moves along.
    pub(super) fn element(&self, host: &Host, base: &Expr, at: &Expr) -> Option<TokenStream> {
        let read = self.key(host, base, at).and_then(|(key, ..)| self.reads.get(&key))?;
        let (line, number) = (read.line(), private("number"));
        Some(if self.at_top { read.element().into_token_stream() } else { quote!(#line[#number]) })
    }
}

/// The variable of a part of an index; none where it has none that stays as it is.
fn part(pattern: &Pattern) -> Option<Local> {
    match pattern {
        Pattern::Local(local) if !local.mutable => Some(local.clone()),
        _ => None,
    }
}
