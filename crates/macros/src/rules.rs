//! The arguments of the attribute of a kernel or device function, and what they permit of its arithmetic.

use proc_macro2::{Ident, TokenStream};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{BinOp, Error, Result, Token};

use crate::ast::{Change, Expr, ExprKind, Operator, Place};
use crate::names;

/// What is permitted of floats besides what is written, the type of indices, and what the host's function is compiled
/// for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// A product and the sum that it stands in are one fused multiply-add.
    pub contract: bool,
    /// Sums over a loop may be added in another order.
    pub reassociate: bool,
    /// Indices are `u64`.
    pub wide: bool,
    /// The host's function is compiled for the build's own target alone.
    pub baseline: bool,
}

/// The arguments of an attribute: rules, and for `#[device_fn]` also `associated`.
pub struct Arguments {
    pub rules: Rules,
    pub associated: bool,
}

impl Rules {
    /// The code of a function, with what its indices are.
    pub fn apply(self, code: TokenStream) -> TokenStream {
        if self.wide { names::widened(code) } else { code }
    }
}

impl Arguments {
    /// Reads the arguments of the attribute of that name.
    pub fn parse(attribute: TokenStream, name: &str) -> Result<Arguments> {
        let words = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(attribute)?;
        let mut arguments = Arguments { rules: Rules::default(), associated: false };
        for word in words {
            match word.to_string().as_str() {
                "contract" => arguments.rules.contract = true,
                "reassociate" => arguments.rules.reassociate = true,
                "wide" => arguments.rules.wide = true,
                "baseline" if name == "kernel" => arguments.rules.baseline = true,
                "associated" if name == "device_fn" => arguments.associated = true,
                _ => {
                    let baseline = match name {
                        "kernel" => ", `baseline` (without the forms for AVX on the host, which take time to compile)",
                        _ => "",
                    };
                    let message = format!(
                        "`#[{name}]` has no such argument; it may have `wide` (indices are `u64`){baseline}, and permit to \
                         `contract` (products and sums are fused) and to `reassociate` (sums over loops are reordered)"
                    );
                    return Err(Error::new(word.span(), message));
                }
            }
        }
        Ok(arguments)
    }
}

/// The functions of a product and a sum, in the order in which their operands are written.
const FUSED: [&str; 4] = ["mul_add", "add_mul", "mul_sub", "sub_mul"];

/// Whether the name is that of a function which contraction writes.
pub fn is_fused(name: &Ident) -> bool {
    FUSED.iter().any(|known| name == known)
}

/// The factors of a product.
fn factors(x: Box<Expr>) -> std::result::Result<[Expr; 2], Box<Expr>> {
    match x.kind {
        ExprKind::Binary(Operator { op: BinOp::Mul(_), .. }, left, right) => Ok([*left, *right]),
        kind => Err(Box::new(Expr { kind, span: x.span })),
    }
}

fn fused(name: &str, operands: Vec<Expr>) -> ExprKind {
    let span = operands[0].span;
    ExprKind::Math { name: Ident::new(name, span), operands }
}

/// A sum or difference, of which one side is a product, as one operation. Where both are products, the first one is
/// fused.
pub fn contracted(operator: Operator, left: Box<Expr>, right: Box<Expr>) -> ExprKind {
    let (first, second) = match operator.op {
        BinOp::Add(_) => ("mul_add", "add_mul"),
        BinOp::Sub(_) => ("mul_sub", "sub_mul"),
        _ => return ExprKind::Binary(operator, left, right),
    };
    match factors(left) {
        Ok([x, y]) => fused(first, vec![x, y, *right]),
        Err(left) => match factors(right) {
            Ok([x, y]) => fused(second, vec![*left, x, y]),
            Err(right) => ExprKind::Binary(operator, left, right),
        },
    }
}

/// `place += x * y` and `place -= x * y`, as one operation.
pub fn contracted_assignment(operator: Operator, place: Box<Place>, value: Box<Expr>) -> ExprKind {
    let name = match operator.op {
        BinOp::Add(_) => "add_mul",
        BinOp::Sub(_) => "sub_mul",
        _ => return ExprKind::AssignWith(Change::Op(operator), place, value),
    };
    let span = value.span;
    match factors(value) {
        Ok(factors) => {
            let factors = Expr { kind: ExprKind::Tuple(factors.into()), span };
            ExprKind::AssignWith(Change::Fused(Ident::new(name, span)), place, Box::new(factors))
        }
        Err(value) => ExprKind::AssignWith(Change::Op(operator), place, value),
    }
}
