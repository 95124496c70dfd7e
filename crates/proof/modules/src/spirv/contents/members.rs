//! The first contents of a structure by the names of its members, as they are given on a command line.

use super::{Contents, MOST_BYTES, scalar_bits};
use crate::spirv::parts::{LETTERS, Parts};
use crate::spirv::types::{Kind, Scalar};

/// The bytes of a value with these parts, whose members are given by their names.
///
/// # Errors
/// A member is missing, is given twice or is not there, or what is given is of another type.
pub(super) fn bytes(parts: &Parts, given: &[(String, Contents)]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    structure(parts, given, 0, &mut bytes)?;
    Ok(bytes)
}

fn structure(parts: &Parts, given: &[(String, Contents)], at: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    let members: Vec<(String, u64, Parts)> = match parts {
        // A block that has the structure as its only member goes by that one's name too.
        Parts::Members(members) if members.len() == 1 && given.iter().all(|(name, _)| *name != members[0].name) => {
            return structure(&members[0].parts, given, at + members[0].offset, bytes);
        }
        Parts::Members(members) => {
            members.iter().map(|member| (member.name.clone(), member.offset, member.parts.clone())).collect()
        }
        Parts::Vector { of, len } if *len <= LETTERS.len() as u64 => {
            let names = LETTERS.into_iter().zip(0..*len);
            names.map(|(name, number)| (name.to_owned(), number * of.bytes(), Parts::Scalar(*of))).collect()
        }
        Parts::Vector { len, .. } => return Err(format!("a vector of {len} parts is written NAME=f32[{len}]:0.5")),
        Parts::Scalar(_) | Parts::Many { .. } => return Err("a struct is given, and it has no members".into()),
    };
    for (number, (name, _)) in given.iter().enumerate() {
        if !members.iter().any(|(known, ..)| known == name) {
            let known: Vec<_> = members.iter().map(|(known, ..)| format!("`{known}`")).collect();
            return Err(format!("`{name}` is none of its members {}", known.join(", ")));
        }
        if given[..number].iter().any(|(earlier, _)| earlier == name) {
            return Err(format!("its member `{name}` is given twice"));
        }
    }
    for (name, offset, parts) in &members {
        let found = given.iter().find(|(known, _)| known == name);
        let (_, contents) = found.ok_or_else(|| format!("its member `{name}` is not given"))?;
        place(parts, contents, at + offset, bytes).map_err(|why| format!("its member `{name}`: {why}"))?;
    }
    Ok(())
}

fn place(parts: &Parts, contents: &Contents, at: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    match (contents, parts) {
        (Contents::Members { named, .. }, _) => structure(parts, named, at, bytes),
        (Contents::Number(number), Parts::Scalar(scalar)) => {
            put(&scalar_bits(*scalar, number)?.to_le_bytes()[..scalar.bytes() as usize], at, bytes)
        }
        (Contents::Bytes(given, Some(of)), _) => scalars(parts, given, *of, at, bytes),
        (Contents::Number(_) | Contents::List(_) | Contents::Bytes(_, None), _) => {
            Err("it is an array or a struct: write NAME=f32[2]:0.5,1 or NAME={x=f32:1; y=f32:2}".into())
        }
        (Contents::Unwritten(..), _) => Err("a part of a struct has first contents: write NAME=u32[2]:0".into()),
    }
}

/// Puts scalars of one type into the parts that there are, one behind the other.
fn scalars(parts: &Parts, given: &[u8], of: Scalar, at: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut places = Vec::new();
    let count = given.len() as u64 / of.bytes().max(1);
    leaves(parts, at, count, &mut places)?;
    if places.len() as u64 != count {
        return Err(format!("{count} numbers are given for {}", places.len()));
    }
    for ((offset, own), value) in places.into_iter().zip(given.chunks(of.bytes().max(1) as usize)) {
        if own.bytes() != of.bytes() {
            return Err(format!("it is {}, and {} is given", own.name(), of.name()));
        }
        is_of(own, of, value).map_err(|why| format!("it {why}"))?;
        put(value, offset, bytes)?;
    }
    Ok(())
}

/// Whether values that are given as a type can be those of another one of its size.
pub(super) fn is_of(own: Scalar, of: Scalar, values: &[u8]) -> Result<(), String> {
    // A zero is that of every type.
    let is_other = (own.kind == Kind::Float) != (of.kind == Kind::Float) && values.iter().any(|&byte| byte != 0);
    match own.bytes() == of.bytes() && is_other {
        true => Err(format!("is {}, and {} is given", own.name(), of.name())),
        false => Ok(()),
    }
}

/// The places of the first scalars of some parts, up to a number of them where an array has no length.
fn leaves(parts: &Parts, at: u64, most: u64, places: &mut Vec<(u64, Scalar)>) -> Result<(), String> {
    if at > MOST_BYTES {
        return Err("it is too large".into());
    }
    match parts {
        Parts::Scalar(of) => places.push((at, *of)),
        Parts::Vector { of, len } => places.extend((0..*len).map(|number| (at + number * of.bytes(), *of))),
        Parts::Many { of, len, stride } => {
            // More than are given are wrong where the array has a length, and are none where it has not.
            let wanted = if len.is_some() { most.saturating_add(1) } else { most };
            let mut number = 0;
            while len.is_none_or(|len| number < len) && (places.len() as u64) < wanted {
                let before = places.len();
                leaves(of, at.saturating_add(number.saturating_mul(*stride)), most, places)?;
                if places.len() == before {
                    break;
                }
                number += 1;
            }
        }
        Parts::Members(members) => {
            for member in members {
                leaves(&member.parts, at + member.offset, most, places)?;
            }
        }
    }
    Ok(())
}

fn put(value: &[u8], at: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    let from = usize::try_from(at).ok().filter(|&at| at as u64 <= MOST_BYTES).ok_or("it is too large")?;
    bytes.resize(bytes.len().max(from + value.len()), 0);
    bytes[from..from + value.len()].copy_from_slice(value);
    Ok(())
}
