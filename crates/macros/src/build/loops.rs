//! Loops, labelled blocks and jumps in the builder.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::{Build, builder};
use crate::ast::{Block, BreakTarget, Expr, ExprKind};
use crate::names::private;

/// A loop or labelled block around what is being written.
pub(super) struct Around {
    target: BreakTarget,
    /// The variable that holds the loop, or the block's label.
    handle: Ident,
    is_loop: bool,
    /// The variable that takes what `break` gives.
    given: Option<Ident>,
}

impl Build {
    /// What is within a loop or block.
    fn within(&mut self, around: Around, body: &Block, is_value: bool) -> TokenStream {
        self.around.push(around);
        let outer = std::mem::replace(&mut self.compound, false);
        let body = if is_value { self.value(body) } else { self.effect(body) };
        self.compound = outer;
        self.around.pop();
        body
    }

    pub(super) fn jump(&mut self, x: &Expr) -> TokenStream {
        let builder = builder();
        match &x.kind {
            ExprKind::Break { target, value } => {
                let value = value.as_ref().map(|value| self.full(value));
                // The parser has refused what is outside of loops.
                let Some(around) = self.around.iter().rev().find(|around| around.target == *target) else {
                    return TokenStream::new();
                };
                let handle = &around.handle;
                let give = match (&around.given, value) {
                    (Some(given), Some(value)) => Some(quote!(#given.give(#value);)),
                    (None, Some(value)) => Some(quote!(#builder.discard(#value);)),
                    (_, None) => None,
                };
                match around.is_loop {
                    true => quote! {
                        #give
                        #builder.break_to(::wattle::__private::builder::LoopHandle::break_label(&#handle));
                    },
                    false => quote!(#give #builder.break_to(#handle);),
                }
            }
            ExprKind::Continue(target) => {
                let handle =
                    self.around.iter().rev().find(|around| around.target == *target).map(|around| &around.handle);
                quote!(#builder.continue_to(::wattle::__private::builder::LoopHandle::continue_label(&#handle));)
            }
            ExprKind::Return(value) if self.is_kernel => {
                let value = value.as_ref().map(|value| self.full(value));
                quote!(#value; #builder.return_();)
            }
            ExprKind::Return(value) => {
                let value = value.as_ref().map_or_else(|| quote!(()), |value| self.full(value));
                let (result, body) = (private("result"), private("body"));
                quote! {
                    ::wattle::__private::Variable::set(&#result, #value);
                    #builder.break_to(#body);
                }
            }
            _ => TokenStream::new(),
        }
    }

    /// A loop without a value.
    pub(super) fn repeat(&mut self, x: &Expr) -> TokenStream {
        self.repeat_into(x, None)
    }

    /// A `loop` that is left by `break value`.
    pub(super) fn repeat_for_value(&mut self, x: &Expr) -> TokenStream {
        let (builder, given) = (builder(), self.fresh("given"));
        let repeat = self.repeat_into(x, Some(given.clone()));
        quote!({ let #given = #builder.given(); #repeat #given.take() })
    }

    fn repeat_into(&mut self, x: &Expr, given: Option<Ident>) -> TokenStream {
        let (span, builder) = (x.span, builder());
        let handle = self.fresh("repeat");
        let around = |target| Around { target, handle: handle.clone(), is_loop: true, given };
        match &x.kind {
            ExprKind::While { target, condition, body } => {
                let condition = self.full(condition);
                let body = self.within(around(*target), body, false);
                let begin = quote_spanned!(span=> #builder.loop_begin(false));
                quote!({
                    let #handle = #begin;
                    #builder.while_condition(&#handle, #condition);
                    #body
                    #builder.loop_end(#handle);
                })
            }
            ExprKind::Loop { target, body } => {
                let body = self.within(around(*target), body, false);
                let begin = quote_spanned!(span=> #builder.loop_begin(false));
                quote!({ let #handle = #begin; #body #builder.loop_end(#handle); })
            }
            ExprKind::For { target, pattern, source, body } => {
                let source = self.source(source);
                let item = self.fresh("item");
                let bind = self.bind(pattern, quote!(#item), false);
                let body = self.within(around(*target), body, false);
                let begin = quote_spanned!(span=> #builder.for_begin(#source));
                quote!({
                    let (#handle, #item) = #begin;
                    #bind
                    #body
                    #builder.loop_end(#handle);
                })
            }
            _ => TokenStream::new(),
        }
    }

    /// What a loop goes over. Of an array that the body may assign to the elements are what they are before the loop.
    fn source(&mut self, source: &Expr) -> TokenStream {
        let is_fixed = match &source.kind {
            ExprKind::Local(local) => !local.mutable && !local.is_reference,
            ExprKind::Constant(_) | ExprKind::Array(_) | ExprKind::Repeat(..) => true,
            _ => source.is_range_or_map(),
        };
        let (builder, tokens) = (builder(), self.full(source));
        if is_fixed { tokens } else { quote_spanned!(source.span=> #builder.copied(#tokens)) }
    }

    /// A labelled block with a value.
    pub(super) fn labelled(&mut self, target: BreakTarget, body: &Block) -> TokenStream {
        if !body.gives_value(target) && (body.breaks_to(target) || body.value.is_none()) {
            let (effect, builder) = (self.labelled_effect(target, body), builder());
            let value =
                if body.diverges() && !body.breaks_to(target) { quote!(#builder.unreachable()) } else { quote!(()) };
            return quote!({ #effect #value });
        }
        let (builder, handle, given) = (builder(), self.fresh("block"), self.fresh("given"));
        let around = Around { target, handle: handle.clone(), is_loop: false, given: Some(given.clone()) };
        let diverges = body.diverges();
        let body = self.within(around, body, !diverges);
        let body = if diverges { body } else { quote!(#given.give(#body);) };
        quote!({
            let #given = #builder.given();
            let #handle = #builder.block_begin();
            #body
            #builder.block_end();
            #given.take()
        })
    }

    /// A labelled block without a value.
    pub(super) fn labelled_effect(&mut self, target: BreakTarget, body: &Block) -> TokenStream {
        let (builder, handle) = (builder(), self.fresh("block"));
        let around = Around { target, handle: handle.clone(), is_loop: false, given: None };
        let body = self.within(around, body, false);
        quote!({ let #handle = #builder.block_begin(); #body #builder.block_end(); })
    }
}
