//! Conditions on the end of a run.

use wattle_memory::{LocationId, ThreadId};

use crate::ids::RegisterId;

/// A register or location whose final value can be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observed {
    /// A thread's register.
    Register {
        /// The thread.
        thread: ThreadId,
        /// The register.
        register: RegisterId,
    },
    /// A memory location.
    Memory(LocationId),
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A value.
    Constant(u64),
    /// The final value of a register or location.
    Final(Observed),
}

/// A comparison of two signed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl Comparison {
    /// Whether the comparison holds for two values.
    pub fn holds(self, left: u64, right: u64) -> bool {
        let (left, right) = (left as i64, right as i64);
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }
}

/// A condition on the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// A comparison.
    Compare(Term, Comparison, Term),
    /// The negation of a condition.
    Not(Box<Condition>),
    /// The conjunction of two or more conditions. A chain is one, however long it is, so that its depth is 1.
    All(Vec<Condition>),
    /// The disjunction of two or more conditions.
    Any(Vec<Condition>),
}

impl Condition {
    /// The conjunction of this and another condition; a conjunction becomes longer.
    #[must_use]
    pub fn and(self, other: Condition) -> Condition {
        let mut all = match self {
            Condition::All(all) => all,
            Condition::Any(_) | Condition::Not(_) | Condition::Compare(..) => vec![self],
        };
        all.push(other);
        Condition::All(all)
    }

    /// The disjunction of this and another condition; a disjunction becomes longer.
    #[must_use]
    pub fn or(self, other: Condition) -> Condition {
        let mut any = match self {
            Condition::Any(any) => any,
            Condition::All(_) | Condition::Not(_) | Condition::Compare(..) => vec![self],
        };
        any.push(other);
        Condition::Any(any)
    }

    /// Whether the condition holds, as far as the values are known.
    pub fn holds(&self, value: &dyn Fn(Observed) -> Option<u64>) -> Option<bool> {
        let of = |term: &Term| match *term {
            Term::Constant(constant) => Some(constant),
            Term::Final(observed) => value(observed),
        };
        match self {
            Condition::Compare(left, comparison, right) => Some(comparison.holds(of(left)?, of(right)?)),
            Condition::Not(inner) => inner.holds(value).map(|holds| !holds),
            Condition::All(all) => unless_one_is(false, all, value),
            Condition::Any(any) => unless_one_is(true, any, value),
        }
    }

    /// Calls `see` for everything that the condition observes.
    pub fn visit(&self, see: &mut dyn FnMut(Observed)) {
        match self {
            Condition::Compare(left, _, right) => {
                for term in [left, right] {
                    if let Term::Final(observed) = term {
                        see(*observed);
                    }
                }
            }
            Condition::Not(inner) => inner.visit(see),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }
}

/// The value that decides if one of the conditions has it, else its opposite, as far as the values are known.
fn unless_one_is(decides: bool, conditions: &[Condition], value: &dyn Fn(Observed) -> Option<u64>) -> Option<bool> {
    let mut all = Some(!decides);
    for condition in conditions {
        match condition.holds(value) {
            Some(holds) if holds == decides => return Some(decides),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// The quantifier of a claim over the ends of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one end satisfies it.
    Exists,
    /// No end satisfies it.
    NotExists,
    /// Every end satisfies it.
    Forall,
}

/// The claim of a file about its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The quantifier over the ends of runs.
    pub quantifier: Quantifier,
    /// The condition that is claimed.
    pub condition: Condition,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(location: LocationId, value: u64) -> Condition {
        Condition::Compare(Term::Final(Observed::Memory(location)), Comparison::Equal, Term::Constant(value))
    }

    #[test]
    fn what_is_not_known_matters_only_where_it_decides() {
        let value = |observed| match observed {
            Observed::Memory(0) => Some(1),
            _ => None,
        };
        assert_eq!(compare(0, 1).and(compare(1, 1)).holds(&value), None);
        assert_eq!(compare(0, 1).and(compare(0, 1)).holds(&value), Some(true));
        assert_eq!(compare(1, 1).and(compare(0, 2)).holds(&value), Some(false));
        assert_eq!(compare(0, 2).and(compare(1, 1)).holds(&value), Some(false));
        assert_eq!(compare(1, 1).or(compare(0, 1)).holds(&value), Some(true));
        assert_eq!(compare(1, 1).or(compare(0, 2)).holds(&value), None);
        assert_eq!(compare(0, 2).or(compare(0, 2)).holds(&value), Some(false));
        assert_eq!(Condition::Not(Box::new(compare(0, 2))).holds(&value), Some(true));
    }

    #[test]
    fn comparisons_are_signed() {
        assert!(Comparison::Less.holds(-1i64 as u64, 0));
        assert!(Comparison::GreaterOrEqual.holds(3, 3));
        assert!(Comparison::Greater.holds(1, i64::MIN as u64));
        assert!(!Comparison::LessOrEqual.holds(4, 3));
        assert!(Comparison::NotEqual.holds(4, 3));
    }
}
