//! Decodes statements into the flat form's instructions.

mod arithmetic;
mod bits;
mod compare;
mod control;
mod copies;
mod layout;
mod memory;
mod modifiers;
mod movement;
mod names;
mod refused;
mod warp;

use std::collections::HashMap;

use self::layout::{KernelVariables, VariableLayout, filled};
use self::modifiers::Modifiers;
use self::names::Names;
use super::Limits;
use super::Parsed;
use super::debug;
use super::statement::{Entry, Instruction, Operand, Statement, Text};
use super::{barriers, elements, functions, indexed, inline, matrices, products};
use crate::assigned;
use crate::code::{AtObject, Guard, Kernel, Module, NO_REG, Op, Source, Step};
use crate::types::Type;
use crate::{Refused, RefusedKind};

/// The target and version that the text declares.
pub(crate) struct DeclaredTarget {
    sm: u32,
    version: (u32, u32),
}

impl DeclaredTarget {
    /// Refuses a modifier that needs a higher target or version.
    fn needs(&self, m: &Modifiers<'_>, sm: u32, version: (u32, u32), what: &str) -> Parsed<()> {
        if self.sm < sm {
            return m.fail(format!("{what} of '{}' requires .target sm_{sm} or higher", m.name));
        }
        if self.version < version {
            let (major, minor) = version;
            return m.fail(format!("{what} of '{}' requires PTX ISA .version {major}.{minor} or later", m.name));
        }
        Ok(())
    }
}

/// Decodes a module: the kernel that `asked` names, if there is one of that name, or all. `globals` holds the addresses
/// of its `.global` variables. What is to be done about a kernel that is refused, `of_refused` says.
pub fn decode(
    text: &Text,
    limits: Limits,
    globals: &HashMap<String, u64>,
    asked: Option<&str>,
    of_refused: &mut dyn FnMut(&str, Refused) -> Parsed<()>,
) -> Parsed<Module> {
    let refused = |kind, message| Refused { kind, ..Refused::new(1, message) };
    let ((major, minor), (most_major, most_minor)) = (text.version, limits.version);
    if text.version > limits.version {
        let message = format!("Unsupported .version {major}.{minor}; current version is '{most_major}.{most_minor}'");
        return Err(refused(RefusedKind::Version, message));
    }
    if text.sm > limits.sm {
        let message = format!(".target sm_{} is greater than the device's sm_{}", text.sm, limits.sm);
        return Err(refused(RefusedKind::Target, message));
    }
    let mut module = VariableLayout::default();
    let (sm, version) = (text.sm, text.version);
    let mut image = Module { sm, version, ..Module::default() };
    for variable in &text.variables {
        if let Some(why) = module.without_a_place(variable, text) {
            module.has_no_place(variable, why);
            continue;
        }
        let addresses = |to: &str| functions::address(text, to).or_else(|| globals.get(to).copied()).unwrap_or(0);
        module.place(&filled(variable, addresses), globals, &mut image)?;
    }
    let asked = asked.filter(|&asked| text.entries.iter().any(|entry| entry.name == asked));
    for entry in text.entries.iter().filter(|entry| asked.is_none_or(|asked| entry.name == asked)) {
        if image.kernels.iter().any(|kernel| kernel.name == entry.name) {
            return Err(Refused::new(entry.line, format!("Duplicate definition of function '{}'", entry.name)));
        }
        match kernel(entry, text, &module) {
            Ok(kernel) => image.kernels.push(kernel),
            Err(refused) => of_refused(&entry.name, refused)?,
        }
    }
    Ok(image)
}

