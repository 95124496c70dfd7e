//! Elements and their parts, read and assigned to in their places.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::Build;
use crate::ast::{Expr, ExprKind, Place, Step};

impl Build {
    pub(super) fn base(&mut self, base: &Expr) -> TokenStream {
        match &base.kind {
            // An element is read or written in place.
            ExprKind::Local(local) if local.mutable || local.is_later => {
                let name = &local.name;
                quote!(::wattle::__private::Variable::get(&#name))
            }
            // So is a part of an element of a view, and an item.
            ExprKind::Element(of, fields) => self.element(of, fields),
            ExprKind::Deref(item) if matches!(&item.kind, ExprKind::Local(local) if local.is_item) => self.expr(item),
            ExprKind::Index(of, _) if matches!(&of.kind, ExprKind::Local(local) if local.is_view) => {
                self.element(base, &[])
            }
            // So is one of a row, or of a part of a tuple.
            ExprKind::Index(of, index) => {
                let (of, index) = (self.base(of), self.expr(index));
                let (row, at) = (self.fresh("base"), self.fresh("index"));
                quote_spanned!(base.span=> {
                    let #row = #of;
                    let #at = #index;
                    ::wattle::__private::builder::get(&#row, #at)
                })
            }
            ExprKind::Field(of, index) => {
                let of = self.base(of);
                quote!(#of.#index)
            }
            _ => self.expr(base),
        }
    }

    /// An element of a view or an item, or a field of one, in its place.
    pub(super) fn element(&mut self, of: &Expr, fields: &[syn::Member]) -> TokenStream {
        let root = match &of.kind {
            ExprKind::Index(view, index) => {
                let (view, index) = (self.base(view), self.expr(index));
                let (held, at) = (self.fresh("base"), self.fresh("index"));
                quote_spanned!(of.span=> {
                    let #held = #view;
                    let #at = #index;
                    ::wattle::__private::builder::element(&#held, #at)
                })
            }
            ExprKind::Deref(item) => self.expr(item),
            _ => self.expr(of),
        };
        fields.iter().fold(
            root,
            |of, field| quote_spanned!(field.span()=> ::wattle::__private::builder::ElementRef::__fields(&#of).#field),
        )
    }

    /// An assignment; `value` is given what the place holds.
    pub(super) fn assign(
        &mut self,
        place: &Place,
        span: Span,
        value: impl FnOnce(&mut Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        let held = self.fresh("value");
        match place {
            Place::Variable(local, fields) => {
                // The whole of one that is declared without a value: this may be its first assignment.
                let name = &local.name;
                let variable = if fields.is_empty() { quote!(#name) } else { Self::variable(local, fields) };
                let value = value(self, quote!(::wattle::__private::Variable::get(&#variable)));
                quote_spanned!(span=> { let #held = #value; ::wattle::__private::Variable::set(&#variable, #held) })
            }
            Place::Index(base, index) => {
                let (base, index) = (self.base(base), self.expr(index));
                let (of, at) = (self.fresh("base"), self.fresh("index"));
                let value = value(self, quote_spanned!(span=> ::wattle::__private::builder::get(&#of, #at)));
                quote_spanned! {span=> {
                    let #of = #base;
                    let #at = #index;
                    let #held = #value;
                    ::wattle::__private::builder::set(&#of, #at, #held)
                }}
            }
            Place::Part { base, index, fields } => {
                let (base, index) = (self.base(base), self.expr(index));
                let (of, at, element) = (self.fresh("base"), self.fresh("index"), self.fresh("element"));
                let value = value(self, quote!(#element #(.#fields)*));
                quote_spanned! {span=> {
                    let #of = #base;
                    let #at = #index;
                    let mut #element = ::wattle::__private::builder::get(&#of, #at);
                    #element #(.#fields)* = #value;
                    ::wattle::__private::builder::set(&#of, #at, #element)
                }}
            }
            Place::Element(of, steps) => {
                let (root, place) = (self.element(of, &[]), self.fresh("element"));
                let indices: Vec<_> = steps.iter().filter_map(Step::index).map(|_| self.fresh("index")).collect();
                let parts: Vec<_> = indices.iter().map(|_| self.fresh("part")).collect();
                let values: Vec<_> = steps.iter().filter_map(Step::index).map(|index| self.expr(index)).collect();
                // What is done with the part at an index is written into what is done with the whole.
                let (mut at, mut around, mut number) = (quote!(#place), Vec::new(), 0);
                for step in steps {
                    match step {
                        Step::Field(field) => {
                            at = quote_spanned!(field.span()=> ::wattle::__private::builder::ElementRef::__fields(&#at).#field);
                        }
                        Step::Index(_) => {
                            let (index, part) = (&indices[number], &parts[number]);
                            around.push((quote!(&#at, #index), part));
                            at = quote!(#part);
                            number += 1;
                        }
                    }
                }
                let old = quote_spanned!(span=> ::wattle::__private::builder::ElementRef::__deref(&#at));
                let value = value(self, old);
                let assign = quote_spanned!(span=> {
                    let #held = #value;
                    ::wattle::__private::builder::ElementRef::__assign(&#at, #held)
                });
                let assign = around.into_iter().rev().fold(assign, |assign, (of, part)| {
                    quote_spanned!(span=> ::wattle::__private::builder::ElementRef::__each(#of, |#part| #assign))
                });
                quote!({ let #place = #root; #(let #indices = #values;)* #assign })
            }
            Place::Deref(item) => {
                let item = self.expr(item);
                let value =
                    value(self, quote_spanned!(span=> ::wattle::__private::builder::ElementRef::__deref(&#item)));
                quote_spanned!(span=> {
                    let #held = #value;
                    ::wattle::__private::builder::ElementRef::__assign(&#item, #held)
                })
            }
        }
    }
}
