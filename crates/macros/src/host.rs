//! Emits the host's function: the user's body, with its memory accesses and arithmetic as calls, compiled by rustc.
//!
//! Loops are written in `host/loops.rs` and `host/rows.rs`, assignments in `host/assign.rs`, what stands in memory in
//! `host/places.rs`, `match` and patterns in `host/patterns.rs`.

mod assign;
mod cuts;
mod loops;
mod message;
mod patterns;
mod places;
mod rows;
mod sums;
mod windows;

pub use loops::is_innermost;

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{BinOp, Lifetime};

use crate::ast::{
    Block, BreakTarget, Callee, Class, Expr, ExprKind, Function, Local, Operands, Operator, Pattern, Statement, View,
};
use crate::emit;
use crate::names;
use windows::Windows;

pub struct Host {
    /// The `Read` and `Shared` views, by number.
    views: BTreeMap<usize, View>,
    /// The accesses that move along with the index of the loop that is being written.
    windows: Option<Windows>,
    /// The loops around, outermost first.
    loops: Vec<Labels>,
    next: usize,
    is_kernel: bool,
    /// Whether sums over a loop may be added in another order.
    reassociate: bool,
    /// Whether the function has type parameters, so that a literal may meet a value of one.
    is_generic: bool,
    ranks: Option<names::Ranks>,
    /// What the methods find whose receivers have none of their names, by its own name.
    absent: BTreeMap<Ident, TokenStream>,
    /// The variables that are given back beside the result, the first one outermost.
    pub lent: Vec<Ident>,
}

/// The labels of a loop or labelled block that is being written: what `break` and `continue` name.
#[derive(Clone)]
struct Labels {
    target: BreakTarget,
    out: Lifetime,
    again: Lifetime,
}

fn support(span: Span) -> TokenStream {
    quote_spanned!(span=> ::wattle::__private::support)
}

/// A name that the user's code cannot mean; what rustc says about it belongs to `span`.
fn private_at(name: &str, span: Span) -> Ident {
    Ident::new(&format!("__wattle_{name}"), Span::mixed_site().located_at(span))
}

