//! Accesses that move along with a loop's index, as `x[i - 1]` and `x[[y + 1, x]]` do: where they are in bounds for a
//! whole run of indices, they are checked once.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::BinOp;

use super::decided::Decided;
use super::{Host, support};
use crate::ast::{Block, Expr, ExprKind, Local, Pattern, Place, View};
use crate::names::private;

/// What moves along with the index of a loop.
#[derive(Clone)]
pub(super) struct Moving {
    /// The variables of the index: the last one moves along a row.
    index: Vec<Option<Local>>,
    /// Whether the index is taken apart.
    is_array: bool,
    /// The variables that the body assigns to.
    assigned: BTreeSet<usize>,
    /// The names of constants that the body declares: what they mean there they do not mean before the loop.
    constants: BTreeSet<String>,
}

/// The accesses that move along with the index of the loop that is being written.
pub(super) struct Windows {
    pub(super) moving: Moving,
    /// The accesses, by what they are.
    pub(super) reads: BTreeMap<String, Read>,
    /// Whether all that nobody writes to is read at the top of an iteration, so that branches within it need not read.
    at_top: bool,
    /// The branch that the numbers of the loop all take, where one is known.
    pub(super) decided: Option<Decided>,
}

/// An access to a view whose index advances with the loop, so that its bounds are checked once for a row.
pub(super) struct Read {
    number: usize,
    /// Whether nobody writes to the view.
    is_read_only: bool,
    /// The view's name.
    view: Local,
    /// The dimension that moves, where it is not the last one.
    dimension: Option<usize>,
    /// The index of a row's first read.
    first: TokenStream,
}

impl Read {
    /// The elements for a part of the row.
    pub(super) fn line(&self) -> Ident {
        private(&format!("line{}", self.number))
    }

    /// The element of an iteration.
    fn element(&self) -> Ident {
        private(&format!("read{}", self.number))
    }

