//! Assertions about memory at the end of a launch: `out[0] == 8.0`, `count == 4 && flag[1] != 0`.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::claim::{Claim, Literal, Quantifier, Term};
use crate::launch::bits;
use crate::number::{Number, Shown};
use crate::operator::{OPERATORS, Operator};
use crate::range::Range;

/// An item of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The number of the range.
    pub memory: usize,
    /// The offset of the item in its range, in bytes.
    pub offset: u64,
    /// The type of the number in it.
    pub ty: Number,
}

/// A number, or an item that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Item(Item),
    Number(u64),
}

/// A comparison of two sides of one type.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    ty: Number,
    sides: [Side; 2],
    operator: Operator,
    /// Whether it is the comparison's negation that has to hold.
    negated: bool,
}

/// Comparisons with `&&` and `||` between them; `&&` binds more strongly.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    any_of_all: Vec<Vec<Comparison>>,
}

/// An assertion that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{text}` is no assertion: {why}. Write `out[0] == 8.0`, `a[0] <= a[1]`, or several with `&&` and `||` between them"
)]
pub struct WrongCondition {
    text: String,
    why: String,
}

impl Condition {
    /// Reads an assertion about these ranges.
    ///
    /// # Errors
    /// It is no assertion, or names something that is not there.
    pub fn parse(text: &str, ranges: &[Range]) -> Result<Condition, WrongCondition> {
        let wrong = |why: String| WrongCondition { text: text.to_owned(), why };
        if text.contains(['(', ')']) {
            return Err(wrong("it has no parentheses: `&&` binds more strongly than `||`".into()));
        }
        let one = |part: &str| {
            let sign = OPERATORS.iter().find_map(|(sign, operator)| Some((part.split_once(sign)?, *operator)));
            let ((left, right), operator) = sign.ok_or_else(|| {
                let part = part.trim();
                let hint = if part.contains('=') { ": equality is `==`" } else { "" };
                wrong(format!("`{part}` compares nothing{hint}"))
            })?;
            comparison([left.trim(), right.trim()], operator, ranges).map_err(wrong)
        };
        let all = |text: &str| text.split("&&").map(one).collect::<Result<Vec<_>, _>>();
        let any_of_all = text.split("||").map(all).collect::<Result<_, _>>()?;
        Ok(Condition { text: text.trim().to_owned(), any_of_all })
    }

    /// The condition that a claim makes of each end, or of `exists` of one end.
    ///
    /// # Errors
    /// It names something that is not there, or has too many alternatives.
    pub(crate) fn of_claim(claim: &Claim, ranges: &[Range]) -> Result<Condition, WrongCondition> {
        let wrong = |text: String, why: String| WrongCondition { text, why };
        let is_negated = claim.quantifier == Quantifier::NotExists;
        let alternatives = claim.condition.alternatives(is_negated);
        let alternatives = alternatives.ok_or_else(|| {
            wrong("the claim of @Output".into(), "it has too many alternatives: write several".into())
        })?;
        let one = |literal: &Literal<'_>| {
            let [left, right] = [literal.left, literal.right].map(Term::to_string);
            let of = comparison([&left, &right], literal.operator, ranges);
            let of = of.map_err(|why| wrong(format!("{left} {} {right}", literal.operator), why))?;
            Ok(Comparison { negated: literal.negated, ..of })
        };
        let text = |literal: &Literal<'_>| {
            let Literal { negated, left, operator, right } = literal;
            let whole = format!("{left} {operator} {right}");
            if *negated { format!("not {whole}") } else { whole }
        };
        let texts = alternatives.iter().map(|all| all.iter().map(text).collect::<Vec<_>>().join(" && "));
        let text = texts.collect::<Vec<_>>().join(" || ");
        let all = |all: &Vec<Literal<'_>>| all.iter().map(one).collect::<Result<Vec<_>, _>>();
        Ok(Condition { text, any_of_all: alternatives.iter().map(all).collect::<Result<_, _>>()? })
    }

    /// The text of the assertion.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The items that the assertion looks at.
    pub fn items(&self) -> BTreeSet<Item> {
        let sides = self.any_of_all.iter().flatten().flat_map(|comparison| comparison.sides);
        sides.filter_map(|side| if let Side::Item(item) = side { Some(item) } else { None }).collect()
    }

    /// Whether the assertion holds of these values of its items; `None` where that depends on an item without a value.
    pub fn holds(&self, value: &dyn Fn(Item) -> Option<u64>) -> Option<bool> {
        let holds = |&Comparison { ty, sides, operator, negated }: &Comparison| {
            let [left, right] = sides.map(|side| match side {
                Side::Item(item) => value(item),
                Side::Number(bits) => Some(bits),
            });
            Some(operator.holds(ty.compare(left?, right?)) != negated)
        };
        let all = |all: &Vec<Comparison>| {
            let parts: Vec<_> = all.iter().map(holds).collect();
            if parts.contains(&Some(false)) { Some(false) } else { (!parts.contains(&None)).then_some(true) }
        };
        let any: Vec<_> = self.any_of_all.iter().map(all).collect();
        if any.contains(&Some(true)) { Some(true) } else { (!any.contains(&None)).then_some(false) }
    }

    /// The values of the items, as people read them: `out[0] = 7.0`.
    pub fn show(&self, ranges: &[Range], value: &dyn Fn(Item) -> Option<u64>) -> String {
        let show = |item: Item| {
            let value = value(item).map_or_else(|| "anything".to_owned(), |bits| Shown(item.ty, bits).to_string());
            format!("{} = {value}", ranges[item.memory].name_of(item.offset))
        };
        self.items().into_iter().map(show).collect::<Vec<_>>().join(", ")
    }
}

