//! Functions in the place of their calls (PTX ISA 7 "Abstracting the ABI", 9.7.12.4 "call"), and scopes within bodies.
//!
//! Each call gets a copy of the function's statements with names of its own: `f#3%r1` is the register `%r1` of `f` in
//! the third copy. A `.param` variable of a body, through which a call passes values, is memory of the thread, which
//! the caller and the copy name alike. A function's shared variables are one for all copies.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::Parsed;
use super::functions;
use super::statement::{Entry, Function, Instruction, Loc, Operand, Position, Statement, Text, Variable};
use crate::Refused;
use crate::refused::MOST_CALLS;
use crate::types::{Space, Type};

/// The opcodes of instructions that no text has, since a space is in them: what a call of `__assertfail` is, and what
/// stands behind the branches of a `brx.idx` and behind the functions that a call by address may reach.
pub const FAILED_ASSERTION: &str = "failed assertion";
pub const BEYOND_TARGETS: &str = "beyond targets";
pub const NO_FUNCTION: &str = "no function";

/// The functions of the CUDA runtime that a module may call without having them (CUDA C++ Programming Guide, 10.34
/// "Assertion", 10.35 "Formatted Output"), and what stands in the place of their calls: printing has no effect on
/// memory that threads share, and what it returns is left unwritten.
const RUNTIME: [(&str, Option<&str>); 2] = [("__assertfail", Some(FAILED_ASSERTION)), ("vprintf", None)];

/// Why something that a call is given is none that it can be given.
const NOT_PASSED: &str = "what a call is given are .param variables of its body";

/// The most statements of a kernel, functions in the place of their calls.
const MOST_STATEMENTS: usize = 1 << 19;

/// A kernel without calls and scopes.
pub fn flat<'e>(entry: &'e Entry, text: &Text) -> Parsed<Cow<'e, [Statement]>> {
    let is_flat = |statement: &Statement| match statement {
        Statement::Scope(_) => false,
        Statement::Instruction(instruction) => !is_call(instruction),
        Statement::Variable(variable) => variable.space != Space::Param,
        Statement::Register { .. } | Statement::Label(..) | Statement::Targets { .. } | Statement::Loc(_) => true,
    };
    if entry.body.iter().all(is_flat) {
        return Ok(Cow::Borrowed(&entry.body));
    }
    let mut inliner = Inliner {
        text,
        out: Vec::new(),
        copies: 0,
        open: Vec::new(),
        passed: HashSet::new(),
        here: None,
        called_at: None,
    };
    // The kernel's own names stay, so that reports show them.
    let kept = Names::default();
    inliner.body(&entry.body, &mut vec![kept], None)?;
    Ok(Cow::Owned(inliner.out))
}

fn is_call(instruction: &Instruction) -> bool {
    instruction.opcode.split('.').next() == Some("call")
}

/// The names that a body or a scope declares, and what they are in the kernel.
#[derive(Default)]
struct Names {
    whole: HashMap<String, String>,
    /// Registers `%r<6>`, by what stands before their number.
    numbered: HashMap<String, (u32, String)>,
}

impl Names {
    /// What a name is here; `None` for one of another scope.
    fn find(&self, name: &str) -> Option<String> {
        if let Some(here) = self.whole.get(name) {
            return Some(here.clone());
        }
        let head = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number: u32 = name[head.len()..].parse().ok()?;
        let (count, here) = self.numbered.get(head)?;
        (number < *count).then(|| format!("{here}{number}"))
    }
}

struct Inliner<'t> {
    text: &'t Text,
    out: Vec<Statement>,
    /// The number of copies of functions and of scopes so far.
    copies: u32,
    /// The functions that are open, for recursion.
    open: Vec<&'t str>,
    /// The `.param` variables of bodies, by their names in the kernel.
    passed: HashSet<String>,
    /// The last place in the source that the innermost open body names.
    here: Option<Loc>,
    /// The place of the call that it stands for.
    called_at: Option<Position>,
}

impl<'t> Inliner<'t> {
    fn push(&mut self, statement: Statement, line: u32) -> Parsed<()> {
        if self.out.len() >= MOST_STATEMENTS {
            let what = format!(
                "with all functions in the place of their calls, the kernel has more than {MOST_STATEMENTS} statements"
            );
            return Err(Refused::new(line, what));
        }
        self.out.push(statement);
        Ok(())
    }

