//! Emits the builder: the function that makes the kernel's intermediate representation when it is called.
//!
//! Every value is a `Val` or a tuple or array of them, so rustc infers the same types as for the host's function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{BinOp, Lifetime};

use crate::ast::{Block, Expr, ExprKind, Local, Pattern, Place, Statement};
use crate::names::{self, private};

pub struct Build {
    is_kernel: bool,
    /// The loops around: the label in the source, and the variable that holds the loop.
    loops: Vec<(Option<String>, Ident)>,
    next: usize,
    /// Whether the expression that is being written holds statements, which may assign to what is read beside them.
    compound: bool,
}

fn builder() -> Ident {
    private("builder")
}

/// The name of the builder's function for an operator.
fn function(op: &BinOp) -> &'static str {
    match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::And(_) | BinOp::BitAnd(_) => "bit_and",
        BinOp::Or(_) | BinOp::BitOr(_) => "bit_or",
        BinOp::BitXor(_) => "bit_xor",
        BinOp::Shl(_) => "shl",
        BinOp::Shr(_) => "shr",
        BinOp::Eq(_) => "eq",
        BinOp::Ne(_) => "ne",
        BinOp::Lt(_) => "lt",
        BinOp::Le(_) => "le",
        BinOp::Gt(_) => "gt",
        _ => "ge",
    }
}

impl Build {
    pub fn new(is_kernel: bool) -> Self {
        Build { is_kernel, loops: Vec::new(), next: 0, compound: false }
    }