    /// The line of `count` elements, where they are all in bounds.
    pub(super) fn find(&self, count: &Ident) -> TokenStream {
        let (view, first, support) = (&self.view.name, &self.first, support(self.view.name.span()));
        let (last, dimension) = (self.dimension.is_none(), self.dimension.unwrap_or_default());
        quote_spanned!(view.span()=> #support::line::<#last, _, _, _>(&#view, #first, #dimension, #count))
    }

    /// Narrows the numbers of a row to those for which they are in bounds.
    pub(super) fn narrow(&self, stretch: &Ident) -> TokenStream {
        let (view, first, support) = (&self.view.name, &self.first, support(self.view.name.span()));
        let (last, dimension) = (self.dimension.is_none(), self.dimension.unwrap_or_default());
        quote_spanned!(view.span()=> #support::narrow::<#last, _, _, _>(&#view, #first, #dimension, &mut #stretch);)
    }

    /// Reads the element of an iteration, where nobody writes to it.
    fn at_top(&self, number: &Ident) -> Option<TokenStream> {
        let (line, element) = (self.line(), self.element());
        self.is_read_only.then(|| quote!(let #element = #line[#number];))
    }
}

/// How an index follows the one that moves.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Follows {
    /// The index is the same all along a row.
    Stays,
    /// The index is one more at each element of a row.
    Moves,
}

impl Moving {
    pub(super) fn with(pattern: Option<&Pattern>, body: &Block) -> Moving {
        let index = match pattern {
            Some(whole @ Pattern::Local(_)) => vec![part(whole)],
            Some(Pattern::Array(parts, _)) => parts.iter().map(part).collect(),
            _ => Vec::new(),
        };
        let is_array = matches!(pattern, Some(Pattern::Array(..)));
        Moving { index, is_array, assigned: assigned(body), constants: body.constants() }
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

    /// What an access is, if it moves along: a text that is the same for the same one, its view, and the dimension that
    /// moves where it is not the last.
    fn key(&self, host: &Host, base: &Expr, at: &Expr) -> Option<(String, Local, Option<usize>)> {
        let ExprKind::Local(view) = &base.kind else { return None };
        if !host.views.contains_key(&view.number) {
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

    /// A constant that means before the loop what it means in the body.
    fn constant(&self, path: &syn::ExprPath, key: &mut String) -> Option<()> {
        let first = path.path.segments.first().filter(|_| path.qself.is_none());
        let means_the_same = first.is_some_and(|first| !self.constants.contains(&first.ident.to_string()));
        // No name of a constant looks like what stands for variables and lengths in a key.
        key.push_str(&format!("[{}]", quote!(#path)));
        means_the_same.then_some(())
    }

    /// A constant that is converted to a type, as a part of a key.
    fn converted(&self, path: &syn::ExprPath, ty: &syn::Type, key: &mut String) -> Option<()> {
        self.constant(path, key)?;
        key.push_str(&quote!(as #ty).to_string());
        Some(())
    }

    /// How a number follows the index, and what it is.
    pub(super) fn follows(&self, x: &Expr, key: &mut String) -> Option<Follows> {
        match &x.kind {
            ExprKind::Literal(literal) => key.push_str(&quote!(#literal).to_string()),
            ExprKind::Constant(path) => self.constant(path, key)?,
            ExprKind::Cast(constant, ty) => {
                let ExprKind::Constant(path) = &constant.kind else { return None };
                self.converted(path, ty, key)?;
            }
            ExprKind::RustCast(path, ty) => self.converted(path, ty, key)?,
            ExprKind::Local(local) => {
                let (last, others) = self.index.split_last()?;
                let is = |index: &Option<Local>| index.as_ref().is_some_and(|index| index.number == local.number);
                // What is declared in the body comes after the index.
                let least = self.index.iter().flatten().map(|index| index.number).min()?;
                key.push_str(&format!("v{}", local.number));
                if is(last) {
                    return Some(Follows::Moves);
                }
                let stays = !self.assigned.contains(&local.number) && !local.is_reference && !local.is_view;
                let is_outer = local.number < least && stays;
                if !others.iter().any(is) && !is_outer {
                    return None;
                }
            }
            ExprKind::Binary(by, x, y) => {
                let sign = match by.op {
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
            ExprKind::Method { receiver, name, arguments, .. } if name == "len" && arguments.is_empty() => {
                let ExprKind::Local(Local { number, is_view: true, .. }) = &receiver.kind else { return None };
                key.push_str(&format!("l{number}"));
            }
            // Whatever else an index is made of, the access is checked by itself.
            _ => return None,
        }
        Some(Follows::Stays)
    }
}

impl Windows {
    /// The accesses of `body` that move along, on the branch that is taken where one is `decided`.
    pub(super) fn of(host: &mut Host, moving: Moving, decided: Option<Decided>, body: &Block) -> Windows {
        let (mut found, mut dead, mut branches) = (Vec::new(), BTreeSet::new(), false);
        body.walk(&mut |x| {
            if dead.contains(&std::ptr::from_ref(x)) {
                return;
            }
            if let Some(decided) = decided.filter(|decided| decided.is(x)) {
                decided.walk_dead(x, &mut |x| {
                    dead.insert(std::ptr::from_ref(x));
                });
                return;
            }
            branches |= matches!(x.kind, ExprKind::If { .. } | ExprKind::Match { .. });
            let access = match &x.kind {
                ExprKind::Index(base, at) => Some((&**base, &**at)),
                ExprKind::Assign(place, _) | ExprKind::AssignWith(_, place, _) => match &**place {
                    Place::Index(base, at) => Some((base, at)),
                    Place::Variable(..) | Place::Element(..) | Place::Part { .. } | Place::Deref(_) => None,
                },
                _ => None,
            };
            if let Some((base, at)) = access
                && let Some((key, view, dimension)) = moving.key(host, base, at)
            {
                found.push((key, view, dimension, at));
            }
        });
        let mut reads = BTreeMap::new();
        for (key, view, dimension, at) in found {
            let Entry::Vacant(entry) = reads.entry(key) else { continue };
            host.next += 1;
            let (number, first) = (host.next, host.expr(at));
            let is_read_only = host.views.get(&view.number).is_some_and(|view| *view != View::Shared);
            entry.insert(Read { number, is_read_only, view, dimension, first });
        }
        Windows { moving, reads, at_top: branches, decided }
    }

    fn access(&self, host: &Host, base: &Expr, at: &Expr) -> Option<&Read> {
        self.moving.key(host, base, at).and_then(|(key, ..)| self.reads.get(&key))
    }

    /// What an iteration reads before all else.
    pub(super) fn top(&self, number: &Ident) -> TokenStream {
        self.reads.values().filter_map(|read| read.at_top(number).filter(|_| self.at_top)).collect()
    }

    /// The element of a view to which nobody writes, as a place, if its index moves along.
    pub(super) fn place(&self, host: &Host, base: &Expr, at: &Expr) -> Option<TokenStream> {
        let read = self.access(host, base, at).filter(|read| read.is_read_only)?;
        let (line, number) = (read.line(), private("number"));
        Some(if self.at_top { read.element().into_token_stream() } else { quote!(#line[#number]) })
    }

    /// The element of a `Shared` view whose index moves along: its line, and its number there.
    pub(super) fn shared(&self, host: &Host, base: &Expr, at: &Expr) -> Option<(Ident, Ident)> {
        let read = self.access(host, base, at).filter(|read| !read.is_read_only)?;
        Some((read.line(), private("number")))
    }
}

/// The variables that are assigned to, or handed out to be.
fn assigned(body: &Block) -> BTreeSet<usize> {
    let mut assigned = BTreeSet::new();
    body.walk(&mut |x| match &x.kind {
        ExprKind::Assign(place, _) | ExprKind::AssignWith(_, place, _) => {
            match &**place {
                Place::Variable(local, _) => {
                    assigned.insert(local.number);
                }
                // An index does not follow what these change: views, and arrays of the thread's own.
                Place::Index(..) | Place::Element(..) | Place::Part { .. } | Place::Deref(_) => {}
            }
        }
        ExprKind::Exclusive(of) => of.walk(&mut |x| {
            if let ExprKind::Local(local) = &x.kind {
                assigned.insert(local.number);
            }
        }),
        ExprKind::Literal(_)
        | ExprKind::NegativeLiteral(_)
        | ExprKind::Float { .. }
        | ExprKind::Local(_)
        | ExprKind::Constant(_)
        | ExprKind::Negate(..)
        | ExprKind::Not(_)
        | ExprKind::Deref(_)
        | ExprKind::Binary(..)
        | ExprKind::Index(..)
        | ExprKind::Method { .. }
        | ExprKind::Math { .. }
        | ExprKind::Call { .. }
        | ExprKind::Function(_)
        | ExprKind::Closure(_)
        | ExprKind::Lent(_)
        | ExprKind::FromBits { .. }
        | ExprKind::Cast(..)
        | ExprKind::RustCast(..)
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::While { .. }
        | ExprKind::Loop { .. }
        | ExprKind::For { .. }
        | ExprKind::Block(_)
        | ExprKind::Labelled { .. }
        | ExprKind::Break { .. }
        | ExprKind::Continue(_)
        | ExprKind::Return(_)
        | ExprKind::Tuple(_)
        | ExprKind::Field(..)
        | ExprKind::Element(..)
        | ExprKind::Struct { .. }
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Range { .. }
        | ExprKind::Assert { .. }
        | ExprKind::Print(_) => {}
    });
    assigned
}

impl Host {
    /// The element that is read so, as a place, where the loop that is being written has checked it.
    pub(super) fn window(&self, base: &Expr, index: &Expr) -> Option<TokenStream> {
        self.windows.as_ref()?.place(self, base, index)
    }

    /// The element of a `Shared` view that is accessed so, likewise: its line, and its number there.
    pub(super) fn shared(&self, base: &Expr, index: &Expr) -> Option<(Ident, Ident)> {
        self.windows.as_ref()?.shared(self, base, index)
    }

    /// The outcome of a branch's condition, where it is the same for all numbers of the loop that is being written.
    pub(super) fn decided(&self, branch: &Expr) -> Option<bool> {
        let decided = self.windows.as_ref()?.decided?;
        decided.is(branch).then_some(decided.holds)
    }
}

/// The variable of a part of an index; none where it has none that stays as it is.
fn part(pattern: &Pattern) -> Option<Local> {
    match pattern {
        Pattern::Local(local) if !local.mutable => Some(local.clone()),
        _ => None,
    }
}
