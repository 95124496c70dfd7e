//! Loops of the host's function.
//!
//! Every loop looks now and then whether the launch must end, and none is slower for it: a loop over a range goes
//! through it in pieces, and looks between them.
//!
//! Those in rows are in `host/rows.rs`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Lifetime;

use super::rows::{Over, Plain};
use super::{Host, Labels, support};
use crate::ast::{Block, BreakTarget, Expr, ExprKind, Pattern};
use crate::names::{self, private};

/// The most numbers, known when it is compiled, of a loop that does not look whether to end: such a loop is often
/// unrolled altogether.
const FEW: u32 = 64;

impl Host {
    /// Writes what is within a loop, which has pieces of its own where `in_pieces`.
    pub(super) fn within<T>(
        &mut self,
        target: BreakTarget,
        in_pieces: bool,
        write: impl FnOnce(&mut Self) -> T,
    ) -> (Labels, T) {
        self.next += 1;
        let named = |what: &str| Lifetime {
            apostrophe: Span::mixed_site(),
            ident: format_ident!("__wattle_{what}{}", self.next, span = Span::mixed_site()),
        };
        let out = named("out");
        let again = if in_pieces { named("again") } else { out.clone() };
        let labels = Labels { target, out, again };
        self.loops.push(labels.clone());
        let written = write(self);
        self.loops.pop();
        (labels, written)
    }

    /// The labels of the loop or block that a jump names. The parser has refused what is outside of it.
    pub(super) fn around(&self, target: BreakTarget) -> Labels {
        let found = self.loops.iter().rev().find(|around| around.target == target);
        found.cloned().unwrap_or_else(|| {
            let none = Lifetime::new("'__wattle_none", Span::mixed_site());
            Labels { target, out: none.clone(), again: none }
        })
    }

