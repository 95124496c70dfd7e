//! Decodes statements into the flat form's instructions.

mod arithmetic;
mod bits;
mod compare;
mod control;
mod copies;
mod memory;
mod modifiers;
mod movement;
mod names;
mod refused;
mod warp;

use std::collections::HashMap;

use self::modifiers::Modifiers;
use self::names::Names;
use super::Limits;
use super::debug;
use super::parse::Parsed;
use super::statement::{Entry, Instruction, Operand, Statement, Text, Variable};
use super::{barriers, elements, functions, indexed, inline, matrices, products};
use crate::assigned;
use crate::code::{
    AtObject, Global, Guard, Kernel, LocalVariable, Module, NO_REG, Op, Parameter, PlacedVariable, Step,
};
use crate::module::apart;
use crate::types::{Space, Type};
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
            module.unusable.push((variable.name.clone(), why));
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

/// The addresses of the module's variables.
#[derive(Clone, Default)]
struct VariableLayout {
    variables: Vec<(String, Space, u64)>,
    shared: SharedLayout,
    dynamic: Vec<(String, u64)>,
    /// The end of the last variable in constant memory.
    constants_end: u64,
    /// The variables that have no place, and why: a kernel that does not name them needs none.
    unusable: Vec<(String, String)>,
}

impl VariableLayout {
    /// Why a variable cannot have a place here.
    fn without_a_place(&self, variable: &Variable, text: &Text) -> Option<String> {
        // A variable is declared before its address is taken, or it is the variable itself.
        let is_global =
            |to: &str| self.variables.iter().any(|(known, space, _)| known == to && *space == Space::Global);
        let of_data = |to: &str| variable.space == Space::Global && (to == variable.name || is_global(to));
        let is_known = |to: &str| functions::address(text, to).is_some() || of_data(to);
        let (_, to, _) = variable.addresses.iter().find(|(_, to, _)| !is_known(to))?;
        let name = &variable.name;
        Some(format!(
            "'{name}' holds the address of '{to}', and only addresses of functions, and of .global variables in .global \
             variables, are known here"
        ))
    }

    fn place(&mut self, variable: &Variable, globals: &HashMap<String, u64>, image: &mut Module) -> Parsed<()> {
        let name = variable.name.clone();
        if self.variables.iter().any(|(other, ..)| *other == name) {
            return Err(Refused::new(variable.line, format!("Duplicate definition of variable '{name}'")));
        }
        match variable.space {
            Space::Global => {
                let address = globals.get(&name).copied().unwrap_or(0);
                let initial = variable.initial.clone();
                let has_addresses = !variable.addresses.is_empty();
                image.globals.push(Global {
                    name: name.clone(),
                    ty: variable.ty,
                    bytes: variable.bytes,
                    initial,
                    has_addresses,
                });
                self.variables.push((name, Space::Global, address));
            }
            Space::Const => {
                let at = apart(self.constants_end, variable.align);
                self.constants_end = at + variable.bytes;
                image.constants.resize(at as usize, 0);
                image.constants.extend_from_slice(&variable.initial);
                image.constants.resize(self.constants_end as usize, 0);
                image.constant_variables.push(placed(variable, at));
                self.variables.push((name, Space::Const, at));
            }
            Space::Generic | Space::Shared | Space::Local | Space::Param if variable.dynamic => {
                self.dynamic.push((name, variable.align))
            }
            Space::Generic | Space::Shared | Space::Local | Space::Param => {
                let at = self.shared.place(variable);
                self.variables.push((name, Space::Shared, at));
            }
        }
        Ok(())
    }
}

/// A variable with the addresses among its initial bytes.
fn filled(variable: &Variable, address: impl Fn(&str) -> u64) -> Variable {
    let mut filled = variable.clone();
    for (at, to, offset) in &variable.addresses {
        let bytes = address(to).wrapping_add(*offset).to_le_bytes();
        filled.initial.iter_mut().skip(*at).zip(bytes).for_each(|(byte, of)| *byte = of);
    }
    filled
}

/// The most local memory of a thread in bytes, with that of functions once for each call.
const MOST_LOCAL: u64 = 4 << 20;

