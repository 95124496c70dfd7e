//! Functions as values (PTX ISA 8.8, 9.7.12.4 "call", 9.7.9.22 "mov"): their addresses, and those that a call by
//! address may reach.

use std::collections::HashSet;

use super::statement::{Entry, Function, Operand, Statement, Text};
use crate::address::FUNCTION_WINDOW;

/// The distance of two functions' addresses.
const DISTANCE: u64 = 16;

/// The address of a function, at which there is no memory; `None` where the module has no function of that name.
pub fn address(text: &Text, name: &str) -> Option<u64> {
    let number = text.functions.iter().position(|function| function.name == name && function.body.is_some())?;
    Some(FUNCTION_WINDOW + DISTANCE * (number as u64 + 1))
}

/// The names of the functions that a module has, with their addresses.
pub fn addresses(text: &Text) -> impl Iterator<Item = (&str, u64)> {
    let names = text.functions.iter().map(|function| function.name.as_str());
    names.filter_map(|name| Some((name, address(text, name)?)))
}

/// The functions whose address something takes: a variable's first contents, or an instruction.
pub fn taken(text: &Text) -> HashSet<&str> {
    let mut all = HashSet::new();
    let tables = text.variables.iter().flat_map(|variable| &variable.addresses);
    all.extend(tables.map(|(_, name, _)| name.as_str()));
    let kernels = text.entries.iter().map(|Entry { body, .. }| body);
    let functions = text.functions.iter().filter_map(|function| function.body.as_ref());
    kernels.chain(functions).for_each(|body| moved(body, &mut all));
    all
}

/// The names that are operands of moves.
fn moved<'t>(body: &'t [Statement], all: &mut HashSet<&'t str>) {
    for statement in body {
        match statement {
            Statement::Instruction(instruction) if instruction.opcode.starts_with("mov.") => {
                if let Some(Operand::Name(name)) = instruction.operands.get(1) {
                    all.insert(name);
                }
            }
            Statement::Scope(within) => moved(within, all),
            Statement::Instruction(_)
            | Statement::Register { .. }
            | Statement::Variable(_)
            | Statement::Targets { .. }
            | Statement::Label(..)
            | Statement::Loc(_) => {}
        }
    }
}

/// Whether a function takes and returns values of these sizes in bytes.
pub fn fits(function: &Function, results: &[u64], arguments: &[u64]) -> bool {
    let sizes =
        |declared: &[super::statement::Variable]| declared.iter().map(|variable| variable.bytes).collect::<Vec<_>>();
    sizes(&function.results) == results && sizes(&function.params) == arguments
}