    /// A block whose value is not used.
    pub fn effect(&mut self, block: &Block) -> TokenStream {
        let statements = self.statements(block);
        let value = block.value.as_ref().map(|value| self.effect_of(value));
        quote!({ #statements #value })
    }

    /// A block with a value.
    pub fn value(&mut self, block: &Block) -> TokenStream {
        let builder = builder();
        let statements = self.statements(block);
        let value = match &block.value {
            Some(value) => self.full(value),
            None if block.diverges() => quote!(#builder.unreachable()),
            None => quote!(()),
        };
        quote!({ #statements #value })
    }

    fn statements(&mut self, block: &Block) -> TokenStream {
        block.statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Let { pattern, ty, value, .. } => {
                let mut tokens = self.full(value);
                if let Some(ty) = ty
                    && !matches!(ty, syn::Type::Infer(_))
                {
                    let builder = builder();
                    tokens = quote!(::wattle::__private::typed::<#ty>(#builder, #tokens));
                }
                self.bind(pattern, tokens, true)
            }
            Statement::Do(x) => {
                let tokens = self.effect_of(x);
                quote!(#tokens)
            }
        }
    }

    /// Binds the names of a pattern. What a loop binds is fixed for its iteration, and needs no copy.
    fn bind(&mut self, pattern: &Pattern, value: TokenStream, hold: bool) -> TokenStream {
        let builder = builder();
        match pattern {
            Pattern::Local(Local { name, mutable, .. }) => {
                let text = name.to_string();
                match (mutable, hold) {
                    (true, _) => quote_spanned!(name.span()=> let #name = #builder.variable(#value, #text);),
                    (false, true) => quote_spanned!(name.span()=> let #name = #builder.bind(#value, #text);),
                    (false, false) => quote!(let #name = #value;),
                }
            }
            Pattern::Wild(_) => quote!(let _ = #value;),
            Pattern::Tuple(all) => {
                let (parts, bindings) = self.bind_parts(all, hold);
                quote!(let (#(#parts,)*) = #value; #bindings)
            }
            Pattern::Array(all) => {
                let (parts, bindings) = self.bind_parts(all, hold);
                quote!(let [#(#parts),*] = ::wattle::__private::builder::Array::elements(&#value); #bindings)
            }
        }
    }

    fn bind_parts(&mut self, all: &[Pattern], hold: bool) -> (Vec<Ident>, TokenStream) {
        let parts: Vec<_> = all.iter().map(|_| self.fresh("part")).collect();
        let bindings = all.iter().zip(&parts).map(|(pattern, part)| self.bind(pattern, quote!(#part), hold)).collect();
        (parts, bindings)
    }

    fn fresh(&mut self, name: &str) -> Ident {
        self.next += 1;
        private(&format!("{name}{}", self.next))
    }

    /// A whole expression: what is read in it is read before what its statements assign.
    fn full(&mut self, x: &Expr) -> TokenStream {
        let outer = std::mem::replace(&mut self.compound, x.has_blocks());
        let tokens = self.expr(x);
        self.compound = outer;
        tokens
    }

    /// The value that is assigned to a place: it is read before what the statements in the place assign.
    fn before(&mut self, value: &Expr, place: &Place) -> TokenStream {
        let compound = match place {
            Place::Local(_) => false,
            Place::Index(base, index) => base.has_blocks() || index.has_blocks(),
            Place::Deref(item) => item.has_blocks(),
        };
        let outer = std::mem::replace(&mut self.compound, compound || value.has_blocks());
        let tokens = self.expr(value);
        self.compound = outer;
        tokens
    }

    /// A whole expression whose value is not used.
    fn effect_of(&mut self, x: &Expr) -> TokenStream {
        let builder = builder();
        match &x.kind {
            ExprKind::If { condition, then, otherwise } => {
                let (condition, then) = (self.full(condition), self.effect(then));
                let otherwise = otherwise.as_ref().map(|otherwise| self.effect_of(otherwise));
                quote! {
                    #builder.if_begin(#condition);
                    #then
                    #builder.if_else();
                    { #otherwise }
                    #builder.if_end();
                }
            }
            ExprKind::Block(block) => self.effect(block),
            ExprKind::Break(_) | ExprKind::Continue(_) | ExprKind::Return(_) => self.jump(x),
            ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::For { .. } => self.repeat(x),
            _ => {
                let value = self.full(x);
                quote!(#builder.discard(#value);)
            }
        }
    }

    fn exprs(&mut self, all: &[Expr]) -> Vec<TokenStream> {
        all.iter().map(|x| self.expr(x)).collect()
    }

    fn call(&self, span: Span, name: &str, arguments: &[TokenStream]) -> TokenStream {
        let (builder, name) = (builder(), Ident::new(name, span));
        quote_spanned!(span=> #builder.#name(#(#arguments),*))
    }

    fn binary(&self, op: &BinOp, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
        self.call(span, function(op), &[x, y])
    }

    fn read(&self, local: &Local) -> TokenStream {
        let name = &local.name;
        match (local.mutable, self.compound) {
            (false, _) => quote!(#name),
            (true, false) => quote!(::wattle::__private::Variable::get(&#name)),
            (true, true) => quote!(::wattle::__private::Variable::snapshot(&#name)),
        }
    }

    fn base(&mut self, base: &Expr) -> TokenStream {
        match &base.kind {
            // An element is read or written in place.
            ExprKind::Local(local) if local.mutable => {
                let name = &local.name;
                quote!(::wattle::__private::Variable::get(&#name))
            }
            _ => self.expr(base),
        }
    }

    pub fn expr(&mut self, x: &Expr) -> TokenStream {
        let (span, builder) = (x.span, builder());
        match &x.kind {
            ExprKind::Literal(literal) => self.call(span, "lit", &[quote!(#literal)]),
            ExprKind::NegativeLiteral(literal) => self.call(span, "lit", &[quote!(-#literal)]),
            ExprKind::Local(local) => self.read(local),
            ExprKind::Constant(path) => self.call(span, "lift", &[quote!(#path)]),
            ExprKind::Negate(x) => {
                let x = self.expr(x);
                self.call(span, "neg", &[x])
            }
            ExprKind::Not(x) => {
                let x = self.expr(x);
                self.call(span, "not", &[x])
            }
            ExprKind::Deref(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> ::wattle::__private::builder::ItemRef::__deref(&#x))
            }
            ExprKind::Exclusive(x) => match &x.kind {
                ExprKind::Local(local) => {
                    let name = &local.name;
                    quote!(&mut #name)
                }
                _ => self.expr(x),
            },
            ExprKind::Binary(op @ (BinOp::And(_) | BinOp::Or(_)), left, right) if !right.is_pure() => {
                let is_and = matches!(op, BinOp::And(_));
                let (left, right) = (self.expr(left), self.full(right));
                let (decided, joined) = (!is_and, self.fresh("joined"));
                let held = self.fresh("condition");
                let first = if is_and { quote!(#held) } else { quote!(#builder.not(#held)) };
                quote_spanned! {span=> {
                    { let #held = #left; #builder.if_begin(#first); }
                    let #joined = #builder.join(#right);
                    #builder.if_else();
                    ::wattle::__private::Variable::set(&#joined, #builder.lit(#decided));
                    #builder.if_end();
                    ::wattle::__private::Variable::get(&#joined)
                }}
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.binary(op, span, left, right)
            }
            ExprKind::Assign(place, value) => {
                let several = matches!(**place, Place::Local(_))
                    && value.any(&|x| matches!(x.kind, ExprKind::Tuple(_) | ExprKind::Call { .. }));
                let mut tokens = self.before(value, place);
                if let (true, Place::Local(local)) = (several, &**place) {
                    // A tuple may be made of what the variable holds: all is read before a part is written.
                    let text = local.name.to_string();
                    tokens = quote!(#builder.bind(#tokens, #text));
                }
                let held = self.fresh("value");
                let assign = self.assign(place, span, |_, _| quote!(#held));
                quote!({ let #held = #tokens; #assign })
            }
            ExprKind::AssignWith(op, place, value) => {
                let value = self.before(value, place);
                let op = *op;
                let held = self.fresh("value");
                let assign = self.assign(place, span, |build, old| build.binary(&op, span, old, quote!(#held)));
                quote!({ let #held = #value; #assign })
            }
            ExprKind::Index(base, index) => {
                let (base, index) = (self.base(base), self.expr(index));
                let (of, at) = (self.fresh("base"), self.fresh("index"));
                quote_spanned!(span=> {
                    let #of = #base;
                    let #at = #index;
                    ::wattle::__private::builder::get(&#of, #at)
                })
            }
            ExprKind::Method { receiver, name, generics, arguments } => {
                let (on, arguments) = (self.expr(receiver), self.exprs(arguments));
                let at = name.span();
                let receiver = names::receiver(name, on, receiver.span);
                let path = match names::owner(name) {
                    Some(owner) => quote_spanned!(at=> ::wattle::__private::builder::#owner::#name),
                    None => quote_spanned!(at=> ::wattle::__private::builder::#name),
                };
                quote_spanned!(at=> #path #generics (#receiver, #(#arguments),*))
            }
            ExprKind::Math { name, operands } => {
                let operands = self.exprs(operands);
                let (first, others) = (&operands[0], &operands[1..]);
                quote_spanned!(span=> ::wattle::__private::builder::Val::#name(#first, #(#others),*))
            }
            ExprKind::Call { path, arguments } => {
                let arguments = self.exprs(arguments);
                let (path, generics) = crate::signature::callee(path);
                quote_spanned!(span=> ::wattle::__private::in_builder(#builder, #path).__bodies().__build #generics (#(#arguments),*))
            }
            ExprKind::FromBits { ty, bits } => {
                let bits = self.expr(bits);
                quote_spanned!(span=> #builder.from_bits::<#ty>(#bits))
            }
            ExprKind::Cast(x, ty) => match &x.kind {
                ExprKind::Constant(path) => self.call(span, "lit", &[quote!(#path as #ty)]),
                _ => {
                    let x = self.expr(x);
                    quote_spanned!(span=> #builder.cast::<_, #ty>(#x))
                }
            },
            ExprKind::If { condition, then, otherwise } => self.choose(span, condition, then, otherwise.as_deref()),
            ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::For { .. } => {
                let repeat = self.repeat(x);
                let value = if x.diverges() { quote!(#builder.unreachable()) } else { quote!(()) };
                quote!({ #repeat #value })
            }
            ExprKind::Block(block) => self.value(block),
            ExprKind::Break(_) | ExprKind::Continue(_) | ExprKind::Return(_) => {
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
                self.call(span, "assert", &[condition, quote!(#message)])
            }
        }
    }

    /// An assignment; `value` is given what the place holds.
    fn assign(
        &mut self,
        place: &Place,
        span: Span,
        value: impl FnOnce(&mut Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        let held = self.fresh("value");
        match place {
            Place::Local(local) => {
                let name = &local.name;
                let value = value(self, quote!(::wattle::__private::Variable::get(&#name)));
                quote_spanned!(span=> { let #held = #value; ::wattle::__private::Variable::set(&#name, #held) })
            }
            Place::Index(base, index) => {
                let (base, index) = (self.base(base), self.expr(index));
                let at = self.fresh("index");
                let value = value(self, quote_spanned!(span=> ::wattle::__private::builder::get(&#base, #at)));
                quote_spanned! {span=> {
                    let #at = #index;
                    let #held = #value;
                    ::wattle::__private::builder::set(&#base, #at, #held)
                }}
            }
            Place::Deref(item) => {
                let item = self.expr(item);
                let value = value(self, quote_spanned!(span=> ::wattle::__private::builder::ItemRef::__deref(&#item)));
                quote_spanned!(span=> {
                    let #held = #value;
                    ::wattle::__private::builder::ItemRef::__assign(&#item, #held)
                })
            }
        }
    }

    /// `if` with a value.
    fn choose(&mut self, span: Span, condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> TokenStream {
        let builder = builder();
        let joined = self.fresh("joined");
        let condition = self.full(condition);
        let join = |value: TokenStream| quote!(let #joined = #builder.join(#value););
        // The branch that is left for good has no value, and rustc could infer no type for it.
        let (then, otherwise) = match otherwise {
            Some(otherwise) if then.diverges() => (self.effect(then), join(self.full(otherwise))),
            Some(otherwise) if otherwise.diverges() => (join(self.value(then)), self.effect_of(otherwise)),
            otherwise => {
                let then = join(self.value(then));
                let otherwise = otherwise.map_or_else(|| quote!(()), |otherwise| self.full(otherwise));
                (then, quote!({ ::wattle::__private::Variable::set(&#joined, #otherwise); }))
            }
        };
        quote_spanned! {span=> {
            #builder.if_begin(#condition);
            #then
            #builder.if_else();
            #otherwise
            #builder.if_end();
            ::wattle::__private::Variable::get(&#joined)
        }}
    }

    fn jump(&mut self, x: &Expr) -> TokenStream {
        let builder = builder();
        match &x.kind {
            ExprKind::Break(label) => {
                let handle = self.loop_of(label);
                quote!(#builder.break_to(::wattle::__private::builder::LoopHandle::break_label(&#handle));)
            }
            ExprKind::Continue(label) => {
                let handle = self.loop_of(label);
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

    fn loop_of(&self, label: &Option<Lifetime>) -> Ident {
        let found = match label {
            Some(label) => {
                let name = label.ident.to_string();
                self.loops.iter().rev().find(|(known, _)| known.as_ref() == Some(&name))
            }
            None => self.loops.last(),
        };
        // The parser has refused what is outside a loop.
        found.map_or_else(|| private("no_loop"), |(_, handle)| handle.clone())
    }

    fn repeat(&mut self, x: &Expr) -> TokenStream {
        let (span, builder) = (x.span, builder());
        let handle = self.fresh("repeat");
        let body_of = |build: &mut Self, label: &Option<Lifetime>, body: &Block| {
            build.loops.push((label.as_ref().map(|label| label.ident.to_string()), handle.clone()));
            let outer = std::mem::replace(&mut build.compound, false);
            let body = build.effect(body);
            build.compound = outer;
            build.loops.pop();
            body
        };
        match &x.kind {
            ExprKind::While { label, condition, body } => {
                let condition = self.full(condition);
                let body = body_of(self, label, body);
                let begin = quote_spanned!(span=> #builder.loop_begin(false));
                quote!({
                    let #handle = #begin;
                    #builder.while_condition(&#handle, #condition);
                    #body
                    #builder.loop_end(#handle);
                })
            }
            ExprKind::Loop { label, body } => {
                let body = body_of(self, label, body);
                let begin = quote_spanned!(span=> #builder.loop_begin(false));
                quote!({ let #handle = #begin; #body #builder.loop_end(#handle); })
            }
            ExprKind::For { label, pattern, source, body } => {
                let source = self.full(source);
                let item = self.fresh("item");
                let bind = self.bind(pattern, quote!(#item), false);
                let body = body_of(self, label, body);
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
}
