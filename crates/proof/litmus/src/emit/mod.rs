//! Writes launches as litmus files: the lowered form of kernels, so that other tools can judge it too.
//!
//! A thread is run with the values of its reads unknown, as in the search, and each of its actions becomes an
//! instruction. Where control or an address needs a value, the code branches on the register that holds it: one way for
//! each value that the place ever has in any execution. A state that comes back at the head of a loop is a jump, so a
//! loop that waits is a loop; one that counts is unrolled. Whatever is stored is computed from the registers that it
//! depends on, and from no others, so dependencies are the kernel's own; only an address that depends on a read, which
//! litmus files cannot write, becomes a branch, and so a dependency of all that follows.
//!
//! The file holds the executions that the target's model gives the launches. Under a weaker model a read may return a
//! value without a branch; it then takes the branch of some other value.

mod error;
mod function;
mod seen;
mod shape;
mod trace;

use std::collections::BTreeSet;

use wattle_check::checker::Report;
use wattle_check::program::World as Launches;
use wattle_check::search::{Address, Limits};
use wattle_ir::Type;
use wattle_memory::{Level, LocationId, Placement, Target, ThreadId};

pub use error::EmitError;

use crate::condition::{Claim, Comparison, Condition, Observed, Quantifier, Term};
use crate::program::{Dialect, Instruction, Operand, Origin, Program, Reference, Register, Thread};

/// The bounds of the search for a file.
#[derive(Clone, Debug)]
pub struct EmitOptions {
    /// The maximum number of iterations of a loop that changes something each time.
    pub loop_bound: u32,
    /// The maximum number of instructions of a thread before equal ones are shared.
    pub most_instructions: usize,
    /// The maximum number of outcomes listed in the file's claim.
    pub most_outcomes: usize,
    /// The limits at which the search stops.
    pub limits: Limits,
}

impl Default for EmitOptions {
    fn default() -> EmitOptions {
        EmitOptions { loop_bound: 8, most_instructions: 20_000, most_outcomes: 64, limits: Limits::default() }
    }
}

/// Writes launches that run at the same time as a litmus program. It claims that every end of a run leaves one of the
/// memories that the launches leave; where these are too many to be listed, that each place holds one of its values.
///
/// # Errors
/// The launches were lowered for another target than the dialect's, or do what a litmus file cannot express.
pub fn emit(launches: &Launches, dialect: Dialect, options: &EmitOptions) -> Result<Program, EmitError> {
    let target = target(launches, dialect)?;
    if let Some(launch) = launches.launches.iter().find(|launch| !launch.after.is_empty()) {
        return Err(EmitError::Sequence { kernel: launch.program.kernel().name.to_string() });
    }
    let seen = seen::see(launches, target.model(), options)?;
    let spawned = launches.threads()?;
    let mut addresses = Vec::new();
    let mut threads = Vec::new();
    let mut faults = false;
    for (number, spawn) in spawned.into_iter().enumerate() {
        let tracer = trace::Tracer::new(launches, &seen, dialect, number, options.most_instructions, &mut addresses);
        let traced = tracer.trace(spawn.process)?;
        faults |= traced.faults;
        let (code, labels) = shape::write(traced.nodes, traced.start);
        let registers = (0..registers(&code)).map(|number| Register { name: format!("r{number}"), initial: 0 });
        let placement = placement(spawn.placement, number, dialect);
        threads.push(Thread { placement, registers: registers.collect(), code, labels });
    }
    hold_barriers(&mut threads);
    let kernels: Vec<String> = launches.launches.iter().map(|it| it.program.kernel().name.to_string()).collect();
    let shapes = launches.launches.iter().zip(&kernels).map(|(launch, kernel)| {
        let shape = launch.environment.shape;
        if launch.host {
            return format!("{kernel} on the host");
        }
        format!("{kernel}, blocks: {}, threads per block: {}", shape.blocks(), shape.threads_per_block())
    });
    let mut description = vec![format!("written by Wattle for {target}: {}", shapes.collect::<Vec<_>>().join("; "))];
    if faults {
        description.push("a failed assertion or an index out of bounds is left out, as such an access is".into());
    }
    let outcomes = seen.outcomes(launches, &written(&threads, &addresses));
    let claim = claim(&outcomes, &addresses, options.most_outcomes);
    if outcomes.len() > options.most_outcomes {
        description
            .push(format!("runs leave {} memories; it claims of each place alone what it may hold", outcomes.len()));
    }
    Ok(Program {
        dialect,
        name: kernels.join("+").replace(|c: char| !c.is_alphanumeric() && !"_+-".contains(c), "_"),
        description,
        locations: addresses.iter().map(|&address| seen.initial(launches, address)).collect(),
        references: references(launches, &addresses),
        system: Vec::new(),
        threads,
        filter: None,
        claim,
        origin: Origin::default(),
    })
}

