//! Decodes loads, stores, atomic operations, fences: PTX ISA 9.7.9 and 9.7.13.

use wattle_memory::{FenceOrder, Scope, UpdateOrder};

use super::super::Parsed;
use super::super::statement::Operand;
use super::DeclaredTarget;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Access, Fence, NO_REG, Op, Rmw, Strength};
use crate::types::{Sort, Space, Type};

/// Takes the scope, if one is written. A cluster is one block here, since larger ones are refused.
fn scope(m: &mut Modifiers<'_>, target: &DeclaredTarget) -> Parsed<Option<Scope>> {
    if m.has("cluster") {
        target.needs(m, 90, (7, 8), "'.cluster'")?;
        return Ok(Some(Scope::Block));
    }
    Ok(m.maybe(|word| match word {
        "cta" => Some(Scope::Block),
        "gpu" => Some(Scope::Device),
        "sys" => Some(Scope::System),
        _ => None,
    }))
}

/// Takes the order, if one of the allowed ones is written.
fn order(m: &mut Modifiers<'_>, target: &DeclaredTarget, allowed: &[&str]) -> Parsed<Option<UpdateOrder>> {
    let order = m.maybe(|word| match word {
        _ if !allowed.contains(&word) => None,
        "relaxed" => Some(UpdateOrder::Relaxed),
        "acquire" => Some(UpdateOrder::Acquire),
        "release" => Some(UpdateOrder::Release),
        "acq_rel" => Some(UpdateOrder::AcqRel),
        _ => None,
    });
    if order.is_some() {
        target.needs(m, 70, (6, 0), "orders")?;
    }
    Ok(order)
}

/// Takes the semantics of a load or a store, and the space. The ISA has order, scope and space in this order; Triton
/// writes the space first and the order last, which ptxas takes.
fn semantics(m: &mut Modifiers<'_>, target: &DeclaredTarget, orders: &[&str]) -> Parsed<(Strength, Space)> {
    if m.peek() == Some("mmio") {
        return m.fail("accesses to the memory of other machines, '.mmio', are not known here");
    }
    let mut plain = None;
    if m.has("weak") {
        plain = Some(Strength::Weak);
    } else if m.has("volatile") {
        plain = Some(Strength::Volatile);
    }
    let (mut found, mut scoped, mut spaced) = (None, None, None);
    loop {
        let before = m.left();
        if plain.is_none() && found.is_none() {
            found = order(m, target, orders)?;
        }
        if plain.is_none() && scoped.is_none() {
            scoped = scope(m, target)?;
        }
        if spaced.is_none() {
            spaced = m.maybe(Space::named);
        }
        if m.left() == before {
            break;
        }
    }
    let strength = match (plain, found, scoped) {
        (Some(plain), ..) => plain,
        (None, None, None) => Strength::Weak,
        (None, Some(order), Some(scope)) => Strength::Strong { order, scope },
        (None, Some(_), None) => return m.fail(format!("A scope is required for instruction '{}'", m.name)),
        (None, None, Some(_)) => return m.fail(format!("An order is required for the scope of '{}'", m.name)),
    };
    Ok((strength, spaced.unwrap_or(Space::Generic)))
}

fn items(m: &mut Modifiers<'_>, ty: impl Fn(&mut Modifiers<'_>) -> Parsed<Type>) -> Parsed<(usize, Type)> {
    let count = m.maybe(|word| match word {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    });
    let count = count.unwrap_or(1);
    let ty = ty(m)?;
    m.end()?;
    if count as u32 * ty.bits > 128 {
        return m.fail(format!("Vectors have 128 bits at most, not {count} times {ty}"));
    }
    Ok((count, ty))
}

fn vector<'a>(m: &Modifiers<'_>, operand: &'a Operand, count: usize) -> Parsed<&'a [Operand]> {
    match operand {
        Operand::Vector(items) if items.len() == count => Ok(items),
        _ => m.fail(format!("Arguments mismatch: a vector of {count} is required")),
    }
}

/// Takes the cache operator, and what the access asks of caches, which changes no value (9.7.9.1 "Cache Operators",
/// 9.7.9.2 "Cache Eviction Priority Hints"); returns whether a cache policy is the last operand.
pub(super) fn cache(m: &mut Modifiers<'_>, operators: &[&str]) -> bool {
    let mut policy = false;
    while let Some(word) = m.peek() {
        let is_hint = HINTS.contains(&word);
        if !is_hint && !operators.contains(&word) {
            break;
        }
        policy |= word == "L2::cache_hint";
        m.has(word);
    }
    policy
}

/// What accesses ask of caches.
const HINTS: [&str; 14] = [
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L1",
    "L2",
];

/// The operands of an access without its cache policy, which is a register of 64 bits.
pub(super) fn without_policy<'o>(names: &Names, list: &'o [Operand], policy: bool) -> Parsed<&'o [Operand]> {
    match list.split_last() {
        Some((last, others)) if policy => names.reg(last, Type::U64).map(|_| others),
        _ => Ok(list),
    }
}

