//! The parts of a variable as its source writes them: `tile[2][1]`, `body.position.x`.

use std::fmt;

use super::types::{Kind, Scalar};

/// The parts of a value in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// One scalar.
    Scalar(Scalar),
    /// An array, or the columns of a matrix; the length of a runtime array is `None`.
    Many {
        /// The parts of one element or column.
        of: Box<Parts>,
        /// The number of elements or columns.
        len: Option<u64>,
        /// The distance of two in bytes.
        stride: u64,
    },
    /// A vector, whose parts are `x`, `y`, `z` and `w`, or have numbers where they are more.
    Vector {
        /// The type of its parts.
        of: Scalar,
        /// The number of parts of the vector.
        len: u64,
    },
    /// A structure.
    Members(Vec<Member>),
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the member in the source.
    pub name: String,
    /// The offset of the member in the structure, in bytes.
    pub offset: u64,
    /// The parts of the member.
    pub parts: Parts,
}

/// The names of the parts of a vector that has no more.
pub(super) const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

impl Parts {
    /// The way to the scalar that begins at an offset, and its type: `[2].x`.
    pub fn way(&self, offset: u64) -> Option<(String, Scalar)> {
        match self {
            Parts::Scalar(scalar) => (offset == 0).then(|| (String::new(), *scalar)),
            Parts::Vector { of, len } => {
                let number =
                    offset.checked_div(of.bytes()).filter(|number| number < len && number * of.bytes() == offset)?;
                let letter = LETTERS.get(number as usize).filter(|_| *len <= LETTERS.len() as u64);
                Some((letter.map_or_else(|| format!("[{number}]"), |letter| format!(".{letter}")), *of))
            }
            Parts::Many { of, len, stride } => {
                let at = |number: u64| Some((number, of.way(offset.checked_sub(number.checked_mul(*stride)?)?)?));
                let number = offset.checked_div(*stride).filter(|number| len.is_none_or(|len| *number < len));
                // The columns of a matrix that lies by rows lie in each other.
                let among = || (0..len.unwrap_or(0).min(LETTERS.len() as u64)).find_map(at);
                let (number, (way, scalar)) = number.and_then(at).or_else(among)?;
                Some((format!("[{number}]{way}"), scalar))
            }
            Parts::Members(members) => members.iter().rev().find(|member| member.offset <= offset).and_then(|member| {
                let (way, scalar) = member.parts.way(offset - member.offset)?;
                Some((format!(".{}{way}", member.name), scalar))
            }),
        }
    }

    /// The offset of the scalar at the end of such a way, and its type.
    pub fn at(&self, way: &str) -> Option<(u64, Scalar)> {
        let way = way.trim_start();
        let number = || {
            let (number, rest) = way.strip_prefix('[')?.split_once(']')?;
            Some((number.trim().parse::<u64>().ok()?, rest))
        };
        match self {
            Parts::Scalar(scalar) => way.is_empty().then_some((0, *scalar)),
            Parts::Vector { of, len } => {
                let letter = || {
                    let letter = way.strip_prefix('.').filter(|_| *len <= LETTERS.len() as u64)?;
                    Some((LETTERS.iter().position(|known| *known == letter.trim())? as u64, ""))
                };
                let (number, rest) = letter().or_else(number)?;
                (number < *len && rest.trim().is_empty()).then(|| (number * of.bytes(), *of))
            }
            Parts::Many { of, len, stride } => {
                let (number, rest) = number()?;
                let (offset, scalar) = of.at(rest).filter(|_| len.is_none_or(|len| number < len))?;
                Some((number.checked_mul(*stride)?.checked_add(offset)?, scalar))
            }
            Parts::Members(members) => {
                let rest = way.strip_prefix('.')?.trim_start();
                let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
                let member = members.iter().find(|member| member.name == rest[..end])?;
                let (offset, scalar) = member.parts.at(&rest[end..])?;
                Some((member.offset + offset, scalar))
            }
        }
    }

