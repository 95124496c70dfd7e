//! Literals, and what type they have in a generic function.
//!
//! For rustc `0.5` is `f32` or `f64`, and never a generic `T: Float`. In a generic kernel a literal that stands where
//! something else decides the type is of that type.

use syn::{BinOp, Lit, LitInt, Result};

use super::{Parser, error};
use crate::ast::{Block, Expr, ExprKind};

/// A literal, if kernels have such.
pub(super) fn number(literal: &Lit) -> Result<Lit> {
    match literal {
        Lit::Int(number) if matches!(number.suffix(), "usize" | "isize" | "u128" | "i128") => {
            error(number, "kernels know 8 to 64 bits; indices and extents are `u32`")
        }
        Lit::Float(number) if matches!(number.suffix(), "f16" | "bf16" | "f128") => {
            let digits = number.base10_digits();
            let message = match number.suffix() {
                "f128" => "kernels know floats of 16, 32 and 64 bits".to_owned(),
                half => format!("a literal has no type of 16 bits: write `{digits} as {half}`"),
            };
            error(number, &message)
        }
        Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) => Ok(literal.clone()),
        Lit::Byte(byte) => Ok(Lit::Int(LitInt::new(&format!("{}u8", byte.value()), byte.span()))),
        Lit::Char(letter) => match u8::try_from(letter.value()) {
            Ok(byte) if byte.is_ascii() => {
                let byte = byte.escape_ascii();
                error(letter, &format!("there is no text in kernels; as a number it is a byte, `b'{byte}'`, a `u8`"))
            }
            Ok(_) | Err(_) => {
                let code = u32::from(letter.value());
                error(letter, &format!("there is no text in kernels; as a number it is its code, `{code:#x}`"))
            }
        },
        other => error(other, "there is no text in kernels; literals are numbers, bytes `b'a'`, `true` and `false`"),
    }
}

impl Parser {
    /// Two operands of one type: the literal takes the other one's.
    pub(super) fn adapt_operands(&self, op: &BinOp, left: &mut Expr, right: &mut Expr) {
        let of_one_type = is_arithmetic(op)
            || matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
        if of_one_type && (decides(left) || decides(right)) {
            self.adapt(left);
            self.adapt(right);
        }
    }

    /// Several values of which one decides the type, or each has its own place.
    pub(super) fn adapt_all(&self, all: &mut [Expr]) {
        if all.iter().any(decides) {
            let is_tuple = |x: &&mut Expr| matches!(x.kind, ExprKind::Tuple(_));
            all.iter_mut().filter(|x| !is_tuple(x)).for_each(|x| self.adapt(x));
        }
    }

    /// A choice between values, one of which decides the type of all; of tuples, each part by itself.
    pub(super) fn adapt_choice(&self, choice: &mut Expr) {
        let mut ends = Vec::new();
        ends_of(choice, &mut ends);
        self.adapt_together(ends);
    }

    fn adapt_together(&self, all: Vec<&mut Expr>) {
        let lengths: Vec<_> =
            all.iter().map(|x| if let ExprKind::Tuple(parts) = &x.kind { parts.len() } else { 0 }).collect();
        match lengths.first() {
            Some(&len) if len > 0 && lengths.iter().all(|&other| other == len) => {
                let mut parts: Vec<Vec<&mut Expr>> = (0..len).map(|_| Vec::new()).collect();
                for x in all {
                    if let ExprKind::Tuple(of) = &mut x.kind {
                        of.iter_mut().zip(&mut parts).for_each(|(part, parts)| parts.push(part));
                    }
                }
                parts.into_iter().for_each(|parts| self.adapt_together(parts));
            }
            Some(_) if lengths.iter().all(|&len| len == 0) && all.iter().any(|x| decides(x)) => {
                all.into_iter().for_each(|x| self.adapt(x));
            }
            Some(_) | None => {}
        }
    }

    /// A value whose type its place decides: float literals in it are of that type.
    pub(super) fn adapt(&self, x: &mut Expr) {
        if !self.is_generic {
            return;
        }
        let tail = |block: &mut Block| {
            if let Some(value) = &mut block.value {
                self.adapt(value);
            }
        };
        match &mut x.kind {
            ExprKind::Literal(Lit::Float(literal)) if literal.suffix().is_empty() => {
                x.kind = ExprKind::Float { literal: literal.clone(), negative: false };
            }
            ExprKind::NegativeLiteral(Lit::Float(literal)) if literal.suffix().is_empty() => {
                x.kind = ExprKind::Float { literal: literal.clone(), negative: true };
            }
            ExprKind::Binary(by, left, right) if is_arithmetic(&by.op) && !decides(left) && !decides(right) => {
                self.adapt(left);
                self.adapt(right);
            }
            ExprKind::Negate(x, _) => self.adapt(x),
            ExprKind::Block(block) => tail(block),
            ExprKind::If { then, otherwise, .. } => {
                tail(then);
                if let Some(otherwise) = otherwise {
                    self.adapt(otherwise);
                }
            }
            ExprKind::Match { arms, .. } => arms.iter_mut().for_each(|arm| tail(&mut arm.body)),
            ExprKind::Array(all) | ExprKind::Tuple(all) => all.iter_mut().for_each(|x| self.adapt(x)),
            ExprKind::Repeat(x, _) => self.adapt(x),
            _ => {}
        }
    }
}

