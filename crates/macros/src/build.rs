//! Emits the builder: the function that makes the kernel's intermediate representation when it is called.
//!
//! Every value is a `Val` or a tuple or array of them, so rustc infers the same types as for the host's function.
//! Expressions are written in `build/exprs.rs`, `if` and `match` in `build/choose.rs`, loops and jumps in `build/loops.rs`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::BinOp;
use syn::spanned::Spanned;

use crate::ast::{Block, Expr, ExprKind, Function, Local, Operator, Place, Statement, Step};
use crate::names::{self, private};

mod calls;
mod choose;
mod exprs;
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
        BinOp::Ge(_) => "ge",
        _ => unreachable!("a compound assignment is of its plain operator"),
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
}