    /// The type of its scalars, where all are of one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Parts::Scalar(of) | Parts::Vector { of, .. } => Some(*of),
            Parts::Many { of, .. } => of.scalar(),
            Parts::Members(members) => {
                let first = members.first()?.parts.scalar();
                first.filter(|_| members.iter().all(|member| member.parts.scalar() == first))
            }
        }
    }

    /// Contents for it as a command line gives them: `f32[8]:0`, `{n=u32:8; x=f32:0.5}`.
    pub fn example(&self) -> String {
        match self {
            Parts::Scalar(of) => format!("{}:{}", of.name(), if of.kind == Kind::Float { "0.5" } else { "8" }),
            Parts::Vector { of, len } => format!("{}[{len}]:0", of.name()),
            Parts::Many { of, len, .. } => match of.scalar() {
                Some(scalar) => format!("{}[{}]:0", scalar.name(), len.unwrap_or(8).saturating_mul(of.scalars())),
                None => "…".to_owned(),
            },
            Parts::Members(members) => match members.as_slice() {
                [member] => member.parts.example(),
                members => {
                    let one = |member: &Member| format!("{}={}", member.name, member.parts.example());
                    format!("{{{}}}", members.iter().map(one).collect::<Vec<_>>().join("; "))
                }
            },
        }
    }

    /// How many scalars there are; of an array without a length those of 8 elements.
    fn scalars(&self) -> u64 {
        match self {
            Parts::Scalar(_) => 1,
            Parts::Vector { len, .. } => *len,
            Parts::Many { of, len, .. } => len.unwrap_or(8).saturating_mul(of.scalars()),
            Parts::Members(members) => {
                members.iter().fold(0, |all: u64, member| all.saturating_add(member.parts.scalars()))
            }
        }
    }

    /// The only member of a structure that has one.
    pub fn only_member(&self) -> Option<&Member> {
        match self {
            Parts::Members(members) => members.first().filter(|_| members.len() == 1),
            Parts::Scalar(_) | Parts::Many { .. } | Parts::Vector { .. } => None,
        }
    }

    /// The parts of what the structure around them only names: a block of one member.
    pub fn unwrapped(self) -> Parts {
        match self {
            Parts::Members(mut members) if members.len() == 1 && members[0].offset == 0 => members.remove(0).parts,
            parts => parts,
        }
    }
}

impl fmt::Display for Parts {
    /// Writes the type as arguments write it: `f32[8]`, `u32[]`, `{n: u32, x: f32}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parts::Scalar(of) => f.write_str(&of.name()),
            Parts::Vector { of, len } => write!(f, "{}[{len}]", of.name()),
            Parts::Many { of, len: Some(len), .. } => write!(f, "{of}[{len}]"),
            Parts::Many { of, len: None, .. } => write!(f, "{of}[]"),
            Parts::Members(members) => {
                let one = |member: &Member| match member.name.as_str() {
                    "" => member.parts.to_string(),
                    name => format!("{name}: {}", member.parts),
                };
                write!(f, "{{{}}}", members.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_there_and_back() {
        let float = Scalar { kind: Kind::Float, bits: 32 };
        let member = |name: &str, offset, parts| Member { name: name.to_owned(), offset, parts };
        let body = Parts::Members(vec![
            member("position", 0, Parts::Vector { of: float, len: 3 }),
            member("mass", 12, Parts::Scalar(Scalar::UINT)),
        ]);
        let row = Parts::Many { of: Box::new(body), len: Some(2), stride: 16 };
        let all = Parts::Many { of: Box::new(row), len: None, stride: 32 };
        for (offset, way, scalar) in
            [(0, "[0][0].position.x", float), (60, "[1][1].mass", Scalar::UINT), (88, "[2][1].position.z", float)]
        {
            assert_eq!(all.way(offset), Some((way.to_owned(), scalar)));
            assert_eq!(all.at(way), Some((offset, scalar)));
        }
        assert_eq!(all.at("[1] [0] .position [1]"), Some((36, float)));
        for wrong in
            ["", "[0]", "[0][2].mass", "[0][1].weight", "[0][1].position.w", "[0][1].mass.x", "[0][1].position", "[x]"]
        {
            assert_eq!(all.at(wrong), None, "{wrong}");
        }
        assert_eq!(all.way(14), None);
    }
}
