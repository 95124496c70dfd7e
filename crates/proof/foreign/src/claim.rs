//! Claims about memory at the end: `forall (%x[0][1] == 2 and (%y != 0 or %z < 3))`.
//!
//! Memory that nobody has written has any value, so a condition about it may be both true and false.

use std::collections::HashMap;
use std::fmt;

use wattle_modules::spirv::{Kind, Scalar};

use crate::operator::{OPERATORS, Operator};

/// How many of the ends a condition has to hold at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// The condition holds at all ends.
    Forall,
    /// The condition holds at one end at least.
    Exists,
    /// The condition holds at no end.
    NotExists,
}

/// A claim about the ends of all executions.
#[derive(Clone, Debug)]
pub struct Claim {
    /// At how many of them the condition holds.
    pub quantifier: Quantifier,
    /// The condition.
    pub condition: Condition,
}

/// A condition about the end of one execution.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All of two or more hold. A chain is one, however long it is, so that its depth is 1.
    All(Vec<Condition>),
    /// At least one of two or more holds.
    Any(Vec<Condition>),
    /// The condition that holds where another does not.
    Not(Box<Condition>),
    /// A comparison.
    Compare(Term, Operator, Term),
}

/// A number, or a scalar of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A number.
    Number(i128),
    /// A number that is no integer, as it is written.
    Float(String),
    /// The variable's name, and the numbers of the parts that lead to the scalar.
    Part(String, Vec<u64>),
}

impl Claim {
    /// Reads a claim: a quantifier, and a condition about an end. The error says what stands in its place.
    pub(crate) fn parse(text: &str) -> Result<Claim, String> {
        let mut text = Text { rest: text.trim(), depth: 0 };
        let negated = text.word("not");
        let quantifier = match (negated, text.word("forall"), text.word("exists")) {
            (false, true, false) => Quantifier::Forall,
            (false, false, true) => Quantifier::Exists,
            (true, false, true) => Quantifier::NotExists,
            _ => return Err("a claim begins with `forall`, `exists` or `not exists`".into()),
        };
        let condition = text.condition()?;
        match text.rest {
            "" => Ok(Claim { quantifier, condition }),
            rest => Err(format!("`{rest}` is not expected here")),
        }
    }

    /// Joins two claims about all ends, or two about no end, into one. The error says why others cannot be joined: one
    /// end may meet a claim of `exists`, and another end the other claim.
    pub(crate) fn and(self, other: Claim) -> Result<Claim, String> {
        let condition = match (self.quantifier, other.quantifier) {
            (Quantifier::Forall, Quantifier::Forall) => self.condition.and(other.condition),
            (Quantifier::NotExists, Quantifier::NotExists) => self.condition.or(other.condition),
            (Quantifier::Exists, Quantifier::Exists) => {
                return Err("several claims of `exists` may be met by different ends: write one".into());
            }
            _ => return Err("the claims are of different kinds".into()),
        };
        Ok(Claim { quantifier: self.quantifier, condition })
    }
}

/// The text of a claim that has not been read.
struct Text<'t> {
    rest: &'t str,
    depth: u32,
}