    /// Adds the statements of a body, whose names are the last of `scopes`. `end` is the label to which a function
    /// returns.
    fn body(&mut self, body: &'t [Statement], scopes: &mut Vec<Names>, end: Option<&str>) -> Parsed<()> {
        for statement in body {
            match statement {
                Statement::Register { ty, name, count, line } => {
                    let named = |names: &Names| match count {
                        Some(_) => names.numbered.get(name).map(|(_, here)| here.clone()),
                        None => names.whole.get(name).cloned(),
                    };
                    let name = scopes.last().and_then(named).unwrap_or_else(|| name.clone());
                    self.push(Statement::Register { ty: *ty, name, count: *count, line: *line }, *line)?;
                }
                Statement::Variable(variable) => {
                    let name = rename(scopes, &variable.name);
                    let is_known =
                        |known: &Statement| matches!(known, Statement::Variable(known) if known.name == name);
                    if variable.space == Space::Shared && self.out.iter().any(is_known) {
                        continue;
                    }
                    let mut space = variable.space;
                    if space == Space::Param {
                        self.passed.insert(name.clone());
                        space = Space::Local;
                    }
                    self.push(Statement::Variable(Variable { name, space, ..variable.clone() }), variable.line)?;
                }
                Statement::Targets { name, labels, line } => {
                    let labels = labels.iter().map(|label| rename(scopes, label)).collect();
                    self.push(Statement::Targets { name: rename(scopes, name), labels, line: *line }, *line)?;
                }
                Statement::Label(name, line) => self.push(Statement::Label(rename(scopes, name), *line), *line)?,
                Statement::Loc(loc) => {
                    let loc = Loc { inlined_at: loc.inlined_at.or(self.called_at), ..*loc };
                    self.here = Some(loc);
                    self.push(Statement::Loc(loc), loc.line)?;
                }
                Statement::Scope(within) => {
                    self.copies += 1;
                    scopes.push(declared(within, &format!("#{}", self.copies)));
                    self.body(within, scopes, end)?;
                    scopes.pop();
                }
                Statement::Instruction(instruction) if is_call(instruction) => self.call(instruction, scopes)?,
                Statement::Instruction(instruction) => {
                    let instruction = self.renamed(instruction, scopes, end);
                    let line = instruction.line;
                    self.push(Statement::Instruction(instruction), line)?;
                }
            }
        }
        Ok(())
    }

    /// An instruction with the names that it has in the kernel.
    fn renamed(&self, of: &Instruction, scopes: &[Names], end: Option<&str>) -> Instruction {
        let guard = of.guard.as_ref().map(|(name, negated)| (rename(scopes, name), *negated));
        let mut operands: Vec<Operand> = of.operands.iter().map(|operand| renamed(operand, scopes)).collect();
        let mut opcode = of.opcode.clone();
        let is_passed =
            |operand: &Operand| matches!(operand, Operand::Address(Some(base), _) if self.passed.contains(base));
        if operands.iter().any(is_passed) {
            for name in [".param::func", ".param"] {
                if let Some((head, tail)) = opcode.split_once(name) {
                    opcode = format!("{head}.local{tail}");
                    break;
                }
            }
        }
        if let (Some(end), Some("ret")) = (end, opcode.split('.').next()) {
            opcode = "bra".to_owned();
            operands = vec![Operand::Name(end.to_owned())];
        }
        Instruction { guard, opcode, operands, line: of.line, text: of.text.clone() }
    }

    /// Puts a function in the place of its call: `call{.uni} (result), function, (arguments)`.
    fn call(&mut self, call: &Instruction, scopes: &[Names]) -> Parsed<()> {
        let refuse = |why: String| Err(Refused { instruction: call.text.clone(), ..Refused::new(call.line, why) });
        let list = |operand: Option<&Operand>| match operand {
            Some(Operand::List(items)) => Some(items.clone()),
            Some(_) | None => None,
        };
        let results = list(call.operands.first());
        let behind = &call.operands[usize::from(results.is_some())..];
        let Some(Operand::Name(name)) = behind.first() else {
            return refuse("a call names a function, or a register with the address of one".into());
        };
        let (arguments, prototype) = match &behind[1..] {
            [] => (None, None),
            [Operand::List(items)] => (Some(items.clone()), None),
            [Operand::Name(prototype)] => (None, Some(prototype)),
            [Operand::List(items), Operand::Name(prototype)] => (Some(items.clone()), Some(prototype)),
            _ => return refuse("behind the function of a call stand its arguments and the name of a prototype".into()),
        };
        let Some(function) = self.text.functions.iter().find(|function| function.name == *name) else {
            if prototype.is_some() {
                return self.call_by_address(
                    call,
                    scopes,
                    (results.unwrap_or_default(), arguments.unwrap_or_default()),
                );
            }
            return refuse(format!("there is no function '{name}': those of other modules are not supported"));
        };
        if let (None, Some((_, opcode))) = (&function.body, RUNTIME.iter().find(|(known, _)| known == name)) {
            let guard = call.guard.as_ref().map(|(name, negated)| (rename(scopes, name), *negated));
            let (line, text) = (call.line, call.text.clone());
            return opcode.map_or(Ok(()), |opcode| {
                let opcode = opcode.to_owned();
                self.push(Statement::Instruction(Instruction { guard, opcode, operands: Vec::new(), line, text }), line)
            });
        }
        self.put(call, scopes, function, (results.unwrap_or_default(), arguments.unwrap_or_default()))
    }

