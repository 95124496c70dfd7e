//! Expressions of the builder.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{AngleBracketedGenericArguments, BinOp, Member, Path, Type};

use super::{Build, builder, calls};
use crate::ast::{Callee, Change, Expr, ExprKind, Local, Operands, Operator, Place};
use crate::emit;
use crate::names;
use crate::rules::is_fused;

impl Build {
    pub fn expr(&mut self, x: &Expr) -> TokenStream {
        let (span, builder) = (x.span, builder());
        match &x.kind {
            ExprKind::Literal(literal) => self.call(span, "lit", &[quote!(#literal)]),
            ExprKind::NegativeLiteral(literal) => self.call(span, "lit", &[quote!(-#literal)]),
            ExprKind::Float { literal, negative } => {
                let both = names::both_floats(literal, *negative);
                self.call(span, "lit", &[quote_spanned!(span=> ::wattle::__private::float(#both))])
            }
            ExprKind::Local(local) => self.read(local),
            ExprKind::Constant(path) => self.call(span, "lift", &[quote!(#path)]),
            ExprKind::Negate(x, operands) => self.negative(x, *operands, span),
            ExprKind::Not(x) => {
                let x = self.expr(x);
                self.call(span, "not", &[x])
            }
            ExprKind::Deref(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> ::wattle::__private::builder::ElementRef::__deref(&#x))
            }
            ExprKind::Exclusive(x) => calls::exclusive(x),
            ExprKind::Binary(Operator { op: op @ (BinOp::And(_) | BinOp::Or(_)), .. }, left, right)
                if !right.is_pure() =>
            {
                let (left, right) = (self.expr(left), self.full(right));
                self.short_circuit(span, matches!(op, BinOp::And(_)), left, right)
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.binary(operator, span, left, right)
            }
            ExprKind::Assign(place, value) => self.assignment(place, value, span),
            ExprKind::AssignWith(change, place, value) => self.assignment_with(change, place, value, span),
            ExprKind::Index(base, index) => self.read_at(base, index, span),
            ExprKind::Method { receiver, name, generics, arguments } => {
                self.method_of_library(receiver, name, generics.as_ref(), arguments)
            }
            ExprKind::Math { name, operands } => self.method_of_numbers(name, operands, span),
            ExprKind::Lent(x) => {
                let x = self.expr(x);
                quote!((#x,))
            }
            ExprKind::Call { callee, arguments } => self.device_call(x, callee, arguments),
            ExprKind::Function(path) => quote_spanned!(span=> {
                use ::wattle::__private::PassedAsIs as _;
                ::wattle::__private::Passed(#path).__in(#builder)
            }),
            ExprKind::Closure(closure) => emit::closure(closure),
            ExprKind::FromBits { ty, bits } => {
                let bits = self.expr(bits);
                quote_spanned!(span=> #builder.from_bits::<#ty>(#bits))
            }
            ExprKind::Cast(x, ty) => self.cast(x, ty, span),
            ExprKind::RustCast(path, ty) => self.call(span, "lit", &[quote!(#path as #ty)]),
            ExprKind::If { condition, then, otherwise } => {
                self.branch(span, condition, then, otherwise.as_deref(), true).value()
            }
            ExprKind::Match { value, arms } => self.matching(span, value, arms, true).value(),
            ExprKind::Loop { target, body } if body.gives_value(*target) => self.repeat_for_value(x),
            ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::For { .. } => {
                let repeat = self.repeat(x);
                let value = if x.diverges() { quote!(#builder.unreachable()) } else { quote!(()) };
                quote!({ #repeat #value })
            }
            ExprKind::Block(block) => self.value(block),
            ExprKind::Labelled { target, body } => self.labelled(*target, body),
            ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_) => {
                let jump = self.jump(x);
                quote!({ #jump #builder.unreachable() })
            }
            ExprKind::Tuple(all) => {
                let all = self.exprs(all);
                quote!((#(#all,)*))
            }
            ExprKind::Field(base, index) => {
                let base = self.expr(base);
                quote!(#base.#index)
            }
            ExprKind::Element(of, fields) => {
                let place = self.element(of, fields);
                quote_spanned!(span=> ::wattle::__private::builder::ElementRef::__deref(&#place))
            }
            ExprKind::Struct { path, fields, rest } => self.structure(path, fields, rest.as_deref(), span),
            ExprKind::Array(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> #builder.array([#(#all),*]))
            }
            ExprKind::Repeat(value, count) => {
                let value = self.expr(value);
                quote_spanned!(span=> #builder.repeat::<_, { #count }>(#value))
            }
            ExprKind::Range { begin, end, inclusive } => {
                let (begin, end) = (self.expr(begin), self.expr(end));
                self.call(span, if *inclusive { "range_inclusive" } else { "range" }, &[begin, end])
            }
            ExprKind::Assert { condition, message } => {
                let condition = self.expr(condition);
                let (text, arguments) = self.message(message);
                self.call(span, "assert", &[condition, text, arguments])
            }
            ExprKind::Print(message) => {
                let (text, arguments) = self.message(message);
                self.call(span, "print", &[text, arguments])
            }
        }
    }

    fn negative(&mut self, x: &Expr, operands: Operands, span: Span) -> TokenStream {
        let (builder, x) = (builder(), self.expr(x));
        match operands {
            Operands::Numbers => self.call(span, "neg", &[x]),
            Operands::Any => quote_spanned!(span=> ::wattle::__private::negate_in_builder(#builder, #x)),
        }
    }

    fn assignment(&mut self, place: &Place, value: &Expr, span: Span) -> TokenStream {
        let (builder, mut tokens) = (builder(), self.before(value, place));
        if let Place::Variable(local, _) = place {
            // What has parts may be made of what the variable holds: all is read before a part is written.
            let text = local.name.to_string();
            tokens = quote!(#builder.apart(#tokens, #text));
        }
        let held = self.fresh("value");
        let assign = self.assign(place, span, |_, _| quote!(#held));
        quote!({ let #held = #tokens; #assign })
    }

    /// A compound assignment.
    fn assignment_with(&mut self, change: &Change, place: &Place, value: &Expr, span: Span) -> TokenStream {
        let value = self.before(value, place);
        let held = self.fresh("value");
        let assign = self.assign(place, span, |build, old| match change {
            Change::Op(operator) => build.binary(operator, span, old, quote!(#held)),
            Change::Fused(name) => build.call(span, &name.to_string(), &[old, quote!(#held.0), quote!(#held.1)]),
        });
        quote!({ let #held = #value; #assign })
    }

    /// The element `base[index]`.
    fn read_at(&mut self, base: &Expr, index: &Expr, span: Span) -> TokenStream {
        let (base, index) = (self.base(base), self.expr(index));
        let (of, at, builder) = (self.fresh("base"), self.fresh("index"), builder());
        let value = quote_spanned!(span=> ::wattle::__private::builder::get(&#of, #at));
        let value = if self.compound { quote!(#builder.copied(#value)) } else { value };
        quote!({
            let #of = #base;
            let #at = #index;
            #value
        })
    }

    /// A call of a method that the library has, by its path: as a function of its owner, or of the builder's module.
    fn method_of_library(
        &mut self,
        of: &Expr,
        name: &Ident,
        generics: Option<&AngleBracketedGenericArguments>,
        arguments: &[Expr],
    ) -> TokenStream {
        let (on, arguments) = (self.expr(of), self.exprs(arguments));
        let (at, builder) = (name.span(), builder());
        let receiver = names::receiver(name, on, of.span);
        let (generics, count) = names::generics(name, generics);
        let path = match names::owner(name) {
            Some(owner) => {
                let rank = self.ranks.as_ref().and_then(|ranks| ranks.on(of));
                quote_spanned!(at=> ::wattle::__private::builder::#owner #rank ::#name)
            }
            None => quote_spanned!(at=> ::wattle::__private::builder::#name),
        };
        match names::is_of_index(&name.to_string()) {
            true => quote_spanned!(at=> #path #generics (#builder, #receiver, #(#arguments),*)),
            false => quote_spanned!(at=> #path #generics (#receiver, #(#arguments,)* #count)),
        }
    }

    /// A call of a method of numbers.
    fn method_of_numbers(&mut self, name: &Ident, operands: &[Expr], span: Span) -> TokenStream {
        let operands = self.exprs(operands);
        if is_fused(name) {
            return self.call(span, &name.to_string(), &operands);
        }
        let (first, others) = (&operands[0], &operands[1..]);
        quote_spanned!(span=> ::wattle::__private::builder::Val::#name(#first, #(#others),*))
    }

    /// A call of a device function.
    fn device_call(&mut self, call: &Expr, callee: &Callee, arguments: &[Expr]) -> TokenStream {
        let (span, builder) = (call.span, builder());
        let function = match callee {
            Callee::Function(path) => {
                let arguments = self.exprs(arguments);
                let (path, generics) = crate::signature::callee(path);
                return quote_spanned!(span=> ::wattle::__private::in_builder(#builder, #path).__bodies().__build #generics (#(#arguments),*));
            }
            Callee::Method(_) => return self.method(call, "__keep"),
            // As on the host, so that one that is not marked is refused once.
            Callee::Associated(path) => quote_spanned!(span=> ::wattle::__private::marked(#path)),
            Callee::Parameter(Local { name, .. }) => quote!(#name),
        };
        let arguments = self.exprs(arguments);
        quote_spanned!(span=> ::wattle::__private::call_in_builder(#builder, #function, (#(#arguments,)*)))
    }

    /// A conversion by `as`; that of a literal or a constant is a constant.
    fn cast(&mut self, x: &Expr, ty: &Type, span: Span) -> TokenStream {
        let builder = builder();
        match &x.kind {
            ExprKind::Constant(path) => quote_spanned!(span=> #builder.constant_as::<_, #ty>(#path)),
            // Not by a value of the literal's own type, which a device may lack.
            ExprKind::Literal(literal) => quote_spanned!(span=> #builder.lit_as::<_, #ty>(#literal)),
            ExprKind::NegativeLiteral(literal) => quote_spanned!(span=> #builder.lit_as::<_, #ty>(-#literal)),
            _ => {
                let x = self.expr(x);
                quote_spanned!(span=> #builder.cast::<_, #ty>(#x))
            }
        }
    }

    /// A struct: its values are computed in the order of the source, and assigned to a blank one or to the rest.
    fn structure(&mut self, path: &Path, fields: &[(Member, Expr)], rest: Option<&Expr>, span: Span) -> TokenStream {
        let (made, builder) = (self.fresh("made"), builder());
        let (mut values, mut assignments) = (TokenStream::new(), TokenStream::new());
        for (field, value) in fields {
            let (held, value) = (self.fresh("field"), self.expr(value));
            values.extend(quote!(let #held = #value;));
            assignments.extend(quote_spanned!(field.span()=> #made.#field = #held;));
        }
        let rest = match rest {
            Some(rest) => self.expr(rest),
            None => quote_spanned!(span=> ::wattle::__private::blank::<#path, _>(#builder)),
        };
        quote!({ #values let mut #made = #rest; #assignments #made })
    }
}