impl Text<'_> {
    /// Takes a word or a sign, if it comes next.
    fn sign(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let ends = self.rest.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        ends && self.sign(word)
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let mut all = self.conjunction()?;
        while self.word("or") || self.sign("||") {
            all = all.or(self.conjunction()?);
        }
        Ok(all)
    }

    fn conjunction(&mut self) -> Result<Condition, String> {
        let mut all = self.basic()?;
        while self.word("and") || self.sign("&&") {
            all = all.and(self.basic()?);
        }
        Ok(all)
    }

    fn basic(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > 64 {
            return Err("the condition is too deep".into());
        }
        let read = if self.word("not") {
            Condition::Not(Box::new(self.basic()?))
        } else if self.sign("(") {
            let inner = self.condition()?;
            if !self.sign(")") {
                return Err("a `)` is missing".into());
            }
            inner
        } else {
            let left = self.term()?;
            let operator = OPERATORS.iter().find(|(sign, _)| self.sign(sign));
            let (_, operator) = operator.ok_or("a comparison is missing: ==, !=, <, <=, > or >=")?;
            Condition::Compare(left, *operator, self.term()?)
        };
        self.depth -= 1;
        Ok(read)
    }

    fn term(&mut self) -> Result<Term, String> {
        let is_part = self.sign("%");
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-' || c == '.'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if word.is_empty() {
            return Err("a number or a `%name` is missing".into());
        }
        self.rest = rest.trim_start();
        if !is_part {
            let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
            let number = match digits.strip_prefix("0x") {
                Some(digits) => i128::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            let number = number.ok().filter(|number| (0..1 << 64).contains(number));
            let float = || word.parse::<f64>().ok().map(|_| Term::Float(word.to_owned()));
            let number = number.map(|number| Term::Number(sign * number)).or_else(float);
            return number.ok_or_else(|| format!("`{word}` is no number"));
        }
        let mut indices = Vec::new();
        while self.sign("[") {
            let end = self.rest.find(']').ok_or("a `]` is missing")?;
            let index = self.rest[..end].trim().parse().map_err(|_| "an index is a number in brackets".to_owned())?;
            indices.push(index);
            self.rest = self.rest[end + 1..].trim_start();
        }
        Ok(Term::Part(word.to_owned(), indices))
    }
}

/// A comparison, or its negation.
#[derive(Clone, Copy, Debug)]
pub struct Literal<'c> {
    /// Whether it is the negation.
    pub negated: bool,
    /// The left side of the comparison.
    pub left: &'c Term,
    /// The operator between its sides.
    pub operator: Operator,
    /// The right side of the comparison.
    pub right: &'c Term,
}

/// The most alternatives of a condition.
const MOST_ALTERNATIVES: usize = 1 << 10;

impl fmt::Display for Term {
    /// Writes the term as an assertion of the command line does: a variable without its `%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Number(number) => write!(f, "{number}"),
            Term::Float(text) => f.write_str(text),
            Term::Part(name, indices) => {
                f.write_str(name)?;
                indices.iter().try_for_each(|index| write!(f, "[{index}]"))
            }
        }
    }
}

/// The value of a scalar at the end, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Final {
    /// The bits; `None` where nobody has written all of them.
    pub bits: Option<u64>,
    /// The type of the scalar.
    pub ty: Scalar,
}

/// Whether a condition can be true, and can be false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Possible {
    /// Whether some values of what nobody has written make the condition true.
    pub yes: bool,
    /// Whether some values of what nobody has written make the condition false.
    pub no: bool,
}

/// The most combinations of values for what nobody has written.
const MOST_COMBINATIONS: usize = 1 << 16;

impl Condition {
    /// The condition that both hold; an `All` is extended instead of nested.
    fn and(self, other: Condition) -> Condition {
        let mut all = match self {
            Condition::All(all) => all,
            Condition::Any(_) | Condition::Not(_) | Condition::Compare(..) => vec![self],
        };
        all.push(other);
        Condition::All(all)
    }

    /// The condition that either holds; an `Any` is extended instead of nested.
    fn or(self, other: Condition) -> Condition {
        let mut any = match self {
            Condition::Any(any) => any,
            Condition::All(_) | Condition::Not(_) | Condition::Compare(..) => vec![self],
        };
        any.push(other);
        Condition::Any(any)
    }