/// Decodes a kernel of a module whose variables have these places.
fn kernel(entry: &Entry, text: &Text, module: &VariableLayout) -> Parsed<Kernel> {
    if let Some(word) = entry.clusters {
        let why = format!("'{word}' makes clusters of several blocks: {}", refused::CLUSTERS);
        return Err(Refused::new(entry.line, why));
    }
    let body = indexed::expanded(inline::flat(entry, text)?)?;
    let body = elements::expanded(barriers::expanded(matrices::expanded(body)?)?)?;
    let mut names = module.names(entry, text)?;
    let (params, param_bytes) = layout::parameters(entry, text, &mut names)?;
    let variables = KernelVariables::of(&body, entry, text, module, &mut names)?;
    let Instructions { steps, lines, sources } = instructions(&body, entry, text, &mut names)?;
    let registers = names.slots.into_inner();
    let all_assigned = assigned::all_assigned(&steps, registers.len());
    Ok(Kernel {
        name: entry.name.clone(),
        params,
        param_bytes,
        most_threads: entry.most_threads,
        exact_threads: entry.exact_threads,
        steps,
        lines,
        sources,
        constants: names.constants,
        registers,
        shared: variables.shared_bytes,
        shared_variables: variables.shared,
        dynamic_at: variables.dynamic_at,
        local: variables.local_bytes,
        local_variables: variables.local,
        loops: Vec::new(),
        all_assigned,
    })
}

/// The instructions of a kernel, each with its line, and with its place in the source where `.loc` names one.
#[derive(Default)]
struct Instructions {
    steps: Vec<Step>,
    lines: Vec<u32>,
    sources: Vec<Option<Source>>,
}

/// Decodes the instructions of a body, whose registers it declares.
fn instructions(body: &[Statement], entry: &Entry, text: &Text, names: &mut Names) -> Parsed<Instructions> {
    let labels = labels(body)?;
    let target = DeclaredTarget { sm: text.sm, version: text.version };
    let mut places = debug::Places::of(&text.files);
    let (mut all, mut at) = (Instructions::default(), None);
    for statement in body {
        match statement {
            Statement::Register { ty, line, .. } if ty.bits > 64 => {
                let why = refused::why_not("reg", "b128").unwrap_or_default();
                return Err(Refused::new(*line, format!("registers of type {ty} are not supported: {why}")));
            }
            Statement::Register { ty, name, count, line } => {
                names.line = *line;
                names.declare(name, *count, *ty)?;
            }
            Statement::Instruction(instruction) => {
                names.line = instruction.line;
                let step = step(instruction, names, &labels, &target);
                all.steps.push(step.map_err(|refused| Refused { instruction: instruction.text.clone(), ..refused })?);
                all.lines.push(instruction.line);
                all.sources.push(at.clone());
            }
            Statement::Loc(loc) => at = Some(places.source(loc)?),
            Statement::Variable(_) | Statement::Label(..) | Statement::Targets { .. } | Statement::Scope(_) => {}
        }
    }
    // A body without a final return returns at its end (9.7.12.5).
    all.steps.push(Step { guard: Guard { reg: NO_REG, negated: false }, op: Op::Exit });
    all.lines.push(all.lines.last().copied().unwrap_or(entry.line));
    all.sources.push(at);
    Ok(all)
}

/// The labels of a body, each with the number of the instruction behind it.
fn labels(body: &[Statement]) -> Parsed<HashMap<&str, u32>> {
    let mut labels = HashMap::new();
    let mut at = 0;
    for statement in body {
        match statement {
            Statement::Instruction(_) => at += 1,
            Statement::Label(name, line) => {
                if labels.insert(name.as_str(), at).is_some() {
                    return Err(Refused::new(*line, format!("Duplicate definition of label '{name}'")));
                }
            }
            Statement::Register { .. }
            | Statement::Variable(_)
            | Statement::Loc(_)
            | Statement::Targets { .. }
            | Statement::Scope(_) => {}
        }
    }
    Ok(labels)
}

/// The operands, if their number is right for the instruction.
pub(crate) fn operands<'a, const N: usize>(names: &Names, list: &'a [Operand]) -> Parsed<[&'a Operand; N]> {
    let found: Vec<&Operand> = list.iter().collect();
    match found.try_into() {
        Ok(operands) => Ok(operands),
        Err(_) => names.fail(format!("Incorrect number of operands: {} instead of {N}", list.len())),
    }
}