    /// Puts each function that a call by address may reach behind a comparison with its address: those of its type
    /// whose address the module takes.
    fn call_by_address(
        &mut self,
        call: &Instruction,
        scopes: &[Names],
        (results, arguments): (Vec<Operand>, Vec<Operand>),
    ) -> Parsed<()> {
        let refuse = |why: &str| Err(Refused { instruction: call.text.clone(), ..Refused::new(call.line, why) });
        let sizes = |given: &[Operand]| -> Option<Vec<u64>> {
            given.iter().map(|given| self.bytes_of(&self.passed_as(given, scopes)?)).collect()
        };
        let (Some(returned), Some(taken)) = (sizes(&results), sizes(&arguments)) else {
            return refuse(NOT_PASSED);
        };
        let known = functions::taken(self.text);
        let may_be = |function: &&'t Function| {
            known.contains(function.name.as_str()) && functions::fits(function, &returned, &taken)
        };
        let reached: Vec<&Function> = self.text.functions.iter().filter(may_be).collect();
        if reached.is_empty() {
            return refuse("the module takes the address of no function that this call could reach");
        }
        self.copies += 1;
        let name = format!("address#{}", self.copies);
        let (is_it, end, skip) = (format!("{name}.is"), format!("{name}.end"), format!("{name}.skip"));
        let guard = call.guard.as_ref().map(|(guard, negated)| (rename(scopes, guard), *negated));
        let register = call.operands.iter().find(|operand| matches!(operand, Operand::Name(_))).cloned();
        let register = register.map_or(Operand::Int(0, false), |register| renamed(&register, scopes));
        let act = |guard, opcode: &str, operands| {
            let (opcode, line, text) = (opcode.to_owned(), call.line, call.text.clone());
            Statement::Instruction(Instruction { guard, opcode, operands, line, text })
        };
        let jump = |guard, to: &str| act(guard, "bra", vec![Operand::Name(to.to_owned())]);
        if let Some((guard, negated)) = guard {
            self.push(jump(Some((guard, !negated)), &skip), call.line)?;
        }
        let declared = Statement::Register { ty: Type::PRED, name: is_it.clone(), count: None, line: call.line };
        self.push(declared, call.line)?;
        let unguarded = Instruction { guard: None, ..call.clone() };
        for (number, function) in reached.into_iter().enumerate() {
            let Some(address) = functions::address(self.text, &function.name) else { continue };
            let next = format!("{name}.next.{number}");
            let operands = vec![Operand::Name(is_it.clone()), register.clone(), Operand::Int(address, false)];
            self.push(act(None, "setp.eq.u64", operands), call.line)?;
            self.push(jump(Some((is_it.clone(), true)), &next), call.line)?;
            self.put(&unguarded, scopes, function, (results.clone(), arguments.clone()))?;
            self.push(jump(None, &end), call.line)?;
            self.push(Statement::Label(next, call.line), call.line)?;
        }
        self.push(act(None, NO_FUNCTION, Vec::new()), call.line)?;
        self.push(Statement::Label(end, call.line), call.line)?;
        self.push(Statement::Label(skip, call.line), call.line)
    }

    /// The `.param` variable that a call is given, by its name in the kernel.
    fn passed_as(&self, given: &Operand, scopes: &[Names]) -> Option<String> {
        match given {
            Operand::Name(passed) => Some(rename(scopes, passed)).filter(|passed| self.passed.contains(passed)),
            _ => None,
        }
    }

    /// The size of such a variable.
    fn bytes_of(&self, passed: &str) -> Option<u64> {
        self.out.iter().rev().find_map(|statement| match statement {
            Statement::Variable(known) if known.name == passed => Some(known.bytes),
            _ => None,
        })
    }

    /// Puts a function in the place of its call.
    fn put(
        &mut self,
        call: &Instruction,
        scopes: &[Names],
        function: &'t Function,
        (results, arguments): (Vec<Operand>, Vec<Operand>),
    ) -> Parsed<()> {
        let refuse = |why: String| Err(Refused { instruction: call.text.clone(), ..Refused::new(call.line, why) });
        let name = &function.name;
        let Some(body) = &function.body else {
            return refuse(format!("the function '{name}' is another module's, which is not supported"));
        };
        if self.open.contains(&function.name.as_str()) {
            return refuse(format!("the function '{name}' calls itself, which is not supported"));
        }
        if self.open.len() == MOST_CALLS {
            return refuse(format!("more than {MOST_CALLS} functions are called by one another"));
        }
        self.copies += 1;
        let copy = format!("{name}#{}", self.copies);
        let (end, skip) = (format!("{copy}.end"), format!("{copy}.skip"));
        let mut names = declared(body, &copy);
        for statement in body {
            // They are one for all copies.
            if let Statement::Variable(Variable { name: shared, space: Space::Shared, .. }) = statement {
                names.whole.insert(shared.clone(), format!("{name}.{shared}"));
            }
        }
        for (declared, given) in [(&function.results, results), (&function.params, arguments)] {
            if given.len() != declared.len() {
                return refuse(format!(
                    "'{name}' takes {} and returns {}",
                    plural(&function.params),
                    plural(&function.results)
                ));
            }
            for (variable, given) in declared.iter().zip(&given) {
                let Some(passed) = self.passed_as(given, scopes) else { return refuse(NOT_PASSED.into()) };
                if self.bytes_of(&passed) != Some(variable.bytes) {
                    return refuse(format!("'{}' of '{name}' has {} bytes", variable.name, variable.bytes));
                }
                names.whole.insert(variable.name.clone(), passed);
            }
        }
        let jump = |guard, to: &str| {
            let (opcode, operands) = ("bra".to_owned(), vec![Operand::Name(to.to_owned())]);
            Statement::Instruction(Instruction { guard, opcode, operands, line: call.line, text: call.text.clone() })
        };
        if let Some((guard, negated)) = &call.guard {
            self.push(jump(Some((rename(scopes, guard), !negated)), &skip), call.line)?;
        }
        self.open.push(&function.name);
        let (here, called_at) = (self.here, self.called_at);
        self.called_at = here.map(|here| here.place);
        self.body(body, &mut vec![names], Some(&end))?;
        (self.here, self.called_at) = (here, called_at);
        self.open.pop();
        self.push(Statement::Label(end, call.line), call.line)?;
        self.push(Statement::Label(skip, call.line), call.line)?;
        here.map_or(Ok(()), |here| self.push(Statement::Loc(here), call.line))
    }
}