    /// Calls a function for each part of a variable that it looks at.
    pub fn visit<'c>(&'c self, see: &mut dyn FnMut(&'c Term)) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
            Condition::Not(a) => a.visit(see),
            Condition::Compare(a, _, b) => {
                [a, b].into_iter().filter(|term| matches!(term, Term::Part(..))).for_each(see)
            }
        }
    }

    /// Whether the condition can be true, and can be false, of the parts of an end; `None` where there are too many
    /// values to try.
    ///
    /// A part that nobody has written has any value. What a comparison says of it changes only at the values that it is
    /// compared with, so those, their neighbours, and some others to differ from each other, stand for all.
    pub fn possible(&self, part: &dyn Fn(&Term) -> Final) -> Option<Possible> {
        let (mut open, mut values) = (HashMap::new(), vec![0i128, -1, 1]);
        self.visit(&mut |term| match part(term) {
            Final { bits: None, .. } => {
                let next = open.len();
                open.entry(term).or_insert(next);
            }
            Final { bits: Some(bits), .. } => values.push(bits.into()),
        });
        self.numbers(&mut values);
        let near: Vec<i128> = values.iter().flat_map(|&value| (-1..=1).map(move |by| value + by)).collect();
        values = near;
        values.extend((0..open.len() as i128).map(|number| 0x4d + 3 * number));
        values.sort_unstable();
        values.dedup();
        let combinations = u32::try_from(open.len()).ok().and_then(|count| values.len().checked_pow(count));
        let combinations = combinations.filter(|&count| count <= MOST_COMBINATIONS)?;
        let mut possible = Possible { yes: false, no: false };
        for number in 0..combinations {
            let value = |term: &Term| {
                let known = part(term);
                let Some(&at) = open.get(term) else { return known };
                let chosen = number / values.len().pow(at as u32) % values.len();
                Final { bits: Some(values[chosen] as u64 & known.ty.mask()), ..known }
            };
            let holds = self.holds(&value);
            possible.yes |= holds;
            possible.no |= !holds;
        }
        Some(possible)
    }

    fn numbers(&self, values: &mut Vec<i128>) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.numbers(values)),
            Condition::Not(a) => a.numbers(values),
            Condition::Compare(a, _, b) => values.extend([a, b].iter().filter_map(|term| match term {
                Term::Number(number) => Some(*number),
                Term::Part(..) | Term::Float(_) => None,
            })),
        }
    }

    /// Calls a function for each side of each comparison, which it may change.
    pub fn visit_mut(&mut self, see: &mut dyn FnMut(&mut Term)) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => parts.iter_mut().for_each(|part| part.visit_mut(see)),
            Condition::Not(a) => a.visit_mut(see),
            Condition::Compare(a, _, b) => [a, b].into_iter().for_each(see),
        }
    }

    /// A number of the condition that is no integer, as it is written.
    pub fn float(&self) -> Option<&str> {
        match self {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().find_map(Condition::float),
            Condition::Not(a) => a.float(),
            Condition::Compare(a, _, b) => [a, b].into_iter().find_map(|term| match term {
                Term::Float(text) => Some(text.as_str()),
                Term::Number(_) | Term::Part(..) => None,
            }),
        }
    }

    /// The condition, or its negation, as alternatives of which each is comparisons that all hold; `None` where they
    /// are more than can be looked at.
    pub fn alternatives(&self, negated: bool) -> Option<Vec<Vec<Literal<'_>>>> {
        Some(match (self, negated) {
            (Condition::Not(a), _) => a.alternatives(!negated)?,
            (Condition::Compare(left, operator, right), _) => {
                vec![vec![Literal { negated, left, operator: *operator, right }]]
            }
            (Condition::Any(parts), false) | (Condition::All(parts), true) => {
                let parts = parts.iter().map(|part| part.alternatives(negated));
                parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect()
            }
            (Condition::All(parts), false) | (Condition::Any(parts), true) => {
                let mut all = vec![Vec::new()];
                for part in parts {
                    let part = part.alternatives(negated)?;
                    if all.len() * part.len() > MOST_ALTERNATIVES {
                        return None;
                    }
                    let before = std::mem::take(&mut all);
                    for one in &before {
                        all.extend(part.iter().map(|other| [one.as_slice(), other].concat()));
                    }
                }
                all
            }
        })
    }

    fn holds(&self, part: &dyn Fn(&Term) -> Final) -> bool {
        match self {
            Condition::All(all) => all.iter().all(|one| one.holds(part)),
            Condition::Any(any) => any.iter().any(|one| one.holds(part)),
            Condition::Not(a) => !a.holds(part),
            Condition::Compare(a, operator, b) => {
                let [a, b] = compared([a, b], part);
                operator.holds(Some(a.cmp(&b)))
            }
        }
    }
}

