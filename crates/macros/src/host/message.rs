//! The messages of assertions and of what is printed.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::{Host, private_at};
use crate::ast::{Expr, Message};
use crate::names::{self, private};

impl Host {
    /// A call of the thread's method with a message. The format string is there for rustc alone, which refuses what
    /// cannot be formatted so.
    pub(super) fn message(
        &mut self,
        span: Span,
        method: &str,
        Message { literal, pieces, arguments }: &Message,
    ) -> TokenStream {
        let (thread, method) = (private("thread"), Ident::new(method, span));
        let numbered = |(number, x): (usize, &Expr)| private_at(&format!("value{number}"), x.span);
        let names: Vec<_> = arguments.iter().enumerate().map(numbered).collect();
        let values: Vec<_> =
            names.iter().map(|name| quote_spanned!(name.span()=> ::wattle::__private::printed(#name))).collect();
        let arguments = self.exprs(arguments);
        let text = names::text(pieces);
        quote_spanned! {span=>
            match (#(&(#arguments),)*) {
                (#(#names,)*) => {
                    if false {
                        let _ = ::core::format_args!(#literal, #(#names),*);
                    }
                    #thread.#method(&#text, &[#(#values),*])
                }
            }
        }
    }
}
