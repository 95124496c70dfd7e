//! Addresses that nothing fixes, and that still cannot make a race.
//!
//! An access whose address is computed from contents that nobody has given may be anywhere in its variable (beyond it,
//! the behaviour is undefined). There is no race on the variable, wherever such accesses are, in two cases:
//!
//! - All its accesses are atomic, as wide, and each in the scope of the other threads.
//! - All its accesses are one instruction's, by the number that an atomic counter has given its thread: two threads get
//!   different numbers, wherever the counter began.

use wattle_memory::{Label, Level};
use wattle_modules::code::{Access, NO_REG, Op, Reg, Rmw, Src, Strength, Tern};
use wattle_modules::spirv::{Place, item_by_word};
use wattle_modules::types::Space;

use crate::world::World;

/// Whether an access at any address makes no race.
pub fn is_harmless(world: &World, at: usize) -> bool {
    let Some(spirv) = world.spirv() else { return false };
    let Some(&Some(variable)) = spirv.roots.get(&at) else { return false };
    let Some(accesses) = accesses(world, variable) else { return false };
    all_atomic(world, variable, &accesses) || accesses == [at] && is_numbered(world, at)
}

/// The steps that access a variable; `None` where some may that does not show it.
fn accesses(world: &World, variable: usize) -> Option<Vec<usize>> {
    let spirv = world.spirv()?;
    let space = |at: &usize| access(world, *at).map(|access| access.space);
    let own = spirv.roots.iter().find(|(_, root)| **root == Some(variable)).and_then(|(at, _)| space(at));
    let anywhere = |at: &usize| space(at) == own || space(at) == Some(Space::Generic);
    let may = |at: &usize, root: Option<usize>| root == Some(variable) || root.is_none() && anywhere(at);
    let mut all: Vec<usize> = spirv.roots.iter().filter(|(at, root)| may(at, **root)).map(|(&at, _)| at).collect();
    all.sort_unstable();
    all.iter().all(|at| spirv.roots[at].is_some()).then_some(all)
}

fn access(world: &World, at: usize) -> Option<&Access> {
    world.kernel().steps.get(at)?.op.outline(|_| {}, |_| {}).access
}

/// Whether all accesses are atomic, as wide, and have the others in their scope.
fn all_atomic(world: &World, variable: usize, accesses: &[usize]) -> bool {
    let Some(spirv) = world.spirv() else { return false };
    let is_alone = spirv.shape.workgroups == [1; 3];
    let needed = match spirv.variables()[variable].place {
        Place::Buffer(_) if !is_alone => Level::QueueFamily,
        Place::Buffer(_) | Place::Workgroup(_) => Level::Block,
        Place::Push => return false,
    };
    let reaches = |label: Label| label.atomic && label.level >= needed;
    let mut all = accesses.iter().filter_map(|&at| access(world, at));
    let width = access(world, accesses.first().copied().unwrap_or_default()).map(|access| access.bytes);
    all.all(|access| match access.strength {
        Strength::Labels { read, write } => reaches(read) && reaches(write) && Some(access.bytes) == width,
        Strength::Weak | Strength::Volatile | Strength::Strong { .. } => false,
    })
}

/// Whether the address of an access is that of an item by the number that an atomic counter gave.
fn is_numbered(world: &World, at: usize) -> bool {
    let kernel = world.kernel();
    let fixed = |src: Src| src.as_reg().is_none().then(|| src.get::<u64>(&[], &kernel.constants));
    let written = |register: Reg| {
        let mut by = kernel.steps.iter().enumerate().filter(|(_, step)| {
            let mut writes = false;
            step.op.outline(|_| {}, |other| writes |= other == register);
            writes
        });
        by.next().filter(|_| by.next().is_none())
    };
    let Some(accessed) = access(world, at) else { return false };
    let Some((_, address)) = accessed.base.as_reg().and_then(written) else { return false };
    let Op::Tern { f, a, b, c, .. } = &address.op else { return false };
    let is_item = std::ptr::fn_addr_eq(*f, item_by_word as Tern)
        && fixed(*a).is_some()
        && fixed(*c).is_some_and(|c| c >= accessed.bytes.into());
    let Some((counter, update)) = b.as_reg().filter(|_| is_item).and_then(written) else { return false };
    let Op::Rmw { access, how: Rmw::Add, a: operand, .. } = &update.op else { return false };
    let is_counter = fixed(*operand) == Some(1) && access.bytes == 4 && fixed(access.base).is_some();
    // Where no other step accesses the counter, and it is one for all threads that access the variable.
    let variable = |at| world.spirv().and_then(|spirv| *spirv.roots.get(&at)?);
    let is_one_for_all = variable(counter).is_some_and(|number| {
        world.spirv().is_some_and(|spirv| {
            let is_buffer = matches!(spirv.variables()[number].place, Place::Buffer(_));
            (is_buffer || spirv.shape.workgroups == [1; 3]) && all_atomic(world, number, &[counter])
        }) && accesses(world, number).is_some_and(|all| all == [counter])
    });
    is_counter && is_one_for_all && kernel.steps[counter].guard.reg == NO_REG
}