/// The numbers that a comparison is about. A type without a sign may hold numbers with one (SPIR-V specification,
/// OpTypeInt), so a negative number makes its other side one.
fn compared(terms: [&Term; 2], part: &dyn Fn(&Term) -> Final) -> [i128; 2] {
    let negative = terms.iter().any(|term| matches!(term, Term::Number(number) if *number < 0));
    let finals = terms.map(|term| matches!(term, Term::Part(..)).then(|| part(term)));
    let signed = negative || finals.iter().flatten().any(|known| known.ty.kind == Kind::Int(true));
    let number = |term: &Term, own: Option<Final>, other: Option<Final>| {
        let (bits, ty) = match (term, own) {
            (_, Some(known)) => (known.bits.unwrap_or(0), known.ty),
            // A number has the type of what it is compared with, so that 255 and -1 are one where there are 8 bits.
            (Term::Number(number), None) => match other {
                Some(other) => (*number as u64 & other.ty.mask(), other.ty),
                None => return *number,
            },
            // A claim that is judged so has no such number.
            (Term::Part(..) | Term::Float(_), None) => return 0,
        };
        if signed { ty.signed(bits).into() } else { bits.into() }
    };
    [number(terms[0], finals[0], finals[1]), number(terms[1], finals[1], finals[0])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn possible(text: &str, bits: Option<u64>) -> Possible {
        let claim = Claim::parse(&format!("forall ({text})")).unwrap();
        let of = |term: &Term| match term {
            Term::Part(name, _) if name == "open" => Final { bits: None, ty: Scalar::UINT },
            _ => Final { bits, ty: Scalar::UINT },
        };
        claim.condition.possible(&of).unwrap()
    }

    #[test]
    fn conditions_are_read_and_hold() {
        for (text, holds) in [
            ("%x == 7", true),
            ("not %x[0] != 7", true),
            ("%x < 7 or %x >= 7 and 1 == 1", true),
            ("(%x < 7 or %x >= 7) and 0 == 1", false),
            ("%x > -1", true),
        ] {
            assert_eq!(possible(text, Some(7)), Possible { yes: holds, no: !holds }, "{text}");
        }
        assert!(possible("%x == -1 and %x == 0xffffffff and %x > 1 and %x > -2", Some(0xffff_ffff)).yes);
    }

    #[test]
    fn what_nobody_has_written_has_any_value() {
        for (text, yes, no) in [
            ("%open == 7", true, true),
            ("%open == %open", true, false),
            ("%open == %x", true, true),
            ("%open < 0", false, true),
            ("%open < -1", true, true),
            ("%open >= 0", true, false),
            ("%x == 7 or %open == 1", true, false),
        ] {
            assert_eq!(possible(text, Some(7)), Possible { yes, no }, "{text}");
        }
    }

    #[test]
    fn wrong_claims_are_errors() {
        for text in
            ["", "forall", "forall (%x)", "forall (%x == )", "always (1 == 1)", "forall (%x == 1", "forall (1 == 1) x"]
        {
            assert!(Claim::parse(text).is_err(), "{text}");
        }
        let [first, second] = ["exists (1 == 1)", "exists (%x == 1)"].map(|text| Claim::parse(text).unwrap());
        assert!(first.and(second).is_err());
    }
}