/// The type parameters that are bounded as numbers.
pub(super) fn numbers(generics: &syn::Generics) -> Vec<syn::Ident> {
    let is_number =
        |bound: &syn::TypeParamBound| match bound {
            syn::TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| {
                ["Number", "Signed", "Int", "Word", "Float"].iter().any(|class| last.ident == class)
            }),
            _ => false,
        };
    let inline = generics.type_params().filter(|generic| generic.bounds.iter().any(is_number));
    let of_clause =
        generics.where_clause.iter().flat_map(|clause| &clause.predicates).filter_map(|predicate| match predicate {
            syn::WherePredicate::Type(of) if of.bounds.iter().any(is_number) => match &of.bounded_ty {
                syn::Type::Path(path) => path.path.get_ident().cloned(),
                _ => None,
            },
            _ => None,
        });
    inline.map(|generic| generic.ident.clone()).chain(of_clause).collect()
}

fn is_arithmetic(op: &BinOp) -> bool {
    matches!(op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_))
}

impl Expr {
    /// Whether the expression is a number without a type: a literal, or a variable that begins with one.
    pub fn is_open_literal(&self) -> bool {
        if let ExprKind::Local(local) = &self.kind {
            return local.is_literal;
        }
        let (ExprKind::Literal(literal) | ExprKind::NegativeLiteral(literal)) = &self.kind else { return false };
        match literal {
            Lit::Int(number) => number.suffix().is_empty(),
            Lit::Float(number) => number.suffix().is_empty(),
            _ => false,
        }
    }
}

impl Expr {
    /// Whether the expression is a number that is written where it stands, with a type or without.
    pub fn is_number(&self) -> bool {
        matches!(
            &self.kind,
            ExprKind::Literal(Lit::Int(_) | Lit::Float(_)) | ExprKind::NegativeLiteral(Lit::Int(_) | Lit::Float(_))
        )
    }
}

/// The values that a choice may end in.
fn ends_of<'x>(x: &'x mut Expr, ends: &mut Vec<&'x mut Expr>) {
    if !matches!(x.kind, ExprKind::Block(_) | ExprKind::If { .. } | ExprKind::Match { .. }) {
        let is_left = matches!(x.kind, ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_));
        return ends.extend((!is_left).then_some(x));
    }
    match &mut x.kind {
        ExprKind::Block(block) => block.value.iter_mut().for_each(|value| ends_of(value, ends)),
        ExprKind::If { then, otherwise, .. } => {
            then.value.iter_mut().for_each(|value| ends_of(value, ends));
            otherwise.iter_mut().for_each(|otherwise| ends_of(otherwise, ends));
        }
        ExprKind::Match { arms, .. } => {
            arms.iter_mut().filter_map(|arm| arm.body.value.as_mut()).for_each(|value| ends_of(value, ends));
        }
        _ => {}
    }
}

/// Whether the type of a value comes from something else than the literals in it.
fn decides(x: &Expr) -> bool {
    let tail = |block: &Block| block.value.as_deref().is_some_and(decides);
    match &x.kind {
        ExprKind::Literal(_) | ExprKind::NegativeLiteral(_) => false,
        ExprKind::Local(local) => !local.is_literal,
        ExprKind::Binary(by, left, right) if is_arithmetic(&by.op) => decides(left) || decides(right),
        ExprKind::Negate(x, _) | ExprKind::Repeat(x, _) => decides(x),
        ExprKind::Array(all) | ExprKind::Tuple(all) => all.iter().any(decides),
        ExprKind::Block(block) => tail(block),
        ExprKind::If { then, otherwise, .. } => tail(then) || otherwise.as_deref().is_some_and(decides),
        ExprKind::Match { arms, .. } => arms.iter().any(|arm| tail(&arm.body)),
        ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_) => false,
        ExprKind::Float { .. }
        | ExprKind::Constant(_)
        | ExprKind::Not(_)
        | ExprKind::Deref(_)
        | ExprKind::Exclusive(_)
        | ExprKind::Binary(..)
        | ExprKind::Assign(..)
        | ExprKind::AssignWith(..)
        | ExprKind::Index(..)
        | ExprKind::Method { .. }
        | ExprKind::Math { .. }
        | ExprKind::Call { .. }
        | ExprKind::Function(_)
        | ExprKind::Closure(_)
        | ExprKind::Lent(_)
        | ExprKind::FromBits { .. }
        | ExprKind::Cast(..)
        | ExprKind::RustCast(..)
        | ExprKind::While { .. }
        | ExprKind::Loop { .. }
        | ExprKind::For { .. }
        | ExprKind::Labelled { .. }
        | ExprKind::Field(..)
        | ExprKind::Element(..)
        | ExprKind::Struct { .. }
        | ExprKind::Range { .. }
        | ExprKind::Assert { .. }
        | ExprKind::Print(_) => true,
    }
}
