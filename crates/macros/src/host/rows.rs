//! Loops of the host's function that go from row to row.
//!
//! A loop over an index map goes from row to row (`rows` of the core crate). One that accesses views at indices which
//! move along with its own is written more than once: plainly, with these accesses checked once for a whole row, so
//! that it is the loop that compilers vectorize; so again, for the run of a row in which they are all in bounds; and
//! with every access checked, for the row's other indices. A plain one with a branch on its index (`host/cuts.rs`) is
//! written once for each way.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::cuts::Cut;
use super::decided::Decided;
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
            ("items", Some(ExprKind::Tuple(views))) => Some(Over::Together(views.len())),
            ("items", _) => Some(Over::Items),
            _ => None,
        }
    }
}

/// A loop over rows that is being written.
struct RowLoop<'l> {
    /// What an iteration binds.
    pattern: TokenStream,
    over: Over,
    labels: Labels,
    body: &'l Block,
    span: Span,
}

/// A plain form of a loop, for the runs of a row in which all of its windows are in bounds.
struct PlainForm {
    /// What is looked for in the indices ahead: whether the form is for them, and its windows.
    found: TokenStream,
    /// The pattern that `found` matches where the form is for the indices ahead and all windows are in bounds.
    are_found: TokenStream,
    has_windows: bool,
    plainly: TokenStream,
}

