//! The places of variables: those of a module, and the parameters and variables of a kernel.

use std::collections::HashMap;

use super::names::Names;
use crate::Refused;
use crate::code::{Global, LocalVariable, Module, Parameter, PlacedVariable};
use crate::module::apart;
use crate::ptx::Parsed;
use crate::ptx::functions;
use crate::ptx::statement::{Entry, Statement, Text, Variable};
use crate::types::Space;

/// The most local memory of a thread in bytes, with that of functions once for each call.
const MOST_LOCAL: u64 = 4 << 20;

/// The alignment of each local variable's first byte among all that a thread has.
const LOCAL_ALIGN: u64 = 16;

/// The distance between two parameters, which are variables too (PTX ISA 8.8, 5.1.6.1 "Kernel Function Parameters").
const PARAMETER_GAP: u64 = 512;

/// The addresses of the module's variables.
#[derive(Clone, Default)]
pub(super) struct VariableLayout {
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
    pub fn without_a_place(&self, variable: &Variable, text: &Text) -> Option<String> {
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

    /// Gives a variable its place, and puts it into the module.
    pub fn place(&mut self, variable: &Variable, globals: &HashMap<String, u64>, image: &mut Module) -> Parsed<()> {
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

    /// Records that a variable has no place, and why.
    pub fn has_no_place(&mut self, variable: &Variable, why: String) {
        self.unusable.push((variable.name.clone(), why));
    }

    /// The names that a kernel begins with: those of the module's variables and functions.
    pub fn names(&self, entry: &Entry, text: &Text) -> Parsed<Names> {
        let mut names = Names::default();
        names.line = entry.line;
        names.unusable = self.unusable.iter().cloned().collect();
        for (name, space, address) in &self.variables {
            names.declare_variable(name, *space, *address)?;
        }
        for (name, address) in functions::addresses(text) {
            names.declare_variable(name, Space::Global, address)?;
        }
        Ok(names)
    }
}

/// A variable with the addresses among its initial bytes.
pub(super) fn filled(variable: &Variable, address: impl Fn(&str) -> u64) -> Variable {
    let mut filled = variable.clone();
    for (at, to, offset) in &variable.addresses {
        let bytes = address(to).wrapping_add(*offset).to_le_bytes();
        filled.initial.iter_mut().skip(*at).zip(bytes).for_each(|(byte, of)| *byte = of);
    }
    filled
}

/// The extent of variables in shared memory.
#[derive(Clone, Copy, Default)]
struct SharedLayout {
    /// The bytes that the variables take on a device, which leaves no gaps.
    bytes: u64,
    /// The end of the last variable as they lie here.
    end: u64,
}

impl SharedLayout {
    /// Places a variable behind the others; returns its address.
    fn place(&mut self, variable: &Variable) -> u64 {
        self.bytes = self.bytes.next_multiple_of(variable.align) + variable.bytes;
        let at = self.next(variable.align);
        self.end = at + variable.bytes;
        at
    }

    /// The address of the next variable.
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

/// Places the parameters of a kernel, which get names; returns them with the size of the parameter space.
pub(super) fn parameters(entry: &Entry, text: &Text, names: &mut Names) -> Parsed<(Vec<Parameter>, u64)> {
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
    Ok((params, param_bytes))
}

/// The variables of a kernel, with those of the module that its blocks have a copy of.
#[derive(Default)]
pub(super) struct KernelVariables {
    /// The variables in a block's shared memory.
    pub shared: Vec<PlacedVariable>,
    /// The size of a block's shared memory in bytes, without what the launch adds.
    pub shared_bytes: u64,
    /// The address of the shared memory whose size the launch says.
    pub dynamic_at: u64,
    /// The variables in a thread's local memory.
    pub local: Vec<LocalVariable>,
    /// The size of a thread's local memory in bytes.
    pub local_bytes: u64,
}

impl KernelVariables {
    /// Places the variables of a kernel's body, which get names.
    pub fn of(
        body: &[Statement],
        entry: &Entry,
        text: &Text,
        module: &VariableLayout,
        names: &mut Names,
    ) -> Parsed<KernelVariables> {
        let mut all = KernelVariables::default();
        let of_module = |name: &str| text.variables.iter().find(|variable| variable.name == *name);
        for (name, _, at) in module.variables.iter().filter(|(_, space, _)| *space == Space::Shared) {
            all.shared.extend(of_module(name).map(|variable| placed(variable, *at)));
        }
        let mut shared = module.shared;
        for statement in body {
            let Statement::Variable(variable) = statement else { continue };
            names.line = variable.line;
            let at = match variable.space {
                Space::Shared => {
                    let at = shared.place(variable);
                    all.shared.push(placed(variable, at));
                    at
                }
                Space::Generic | Space::Global | Space::Local | Space::Param | Space::Const => {
                    all.place_local(variable, names)?
                }
            };
            names.declare_variable(&variable.name, variable.space, at)?;
        }
        if shared.bytes > 48 << 10 {
            let bytes = shared.bytes;
            return names.fail(format!("Entry function '{}' uses too much shared data ({bytes:#x} bytes)", entry.name));
        }
        let align = module.dynamic.iter().map(|(_, align)| *align).max().unwrap_or(1);
        all.shared_bytes = shared.bytes.next_multiple_of(align);
        all.dynamic_at = if module.dynamic.is_empty() { shared.end } else { shared.next(align) };
        for (name, _) in &module.dynamic {
            names.declare_variable(name, Space::Shared, all.dynamic_at)?;
            all.shared.extend(of_module(name).map(|variable| placed(variable, all.dynamic_at)));
        }
        Ok(all)
    }

    /// Places a variable in local memory behind the others; returns its address. Refused if a thread would have too
    /// much of it.
    fn place_local(&mut self, variable: &Variable, names: &Names) -> Parsed<u64> {
        if variable.bytes > MOST_LOCAL.saturating_sub(self.local_bytes) {
            let name = &variable.name;
            return names.fail(format!(
                "with '{name}' a thread has more than {MOST_LOCAL} bytes of local memory, that of functions once \
                 for each call, which are not read (a device gives 524288 at once: CUDA C++ Programming Guide, \
                 \"Technical Specifications per Compute Capability\")"
            ));
        }
        let end = self.local.last().map_or(0, |last| last.variable.at + last.variable.bytes.unwrap_or(0));
        let at = apart(end, variable.align);
        self.local.push(LocalVariable { variable: placed(variable, at), first: self.local_bytes });
        self.local_bytes = (self.local_bytes + variable.bytes).next_multiple_of(LOCAL_ALIGN);
        Ok(at)
    }
}
