//! Expressions of the host's function: memory accesses and arithmetic are calls, and the rest is as it was written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{AngleBracketedGenericArguments, BinOp, Member, Path};

use super::{Host, Labels, braces, private_at, support, variable};
use crate::ast::{Block, Callee, Expr, ExprKind, Local, Operands, Operator};
use crate::emit;
use crate::names;
use crate::numbers;

/// Whether an operator applies to two values of one type alone.
pub(super) fn is_of_one_type(operator: &Operator) -> bool {
    operator.operands == Operands::Numbers
        && !matches!(operator.op, BinOp::Shl(_) | BinOp::Shr(_) | BinOp::And(_) | BinOp::Or(_))
}

impl Host {
    pub fn expr(&mut self, x: &Expr) -> TokenStream {
        let span = x.span;
        let support = support(span);
        match &x.kind {
            ExprKind::Literal(literal) => quote!(#literal),
            ExprKind::NegativeLiteral(literal) => quote_spanned!(span=> (-#literal)),
            ExprKind::Float { literal, negative } => {
                let both = names::both_floats(literal, *negative);
                quote_spanned!(span=> ::wattle::__private::float(#both))
            }
            ExprKind::Local(local) => variable(local, &[]),
            ExprKind::Constant(path) => quote_spanned!(span=> ::wattle::__private::constant(#path)),
            ExprKind::Negate(x, operands) => self.negative(x, *operands, span),
            ExprKind::Not(x) => {
                let (x, thread) = (self.expr(x), private_at("thread", span));
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
            ExprKind::Method { receiver, name, generics, arguments } => {
                self.method_of_library(receiver, name, generics.as_ref(), arguments, span)
            }
            ExprKind::Math { name, operands } => self.method_of_numbers(name, operands, span),
            ExprKind::Call { callee, arguments } => self.call(x, callee, arguments),
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
            ExprKind::If { condition, then, otherwise } => self.branch(x, condition, then, otherwise.as_deref()),
            ExprKind::Match { value, arms } => self.matching(value, arms, span),
            ExprKind::While { target, condition, body } => {
                let stop = self.stop(Some(condition), body, span);
                let (Labels { out, .. }, (condition, body)) =
                    self.within(*target, false, |host| (host.expr(condition), host.block(body)));
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
            ExprKind::Return(value) => self.return_of(value.as_deref(), span),
            ExprKind::Tuple(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> (#(#all,)*))
            }
            ExprKind::Field(base, index) => {
                let base = self.expr(base);
                quote_spanned!(span=> #base.#index)
            }
            ExprKind::Element(of, fields) => self.field_of_element(of, fields, span),
            ExprKind::Struct { path, fields, rest } => self.structure(path, fields, rest.as_deref(), span),
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

    fn negative(&mut self, x: &Expr, operands: Operands, span: Span) -> TokenStream {
        let (support, thread, x) = (support(span), private_at("thread", span), self.expr(x));
        match operands {
            Operands::Numbers => quote_spanned!(span=> #support::neg(#x)),
            Operands::Any => quote_spanned!(span=> ::wattle::__private::negate_on_host(#thread, #x)),
        }
    }

    /// Whether a number without a type is an operand that must have the other one's type, which may be a type
    /// parameter.
    fn meets_literal(&self, operator: &Operator, left: &Expr, right: &Expr) -> bool {
        let meets = left.is_open_literal() != right.is_open_literal() || left.is_number() != right.is_number();
        self.is_generic && is_of_one_type(operator) && meets
    }

    /// An operation whose operands are shown to be of one type before, so that the error where they are not is in the
    /// words of kernels.
    pub(super) fn binary_of_one_type(
        &self,
        operator: &Operator,
        span: Span,
        x: TokenStream,
        y: TokenStream,
    ) -> TokenStream {
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

    pub(super) fn binary(&self, operator: &Operator, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
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

    /// A call of a method that the library has, by its path: as a function of its owner, or of `support`.
    fn method_of_library(
        &mut self,
        of: &Expr,
        name: &Ident,
        generics: Option<&AngleBracketedGenericArguments>,
        arguments: &[Expr],
        span: Span,
    ) -> TokenStream {
        let (on, arguments) = (self.expr(of), self.exprs(arguments));
        // Its place is the method's name, as a fault names it.
        let at = name.span();
        let receiver = names::receiver(name, on, of.span);
        let (generics, count) = names::generics(name, generics);
        let path = match names::owner(name) {
            Some(owner) => {
                let rank = self.ranks.as_ref().and_then(|ranks| ranks.on(of));
                quote_spanned!(at=> ::wattle::__private::#owner #rank ::#name)
            }
            None => quote_spanned!(at=> ::wattle::__private::support::#name),
        };
        match names::is_of_index(&name.to_string()) {
            true => {
                let thread = private_at("thread", span);
                quote_spanned!(at=> #path #generics (#receiver, #(#arguments,)* #thread))
            }
            false => quote_spanned!(at=> #path #generics (#receiver, #(#arguments,)* #count)),
        }
    }

    /// A call of a method of numbers; one that can fail is given its thread.
    fn method_of_numbers(&mut self, name: &Ident, operands: &[Expr], span: Span) -> TokenStream {
        let (support, thread, operands) = (support(span), private_at("thread", span), self.exprs(operands));
        match numbers::is_faulting(&name.to_string()) {
            true => quote_spanned!(name.span()=> #support::#name(#(#operands,)* #thread)),
            false => quote_spanned!(name.span()=> #support::#name(#(#operands),*)),
        }
    }

    /// A call of a device function.
    fn call(&mut self, call: &Expr, callee: &Callee, arguments: &[Expr]) -> TokenStream {
        let span = call.span;
        let thread = private_at("thread", span);
        let function = match callee {
            Callee::Function(path) => {
                let arguments = self.exprs(arguments);
                let (path, generics) = crate::signature::callee(path);
                return quote_spanned!(span=> ::wattle::__private::on_host(#thread, #path).__bodies().__host #generics (#(#arguments),*).0);
            }
            Callee::Method(_) => return self.method(call, "__keep"),
            Callee::Associated(path) => quote_spanned!(span=> ::wattle::__private::marked(#path)),
            Callee::Parameter(Local { name, .. }) => quote!(#name),
        };
        let arguments = self.exprs(arguments);
        quote_spanned!(span=> ::wattle::__private::call_on_host(#thread, #function, (#(#arguments,)*)))
    }

    /// A call of a method by its receiver, which is read behind the arguments: one that takes `&mut self` has it only
    /// then.
    pub(super) fn method(&mut self, call: &Expr, how: &str) -> TokenStream {
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

    /// An `if`, whose condition is a constant where all numbers of the loop go the same way.
    fn branch(&mut self, branch: &Expr, condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> TokenStream {
        let condition = match self.decided(branch) {
            Some(holds) => quote!(#holds),
            None => self.expr(condition),
        };
        let then = self.block(then);
        let otherwise = otherwise.map(|otherwise| {
            let otherwise = self.expr(otherwise);
            quote!(else { #otherwise })
        });
        quote_spanned!(branch.span=> if #condition #then #otherwise)
    }

    fn return_of(&mut self, value: Option<&Expr>, span: Span) -> TokenStream {
        let value = value.map(|value| self.expr(value));
        if self.is_kernel {
            return quote_spanned!(span=> return #value);
        }
        let returned = self.returned(value.unwrap_or_else(|| quote!(())));
        quote_spanned!(span=> return #returned)
    }

    /// The value of a field of an element: of one that the loop has read, of an item, or of one in memory.
    fn field_of_element(&mut self, of: &Expr, fields: &[Member], span: Span) -> TokenStream {
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
                let (support, place) = (support(span), self.element(of, fields));
                quote_spanned!(span=> #support::read(#place))
            }
        }
    }

    fn structure(&mut self, path: &Path, fields: &[(Member, Expr)], rest: Option<&Expr>, span: Span) -> TokenStream {
        let (members, values): (Vec<_>, Vec<_>) =
            fields.iter().map(|(member, value)| (member, self.expr(value))).unzip();
        let rest = rest.map(|rest| {
            let rest = self.expr(rest);
            quote!(..#rest)
        });
        quote_spanned!(span=> ::wattle::__private::structure(#path { #(#members: #values,)* #rest }))
    }
}
