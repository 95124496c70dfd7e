//! Decodes `mov`, `cvta`, `isspacep`: PTX ISA 9.7.9 and 10 "Special Registers".

use super::super::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{LaneMask, Op, Special, Src};
use crate::meaning::warp::LANES;
use crate::types::{Sort, Space, Type};

/// Decodes `mov` of registers, constants, special registers, addresses, and several registers from or into one.
pub fn mov(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.sort == Sort::Pred || ty.bits >= 16)?;
    m.end()?;
    let [d, a] = operands(names, list)?;
    match (d, a) {
        (Operand::Vector(parts), _) => {
            let part = part(m, ty, parts.len())?;
            let a = names.src(a, ty)?;
            let mut registers = Vec::new();
            for d in parts {
                registers.push(names.discardable(d, part)?);
            }
            Ok(Op::Unpack { a, bits: part.bits, parts: registers.into() })
        }
        (_, Operand::Vector(parts)) => {
            let part = part(m, ty, parts.len())?;
            let mut sources = Vec::new();
            for a in parts {
                sources.push(names.src(a, part)?);
            }
            Ok(Op::Pack { d: names.destination(d, ty)?, bits: part.bits, parts: sources.into() })
        }
        (_, Operand::Name(name)) if name.starts_with('%') && !names.is_register(name) => {
            if name.starts_with("%envreg") && special(name).is_none() {
                let known = "'%envreg1' and '%envreg2', the address of the workspace of a cooperative grid";
                return m
                    .fail(format!("'{name}' is left to the driver: of these registers only {known}, are known here"));
            }
            if ["%cluster", "%ncluster", "%is_explicit_cluster", "%aggr_smem", "%pm", "%reserved_smem"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                return m.fail(format!(
                    "'{name}' is not supported: it is of clusters, of a device's counters or of its own memory"
                ));
            }
            let Some((which, bits)) = special(name) else { return m.fail(format!("Unknown symbol '{name}'")) };
            if ty.is_float() || ty.bits != bits {
                return m.fail(format!("Arguments mismatch: '{name}' has {bits} bits, the instruction needs {ty}"));
            }
            Ok(Op::Special { which, d: names.destination(d, ty)? })
        }
        // A constant of the language (4.3.2 "Predefined identifiers").
        (_, Operand::Name(name)) if name == "WARP_SZ" && !names.is_register(name) => {
            Ok(Op::Mov { a: names.constant(LANES.into()), d: names.destination(d, ty)? })
        }
        (_, Operand::Name(name)) if names.variables.contains_key(name) => {
            let (space, address) = names.variables[name];
            let small = matches!(space, Space::Shared | Space::Local | Space::Param | Space::Const);
            if ty.is_float() || !(ty.bits == 64 || ty.bits == 32 && small) {
                return m.fail(format!("Arguments mismatch: the address of '{name}' does not fit into {ty}"));
            }
            Ok(Op::Mov { a: names.constant(address), d: names.destination(d, ty)? })
        }
        _ => Ok(Op::Mov { a: names.src(a, ty)?, d: names.destination(d, ty)? }),
    }
}

fn part(m: &Modifiers<'_>, ty: Type, count: usize) -> Parsed<Type> {
    let bits = ty.bits / count.max(1) as u32;
    if ty.sort != Sort::Bits || !matches!(count, 2 | 4) || bits < 16 {
        return m.fail(format!("Arguments mismatch: {count} parts of {ty}"));
    }
    Ok(Type { sort: Sort::Bits, bits })
}

fn special(name: &str) -> Option<(Special, u32)> {
    let (base, axis) = match name.rsplit_once('.') {
        Some((base, "x")) => (base, Some(0)),
        Some((base, "y")) => (base, Some(1)),
        Some((base, "z")) => (base, Some(2)),
        Some(_) => return None,
        None => (name, None),
    };
    Some(match (base, axis) {
        ("%tid", Some(axis)) => (Special::Thread(axis), 32),
        ("%ntid", Some(axis)) => (Special::Threads(axis), 32),
        ("%ctaid", Some(axis)) => (Special::Block(axis), 32),
        ("%nctaid", Some(axis)) => (Special::Blocks(axis), 32),
        ("%laneid", None) => (Special::Lane, 32),
        ("%warpid", None) => (Special::Warp, 32),
        ("%nwarpid", None) => (Special::Warps, 32),
        ("%lanemask_eq", None) => (Special::LaneMask(LaneMask::Equal), 32),
        ("%lanemask_le", None) => (Special::LaneMask(LaneMask::AtMost), 32),
        ("%lanemask_lt", None) => (Special::LaneMask(LaneMask::Below), 32),
        ("%lanemask_ge", None) => (Special::LaneMask(LaneMask::AtLeast), 32),
        ("%lanemask_gt", None) => (Special::LaneMask(LaneMask::Above), 32),
        ("%smid", None) => (Special::Sm, 32),
        ("%nsmid", None) => (Special::Sms, 32),
        ("%gridid", None) => (Special::Grid, 64),
        ("%clock", None) => (Special::Clock, 32),
        ("%clock64", None) => (Special::Clock, 64),
        ("%globaltimer", None) => (Special::Timer, 64),
        ("%globaltimer_lo", None) => (Special::Timer, 32),
        ("%envreg1", None) => (Special::Workspace(1), 32),
        ("%envreg2", None) => (Special::Workspace(2), 32),
        ("%dynamic_smem_size", None) => (Special::DynamicShared, 32),
        ("%total_smem_size", None) => (Special::TotalShared, 32),
        _ => return None,
    })
}

fn generic_part(word: &str) -> Option<Space> {
    // A block is the only one of its cluster here.
    let word = if word == "shared::cluster" { "shared" } else { word };
    Space::named(word).filter(|&space| space != Space::Generic)
}

/// Decodes `cvta{.to}.space.u64`.
pub fn cvta(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let to_space = m.has("to");
    let space = m.must(generic_part)?;
    let ty = m.ty(|ty| ty == Type::U64)?;
    m.end()?;
    let [d, a] = operands(names, list)?;
    let a = match a {
        Operand::Name(name) if !to_space && names.variables.contains_key(name) => {
            let (of, address) = names.variables[name];
            if of != space {
                return m.fail(format!("State space mismatch for '{name}'"));
            }
            names.constant(address)
        }
        _ => Src::reg(names.reg(a, ty)?),
    };
    let d = names.destination(d, ty)?;
    Ok(if to_space { Op::FromGeneric { space, d, a } } else { Op::ToGeneric { space, d, a } })
}

/// Decodes `isspacep.space p, a`.
pub fn isspacep(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let space = m.must(generic_part)?;
    m.end()?;
    let [d, a] = operands(names, list)?;
    Ok(Op::IsSpace { space, a: Src::reg(names.reg(a, Type::U64)?), d: names.destination(d, Type::PRED)? })
}
