//! Loops of the host's function.
//!
//! Every loop looks now and then whether the launch must end, and none is slower for it: a loop over a range goes through
//! it in pieces, and looks between them.
//!
//! A loop over an index map goes from row to row (`rows` of the core crate). One that reads views at indices which move along
//! with its own is written twice: with these reads checked once for a run of a row's indices, so that the loop is the plain
//! one that compilers vectorize; and with every access checked, for the row's other indices.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Lifetime;

use super::windows::Windows;
use super::{Host, Labels, support};
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
            let windows = if *inclusive || constant { None } else { self.windows_of(Some(pattern), body) };
            let (begin, end) = (self.expr(begin), self.expr(end));
            if let Some(windows) = windows {
                let rows = quote_spanned!(span=> #support::range_rows(#begin, #end));
                return self.in_rows(target, pattern, rows, (Over::Range, Some(windows)), body, span);
            }
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
        let Some(over) = Over::of(source) else {
            let constant = is_constant(source);
            let source = self.expr(source);
            let pattern = self.pattern(pattern, false);
            let (Labels { out, .. }, body) = self.within(target, false, |host| host.block(body));
            return self.counted(&out, &pattern, source, body, (span, constant));
        };
        let index = match (over, pattern) {
            (Over::Range | Over::Indices, pattern) => Some(pattern),
            (Over::Items | Over::Together(_), Pattern::Tuple(both)) => both.first(),
            (Over::Items | Over::Together(_), _) => None,
        };
        let windows = self.windows_of(index, body).or_else(|| {
            // Elements are slices, too.
            let none = Windows::of(self, index, body);
            let elements = matches!(over, Over::Items | Over::Together(_));
            (elements && matches!(pattern, Pattern::Tuple(both) if both.len() == 2) && is_innermost(body))
                .then_some(none)
        });
        let source = self.expr(source);
        let rows = quote_spanned!(span=> #support::rows(#source));
        self.in_rows(target, pattern, rows, (over, windows), body, span)
    }

    /// A loop over rows. With windows it is written twice: plainly, for the part of a row where they are all in bounds, so
    /// that it is a loop that compilers vectorize; and checked, for all other indices.
    fn in_rows(
        &mut self,
        target: Target,
        pattern: &Pattern,
        rows: TokenStream,
        (over, windows): (Over, Option<Windows>),
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let support = support(span);
        let [row, part, passed, stretch, first] = ["row", "part", "passed", "stretch", "first"].map(private);
        let [count, within] = ["count", "is_within"].map(private);
        let pattern_tokens = self.pattern(pattern, false);
        let (labels, checked) = self.within(target, true, |host| host.block(body));
        let Labels { out, again, .. } = &labels;
        let look = self.look(quote!(#count), span);
        let mut find = TokenStream::new();
        let mut each = quote_spanned!(span=> #again: for #pattern_tokens in #part #checked);
        if let Some(windows) = windows {
            let index = windows.pattern();
            find = windows.reads.values().map(|read| read.find(&stretch)).collect();
            if !find.is_empty() {
                find = quote!(#index = #row.index(0); #find);
            }
            let (lines, found): (Vec<_>, Vec<_>) = windows
                .reads
                .values()
                .map(|read| (read.line(), read.window()))
                .map(|(line, window)| (line, quote!(#window.line(#first, #count))))
                .unzip();
            let outer = self.windows.replace(windows);
            self.loops.push(labels.clone());
            let plain = self.block(body);
            self.loops.pop();
            let windows = std::mem::replace(&mut self.windows, outer);
            let plainly = self.plainly(&pattern_tokens, over, windows.as_ref(), (again, &plain), body, span);
            let some = quote!(::core::option::Option::Some);
            each = quote_spanned! {span=>
                match (#within, #(#found,)*) {
                    (true, #(#some(#lines),)*) => { #plainly }
                    _ => { #each }
                }
            };
        }
        // Windows narrow the stretch.
        let mutable = (!find.is_empty()).then(|| quote!(mut));
        quote_spanned! {span=>
            #out: for mut #row in #rows {
                let mut #passed = 0;
                let #mutable #stretch = #row.stretch();
                #find
                while let ::core::option::Option::Some((#part, #first, #within)) =
                    #support::next_part(&mut #row, &mut #passed, #stretch, #support::STEPS_PER_LOOK)
                {
                    let #count = #part.count();
                    #look
                    #each
                }
            }
        }
    }

    /// The loop over a part of a row in which all windows are in bounds.
    fn plainly(
        &self,
        pattern: &TokenStream,
        over: Over,
        windows: Option<&Windows>,
        (again, plain): (&Lifetime, &TokenStream),
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let support = support(span);
        let [part, count, number, indices] = ["part", "count", "number", "indices"].map(private);
        let at = quote!(#indices.index(#number as ::core::primitive::u32));
        let slice_of = |number: usize| private(&format!("elements{number}"));
        let (slices, bound): (Vec<_>, _) = match over {
            Over::Range | Over::Indices => (Vec::new(), at),
            Over::Items => {
                let slice = slice_of(0);
                (vec![slice.clone()], quote!((#at, &mut #slice[#number])))
            }
            Over::Together(views) => {
                let slices: Vec<_> = (0..views).map(slice_of).collect();
                let bound = quote!((#at, (#(&mut #slices[#number],)*)));
                (slices, bound)
            }
        };
        let taken = match over {
            Over::Range | Over::Indices => quote!(),
            Over::Items => quote!(let #(#slices)* = #part.into_slices();),
            Over::Together(_) => quote!(let (#(#slices,)*) = #part.into_slices();),
        };
        let (used, at_top, lines) = match windows {
            Some(windows) => {
                let at_top = windows.at_top.then(|| windows.reads.values().map(|read| read.at_top(&number)).collect());
                let lines: Vec<_> = windows.reads.values().map(|read| read.line()).collect();
                (windows.used(), at_top.unwrap_or_else(TokenStream::new), lines)
            }
            None => (TokenStream::new(), TokenStream::new(), Vec::new()),
        };
        let iteration = quote! {
            #at_top
            let #pattern = #bound;
            #used
            #plain
        };
        let plainly = |from: TokenStream| quote_spanned!(span=> #again: for #number in #from..#count { #iteration });
        let sums = match (self.reassociate, over) {
            (true, Over::Indices) => super::sums::of(body),
            (true, Over::Range | Over::Items | Over::Together(_)) | (false, _) => Vec::new(),
        };
        let iterations = match sums.is_empty() {
            true => plainly(quote!(0)),
            false => {
                let [whole, at, row] = ["whole", "at", "sum_of"].map(private);
                let (rest, names) = (plainly(quote!(#whole)), &sums);
                let partial: Vec<_> = (0..sums.len()).map(|number| private(&format!("sums{number}"))).collect();
                quote_spanned! {span=>
                    let #whole = #count / #support::SUMS * #support::SUMS;
                    #(let mut #partial = #support::sums(&#names);)*
                    let mut #at = 0;
                    while #at < #whole {
                        let #row = &#indices;
                        let #indices = #row.from(#at as ::core::primitive::u32);
                        #(let #lines = #lines.part(#at, #support::SUMS);)*
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
        quote_spanned! {span=>
            let #indices = #part.indices();
            #taken
            let #count = #count as ::core::primitive::usize;
            #(let #slices = &mut #slices[..#count];)*
            #iterations
        }
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

    /// The reads of an innermost loop that move along with its index; `None` where there are none.
    fn windows_of(&mut self, index: Option<&Pattern>, body: &Block) -> Option<Windows> {
        if !is_innermost(body) {
            return None;
        }
        Some(Windows::of(self, index, body)).filter(|windows| !windows.reads.is_empty())
    }
}

/// What a loop in rows goes over.
#[derive(Clone, Copy)]
enum Over {
    /// The numbers of a range.
    Range,
    /// The indices of a map.
    Indices,
    /// The elements of a view.
    Items,
    /// The elements of as many views.
    Together(usize),
}

impl Over {
    /// The index map that a loop goes over; `None` where it is none.
    fn of(source: &Expr) -> Option<Over> {
        let ExprKind::Method { receiver, name, arguments, .. } = &source.kind else { return None };
        match (name.to_string().as_str(), arguments.first().map(|views| &views.kind)) {
            ("indices", _) => Some(Over::Indices),
            ("strided" | "contiguous", _) => Over::of(receiver),
            ("items", _) => Some(Over::Items),
            ("items_together", Some(ExprKind::Tuple(views))) => Some(Over::Together(views.len())),
            _ => None,
        }
    }
}

fn is_innermost(body: &Block) -> bool {
    !body.any(&|x| matches!(x.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. }))
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