/// Writes each group of launches that a check searched as a litmus program: one for each phase of the scenario, and for
/// each memory that the phases before it can leave. Equal programs are written once.
///
/// # Errors
/// As [`emit`]; a check of another target gives launches that are lowered for that.
pub fn emit_scenario(report: &Report, dialect: Dialect, options: &EmitOptions) -> Result<Vec<Program>, EmitError> {
    let mut programs: Vec<Program> = Vec::new();
    for launches in &report.launches {
        let program = emit(launches, dialect, options)?;
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    let several = programs.len() > 1;
    for (number, program) in programs.iter_mut().enumerate().filter(|_| several) {
        program.name = format!("{}-{}", program.name, number + 1);
    }
    Ok(programs)
}

/// The target that all launches are lowered for, if the dialect can express it.
fn target(launches: &Launches, dialect: Dialect) -> Result<Target, EmitError> {
    let target = launches.launches.first().map_or(Target::Portable, |launch| launch.lowering.target());
    match (dialect, target) {
        (Dialect::Ptx, Target::Ptx { .. }) | (Dialect::Vulkan, Target::Vulkan) => Ok(target),
        _ => Err(EmitError::Target { target, dialect }),
    }
}

fn placement(at: Placement, number: ThreadId, dialect: Dialect) -> Placement {
    let device = match dialect {
        Dialect::Ptx if at.device == Placement::HOST => 1,
        _ => 0,
    };
    Placement { device, block: at.block, ..Placement::new(0, number as u32) }
}

/// The number of registers that a thread's code names.
fn registers(code: &[Instruction]) -> usize {
    let mut count = 0;
    for instruction in code {
        for register in function::named(instruction) {
            count = count.max(register + 1);
        }
    }
    count
}

/// Makes each barrier wait for all threads of its block, though some have no instruction for it.
fn hold_barriers(threads: &mut [Thread]) {
    let instances = |thread: &Thread| -> Vec<u64> {
        let instance = |instruction: &Instruction| match instruction {
            Instruction::Barrier { instance, .. } => Some(*instance),
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Update { .. }
            | Instruction::Fence(_)
            | Instruction::Move { .. }
            | Instruction::Compute { .. }
            | Instruction::Branch { .. }
            | Instruction::Goto(_) => None,
        };
        thread.code.iter().filter_map(instance).collect()
    };
    let known: Vec<(Placement, Vec<u64>)> = threads.iter().map(|it| (it.placement, instances(it))).collect();
    for thread in threads {
        let mates = || known.iter().filter(|(other, _)| other.shares(&thread.placement, Level::Block));
        let all = mates().count();
        for instruction in &mut thread.code {
            let Instruction::Barrier { instance, resource, quorum, .. } = instruction else { continue };
            if mates().filter(|(_, theirs)| theirs.contains(instance)).count() < all {
                *resource = Some(Operand::Constant(*instance));
                *quorum = Some(Operand::Constant(all as u64));
            }
        }
    }
}

/// A name for each place, derived from the kernel's name for it.
fn references(launches: &Launches, addresses: &[Address]) -> Vec<Reference> {
    let mut names: Vec<String> = Vec::new();
    for &address in addresses {
        let known = |&launch: &usize| {
            let arguments = &launches.launches[launch].environment.arguments;
            arguments.iter().filter_map(|argument| argument.view()).any(|view| view.memory == address.memory.into())
        };
        let launch = (0..launches.launches.len()).find(known);
        let name = match launch {
            Some(launch) => launches.address_name(launch, address),
            None if Launches::is_shared(address.memory) => format!("block_{:x}_{}", address.memory, address.element),
            None => "hidden_0".to_owned(),
        };
        let mut name = name.replace('[', "_").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "");
        while names.contains(&name) {
            name.push('x');
        }
        names.push(name);
    }
    names.into_iter().enumerate().map(|(location, name)| Reference { name, location }).collect()
}

/// The places that some thread's code writes, whether or not it is ever reached.
fn written(threads: &[Thread], addresses: &[Address]) -> Vec<Address> {
    let writes = |instruction: &Instruction| addresses.get(instruction.written()?).copied();
    let written: BTreeSet<Address> = threads.iter().flat_map(|thread| thread.code.iter().filter_map(writes)).collect();
    written.into_iter().collect()
}

/// The claim that the end of a run is one of these. Where they are too many, it is that each place has one of its
/// values, of those places that have few, and at the least what is always so: a file has to claim something. `None`
/// without a place.
fn claim(outcomes: &BTreeSet<Vec<(Address, u64)>>, addresses: &[Address], most: usize) -> Option<Claim> {
    let place = |address: Address| {
        let location: LocationId = addresses.iter().position(|&known| known == address)?;
        Some(Term::Final(Observed::Memory(location)))
    };
    let equal = |&(address, value): &(Address, u64)| {
        Some(Condition::Compare(place(address)?, Comparison::Equal, Term::Constant(value)))
    };
    let one = |outcome: &Vec<(Address, u64)>| outcome.iter().filter_map(equal).reduce(Condition::and);
    let values_of = |&address: &Address| {
        let values: BTreeSet<_> = outcomes.iter().flatten().filter(|(of, _)| *of == address).collect();
        let condition = values.iter().copied().filter_map(equal).reduce(Condition::or);
        condition.filter(|_| values.len() <= most)
    };
    let always =
        || Some(Condition::Compare(place(*addresses.first()?)?, Comparison::Equal, place(*addresses.first()?)?));
    let whole = (outcomes.len() <= most).then(|| outcomes.iter().filter_map(one).reduce(Condition::or)).flatten();
    let condition = whole.or_else(|| addresses.iter().filter_map(values_of).reduce(Condition::and)).or_else(always)?;
    Some(Claim { quantifier: Quantifier::Forall, condition })
}

/// The 64-bit type with which litmus files compute an operator.
fn litmus_type(op: wattle_ir::AtomicOp) -> Type {
    crate::process::operand_type(op)
}