fn plural(variables: &[Variable]) -> String {
    format!("{} {}", variables.len(), if variables.len() == 1 { "value" } else { "values" })
}

/// The names that a body or a scope declares, as a copy of it has them.
fn declared(body: &[Statement], copy: &str) -> Names {
    let mut names = Names::default();
    for statement in body {
        match statement {
            Statement::Register { name, count: Some(count), .. } => {
                names.numbered.insert(name.clone(), (*count, format!("{copy}{name}")));
            }
            Statement::Register { name, count: None, .. }
            | Statement::Variable(Variable { name, .. })
            | Statement::Label(name, _)
            | Statement::Targets { name, .. } => {
                names.whole.insert(name.clone(), format!("{copy}.{name}"));
            }
            Statement::Loc(_) | Statement::Scope(_) | Statement::Instruction(_) => {}
        }
    }
    names
}

/// What a name is in the kernel: the innermost scope that declares it says; others are the module's.
fn rename(scopes: &[Names], name: &str) -> String {
    scopes.iter().rev().find_map(|names| names.find(name)).unwrap_or_else(|| name.to_owned())
}

fn renamed(operand: &Operand, scopes: &[Names]) -> Operand {
    match operand {
        Operand::Name(name) => Operand::Name(rename(scopes, name)),
        Operand::Not(name) => Operand::Not(rename(scopes, name)),
        Operand::Pair(one, other) => Operand::Pair(rename(scopes, one), rename(scopes, other)),
        Operand::Vector(items) => Operand::Vector(items.iter().map(|item| renamed(item, scopes)).collect()),
        Operand::List(items) => Operand::List(items.iter().map(|item| renamed(item, scopes)).collect()),
        Operand::Address(base, offset) => Operand::Address(base.as_ref().map(|base| rename(scopes, base)), *offset),
        Operand::Int(..) | Operand::Single(_) | Operand::Double(_) => operand.clone(),
    }
}
