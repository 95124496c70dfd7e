//! Calls of methods by their receivers, messages, and `&mut` arguments.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::{Build, builder};
use crate::ast::{Callee, Expr, ExprKind, Message};
use crate::names;

impl Build {
    /// A call of a method by its receiver: as [`Host`](crate::host::Host) has it.
    pub(super) fn method(&mut self, call: &Expr, how: &str) -> TokenStream {
        let (span, how) = (call.span, Ident::new(how, call.span));
        let ExprKind::Call { callee: Callee::Method(method), arguments } = &call.kind else { return self.expr(call) };
        let (builder, others) = (builder(), self.fresh("others"));
        let receiver = &arguments[0];
        let arguments = self.exprs(&arguments[1..]);
        let receiver = self.expr(receiver);
        let function = method.function(quote_spanned!(span=> type_in_builder(#builder, || #receiver)));
        quote_spanned! {span=> {
            #[allow(unused_imports, reason = "methods that change their receivers have no use for it")]
            use ::wattle::__private::BuilderMethodByValue as _;
            let #others = (#(#arguments,)*);
            ::wattle::__private::method_in_builder(#builder, #function).#how(#receiver, #others)
        }}
    }

    /// The text and the values of a message.
    pub(super) fn message(&mut self, Message { pieces, arguments, .. }: &Message) -> (TokenStream, TokenStream) {
        let values = arguments.iter().map(|x| {
            let (span, value) = (x.span, self.expr(x));
            quote_spanned!(span=> ::wattle::__private::builder::argument(#value))
        });
        let values: Vec<_> = values.collect();
        (names::text(pieces), quote!(&[#(#values),*]))
    }
}

/// The variable or view of a `&mut x`.
pub(super) fn exclusive(x: &Expr) -> TokenStream {
    match &x.kind {
        ExprKind::Local(local) if local.is_view => {
            let name = &local.name;
            quote!(&mut #name)
        }
        ExprKind::Local(local) => Build::variable(local, &[]),
        ExprKind::Field(base, index) => {
            let base = exclusive(base);
            quote!(#base.#index)
        }
        // The parser takes nothing else.
        _ => TokenStream::new(),
    }
}
