//! The first contents of a variable, as they are given, and the bytes that they are.

mod members;

use super::floats;
use super::instruction::Id;
use super::parts::Parts;
use super::types::{Kind, Scalar, Type, Types};

/// The first contents of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A number, as it is written.
    Number(String),
    /// The parts of a composite.
    List(Vec<Contents>),
    /// Bytes, of scalars of a type where it is given.
    Bytes(Vec<u8>, Option<Scalar>),
    /// The members of a structure by their names, and its bytes where they are taken in their order, since it has no
    /// names.
    Members {
        /// The contents of each.
        named: Vec<(String, Contents)>,
        /// The bytes of the members in their order, or why they have none.
        in_order: Result<Vec<u8>, String>,
    },
    /// Memory of this many bytes that nobody has written, of scalars of a type where it is given.
    Unwritten(u64, Option<Scalar>),
}

impl Contents {
    /// The type of the scalars that it is given as.
    pub(super) fn scalars(&self) -> Option<Scalar> {
        match self {
            Contents::Bytes(_, of) | Contents::Unwritten(_, of) => *of,
            Contents::Number(_) | Contents::List(_) | Contents::Members { .. } => None,
        }
    }

    /// The bytes of a value of a type, whose parts are known where they have names; a runtime array has as many parts
    /// as are given.
    pub(super) fn bytes(&self, ty: Id, types: &Types, parts: Option<&Parts>) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        match self {
            Contents::Members { named, in_order } => {
                bytes = parts.map_or_else(|| in_order.clone(), |parts| members::bytes(parts, named))?;
            }
            Contents::Bytes(given, of) => {
                if let (Some(of), Some(own)) = (of, types.only_scalar(ty)) {
                    members::is_of(own, *of, given).map_err(|why| format!("each of its items {why}"))?;
                }
                bytes.clone_from(given);
            }
            Contents::Unwritten(..) => {}
            Contents::Number(_) | Contents::List(_) => self.fill(ty, types, 0, &mut bytes)?,
        }
        if let Some(size) = types.size(ty) {
            let is_short =
                matches!(self, Contents::Bytes(..) | Contents::Members { .. }) && (bytes.len() as u64) < size;
            // A buffer may be longer than what the module declares of it, such as by the last padding.
            let may_be_longer = matches!(types.get(ty), Some(Type::Many { .. } | Type::Struct(_)));
            if bytes.len() as u64 > size && !may_be_longer || is_short {
                return Err(format!("{} bytes are given for {size}", bytes.len()));
            }
            if size > MOST_BYTES {
                return Err(format!("{size} bytes are too many"));
            }
            bytes.resize(bytes.len().max(size as usize), 0);
        }
        Ok(bytes)
    }

    fn fill(&self, ty: Id, types: &Types, offset: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
        match (types.get(ty), self) {
            (Some(Type::Scalar(scalar)), Contents::Number(number)) => {
                let bits = scalar_bits(*scalar, number)?;
                let (from, size) = (offset as usize, scalar.bytes() as usize);
                if bytes.len() < from + size {
                    bytes.resize(from + size, 0);
                }
                bytes[from..from + size].copy_from_slice(&bits.to_le_bytes()[..size]);
                Ok(())
            }
            (Some(Type::Many { .. } | Type::Struct(_)), Contents::List(parts)) => {
                for (number, part) in (0..).zip(parts) {
                    let (of, at) = types.part(ty, number).ok_or("more parts are given than it has")?;
                    let at = offset.checked_add(at).filter(|&at| at < MOST_BYTES).ok_or("it is too large")?;
                    part.fill(of, types, at, bytes)?;
                }
                match types.parts(ty) {
                    Some(len) if len != parts.len() as u64 => {
                        Err(format!("{} parts are given, and it has {len}", parts.len()))
                    }
                    _ => Ok(()),
                }
            }
            // One number is that of a block of one member.
            (Some(Type::Many { .. } | Type::Struct(_)), Contents::Number(_)) if types.parts(ty) == Some(1) => {
                let (of, at) = types.part(ty, 0).ok_or("it has no parts")?;
                self.fill(of, types, offset + at, bytes)
            }
            (Some(Type::Many { .. } | Type::Struct(_)), _) => {
                Err("a composite is written as {…, …}, or on the command line as NAME=u32[2]:1,2".into())
            }
            _ => Err("its type has no such value".into()),
        }
    }
}

/// The most bytes of a variable.
pub(super) const MOST_BYTES: u64 = 1 << 24;

/// The bits of a number of a type: decimal or hexadecimal, `true` or `false`.
pub fn scalar_bits(ty: Scalar, text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number of {} bits", ty.bits);
    if ty.kind == Kind::Float {
        return floats::bits(text, ty.bits).ok_or_else(wrong);
    }
    match (ty.kind, text) {
        (Kind::Bool, "true") => return Ok(1),
        (Kind::Bool, "false") => return Ok(0),
        _ => {}
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    // A number of an integer type may be written with a sign or without one, whichever the type is declared to have.
    let is_any = ty.kind == Kind::Bool;
    let fits = |value: &i128| *value < 1 << ty.bits && *value >= -(1 << (ty.bits - 1)) || is_any;
    let value = value.ok().filter(|value| (0..1 << 64).contains(value)).map(|value| sign * value);
    let value = value.filter(fits).ok_or_else(wrong)? as u64;
    Ok(if is_any { u64::from(value != 0) } else { value & ty.mask() })
}