/// Decodes `prefetch`, `prefetchu`, `applypriority` and `pmevent`, which change no value, and `createpolicy`, whose
/// result only other instructions' hints are (9.7.9.15 to 9.7.9.19, 9.7.19.4).
pub fn hint(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if m.name == "createpolicy" {
        let Some(d) = list.first() else { return names.fail("Incorrect number of operands: 0 instead of 2") };
        return Ok(Op::Mov { a: names.constant(0), d: names.destination(d, Type::U64)? });
    }
    if let Some(address) = list.first().filter(|address| matches!(address, Operand::Address(..))) {
        let space = m.maybe(Space::named).unwrap_or(Space::Generic);
        names.address(address, space, 1)?;
    }
    Ok(Op::Hint)
}

/// Decodes `ld`.
pub fn ld(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    let (strength, space) = semantics(m, target, &["relaxed", "acquire"])?;
    let mut policy = cache(m, &["ca", "cg", "cs", "lu", "cv"]);
    let read_only = m.has("nc");
    policy |= cache(m, &[]);
    if read_only && (space != Space::Global || strength.is_strong()) {
        return m.fail("Modifier '.nc' requires weak accesses to '.global'");
    }
    if strength.is_strong() && matches!(space, Space::Param | Space::Const) {
        return m.fail("orders are for .global, .shared and .local");
    }
    let (count, ty) = items(m, |m| m.ty(|ty| ty.sort != Sort::Pred))?;
    let [d, address] = operands(names, without_policy(names, list, policy)?)?;
    let mut access = names.address(address, space, ty.bytes())?;
    (access.strength, access.read_only) = (strength, read_only);
    if count == 1 {
        let (d, register) = names.wide_destination(d, ty)?;
        access.sign_to = sign(ty, register);
        return Ok(Op::Load { access, d });
    }
    let mut registers = Vec::new();
    for d in vector(m, d, count)? {
        let (d, register) = names.wide_destination(d, ty)?;
        access.sign_to = sign(ty, register);
        registers.push(d);
    }
    Ok(Op::LoadMany { access, d: registers.into() })
}

fn sign(ty: Type, register: u32) -> u8 {
    if ty.sort == Sort::Signed { register as u8 } else { 0 }
}

/// Decodes `st`.
pub fn st(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    let (strength, space) = semantics(m, target, &["relaxed", "release"])?;
    if matches!(space, Space::Param | Space::Const) {
        return m.fail("Constants and parameters cannot be written");
    }
    let policy = cache(m, &["wb", "cg", "cs", "wt"]);
    let (count, ty) = items(m, |m| m.ty(|ty| ty.sort != Sort::Pred))?;
    let [address, a] = operands(names, without_policy(names, list, policy)?)?;
    let mut access = names.address(address, space, ty.bytes())?;
    access.strength = strength;
    if count == 1 {
        return Ok(Op::Store { access, a: names.wide_src(a, ty)? });
    }
    let mut values = Vec::new();
    for a in vector(m, a, count)? {
        values.push(names.wide_src(a, ty)?);
    }
    Ok(Op::StoreMany { access, a: values.into() })
}

/// Decodes `atom`, `red`.
pub fn atomic(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    let gives = m.name == "atom";
    let orders: &[&str] = if gives { &["relaxed", "release", "acquire", "acq_rel"] } else { &["relaxed", "release"] };
    // The ISA has order, scope, space, operation and type in this order; nvcc writes the scope behind the space,
    // libcu++ both behind the operation, and ptxas takes them all.
    let (mut found, mut scoped, mut spaced, mut name) = (None, None, None, None);
    let mut policy = false;
    loop {
        let before = m.left();
        if found.is_none() {
            found = order(m, target, orders)?;
        }
        if scoped.is_none() {
            scoped = scope(m, target)?;
        }
        if spaced.is_none() {
            spaced = m.maybe(Space::named);
        }
        policy |= cache(m, &[]);
        if name.is_none() {
            name = m.peek().filter(|word| OPERATIONS.contains(word));
            name.map(|name| m.has(name));
        }
        if m.left() == before {
            break;
        }
    }
    // The default order is relaxed, the default scope the device (9.7.13.5).
    let (order, scope) = (found.unwrap_or(UpdateOrder::Relaxed), scoped.unwrap_or(Scope::Device));
    let (strength, space) = (Strength::Strong { order, scope }, spaced.unwrap_or(Space::Generic));
    if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
        return m.fail("atomic operations are for .global and .shared");
    }
    let Some(name) = name else { return m.illegal() };
    let of_halves = m.has("noftz");
    if of_halves && name != "add" {
        return m.fail(format!(
            "of atomic operations on 16-bit floats '.add' is known here: '.{name}' needs a loop with '.cas'"
        ));
    }
    let ty = m.ty(|ty| ty.bits >= 32 || name == "cas" && ty.bits == 16 || of_halves && ty.is_float())?;
    if of_halves && ty.bits != 16 {
        return m.illegal();
    }
    if ty.sort == Sort::Brain {
        target.needs(m, 90, (7, 8), "atomic operations on '.bf16'")?;
    }
    m.end()?;
    let list = without_policy(names, list, policy)?;
    if name == "cas" {
        if !gives || ty.sort != Sort::Bits {
            return m.fail(format!("Illegal type {ty} for '{}.cas'", m.name));
        }
        let [d, address, a, b] = operands(names, list)?;
        let access = Access { strength, ..names.address(address, space, ty.bytes())? };
        let (a, b) = (names.src(a, ty)?, names.src(b, ty)?);
        return Ok(Op::Cas { access, d: names.discardable(d, ty)?, a, b, succeeded: None });
    }
    let Some(how) = rmw(name, ty, space).filter(|&how| gives || how != Rmw::Exchange) else {
        return m.fail(format!("Operation '.{name}' with type {ty} is illegal for instruction '{}'", m.name));
    };
    if gives {
        let [d, address, a] = operands(names, list)?;
        let access = Access { strength, ..names.address(address, space, ty.bytes())? };
        let a = names.src(a, ty)?;
        // 9.7.13.5: "Simple reductions may be specified by using the bit bucket destination operand '_'."
        let is_reduction = how != Rmw::Exchange && matches!(d, Operand::Name(name) if name == "_");
        let d = if is_reduction { NO_REG } else { names.discardable(d, ty)? };
        return Ok(Op::Rmw { access, how, d, a });
    }
    let [address, a] = operands(names, list)?;
    let access = Access { strength, ..names.address(address, space, ty.bytes())? };
    Ok(Op::Rmw { access, how, d: NO_REG, a: names.src(a, ty)? })
}