    /// Ends the thread between `iterations` and the next ones, if it must end.
    pub(super) fn look(&self, iterations: TokenStream, span: Span) -> TokenStream {
        let (thread, leave) = (super::private_at("thread", span), self.leave());
        let stop = quote_spanned!(span=> #thread.worked(#iterations));
        quote!(if #stop { #leave })
    }

    /// Writes [`Host::look`], or a form of it of which the compiler makes nothing where the number of iterations is
    /// constant and small.
    fn look_unless_few(&self, iterations: TokenStream, constant: bool, span: Span) -> TokenStream {
        let look = self.look(iterations.clone(), span);
        if constant { quote!(if #iterations > #FEW { #look }) } else { look }
    }

    /// Ends the thread at the head of a loop without a bound, if it must end.
    pub(super) fn stop(&self, condition: Option<&Expr>, body: &Block, span: Span) -> TokenStream {
        let waits = condition.is_some_and(|condition| condition.any(&is_of_others))
            || (body.any(&leaves) && body.any(&is_of_others));
        if waits { self.give_way(span) } else { self.look(quote!(1), span) }
    }

    /// Lets other threads of the block go on now and then, at the head of a loop that may wait for them, and ends the
    /// thread if it must end.
    fn give_way(&self, span: Span) -> TokenStream {
        let (thread, leave) = (super::private_at("thread", span), self.leave());
        let stop = quote_spanned!(span=> #thread.must_stop());
        quote!(if #stop { #leave })
    }

    /// The body of a loop that gives way first.
    fn giving_way(&self, body: TokenStream, span: Span) -> TokenStream {
        let give_way = self.give_way(span);
        quote!({ #give_way #body })
    }

    pub(super) fn repeat(
        &mut self,
        target: BreakTarget,
        pattern: &Pattern,
        source: &Expr,
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let support = support(span);
        if let ExprKind::Range { begin, end, inclusive } = &source.kind {
            let (few, constant) = (is_few(begin, end), is_constant(source));
            // A loop that looks at an atomic and can be left may be a wait for another thread of the block, with a
            // bound.
            let waits = !few && body.any(&leaves) && body.any(&is_atomic);
            let plain =
                if *inclusive || constant || waits { Plain::None } else { self.plain(Some(pattern), false, body) };
            let (begin, end) = (self.expr(begin), self.expr(end));
            if !matches!(plain, Plain::None) {
                let rows = quote_spanned!(span=> #support::range_rows(#begin, #end));
                return self.in_rows(target, pattern, rows, (Over::Range, plain), body, span);
            }
            let pattern = self.pattern(pattern, false);
            let (Labels { out, again, .. }, body) = self.within(target, !inclusive && !few, |host| host.block(body));
            let body = if waits { self.giving_way(body, span) } else { body };
            let dots = if *inclusive { quote!(..=) } else { quote!(..) };
            if few {
                return quote_spanned!(span=> #out: for #pattern in (#begin)#dots(#end) #body);
            }
            if *inclusive {
                return self.counted(
                    &out,
                    &pattern,
                    quote_spanned!(span=> (#begin)#dots(#end)),
                    body,
                    (span, constant),
                );
            }
            let (pieces, piece, steps) = (private("pieces"), private("piece"), private("steps"));
            let look = self.look_unless_few(quote!(#steps), constant, span);
            return quote_spanned! {span=> {
                let mut #pieces = #support::pieces(#begin, #end);
                #out: while let ::core::option::Option::Some((#piece, #steps)) = #support::next_piece(&mut #pieces) {
                    #look
                    #again: for #pattern in #piece #body
                }
            }};
        }
        let Some(over) = Over::of(source) else {
            let constant = is_constant(source);
            let is_array = !source.is_range_or_map();
            let few = matches!(&source.kind, ExprKind::Array(all) if all.len() <= FEW as usize);
            let mut source = self.expr(source);
            if is_array {
                source = quote_spanned!(span=> #support::each(#source));
            }
            let pattern = self.pattern(pattern, false);
            let waits = body.any(&leaves) && body.any(&is_atomic);
            let (Labels { out, .. }, body) = self.within(target, false, |host| host.block(body));
            let body = if waits { self.giving_way(body, span) } else { body };
            if few {
                return quote_spanned!(span=> #out: for #pattern in #source #body);
            }
            return self.counted(&out, &pattern, source, body, (span, constant));
        };
        let index = match (over, pattern) {
            (Over::Range | Over::Indices, pattern) => Some(pattern),
            (Over::Items | Over::Together(_), Pattern::Tuple(both, _)) => both.first(),
            (Over::Items | Over::Together(_), _) => None,
        };
        // Elements are slices, too.
        let elements = matches!(over, Over::Items | Over::Together(_));
        let elements = elements && matches!(pattern, Pattern::Tuple(both, _) if both.len() == 2);
        let plain = self.plain(index, elements, body);
        let source = self.expr(source);
        let rows = quote_spanned!(span=> #support::rows(#source));
        self.in_rows(target, pattern, rows, (over, plain), body, span)
    }

    /// A loop over what gives one after another.
    fn counted(
        &self,
        out: &Lifetime,
        pattern: &TokenStream,
        source: TokenStream,
        body: TokenStream,
        (span, constant): (Span, bool),
    ) -> TokenStream {
        let (support, left) = (support(span), private("left"));
        let look = self.look(quote!(#support::STEPS_PER_LOOK), span);
        let rest = self.look_unless_few(quote!((#support::STEPS_PER_LOOK - #left)), constant, span);
        quote_spanned! {span=> {
            let mut #left = #support::STEPS_PER_LOOK;
            #out: for #pattern in #source {
                #left -= 1;
                if #left == 0 {
                    #left = #support::STEPS_PER_LOOK;
                    #look
                }
                #body
            }
            #rest
        }}
    }
}

/// Whether an expression leaves the loop that it is in, or one around it.
fn leaves(x: &Expr) -> bool {
    matches!(x.kind, ExprKind::Break { .. } | ExprKind::Return(_))
}

/// Whether an expression is an atomic operation.
fn is_atomic(x: &Expr) -> bool {
    matches!(&x.kind, ExprKind::Method { name, .. } if names::is_atomic(name))
}

/// Whether an expression reads what other threads may write: a loop that never does so waits for no other thread.
fn is_of_others(x: &Expr) -> bool {
    let is_view = |x: &Expr| matches!(&x.kind, ExprKind::Local(local) if local.is_view);
    match &x.kind {
        ExprKind::Method { receiver, name, .. } => is_atomic(x) || (name == "lanes" && is_view(receiver)),
        ExprKind::Index(base, _) => is_view(base),
        ExprKind::Call { arguments, .. } => arguments.iter().any(is_view),
        _ => false,
    }
}

/// Whether a range is known when it is compiled: of literals and constants alone.
fn is_constant(x: &Expr) -> bool {
    !x.any(&|x| match &x.kind {
        ExprKind::Literal(_)
        | ExprKind::NegativeLiteral(_)
        | ExprKind::Constant(_)
        | ExprKind::Cast(..)
        | ExprKind::RustCast(..)
        | ExprKind::Binary(..)
        | ExprKind::Range { .. } => false,
        ExprKind::Method { name, .. } => name != "rev" && name != "step_by",
        _ => true,
    })
}

/// Whether a range is of few numbers, as it is written.
fn is_few(begin: &Expr, end: &Expr) -> bool {
    let number = |x: &Expr| match &x.kind {
        ExprKind::Literal(syn::Lit::Int(number)) => number.base10_parse::<u64>().ok(),
        _ => None,
    };
    number(begin).zip(number(end)).is_some_and(|(begin, end)| end.saturating_sub(begin) <= FEW as u64)
}