/// A comparison of two sides as they are written, of which one is an item.
fn comparison([left, right]: [&str; 2], operator: Operator, ranges: &[Range]) -> Result<Comparison, String> {
    let ty = [left, right].into_iter().find_map(|side| item(side, ranges).ok());
    let (_, ty) = ty.ok_or_else(|| item(left, ranges).err().unwrap_or_default())?;
    let side = |text: &str| match text.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => {
            let (found, other) = item(text, ranges)?;
            if other != ty {
                return Err(format!("`{text}` is of type {}, not {}", other.name(), ty.name()));
            }
            Ok(Side::Item(found))
        }
        _ => bits(ty, text).map(Side::Number),
    };
    Ok(Comparison { ty, sides: [side(left)?, side(right)?], operator, negated: false })
}

/// The item that a text names, and its type.
fn item(text: &str, ranges: &[Range]) -> Result<(Item, Number), String> {
    if text.contains(['+', '*', '/', '%', '^', '&', '|', '-']) {
        return Err(format!(
            "`{text}` computes, and a side is a number or one item: let the kernel store what it computes"
        ));
    }
    // A name may have a dot in it: that of a struct's member.
    let begins = |range: &&Range| {
        text.strip_prefix(range.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
    };
    let longest = ranges.iter().filter(begins).map(|range| range.name.len()).max();
    let (name, way) = text.split_at(longest.or(text.find(['[', '.'])).unwrap_or(text.len()));
    let name = name.trim();
    let by_member = || ranges.iter().position(|range| range.member.as_deref() == Some(name));
    let memory = ranges.iter().position(|range| range.name == name).or_else(by_member).ok_or_else(|| {
        let known: Vec<_> = ranges.iter().map(|range| format!("`{}`", range.name)).collect();
        format!("`{name}` is none of {}", known.join(", "))
    })?;
    let range = &ranges[memory];
    let (offset, ty) = match range.at(way) {
        Some(found) => found,
        None => by_number(text, way, range)?,
    };
    if offset + u64::from(ty.size()) > range.bytes {
        return Err(format!("`{name}` has {} items", range.bytes / u64::from(ty.size())));
    }
    Ok((Item { memory, offset, ty }, ty))
}

/// The offset and the type of an item by its number among all of the range, whatever its parts are.
fn by_number(text: &str, way: &str, range: &Range) -> Result<(u64, Number), String> {
    if way.contains('.') {
        return Err(format!("`{text}` names no number of `{}`{}", range.name, range.example()));
    }
    let index = match way.strip_prefix('[') {
        Some(index) => {
            let index = index.strip_suffix(']').and_then(|index| index.trim().parse().ok());
            index.ok_or_else(|| format!("`{text}` has no index in its brackets{}", range.example()))?
        }
        None => 0u64,
    };
    let unknown = || format!("the type of `{}` is not known{}", range.name, range.example());
    let ty = range.item.ok_or_else(unknown)?;
    let items = range.bytes / u64::from(ty.size());
    if way.is_empty() && items > 1 {
        return Err(format!("`{text}` has {items} items: write which one, `{text}[0]`"));
    }
    Ok((index.saturating_mul(u64::from(ty.size())), ty))
}