/// A condition on the side of a cut that is ahead: that it is the one which the windows are for. `None` for windows
/// that are for all indices.
fn is_side_of(windows: &Windows) -> Option<TokenStream> {
    let Decided { holds, .. } = windows.decided.as_ref()?;
    let side = private("side");
    Some(quote!(#side == ::core::option::Option::Some(#holds)))
}

/// The checked loop; before it, once a row, the row's numbers are narrowed to those for which the windows are in
/// bounds. What was not found in bounds, or belongs to neither side of a cut, is tried once more in the parts that
/// there are then.
fn narrowed_once(checked: TokenStream, all: &[Windows], span: Span) -> TokenStream {
    let [parts, ahead, stretch] = ["parts", "ahead", "stretch"].map(private);
    let narrow: TokenStream = all
        .iter()
        .filter(|windows| !windows.reads.is_empty())
        .map(|windows| {
            let (index, condition) = (windows.moving.pattern(), is_side_of(windows).unwrap_or_else(|| quote!(true)));
            let reads = windows.reads.values().map(|read| read.narrow(&stretch));
            quote_spanned!(span=> if #condition { #index = #ahead.index(0); #(#reads)* })
        })
        .collect();
    match narrow.is_empty() {
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
    }
}

/// The loop over the numbers of a part of a row, from sums of its own for each of several numbers at once, which are
/// added up behind it. `rest` is the loop over the numbers that are left.
fn in_sums(sums: &[Ident], lines: &[Ident], iteration: &TokenStream, rest: TokenStream, span: Span) -> TokenStream {
    let support = support(span);
    let [count, number, indices, whole, at, row] = ["count", "number", "indices", "whole", "at", "sum_of"].map(private);
    let partial: Vec<_> = (0..sums.len()).map(|number| private(&format!("sums{number}"))).collect();
    quote_spanned! {span=>
        let #whole = #count / #support::SUMS * #support::SUMS;
        #(let mut #partial = #support::sums(&#sums);)*
        let mut #at = 0;
        while #at < #whole {
            let #row = &#indices;
            let #indices = #row.from(#at as ::core::primitive::u32);
            #(let #lines = #lines.part(#at, #support::SUMS);)*
            for #number in 0..#support::SUMS {
                #(let mut #sums = #partial[#number];)*
                #iteration
                #(#partial[#number] = #sums;)*
            }
            #at += #support::SUMS;
        }
        #rest
        #(#sums = #support::add(#sums, #support::summed(#partial));)*
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
        let [row, parts, part, ahead, count] = ["row", "parts", "part", "ahead", "count"].map(private);
        let pattern = self.pattern(pattern, false);
        let (labels, checked) = self.within(target, true, |host| host.block(body));
        let Labels { out, again, .. } = labels.clone();
        let look = self.look(quote!(#count), span);
        let taken = quote_spanned!(span=> #look let #part = #parts.take(#count););
        let checked = quote_spanned!(span=> #taken #again: for #pattern in #part #checked);
        let this = RowLoop { pattern, over, labels, body, span };
        let (all, narrow_cut) = match plain {
            Plain::None => (Vec::new(), None),
            Plain::Whole(windows) => (vec![windows], None),
            Plain::Cut(cut, windows) => (windows.into(), Some(cut.narrow)),
        };
        let mut each = narrowed_once(checked, &all, span);
        let mut whole = Vec::new();
        for windows in all {
            let form = self.plain_form(windows, &this);
            let PlainForm { found, are_found, plainly, .. } = &form;
            each = quote_spanned! {span=>
                match { #found } {
                    #are_found => { #taken #plainly }
                    _ => { #each }
                }
            };
            if form.has_windows {
                whole.push(form);
            }
        }
        let mut in_parts = quote_spanned! {span=>
            let mut #parts = #row.parts();
            while let ::core::option::Option::Some(#ahead) = #parts.ahead() {
                let #count = #ahead.count();
                #each
            }
        };
        // A row that is in bounds as a whole, as most are, is tried first: where its count is a constant, this loop is
        // unrolled.
        if !whole.is_empty() {
            let each = whole.into_iter().fold(in_parts, |otherwise, PlainForm { found, are_found, plainly, .. }| {
                let plainly = quote_spanned!(span=> #look let #part = #row; #plainly);
                quote_spanned!(span=> match { #found } { #are_found => { #plainly } _ => { #otherwise } })
            });
            in_parts = quote_spanned! {span=>
                let #ahead = #row.indices();
                let #count = #ahead.count();
                #each
            };
        }
        match narrow_cut {
            None => quote_spanned!(span=> #out: for #row in #rows { #in_parts }),
            Some(narrow) => {
                let (support, [cut, turned, side]) = (support(span), ["cut", "turned", "side"].map(private));
                quote_spanned! {span=>
                    #out: for mut #row in #rows {
                        let mut #cut = #row.cut();
                        #narrow
                        let mut #turned = 0;
                        while let ::core::option::Option::Some((#row, #side)) =
                            #support::next_side(&mut #row, &mut #turned, #cut)
                        {
                            #in_parts
                        }
                    }
                }
            }
        }
    }

    /// Writes the plain form of a loop with these windows.
    fn plain_form(&mut self, windows: Windows, of: &RowLoop<'_>) -> PlainForm {
        let (support, [ahead, count]) = (support(of.span), ["ahead", "count"].map(private));
        let has_windows = !windows.reads.is_empty();
        let index = has_windows.then(|| windows.moving.pattern());
        let index = index.map(|index| quote!(#index = #ahead.index(0);));
        let (lines, found): (Vec<_>, Vec<_>) =
            windows.reads.values().map(|read| (read.line(), read.find(&count))).unzip();
        let is_here = is_side_of(&windows).map(|is_here| quote!(&& #is_here));
        let outer = self.windows.replace(windows);
        self.loops.push(of.labels.clone());
        let iteration = self.block(of.body);
        self.loops.pop();
        let windows = std::mem::replace(&mut self.windows, outer);
        let plainly = self.plainly(of, windows.as_ref(), &iteration);
        let some = quote!(::core::option::Option::Some);
        let is_plain = quote!(#ahead.is_plain() && #count <= #support::STEPS_PER_LOOK);
        PlainForm {
            found: quote!(#index (#is_plain #is_here, #(#found,)*)),
            are_found: quote!((true, #(#some(#lines),)*)),
            has_windows,
            plainly,
        }
    }

    /// The loop over a part of a row in which all windows are in bounds; `plain` is its body.
    fn plainly(&self, of: &RowLoop<'_>, windows: Option<&Windows>, plain: &TokenStream) -> TokenStream {
        let RowLoop { pattern, over, labels: Labels { again, .. }, body, span } = of;
        let (over, span) = (*over, *span);
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
                let whole = private("whole");
                in_sums(&sums, &lines, &iteration, plainly(quote!(#whole)), span)
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
        if !body.is_innermost() {
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