/// A variable, or a part of one that is a tuple, as a place.
fn variable(local: &Local, fields: &[syn::Member]) -> TokenStream {
    let name = &local.name;
    let root = if local.is_reference { quote_spanned!(name.span()=> (*#name)) } else { quote!(#name) };
    quote!(#root #(.#fields)*)
}

/// `{ … }` in the place of the user's own block.
fn braces(span: Span, content: TokenStream) -> TokenStream {
    let mut group = Group::new(Delimiter::Brace, content);
    group.set_span(span);
    TokenTree::Group(group).into()
}

/// Whether an operator applies to two values of one type alone.
fn is_of_one_type(operator: &Operator) -> bool {
    operator.operands == Operands::Numbers
        && !matches!(operator.op, BinOp::Shl(_) | BinOp::Shr(_) | BinOp::And(_) | BinOp::Or(_))
}

impl Host {
    pub fn new(function: &Function, is_kernel: bool) -> Self {
        let views = function.parameters.iter().filter_map(|parameter| match parameter.class {
            Class::View(view @ (View::ReadLine | View::Read | View::Shared)) => Some((parameter.local.number, view)),
            Class::View(View::PerItem | View::Atomic)
            | Class::Acc(_)
            | Class::Exclusive
            | Class::Function
            | Class::Value => None,
        });
        Host {
            views: views.collect(),
            is_kernel,
            reassociate: function.reassociate,
            is_generic: function.generics.type_params().next().is_some(),
            ranks: Some(names::Ranks::of(function)),
            ..Host::of_closure()
        }
    }

    /// Writes a device function none of whose parameters is known to be a view.
    pub fn of_closure() -> Self {
        Host {
            views: BTreeMap::new(),
            windows: None,
            loops: Vec::new(),
            next: 0,
            is_kernel: false,
            reassociate: false,
            is_generic: false,
            ranks: None,
            absent: BTreeMap::new(),
            lent: Vec::new(),
        }
    }

    pub fn block(&mut self, block: &Block) -> TokenStream {
        let statements: Vec<_> = block.statements.iter().map(|statement| self.statement(statement)).collect();
        let value = block.value.as_ref().map(|value| self.expr(value));
        braces(block.span, quote!(#(#statements)* #value))
    }

    /// The body of the function.
    pub fn body(&mut self, block: &Block) -> TokenStream {
        let body = self.body_alone(block);
        let absent = self.absent.values();
        match self.absent.is_empty() {
            true => body,
            false => quote!({ #(#absent)* #body }),
        }
    }

    fn body_alone(&mut self, block: &Block) -> TokenStream {
        let is_method = |value: &&Expr| self.is_kernel && matches!(value.kind, ExprKind::Method { .. });
        let Some(value) = block.value.as_deref().filter(is_method) else {
            return self.block(block);
        };
        // The error that a kernel has no value is reported at the value, not at its parts.
        let span = value.span;
        let statements: Vec<_> = block.statements.iter().map(|statement| self.statement(statement)).collect();
        let value = self.expr(value);
        let nothing = quote_spanned!(span=> ::wattle::__private::nothing(#value));
        braces(block.span, quote!(#(#statements)* #nothing))
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Let { pattern, ty, value, otherwise, span } => {
                let mut tokens = self.expr(value);
                if let (Pattern::Local(local), ExprKind::Method { name, .. }) = (pattern, &value.kind)
                    && name.to_string().starts_with("shared")
                {
                    if crate::parse::SHARED.iter().any(|known| name == known) {
                        self.views.insert(local.number, View::Shared);
                    }
                    let name = local.name.to_string();
                    let support = support(*span);
                    tokens = quote_spanned!(*span=> #support::named(#tokens, #name));
                }
                let ty = ty.as_ref().map(|ty| quote!(: #ty));
                let pattern = self.pattern(pattern, otherwise.is_some());
                let otherwise = otherwise.as_ref().map(|otherwise| {
                    let otherwise = self.block(otherwise);
                    quote!(else #otherwise)
                });
                quote_spanned!(*span=> let #pattern #ty = #tokens #otherwise;)
            }
            Statement::Declare { local, ty, span } => {
                let pattern = self.pattern(&Pattern::Local(local.clone()), false);
                let ty = ty.as_ref().map(|ty| quote!(: #ty));
                quote_spanned!(*span=> let #pattern #ty;)
            }
            Statement::CallOn { pattern, back, call, put } => {
                let (span, back) = (call.span, &back.name);
                let (pattern, call, put) =
                    (self.pattern(pattern, false), self.method(call, "__change"), self.expr(put));
                quote_spanned! {span=>
                    let (#pattern, #back) = #call;
                    #[allow(unused_assignments, reason = "it may be the last use")]
                    {
                        if let ::core::option::Option::Some(#back) = #back { #put }
                    }
                }
            }
            Statement::Const(item) => quote!(#item),
            Statement::Do(x) => {
                let (tokens, span) = (self.expr(x), x.span);
                quote_spanned!(span=> #tokens;)
            }
        }
    }

    fn exprs(&mut self, all: &[Expr]) -> Vec<TokenStream> {
        all.iter().map(|x| self.expr(x)).collect()
    }

    /// The end of a thread that must stop.
    fn leave(&self) -> TokenStream {
        if self.is_kernel {
            quote!(return;)
        } else {
            let support = support(Span::call_site());
            quote!(return (#support::zero(), ());)
        }
    }

    /// What a device function returns for this value.
    pub fn returned(&self, value: TokenStream) -> TokenStream {
        let value = self.lent.iter().rev().fold(value, |value, lent| quote!((#value, *#lent)));
        quote!((#value, ()))
    }

    /// Whether a number without a type is an operand that must have the other one's type, which may be a type
    /// parameter.
    fn meets_literal(&self, operator: &Operator, left: &Expr, right: &Expr) -> bool {
        let meets = left.is_open_literal() != right.is_open_literal() || left.is_number() != right.is_number();
        self.is_generic && is_of_one_type(operator) && meets
    }

    /// An operation whose operands are shown to be of one type before, so that the error where they are not is in the
    /// words of kernels.
    fn binary_of_one_type(&self, operator: &Operator, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
        let (support, left, right) = (support(span), private_at("left", span), private_at("right", span));
        let value = self.binary(operator, span, quote!(#left), quote!(#right));
        let both = private_at("both", span);
        // In braces at the operation, which is where the error is then.
        let given = braces(span, quote!(#both));
        quote_spanned! {span=> {
            let #both = (#x, #y);
            let (#left, #right) = #support::of_one_type(#given);
            #value
        }}
    }

    fn binary(&self, operator: &Operator, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
        let support = support(span);
        let thread = private_at("thread", span);
        if let Some(operator) = names::operator_of_structs(operator) {
            return quote_spanned! {span=>
                ::wattle::__private::operate_on_host(#thread, ::wattle::__private::operator::#operator, #x, #y)
            };
        }
        match &operator.op {
            BinOp::Add(_) => quote_spanned!(span=> #support::add(#x, #y)),
            BinOp::Sub(_) => quote_spanned!(span=> #support::sub(#x, #y)),
            BinOp::Mul(_) => quote_spanned!(span=> #support::mul(#x, #y)),
            BinOp::Div(_) => quote_spanned!(span=> #support::div(#x, #y, #thread)),
            BinOp::Rem(_) => quote_spanned!(span=> #support::rem(#x, #y, #thread)),
            BinOp::Shl(_) => quote_spanned!(span=> #support::shl(#x, #y)),
            BinOp::Shr(_) => quote_spanned!(span=> #support::shr(#x, #y)),
            BinOp::BitAnd(_) => quote_spanned!(span=> #support::bit_and(#x, #y)),
            BinOp::BitOr(_) => quote_spanned!(span=> #support::bit_or(#x, #y)),
            BinOp::BitXor(_) => quote_spanned!(span=> #support::bit_xor(#x, #y)),
            BinOp::Eq(_) => quote_spanned!(span=> #support::eq(#x, #y)),
            BinOp::Ne(_) => quote_spanned!(span=> #support::ne(#x, #y)),
            BinOp::Lt(_) => quote_spanned!(span=> #support::lt(#x, #y)),
            BinOp::Le(_) => quote_spanned!(span=> #support::le(#x, #y)),
            BinOp::Gt(_) => quote_spanned!(span=> #support::gt(#x, #y)),
            BinOp::Ge(_) => quote_spanned!(span=> #support::ge(#x, #y)),
            // `&&` and `||`, which cannot be overloaded.
            op => quote_spanned!(span=> (#x #op #y)),
        }
    }

    /// A call of a method by its receiver, which is read behind the arguments: one that takes `&mut self` has it only
    /// then.
    fn method(&mut self, call: &Expr, how: &str) -> TokenStream {
        let (span, how) = (call.span, Ident::new(how, call.span));
        let ExprKind::Call { callee: Callee::Method(method), arguments } = &call.kind else { return self.expr(call) };
        let (thread, others) = (private_at("thread", span), private_at("others", span));
        let mut arguments = self.exprs(arguments);
        let receiver = arguments.remove(0);
        let function = method.function(quote_spanned!(span=> type_on_host(|| #receiver)));
        self.absent.extend(method.absent(arguments.len()));
        quote_spanned! {span=> {
            #[allow(unused_imports, reason = "methods that change their receivers have no use for it")]
            use ::wattle::__private::HostMethodByValue as _;
            let #others = (#(#arguments,)*);
            ::wattle::__private::method_on_host(#thread, #function).#how((#receiver), #others)
        }}
    }

    pub fn expr(&mut self, x: &Expr) -> TokenStream {
        let span = x.span;
        let support = support(span);
        let thread = private_at("thread", span);
        match &x.kind {
            ExprKind::Literal(literal) => quote!(#literal),
            ExprKind::NegativeLiteral(literal) => quote_spanned!(span=> (-#literal)),
            ExprKind::Float { literal, negative } => {
                let both = names::both_floats(literal, *negative);
                quote_spanned!(span=> ::wattle::__private::float(#both))
            }
            ExprKind::Local(local) => variable(local, &[]),
            ExprKind::Constant(path) => quote_spanned!(span=> ::wattle::__private::constant(#path)),
            ExprKind::Negate(x, operands) => {
                let x = self.expr(x);
                match operands {
                    Operands::Numbers => quote_spanned!(span=> #support::neg(#x)),
                    Operands::Any => quote_spanned!(span=> ::wattle::__private::negate_on_host(#thread, #x)),
                }
            }
            ExprKind::Not(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> #support::not(#x, #thread))
            }
            ExprKind::Deref(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> (*#x))
            }
            ExprKind::Exclusive(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> &mut #x)
            }
            ExprKind::Binary(operator, left, right) => {
                let meets = self.meets_literal(operator, left, right);
                let (left, right) = (self.expr(left), self.expr(right));
                match meets {
                    true => self.binary_of_one_type(operator, span, left, right),
                    false => self.binary(operator, span, left, right),
                }
            }
            ExprKind::Assign(place, value) => self.assign(None, place, value, span),
            ExprKind::AssignWith(change, place, value) => self.assign(Some(change), place, value, span),
            ExprKind::Index(base, index) => self.read_at(base, index, span),
            ExprKind::Method { receiver: of, name, generics, arguments } => {
                let (on, arguments) = (self.expr(of), self.exprs(arguments));
                let at = name.span();
                let receiver = names::receiver(name, on, of.span);
                let (generics, count) = names::generics(name, generics.as_ref());
                let path = match names::owner(name) {
                    Some(owner) => {
                        let rank = self.ranks.as_ref().and_then(|ranks| ranks.on(of));
                        quote_spanned!(at=> ::wattle::__private::#owner #rank ::#name)
                    }
                    None => quote_spanned!(at=> ::wattle::__private::support::#name),
                };
                // Its place is the method's name, as a fault names it.
                match names::is_of_index(&name.to_string()) {
                    true => quote_spanned!(at=> #path #generics (#receiver, #(#arguments,)* #thread)),
                    false => quote_spanned!(at=> #path #generics (#receiver, #(#arguments,)* #count)),
                }
            }
            ExprKind::Math { name, operands } => {
                let operands = self.exprs(operands);
                match crate::parse::is_faulting(&name.to_string()) {
                    true => quote_spanned!(name.span()=> #support::#name(#(#operands,)* #thread)),
                    false => quote_spanned!(name.span()=> #support::#name(#(#operands),*)),
                }
            }
            ExprKind::Call { callee, arguments } => {
                let function = match callee {
                    Callee::Function(path) => {
                        let arguments = self.exprs(arguments);
                        let (path, generics) = crate::signature::callee(path);
                        return quote_spanned!(span=> ::wattle::__private::on_host(#thread, #path).__bodies().__host #generics (#(#arguments),*).0);
                    }
                    Callee::Method(_) => return self.method(x, "__keep"),
                    Callee::Associated(path) => quote_spanned!(span=> ::wattle::__private::marked(#path)),
                    Callee::Parameter(Local { name, .. }) => quote!(#name),
                };
                let arguments = self.exprs(arguments);
                quote_spanned!(span=> ::wattle::__private::call_on_host(#thread, #function, (#(#arguments,)*)))
            }
            ExprKind::Lent(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> ::wattle::__private::lend(#x))
            }
            ExprKind::Function(path) => quote!(#path),
            ExprKind::Closure(closure) => emit::closure(closure),
            ExprKind::FromBits { ty, bits } => {
                let bits = self.expr(bits);
                quote_spanned!(span=> #support::from_bits::<#ty>(#bits))
            }
            ExprKind::Cast(x, ty) => match &x.kind {
                ExprKind::Constant(path) => quote_spanned!(span=> #support::cast_constant::<_, #ty>(#path)),
                _ => {
                    let x = self.expr(x);
                    quote_spanned!(span=> #support::cast::<_, #ty>(#x))
                }
            },
            ExprKind::RustCast(path, ty) => quote_spanned!(span=> (#path as #ty)),
            ExprKind::If { condition, then, otherwise } => {
                let condition = match self.decided(x) {
                    Some(holds) => quote!(#holds),
                    None => self.expr(condition),
                };
                let then = self.block(then);
                let otherwise = otherwise.as_ref().map(|otherwise| {
                    let otherwise = self.expr(otherwise);
                    quote!(else { #otherwise })
                });
                quote_spanned!(span=> if #condition #then #otherwise)
            }
            ExprKind::Match { value, arms } => self.matching(value, arms, span),
            ExprKind::While { target, condition, body } => {
                let stop = self.stop(Some(condition), body, span);
                let (at, body) = self.within(*target, false, |host| (host.expr(condition), host.block(body)));
                let Labels { out, .. } = at;
                let (condition, body) = body;
                quote_spanned!(span=> #out: while #condition { #stop #body })
            }
            ExprKind::Loop { target, body } => {
                let stop = self.stop(None, body, span);
                let (Labels { out, .. }, body) = self.within(*target, false, |host| host.block(body));
                quote_spanned!(span=> #out: loop { #stop #body })
            }
            ExprKind::For { target, pattern, source, body } => self.repeat(*target, pattern, source, body, span),
            ExprKind::Block(block) => self.block(block),
            ExprKind::Labelled { target, body } => {
                let (Labels { out, .. }, body) = self.within(*target, false, |host| host.block(body));
                quote_spanned!(span=> #out: #body)
            }
            ExprKind::Break { target, value } => {
                let Labels { out, .. } = self.around(*target);
                let value = value.as_ref().map(|value| {
                    // A block behind a label alone would look like one of its own.
                    let value = self.expr(value);
                    quote!((#value))
                });
                quote_spanned!(span=> break #out #value)
            }
            ExprKind::Continue(target) => {
                let Labels { again, .. } = self.around(*target);
                quote_spanned!(span=> continue #again)
            }
            ExprKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expr(value));
                match (self.is_kernel, value) {
                    (true, value) => quote_spanned!(span=> return #value),
                    (false, value) => {
                        let returned = self.returned(value.unwrap_or_else(|| quote!(())));
                        quote_spanned!(span=> return #returned)
                    }
                }
            }
            ExprKind::Tuple(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> (#(#all,)*))
            }
            ExprKind::Field(base, index) => {
                let base = self.expr(base);
                quote_spanned!(span=> #base.#index)
            }
            ExprKind::Element(of, fields) => {
                let window = match &of.kind {
                    ExprKind::Index(view, index) => self.window(view, index),
                    _ => None,
                };
                match window {
                    Some(element) => quote_spanned!(span=> #element #(.#fields)*),
                    None if self.is_item(of) => {
                        let of = self.expr(of);
                        quote_spanned!(span=> #of #(.#fields)*)
                    }
                    None => {
                        let place = self.element(of, fields);
                        quote_spanned!(span=> #support::read(#place))
                    }
                }
            }
            ExprKind::Struct { path, fields, rest } => {
                let (members, values): (Vec<_>, Vec<_>) =
                    fields.iter().map(|(member, value)| (member, self.expr(value))).unzip();
                let rest = rest.as_ref().map(|rest| {
                    let rest = self.expr(rest);
                    quote!(..#rest)
                });
                quote_spanned!(span=> ::wattle::__private::structure(#path { #(#members: #values,)* #rest }))
            }
            ExprKind::Array(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> #support::array([#(#all),*]))
            }
            ExprKind::Repeat(value, count) => {
                let value = self.expr(value);
                quote_spanned!(span=> #support::repeat::<_, { #count }>(#value))
            }
            ExprKind::Range { begin, end, .. } => {
                let (begin, end) = (self.expr(begin), self.expr(end));
                quote_spanned!(span=> ::wattle::__private::range(#begin, #end))
            }
            ExprKind::Assert { condition, message } => {
                let condition = self.expr(condition);
                let fail = self.message(span, "fail", message);
                quote_spanned!(span=> if #condition {} else { #fail })
            }
            ExprKind::Print(message) => self.message(span, "print", message),
        }
    }
}
