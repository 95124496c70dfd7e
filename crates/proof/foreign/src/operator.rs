//! The operators of comparisons in assertions.

use std::cmp::Ordering;
use std::fmt;

/// A comparison's operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `<`
    Lt,
    /// `>`
    Gt,
}

/// The operators by their signs; those of two letters first.
pub const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Eq),
    ("!=", Operator::Ne),
    ("<=", Operator::Le),
    (">=", Operator::Ge),
    ("<", Operator::Lt),
    (">", Operator::Gt),
];

impl Operator {
    /// Whether the comparison holds of two sides in this order; `None` where one of them is not a number (NaN).
    pub fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Operator::Eq => order == Some(Ordering::Equal),
            Operator::Ne => order != Some(Ordering::Equal),
            Operator::Le => order.is_some_and(Ordering::is_le),
            Operator::Ge => order.is_some_and(Ordering::is_ge),
            Operator::Lt => order.is_some_and(Ordering::is_lt),
            Operator::Gt => order.is_some_and(Ordering::is_gt),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = OPERATORS.iter().find_map(|(sign, operator)| (operator == self).then_some(*sign));
        f.write_str(sign.unwrap_or_default())
    }
}
