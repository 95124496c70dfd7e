//! How a module is run: the numbers of threads, and the first contents of its variables.

use std::collections::HashMap;

use rspirv::spirv::BuiltIn;

use super::floats;
use super::instruction::Id;
use super::members;
use super::parts::Parts;
use super::types::{Kind, Leaf, Scalar, Type, Types};

/// The launch that a module is lowered for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The threads of a workgroup; `None` for what the module says.
    pub local_size: Option<[u32; 3]>,
    /// The number of workgroups in each dimension.
    pub workgroups: [u32; 3],
    /// The threads of a subgroup; `None` for all of a workgroup.
    pub subgroup: Option<u32>,
    /// The first contents of variables and the values of specialization constants, by the names of the results.
    pub inputs: HashMap<String, Contents>,
    /// Whether an index that is not in an array's bounds is a fault, as it is undefined behaviour (SPIR-V 1.6,
    /// "OpAccessChain"); else addresses are sums, as Dartagnan has them.
    pub checks_indices: bool,
    /// What the host binds to the module, if it does; else each buffer is memory of its own.
    pub bound: Option<Bound>,
}

/// What a launch's host binds to a module, by numbers instead of names.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// The memory at each binding of a descriptor set.
    pub memories: HashMap<(u32, u32), BoundMemory>,
    /// The values of specialization constants, by their `SpecId`.
    pub constants: HashMap<u32, u64>,
    /// The push constants, or the values of a kernel's parameters.
    pub push: Vec<u8>,
    /// The size of the memory of a workgroup that a kernel's parameter points to.
    pub workgroup_bytes: u64,
}

/// A part of a buffer that is bound to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundMemory {
    /// The number of the buffer.
    pub buffer: usize,
    /// The address of the first byte.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
}

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

/// The shape of a launch, with every number known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The threads of a workgroup.
    pub local_size: [u32; 3],
    /// The number of workgroups in each dimension.
    pub workgroups: [u32; 3],
    /// The threads of a subgroup.
    pub subgroup: u32,
}

impl Shape {
    /// The number of threads in a workgroup.
    pub fn threads(&self) -> u32 {
        self.local_size.iter().fold(1, |all: u32, &extent| all.saturating_mul(extent))
    }

    /// The values of a built-in for a thread; `None` for one that this reader does not know.
    pub fn built_in(&self, which: BuiltIn, workgroup: u32, thread: u32) -> Option<[u64; 4]> {
        let part = |linear: u32, of: [u32; 3]| {
            let [x, y, z] = of.map(|extent| extent.max(1));
            [linear % x, linear / x % y, linear / x / y % z].map(u64::from)
        };
        let one = |value: u32| [value.into(), 0, 0, 0];
        let three = |[x, y, z]: [u64; 3]| [x, y, z, 0];
        let subgroup = self.subgroup.max(1);
        let (group, local) = (part(workgroup, self.workgroups), part(thread, self.local_size));
        let lane = thread % subgroup;
        let below = |end: u32| 1u128.checked_shl(end).map_or(u128::MAX, |bit| bit - 1);
        let lanes = |mask: u128| [0, 32, 64, 96].map(|from| (mask >> from) as u64 & 0xFFFF_FFFF);
        let total = |number: usize| u64::from(self.local_size[number]) * u64::from(self.workgroups[number]);
        Some(match which {
            BuiltIn::NumWorkgroups => three(self.workgroups.map(u64::from)),
            BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize => three(self.local_size.map(u64::from)),
            BuiltIn::WorkgroupId => three(group),
            BuiltIn::LocalInvocationId => three(local),
            BuiltIn::GlobalInvocationId => {
                three([0, 1, 2].map(|number| group[number] * u64::from(self.local_size[number]) + local[number]))
            }
            BuiltIn::GlobalSize => three([0, 1, 2].map(total)),
            BuiltIn::GlobalOffset => [0; 4],
            BuiltIn::GlobalLinearId => {
                let [x, y, z] =
                    [0, 1, 2].map(|number| group[number] * u64::from(self.local_size[number]) + local[number]);
                [(z * total(1) + y) * total(0) + x, 0, 0, 0]
            }
            BuiltIn::LocalInvocationIndex => one(thread),
            BuiltIn::SubgroupSize | BuiltIn::SubgroupMaxSize => one(subgroup),
            BuiltIn::NumSubgroups => one(self.threads().div_ceil(subgroup)),
            BuiltIn::SubgroupId => one(thread / subgroup),
            BuiltIn::SubgroupLocalInvocationId => one(thread % subgroup),
            // "… Bits in the bitmask beyond those are zero" (Vulkan 1.3, "SubgroupEqMask" and those after it).
            BuiltIn::SubgroupEqMask => lanes(!below(lane) & below(lane + 1)),
            BuiltIn::SubgroupGeMask => lanes(!below(lane) & below(subgroup)),
            BuiltIn::SubgroupGtMask => lanes(!below(lane + 1) & below(subgroup)),
            BuiltIn::SubgroupLeMask => lanes(below(lane + 1)),
            BuiltIn::SubgroupLtMask => lanes(below(lane)),
            // As few as the shape needs: that is all that shows of how many the host has named.
            BuiltIn::WorkDim => {
                let is_used = |d: &usize| self.local_size[*d] > 1 || self.workgroups[*d] > 1;
                one([2, 1].into_iter().find(is_used).map_or(1, |last| last as u32 + 1))
            }
            BuiltIn::DeviceIndex => one(0),
            _ => return None,
        })
    }
}

/// A built-in variable of a thread: where it lies in the thread's memory.
#[derive(Clone, Debug)]
pub struct BuiltInVariable {
    /// The built-in that the variable is.
    pub which: BuiltIn,
    /// The scalars of the variable, with their offsets in the thread's memory.
    pub leaves: Vec<Leaf>,
}
