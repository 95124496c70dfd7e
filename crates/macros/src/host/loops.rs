//! Loops of the host's function.
//!
//! Every loop looks now and then whether the launch must end, and none is slower for it: a loop over a range goes through
//! it in pieces, and looks between them.
//!
//! A loop over consecutive indices is written twice: with each view that is read at its very index taken as a slice of
//! just that range, so that the loop is the plain one that compilers vectorize; and with every access checked, for when
//! the indices are not one run, or the range is not within all views.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Lifetime;

use super::{Host, Labels, Windows, support};
use crate::ast::{Block, Expr, ExprKind, Pattern, Target};
use crate::names::{self, private};

/// The most numbers, known when it is compiled, of a loop that does not look whether to end: such a loop is often
/// unrolled altogether.
const FEW: u32 = 64;

impl Host {
    /// Writes what is within a loop, which has pieces of its own where `in_pieces`.
    pub(super) fn within<T>(
        &mut self,
        target: Target,
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
    pub(super) fn around(&self, target: Target) -> Labels {
        let found = self.loops.iter().rev().find(|around| around.target == target);
        found.cloned().unwrap_or_else(|| {
            let none = Lifetime::new("'__wattle_none", Span::mixed_site());
            Labels { target, out: none.clone(), again: none }
        })
    }

    /// Ends the thread between `iterations` and the next ones, if it must end.
    fn look(&self, iterations: TokenStream, span: Span) -> TokenStream {
        let (thread, leave) = (super::private_at("thread", span), self.leave());
        let stop = quote_spanned!(span=> #thread.worked(#iterations));
        quote!(if #stop { #leave })
    }

    /// As [`Host::look`], but of few iterations whose number is constant the compiler makes nothing.
    fn look_unless_few(&self, iterations: TokenStream, constant: bool, span: Span) -> TokenStream {
        let look = self.look(iterations.clone(), span);
        if constant { quote!(if #iterations > #FEW { #look }) } else { look }
    }

    /// Ends the thread at the head of a loop without a bound, if it must end.
    pub(super) fn stop(&self, condition: Option<&Expr>, body: &Block, span: Span) -> TokenStream {
        let leaves = |x: &Expr| matches!(x.kind, ExprKind::Break { .. } | ExprKind::Return(_));
        let waits = condition.is_some_and(|condition| condition.any(&is_of_others))
            || (body.any(&leaves) && body.any(&is_of_others));
        if !waits {
            return self.look(quote!(1), span);
        }
        let (thread, leave) = (super::private_at("thread", span), self.leave());
        let stop = quote_spanned!(span=> #thread.must_stop());
        quote!(if #stop { #leave })
    }

    pub(super) fn repeat(
        &mut self,
        target: Target,
        pattern: &Pattern,
        source: &Expr,
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let support = support(span);
        if let ExprKind::Range { begin, end, inclusive } = &source.kind {
            let (few, constant) = (is_few(begin, end), is_constant(source));
            let (begin, end) = (self.expr(begin), self.expr(end));
            let pattern = self.pattern(pattern, false);
            let (Labels { out, again, .. }, body) = self.within(target, !inclusive && !few, |host| host.block(body));
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
        let windows = self.windows_of(pattern, source, body);
        let constant = is_constant(source);
        let source = self.expr(source);
        let pattern_tokens = self.pattern(pattern, false);
        let (Labels { out, .. }, checked) = self.within(target, false, |host| host.block(body));
        let Some((items, index_name, windows)) = windows else {
            return self.counted(&out, &pattern_tokens, source, checked, (span, constant));
        };
        let map = private("map");
        let checked = self.counted(&out, &pattern_tokens, quote!(#map), checked, (span, false));
        let views: Vec<_> = windows.slices.keys().map(|number| private(&format!("view{number}"))).collect();
        let names: Vec<_> = self.names(body, &windows);
        let slices: Vec<_> = windows.slices.values().cloned().collect();
        let outer = self.windows.replace(windows);
        let (Labels { out, again, .. }, plain) = self.within(target, true, |host| host.block(body));
        self.windows = outer;
        let (run, first, last, count) = (private("run"), private("first"), private("last"), private("count"));
        let (number, index, elements) = (private("number"), private("index_of"), private("elements"));
        let look = self.look(quote!((#last - #first) as ::core::primitive::u32), span);
        let used = index_name.map(|name| quote!(let _ = #name;));
        let at = quote!(#index(#run.0.wrapping_add((#first + #number) as ::core::primitive::u32)));
        let slice_of = |number: usize| private(&format!("elements{number}"));
        let several: Vec<_> = (0..items.unwrap_or_default()).map(slice_of).collect();
        let (all, piece, bound) = match items {
            None => (quote!(let #count = (#run.1 - #run.0) as ::core::primitive::usize;), TokenStream::new(), at),
            Some(0) => (
                quote!(let #elements = #support::elements(#map); let #count = <[_]>::len(#elements);),
                quote!(let #elements = &mut #elements[#first..#last];),
                quote!((#at, &mut #elements[#number])),
            ),
            Some(_) => (
                quote! {
                    let (#(#several,)*) = #support::elements_together(#map);
                    let #count = (#run.1 - #run.0) as ::core::primitive::usize;
                },
                quote!(#(let #several = &mut #several[#first..#last];)*),
                quote!((#at, (#(&mut #several[#number],)*))),
            ),
        };
        let iteration = quote! {
            let #pattern_tokens = #bound;
            #used
            #plain
        };
        let plainly =
            |from: TokenStream| quote_spanned!(span=> #again: for #number in #from..#last - #first { #iteration });
        let sums = match (self.reassociate, items) {
            (true, None) => super::sums::of(body),
            (true, Some(_)) | (false, _) => Vec::new(),
        };
        let iterations = match sums.is_empty() {
            true => plainly(quote!(0)),
            false => {
                let (whole, at) = (private("whole"), private("at"));
                let (rest, names) = (plainly(quote!(#whole)), &sums);
                let partial: Vec<_> = (0..sums.len()).map(|number| private(&format!("sums{number}"))).collect();
                quote_spanned! {span=>
                    let #whole = (#last - #first) / #support::SUMS * #support::SUMS;
                    #(let mut #partial = #support::sums(&#names);)*
                    let mut #at = 0;
                    while #at < #whole {
                        let #first = #first + #at;
                        #(let #slices = &#slices[#at..#at + #support::SUMS];)*
                        for #number in 0..#support::SUMS {
                            #(let mut #names = #partial[#number];)*
                            #iteration
                            #(#partial[#number] = #names;)*
                        }
                        #at += #support::SUMS;
                    }
                    #rest
                    #(#names = #support::add(#names, #support::summed(#partial));)*
                }
            }
        };
        quote_spanned! {span=> {
            #(let #views = #names;)*
            let #map = #source;
            let #index = #support::indexer(&#map);
            if let ::core::option::Option::Some((#run, #(#slices,)*)) = #support::bounds(&#map).and_then(|#run| {
                ::core::option::Option::Some((#run, #(#support::window(&#views, #run)?,)*))
            }) {
                #all
                let mut #first = 0;
                #out: while #first < #count {
                    let #last = #support::piece_end(#first, #count);
                    #look
                    #piece
                    #(let #slices = &#slices[#first..#last];)*
                    #iterations
                    #first = #last;
                }
            } else {
                #checked
            }
        }}
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

    fn names(&self, body: &Block, windows: &Windows) -> Vec<Ident> {
        let mut names = BTreeMap::new();
        body.walk(&mut |x| {
            if let ExprKind::Local(local) = &x.kind
                && windows.slices.contains_key(&local.number)
            {
                names.insert(local.number, Ident::new(&local.name.to_string(), local.name.span()));
            }
        });
        names.into_values().collect()
    }

    /// The views that a loop reads at its very index, of which of several views it is a loop over items (none where it is
    /// one over indices, 0 where it is one over a single view), and the index' name; `None` where the loop is not one
    /// over an index map, not an innermost one, or gains nothing.
    fn windows_of(
        &self,
        pattern: &Pattern,
        source: &Expr,
        body: &Block,
    ) -> Option<(Option<usize>, Option<Ident>, Windows)> {
        let ExprKind::Method { name, arguments, .. } = &source.kind else { return None };
        let items = match (name.to_string().as_str(), arguments.first().map(|views| &views.kind)) {
            ("items", _) => Some(0),
            ("items_together", Some(ExprKind::Tuple(views))) => Some(views.len()),
            _ => None,
        };
        let is_items = items.is_some();
        let index = match (pattern, is_items) {
            (Pattern::Local(local), false) if name == "indices" && !local.mutable => Some(local),
            (Pattern::Tuple(both), true) => match &both[..] {
                [Pattern::Local(local), _] if !local.mutable => Some(local),
                [Pattern::Wild(_), _] => None,
                _ => return None,
            },
            _ => return None,
        };
        if body.any(&|x| matches!(x.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. })) {
            return None;
        }
        let mut slices = BTreeMap::new();
        body.walk(&mut |x| {
            if let ExprKind::Index(base, at) = &x.kind
                && let (ExprKind::Local(view), ExprKind::Local(at)) = (&base.kind, &at.kind)
                && index.is_some_and(|index| at.number == index.number)
                && self.lines.contains(&view.number)
            {
                slices.insert(view.number, private(&format!("slice{}", view.number)));
            }
        });
        let gains = is_items || !slices.is_empty();
        let windows = Windows { index: index.map(|index| index.number), slices };
        gains.then(|| (items, index.map(|index| index.name.clone()), windows))
    }
}

/// Whether it reads what other threads may write: a loop that never does so waits for no other thread.
fn is_of_others(x: &Expr) -> bool {
    let is_view = |x: &Expr| matches!(&x.kind, ExprKind::Local(local) if local.is_view);
    match &x.kind {
        ExprKind::Method { name, .. } => names::is_atomic(name),
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