fn kernel(entry: &Entry, text: &Text, module: &VariableLayout) -> Parsed<Kernel> {
    if let Some(word) = entry.clusters {
        let why = format!("'{word}' makes clusters of several blocks, which are not known here");
        return Err(Refused::new(entry.line, why));
    }
    let body = indexed::expanded(inline::flat(entry, text)?)?;
    let body = elements::expanded(barriers::expanded(matrices::expanded(body)?)?)?;
    let mut names = Names::default();
    names.line = entry.line;
    names.unusable = module.unusable.iter().cloned().collect();
    for (name, space, address) in &module.variables {
        names.declare_variable(name, *space, *address)?;
    }
    for (name, address) in functions::addresses(text) {
        names.declare_variable(name, Space::Global, address)?;
    }
    let mut params = Vec::new();
    // What they take on a device, which leaves no gaps, and the end of the last one.
    let (mut bytes, mut param_bytes) = (0, 0);
    for param in &entry.params {
        names.line = param.line;
        let offset = u64::next_multiple_of(bytes, param.align);
        bytes = offset + param.bytes;
        let gap = if param_bytes > 0 { PARAMETER_GAP } else { 0 };
        let at = (param_bytes + gap).next_multiple_of(param.align);
        names.declare_variable(&param.name, Space::Param, at)?;
        params.push(Parameter { name: param.name.clone(), ty: param.ty, offset, at, bytes: param.bytes });
        param_bytes = at + param.bytes;
    }
    if bytes > 4352 && (text.sm < 70 || text.version < (8, 1)) || bytes > 32764 {
        return names.fail("Formal parameter space overflowed");
    }
    let (mut shared, mut local_end, mut local) = (module.shared, 0, 0);
    let (mut shared_variables, mut local_variables) = (Vec::new(), Vec::new());
    for (name, _, at) in module.variables.iter().filter(|(_, space, _)| *space == Space::Shared) {
        let declared = text.variables.iter().find(|variable| variable.name == *name);
        shared_variables.extend(declared.map(|variable| placed(variable, *at)));
    }
    for statement in &*body {
        let Statement::Variable(variable) = statement else { continue };
        names.line = variable.line;
        let at = match variable.space {
            Space::Shared => shared.place(variable),
            Space::Generic | Space::Global | Space::Local | Space::Param | Space::Const => {
                if variable.bytes > MOST_LOCAL.saturating_sub(local) {
                    let name = &variable.name;
                    return names.fail(format!(
                        "with '{name}' a thread has more than {MOST_LOCAL} bytes of local memory, that of functions once \
                         for each call, which are not read (a device gives 524288 at once: CUDA C++ Programming Guide, \
                         \"Technical Specifications per Compute Capability\")"
                    ));
                }
                let at = apart(local_end, variable.align);
                local_end = at + variable.bytes;
                local_variables.push(LocalVariable { variable: placed(variable, at), first: local });
                local = (local + variable.bytes).next_multiple_of(LOCAL_ALIGN);
                at
            }
        };
        names.declare_variable(&variable.name, variable.space, at)?;
        shared_variables.extend((variable.space == Space::Shared).then(|| placed(variable, at)));
    }
    if shared.bytes > 48 << 10 {
        let bytes = shared.bytes;
        return names.fail(format!("Entry function '{}' uses too much shared data ({bytes:#x} bytes)", entry.name));
    }
    let align = module.dynamic.iter().map(|(_, align)| *align).max().unwrap_or(1);
    let dynamic_at = if module.dynamic.is_empty() { shared.end } else { shared.next(align) };
    for (name, _) in &module.dynamic {
        names.declare_variable(name, Space::Shared, dynamic_at)?;
        let declared = text.variables.iter().find(|variable| variable.name == *name);
        shared_variables.extend(declared.map(|variable| placed(variable, dynamic_at)));
    }
    let labels = labels(&body)?;
    let target = DeclaredTarget { sm: text.sm, version: text.version };
    let mut places = debug::Places::of(&text.files);
    let (mut steps, mut lines, mut sources, mut at) = (Vec::new(), Vec::new(), Vec::new(), None);
    for statement in &*body {
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
                let step = step(instruction, &mut names, &labels, &target);
                steps.push(step.map_err(|refused| Refused { instruction: instruction.text.clone(), ..refused })?);
                lines.push(instruction.line);
                sources.push(at.clone());
            }
            Statement::Loc(loc) => at = Some(places.source(loc)?),
            Statement::Variable(_) | Statement::Label(..) | Statement::Targets { .. } | Statement::Scope(_) => {}
        }
    }
    // A body without a final return returns at its end (9.7.12.5).
    steps.push(Step { guard: Guard { reg: NO_REG, negated: false }, op: Op::Exit });
    lines.push(lines.last().copied().unwrap_or(entry.line));
    sources.push(at);
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
        shared: shared.bytes.next_multiple_of(align),
        shared_variables,
        dynamic_at,
        local,
        local_variables,
        loops: Vec::new(),
        all_assigned,
    })
}

/// What the first bytes of a thread's local variables are numbers of times of.
const LOCAL_ALIGN: u64 = 16;

/// The distance between two parameters, which are variables too (PTX ISA 8.8, 5.1.6.1 "Kernel Function Parameters").
const PARAMETER_GAP: u64 = 512;

/// Where the variables of shared memory lie.
#[derive(Clone, Copy, Default)]
struct SharedLayout {
    /// What they take on a device, which leaves no gaps.
    bytes: u64,
    /// The end of the last one.
    end: u64,
}

impl SharedLayout {
    fn place(&mut self, variable: &Variable) -> u64 {
        self.bytes = self.bytes.next_multiple_of(variable.align) + variable.bytes;
        let at = self.next(variable.align);
        self.end = at + variable.bytes;
        at
    }

    /// The place of the next variable.
    fn next(&self, align: u64) -> u64 {
        apart(self.end, align)
    }
}

fn placed(variable: &Variable, at: u64) -> PlacedVariable {
    let item = u64::from(variable.ty.bits).div_ceil(8);
    PlacedVariable {
        name: variable.name.clone(),
        at,
        bytes: (!variable.dynamic).then_some(variable.bytes),
        item: Some(item).filter(|&item| item > 1),
        ty: variable.ty,
        has_value: !variable.initial.is_empty(),
    }
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