fn step(of: &Instruction, names: &mut Names, labels: &HashMap<&str, u32>, target: &DeclaredTarget) -> Parsed<Step> {
    let guard = match &of.guard {
        None => Guard { reg: NO_REG, negated: false },
        Some((name, negated)) => Guard { reg: names.reg(&Operand::Name(name.clone()), Type::PRED)?, negated: *negated },
    };
    let mut modifiers = Modifiers::of(&of.opcode, of.line);
    let m = &mut modifiers;
    let list = of.operands.as_slice();
    let op = match m.name {
        "add" | "sub" | "mul" | "div" | "rem" | "min" | "max" => arithmetic::two(m, names, list)?,
        "addc" | "subc" => arithmetic::carry(m, names, list, false)?,
        "mad" | "fma" => arithmetic::mad(m, names, list)?,
        "neg" | "abs" | "sqrt" | "rcp" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => {
            arithmetic::one(m, names, list)?
        }
        "copysign" => arithmetic::copysign(m, names, list)?,
        "and" | "or" | "xor" | "not" | "cnot" => arithmetic::logic(m, names, list)?,
        "shl" | "shr" => arithmetic::shift(m, names, list)?,
        "madc" => arithmetic::madc(m, names, list)?,
        "popc" | "clz" | "brev" | "bfind" => bits::count(m, names, list)?,
        "bfe" => bits::extract(m, names, list)?,
        "bfi" => bits::insert(m, names, list)?,
        "shf" => bits::funnel(m, names, list)?,
        "lop3" => bits::lop3(m, names, list)?,
        "prmt" => bits::permute(m, names, list)?,
        "dp4a" | "dp2a" => bits::dot(m, names, list)?,
        "mul24" | "mad24" => bits::product24(m, names, list)?,
        "sad" => bits::distance(m, names, list)?,
        "bmsk" => bits::mask(m, names, list)?,
        "szext" => bits::extend(m, names, list)?,
        "fns" => bits::nth(m, names, list)?,
        "set" => compare::set(m, names, list)?,
        "slct" => compare::slct(m, names, list)?,
        "setp" => compare::setp(m, names, list)?,
        "selp" => compare::selp(m, names, list)?,
        "testp" => compare::testp(m, names, list)?,
        "cvt" if m.peek() == Some("pack") => bits::pack(m, names, list, target)?,
        "cvt" => compare::cvt(m, names, list)?,
        "mov" => movement::mov(m, names, list)?,
        "cvta" => movement::cvta(m, names, list)?,
        "isspacep" => movement::isspacep(m, names, list)?,
        "ld" => memory::ld(m, names, list, target)?,
        "st" => memory::st(m, names, list, target)?,
        "atom" | "red" => memory::atomic(m, names, list, target)?,
        "fence" | "membar" => memory::fence(m, names, list, target)?,
        "cp" => copies::copy(m, names, list, target)?,
        barriers::ARRIVES => copies::at_object(m, names, list, AtObject::Arrives)?,
        "shfl" => warp::shfl(m, names, list)?,
        "vote" => warp::vote(m, names, list)?,
        "match" => warp::matching(m, names, list, target)?,
        "elect" => warp::elect(m, names, list, target)?,
        "activemask" => warp::active(m, names, list, target)?,
        "redux" => warp::redux(m, names, list, target)?,
        "bar" | "barrier" => control::barrier(m, names, list)?,
        "ret" | "exit" | "trap" | "nanosleep" => control::simple(m, names, list)?,
        "bra" => {
            m.has("uni");
            m.end()?;
            match list {
                [Operand::Name(label)] => match labels.get(label.as_str()) {
                    Some(&target) => Op::Branch { target },
                    None => return names.fail(format!("Unknown symbol '{label}'")),
                },
                _ => return names.fail("'bra' needs a label"),
            }
        }
        "prefetch" | "prefetchu" | "applypriority" | "pmevent" | "createpolicy" => memory::hint(m, names, list)?,
        inline::FAILED_ASSERTION => Op::Trap("an assertion has failed"),
        products::SUM => arithmetic::open_sum(names, list)?,
        inline::BEYOND_TARGETS => Op::Trap("an index beyond the targets of its branch, which is undefined"),
        inline::NO_FUNCTION => {
            Op::Trap("a call of an address at which no function of its type begins, which is undefined")
        }
        name => match barriers::WRONG.iter().find(|(instruction, _)| *instruction == name) {
            Some((_, what)) => Op::Trap(what),
            None => return m.fail(refused::why(name)),
        },
    };
    Ok(Step { guard, op })
}
