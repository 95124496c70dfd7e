//! Loops of the host's function that go from row to row.
//!
//! A loop over an index map goes from row to row (`rows` of the core crate). One that accesses views at indices which
//! move along with its own is written more than once: plainly, with these accesses checked once for a whole row, so
//! that it is the loop that compilers vectorize; so again, for the run of a row in which they are all in bounds; and
//! with every access checked, for the row's other indices. A plain one with a branch on its index (`host/cuts.rs`) is
//! written once for each way.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::cuts::{Cut, Decided};
use super::loops::is_innermost;
use super::windows::{Moving, Windows};
use super::{Host, Labels, support};
use crate::ast::{Block, BreakTarget, Expr, ExprKind, Pattern};
use crate::names::private;

/// The plain form of a loop in rows.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum Plain {
    /// No access of the loop is checked for a whole run of indices.
    None,
    /// The accesses of the loop are checked once for each run of a row.
    Whole(Windows),
    /// The accesses are checked once for each run, and each row has two runs: where the condition of a branch holds,
    /// and where it does not.
    Cut(Cut, [Windows; 2]),
}

/// What a loop in rows goes over.
#[derive(Clone, Copy)]
pub(super) enum Over {
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
    pub(super) fn of(source: &Expr) -> Option<Over> {
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

impl Host {
    /// A loop over rows. Where it has a plain form it is written in that, for the part of a row where all windows are
    /// in bounds, so that it is a loop that compilers vectorize; and checked, for all other indices.
    pub(super) fn in_rows(
        &mut self,
        target: BreakTarget,
        pattern: &Pattern,
        rows: TokenStream,
        (over, plain): (Over, Plain),
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let support = support(span);
        let [row, parts, part, ahead, count] = ["row", "parts", "part", "ahead", "count"].map(private);
        let [cut, turned, side, stretch] = ["cut", "turned", "side", "stretch"].map(private);
        let pattern_tokens = self.pattern(pattern, false);
        let (labels, checked) = self.within(target, true, |host| host.block(body));
        let Labels { out, again, .. } = &labels;
        let look = self.look(quote!(#count), span);
        let taken = quote_spanned!(span=> #look let #part = #parts.take(#count););
        let checked = quote_spanned!(span=> #taken #again: for #pattern_tokens in #part #checked);
        let (all, narrow_cut) = match plain {
            Plain::None => (Vec::new(), None),
            Plain::Whole(windows) => (vec![windows], None),
            Plain::Cut(cut, windows) => (windows.into(), Some(cut.narrow)),
        };
        let is_here = |windows: &Windows| {
            let decided = windows.decided.as_ref();
            decided.map(|Decided { holds, .. }| quote!(#side == ::core::option::Option::Some(#holds)))
        };
        // What was not found in bounds, or belongs to neither way, is tried once more in the parts that there are then.
        let narrow: TokenStream = all
            .iter()
            .filter(|windows| !windows.reads.is_empty())
            .map(|windows| {
                let (index, condition) = (windows.moving.pattern(), is_here(windows).unwrap_or_else(|| quote!(true)));
                let reads = windows.reads.values().map(|read| read.narrow(&stretch));
                quote_spanned!(span=> if #condition { #index = #ahead.index(0); #(#reads)* })
            })
            .collect();
        let mut each = match narrow.is_empty() {
            true => checked,
            false => quote_spanned! {span=>
                if #parts.is_narrowed() {
                    #checked
                } else {
                    let mut #stretch = #parts.whole();
                    #narrow
                    #parts.narrow(#stretch);
                }
            },
        };
        // A row that is in bounds as a whole, as most are, is tried first: where its count is a constant, this loop is
        // unrolled.
        let mut whole = Vec::new();
        for windows in all {
            let index = (!windows.reads.is_empty()).then(|| windows.moving.pattern());
            let index = index.map(|index| quote!(#index = #ahead.index(0);));
            let (lines, found): (Vec<_>, Vec<_>) =
                windows.reads.values().map(|read| (read.line(), read.find(&count))).unzip();
            let is_here = is_here(&windows).map(|is_here| quote!(&& #is_here));
            let outer = self.windows.replace(windows);
            self.loops.push(labels.clone());
            let plain = self.block(body);
            self.loops.pop();
            let windows = std::mem::replace(&mut self.windows, outer);
            let plainly = self.plainly(&pattern_tokens, over, windows.as_ref(), (again, &plain), body, span);
            let some = quote!(::core::option::Option::Some);
            let is_plain = quote!(#ahead.is_plain() && #count <= #support::STEPS_PER_LOOK);
            let found = quote!(#index (#is_plain #is_here, #(#found,)*));
            let are_found = quote!((true, #(#some(#lines),)*));
            each = quote_spanned! {span=>
                match { #found } {
                    #are_found => { #taken #plainly }
                    _ => { #each }
                }
            };
            if !lines.is_empty() {
                whole.push((found, are_found, quote_spanned!(span=> #look let #part = #row; #plainly)));
            }
        }
        let in_parts = quote_spanned! {span=>
            let mut #parts = #row.parts();
            while let ::core::option::Option::Some(#ahead) = #parts.ahead() {
                let #count = #ahead.count();
                #each
            }
        };
        let parts = match whole.is_empty() {
            true => in_parts,
            false => {
                let each = whole.into_iter().fold(in_parts, |otherwise, (found, are_found, plainly)| {
                    quote_spanned!(span=> match { #found } { #are_found => { #plainly } _ => { #otherwise } })
                });
                quote_spanned! {span=>
                    let #ahead = #row.indices();
                    let #count = #ahead.count();
                    #each
                }
            }
        };
        let Some(narrow) = narrow_cut else {
            return quote_spanned!(span=> #out: for #row in #rows { #parts });
        };
        quote_spanned! {span=>
            #out: for mut #row in #rows {
                let mut #cut = #row.cut();
                #narrow
                let mut #turned = 0;
                while let ::core::option::Option::Some((#row, #side)) =
                    #support::next_side(&mut #row, &mut #turned, #cut)
                {
                    #parts
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
                let lines: Vec<_> = windows.reads.values().map(|read| read.line()).collect();
                (windows.moving.used(), windows.top(&number), lines)
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
            #(let #lines = #lines.of(#count);)*
            #(let #slices = &mut #slices[..#count];)*
            #iterations
        }
    }

    /// The plain form of an innermost loop with accesses that move along with its index, or over `elements`.
    pub(super) fn plain(&mut self, index: Option<&Pattern>, elements: bool, body: &Block) -> Plain {
        if !is_innermost(body) {
            return Plain::None;
        }
        let moving = Moving::with(index, body);
        if let Some(cut) = Cut::of(self, &moving, body) {
            let windows = [true, false].map(|holds| Windows::of(self, moving.clone(), Some(cut.decided(holds)), body));
            if elements || windows.iter().any(|windows| !windows.reads.is_empty()) {
                return Plain::Cut(cut, windows);
            }
        }
        let windows = Windows::of(self, moving, None, body);
        if elements || !windows.reads.is_empty() { Plain::Whole(windows) } else { Plain::None }
    }
}