/// The operations of `atom` and `red`.
const OPERATIONS: [&str; 10] = ["exch", "cas", "and", "or", "xor", "add", "inc", "dec", "min", "max"];

/// The operation for a type, if the ISA has it (9.7.13.5): there is no `add.s64`.
fn rmw(name: &str, ty: Type, space: Space) -> Option<Rmw> {
    let signed = ty.sort == Sort::Signed;
    Some(match (name, ty.sort, ty.bits) {
        ("exch", Sort::Bits, _) => Rmw::Exchange,
        ("and", Sort::Bits, _) => Rmw::And,
        ("or", Sort::Bits, _) => Rmw::Or,
        ("xor", Sort::Bits, _) => Rmw::Xor,
        ("add", Sort::Unsigned, _) | ("add", Sort::Signed, 32) => Rmw::Add,
        // In global memory subnormal operands and results become zero, in shared memory they do not.
        ("add", Sort::Float, 32) if space == Space::Shared => Rmw::AddSingle,
        ("add", Sort::Float, 32) => Rmw::AddSingleFlushed,
        ("add", Sort::Float, 64) => Rmw::AddDouble,
        ("add", Sort::Float, 16) => Rmw::AddHalf,
        ("add", Sort::Brain, 16) => Rmw::AddBrain,
        ("inc", Sort::Unsigned, 32) => Rmw::Inc,
        ("dec", Sort::Unsigned, 32) => Rmw::Dec,
        ("min", Sort::Unsigned | Sort::Signed, _) => {
            if signed {
                Rmw::MinSigned
            } else {
                Rmw::MinUnsigned
            }
        }
        ("max", Sort::Unsigned | Sort::Signed, _) => {
            if signed {
                Rmw::MaxSigned
            } else {
                Rmw::MaxUnsigned
            }
        }
        _ => return None,
    })
}

/// Decodes `fence`, `membar`.
pub fn fence(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    // Those of other proxies may have operands.
    if m.peek() == Some("proxy") {
        return m.illegal();
    }
    let [] = operands(names, list)?;
    if m.name == "membar" {
        let scope = m.must(|word| match word {
            "cta" => Some(Scope::Block),
            "gl" => Some(Scope::Device),
            "sys" => Some(Scope::System),
            _ => None,
        })?;
        m.end()?;
        return Ok(Op::Fence(Fence { order: FenceOrder::SeqCst, scope }));
    }
    target.needs(m, 70, (6, 0), "'fence'")?;
    let order = m.maybe(|word| match word {
        "acquire" => Some(FenceOrder::Acquire),
        "release" => Some(FenceOrder::Release),
        "acq_rel" => Some(FenceOrder::AcqRel),
        "sc" => Some(FenceOrder::SeqCst),
        _ => None,
    });
    if matches!(order, Some(FenceOrder::Acquire | FenceOrder::Release)) {
        // Introduced in PTX ISA 8.6, for sm_90 and higher (9.7.13.4).
        target.needs(m, 90, (8, 6), "one-sided fences")?;
    }
    let Some(scope) = scope(m, target)? else { return m.illegal() };
    m.end()?;
    // Without an order a fence is acq_rel.
    Ok(Op::Fence(Fence { order: order.unwrap_or(FenceOrder::AcqRel), scope }))
}
