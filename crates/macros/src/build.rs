//! Emits the builder: the function that makes the kernel's intermediate representation when it is called.
//!
//! Every value is a `Val` or a tuple or array of them, so rustc infers the same types as for the host's function.
//! `if` and `match` are written in `build/choose.rs`, loops and jumps in `build/loops.rs`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::BinOp;
use syn::spanned::Spanned;

use crate::ast::{Block, Callee, Change, Expr, ExprKind, Function, Local, Operands, Operator, Place, Statement, Step};
use crate::emit;
use crate::names::{self, private};
use crate::rules::is_fused;

mod calls;
mod choose;
mod loops;
mod patterns;
mod places;

pub struct Build {
    is_kernel: bool,
    /// The loops and labelled blocks around.
    around: Vec<loops::Around>,
    next: usize,
    /// Whether the expression that is being written holds statements, which may assign to what is read beside them.
    compound: bool,
    ranks: Option<names::Ranks>,
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
        Build { is_kernel, around: Vec::new(), next: 0, compound: false, ranks: None }
    }

    /// Writes the builder of a function with parameters of its own.
    pub fn of(function: &Function, is_kernel: bool) -> Self {
        Build { ranks: Some(names::Ranks::of(function)), ..Build::new(is_kernel) }
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
            Some(value) => self.last(value),
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
            Statement::Let { pattern, ty, value, otherwise, .. } => {
                let mut tokens = self.full(value);
                if let Some(ty) = ty
                    && !matches!(ty, syn::Type::Infer(_))
                {
                    let builder = builder();
                    tokens = quote!(::wattle::__private::typed::<#ty>(#builder, #tokens));
                }
                match otherwise {
                    None => self.bind(pattern, tokens, true),
                    Some(otherwise) => self.let_else(pattern, tokens, otherwise),
                }
            }
            Statement::Declare { local: Local { name, .. }, ty, .. } => {
                let (builder, text) = (builder(), name.to_string());
                let built = ty
                    .as_ref()
                    .filter(|ty| !matches!(ty, syn::Type::Infer(_)))
                    .map(|ty| quote_spanned!(ty.span()=> ::<<#ty as ::wattle::__private::KernelType>::Built<'_>>));
                quote_spanned!(name.span()=> let #name = &#builder.later #built (#text);)
            }
            Statement::CallOn { pattern, back, call, put } => {
                let (part, back) = (self.fresh("part"), &back.name);
                let outer = std::mem::replace(&mut self.compound, call.may_assign());
                let call = self.method(call, "__change");
                self.compound = outer;
                let (pattern, put) = (self.bind(pattern, quote!(#part), true), self.effect_of(put));
                quote! {
                    let (#part, #back) = #call;
                    #pattern
                    if let ::core::option::Option::Some(#back) = #back { #put }
                }
            }
            Statement::Const(item) => quote!(#item),
            Statement::Do(x) => {
                let tokens = self.effect_of(x);
                quote!(#tokens)
            }
        }
    }

    fn fresh(&mut self, name: &str) -> Ident {
        self.next += 1;
        private(&format!("{name}{}", self.next))
    }

    /// A whole expression: what is read in it is read before what its statements assign.
    fn full(&mut self, x: &Expr) -> TokenStream {
        let outer = std::mem::replace(&mut self.compound, x.may_assign());
        let tokens = self.expr(x);
        self.compound = outer;
        tokens
    }

    /// The value of a block: as [`Build::full`], and if the block is within an expression, before what that assigns
    /// behind it.
    fn last(&mut self, x: &Expr) -> TokenStream {
        let compound = self.compound || x.may_assign();
        let outer = std::mem::replace(&mut self.compound, compound);
        let tokens = self.expr(x);
        self.compound = outer;
        tokens
    }

    /// The value that is assigned to a place: it is read before what the statements in the place assign.
    fn before(&mut self, value: &Expr, place: &Place) -> TokenStream {
        let compound = match place {
            Place::Variable(..) => false,
            Place::Index(base, index) | Place::Part { base, index, .. } => base.may_assign() || index.may_assign(),
            Place::Deref(item) => item.may_assign(),
            Place::Element(of, steps) => of.may_assign() || steps.iter().filter_map(Step::index).any(Expr::may_assign),
        };
        let outer = std::mem::replace(&mut self.compound, compound || value.may_assign());
        let tokens = self.expr(value);
        self.compound = outer;
        tokens
    }

    /// A whole expression whose value is not used.
    fn effect_of(&mut self, x: &Expr) -> TokenStream {
        let builder = builder();
        match &x.kind {
            ExprKind::If { condition, then, otherwise } => {
                self.branch(x.span, condition, then, otherwise.as_deref(), false).tokens
            }
            ExprKind::Match { value, arms } => self.matching(x.span, value, arms, false).tokens,
            ExprKind::Block(block) => self.effect(block),
            ExprKind::Labelled { target, body } if !body.gives_value(*target) => self.labelled_effect(*target, body),
            ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_) => self.jump(x),
            ExprKind::While { .. } | ExprKind::For { .. } => self.repeat(x),
            ExprKind::Loop { target, body } if !body.gives_value(*target) => self.repeat(x),
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

    fn binary(&self, operator: &Operator, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
        if let Some(operator) = names::operator_of_structs(operator) {
            let (builder, operator) = (builder(), quote!(::wattle::__private::operator::#operator));
            return quote_spanned!(span=> ::wattle::__private::operate_in_builder(#builder, #operator, #x, #y));
        }
        self.call(span, function(&operator.op), &[x, y])
    }

    fn read(&self, local: &Local) -> TokenStream {
        let name = &local.name;
        match (local.mutable || local.is_later, self.compound) {
            (false, _) => quote!(#name),
            (true, false) => quote!(::wattle::__private::Variable::get(&#name)),
            (true, true) => quote!(::wattle::__private::Variable::snapshot(&#name)),
        }
    }

    /// A variable itself, or a part of one: what is assigned to.
    fn variable(local: &Local, fields: &[syn::Member]) -> TokenStream {
        let name = &local.name;
        match local.is_later {
            true => quote!(::wattle::__private::builder::Later::variable(#name) #(.#fields)*),
            false => quote!(#name #(.#fields)*),
        }
    }

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
            ExprKind::Negate(x, operands) => {
                let x = self.expr(x);
                match operands {
                    Operands::Numbers => self.call(span, "neg", &[x]),
                    Operands::Any => quote_spanned!(span=> ::wattle::__private::negate_in_builder(#builder, #x)),
                }
            }
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
            ExprKind::Assign(place, value) => {
                let mut tokens = self.before(value, place);
                if let Place::Variable(local, _) = &**place {
                    // What has parts may be made of what the variable holds: all is read before a part is written.
                    let text = local.name.to_string();
                    tokens = quote!(#builder.apart(#tokens, #text));
                }
                let held = self.fresh("value");
                let assign = self.assign(place, span, |_, _| quote!(#held));
                quote!({ let #held = #tokens; #assign })
            }
            ExprKind::AssignWith(change, place, value) => {
                let value = self.before(value, place);
                let held = self.fresh("value");
                let assign = self.assign(place, span, |build, old| match change {
                    Change::Op(operator) => build.binary(operator, span, old, quote!(#held)),
                    Change::Fused(name) => {
                        build.call(span, &name.to_string(), &[old, quote!(#held.0), quote!(#held.1)])
                    }
                });
                quote!({ let #held = #value; #assign })
            }
            ExprKind::Index(base, index) => {
                let (base, index) = (self.base(base), self.expr(index));
                let (of, at) = (self.fresh("base"), self.fresh("index"));
                let value = quote_spanned!(span=> ::wattle::__private::builder::get(&#of, #at));
                let value = if self.compound { quote!(#builder.copied(#value)) } else { value };
                quote!({
                    let #of = #base;
                    let #at = #index;
                    #value
                })
            }
            ExprKind::Method { receiver: of, name, generics, arguments } => {
                let (on, arguments) = (self.expr(of), self.exprs(arguments));
                let at = name.span();
                let receiver = names::receiver(name, on, of.span);
                let (generics, count) = names::generics(name, generics.as_ref());
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
            ExprKind::Math { name, operands } => {
                let operands = self.exprs(operands);
                if is_fused(name) {
                    return self.call(span, &name.to_string(), &operands);
                }
                let (first, others) = (&operands[0], &operands[1..]);
                quote_spanned!(span=> ::wattle::__private::builder::Val::#name(#first, #(#others),*))
            }
            ExprKind::Lent(x) => {
                let x = self.expr(x);
                quote!((#x,))
            }
            ExprKind::Call { callee, arguments } => {
                let function = match callee {
                    Callee::Function(path) => {
                        let arguments = self.exprs(arguments);
                        let (path, generics) = crate::signature::callee(path);
                        return quote_spanned!(span=> ::wattle::__private::in_builder(#builder, #path).__bodies().__build #generics (#(#arguments),*));
                    }
                    Callee::Method(_) => return self.method(x, "__keep"),
                    Callee::Associated(path) => quote!(#path),
                    Callee::Parameter(Local { name, .. }) => quote!(#name),
                };
                let arguments = self.exprs(arguments);
                quote_spanned!(span=> ::wattle::__private::call_in_builder(#builder, #function, (#(#arguments,)*)))
            }
            ExprKind::Function(path) => quote_spanned!(span=> {
                use ::wattle::__private::PassedAsIs as _;
                ::wattle::__private::Passed(#path).__in(#builder)
            }),
            ExprKind::Closure(closure) => emit::closure(closure),
            ExprKind::FromBits { ty, bits } => {
                let bits = self.expr(bits);
                quote_spanned!(span=> #builder.from_bits::<#ty>(#bits))
            }
            ExprKind::Cast(x, ty) => match &x.kind {
                ExprKind::Constant(path) => quote_spanned!(span=> #builder.constant_as::<_, #ty>(#path)),
                // Not by a value of the literal's own type, which a device may lack.
                ExprKind::Literal(literal) => quote_spanned!(span=> #builder.lit_as::<_, #ty>(#literal)),
                ExprKind::NegativeLiteral(literal) => quote_spanned!(span=> #builder.lit_as::<_, #ty>(-#literal)),
                _ => {
                    let x = self.expr(x);
                    quote_spanned!(span=> #builder.cast::<_, #ty>(#x))
                }
            },
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
            ExprKind::Struct { path, fields, rest } => {
                let (made, mut values) = (self.fresh("made"), TokenStream::new());
                let mut assignments = TokenStream::new();
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
}
