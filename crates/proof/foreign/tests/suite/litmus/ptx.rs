//! Litmus programs as PTX modules: one kernel whose threads each do one column, and store what is observed at their ends.

use std::fmt::Write;

use wattle_ir::AtomicOp;
use wattle_litmus::{
    Claim, Comparison, Condition, Instruction, Observed, Operand, Operator, Program, Quantifier, Term, Update,
};
use wattle_memory::{Label, Level};

use wattle_foreign::{Launch, Source};

/// A program as a launch of a module's kernel.
pub struct Emitted {
    pub source: Source,
    pub launch: Launch,
    /// What holds at every end if the claim is no `exists`, and else at no end that it speaks of; none for a program without
    /// a claim.
    pub asserted: Option<String>,
}

/// Why a program is no launch of one kernel.
pub type Beyond = &'static str;

/// The launch of a program.
pub fn emit(program: &Program) -> Result<Emitted, Beyond> {
    let mut blocks: Vec<(u32, u32)> =
        program.threads.iter().map(|it| (it.placement.device, it.placement.block)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    if blocks.iter().any(|(device, _)| *device != blocks[0].0) {
        return Err("threads of several devices");
    }
    let mut observed = Vec::new();
    let mut note = |seen: Observed| {
        if let Observed::Register { thread, register } = seen
            && !observed.contains(&(thread, register))
        {
            observed.push((thread, register));
        }
    };
    program.filter.iter().for_each(|filter| filter.visit(&mut note));
    program.claim.iter().for_each(|claim| claim.condition.visit(&mut note));
    let mut text = ".version 8.6\n.target sm_90\n.address_size 64\n.entry litmus(.param .u64 results".to_owned();
    let names: Vec<String> = (0..program.locations.len()).map(|location| format!("m{location}")).collect();
    names.iter().for_each(|name| text += &format!(", .param .u64 {name}"));
    text += ")\n{\n.reg .pred %p; .reg .u32 %block, %thread, %x, %y; .reg .u64 %results;\nld.param.u64 %results, [results];\n";
    for name in &names {
        text += &format!(".reg .u64 %{name};\nld.param.u64 %{name}, [{name}];\n");
    }
    // A barrier of some threads counts them by warps: each thread has one to itself, whose other lanes end at once.
    let lanes = if program.threads.iter().any(|thread| thread.code.iter().any(has_quorum)) { 32 } else { 1 };
    let _ = writeln!(text, "mov.u32 %block, %ctaid.x;\nmov.u32 %thread, %tid.x;");
    let mut sizes = vec![0; blocks.len()];
    let mut bodies = String::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let of = (thread.placement.device, thread.placement.block);
        let block = blocks.iter().position(|known| *known == of).unwrap_or(0);
        let index: u32 = sizes[block];
        sizes[block] += lanes;
        let _ = write!(
            text,
            "setp.eq.u32 %p, %block, {block};\n@!%p bra not{number};\nsetp.eq.u32 %p, %thread, {index};\n@%p bra \
             begin{number};\nnot{number}:\n"
        );
        let _ = writeln!(bodies, "begin{number}:");
        let column = Column { program, thread: number };
        for (register, of) in thread.registers.iter().enumerate() {
            let _ = write!(bodies, ".reg .u32 {0};\nmov.u32 {0}, {1};\n", column.register(register), word(of.initial)?);
        }
        for at in 0..=thread.code.len() {
            for (label, _) in thread.labels.iter().enumerate().filter(|(_, label)| label.at == at) {
                let _ = writeln!(bodies, "{}:", column.label(label));
            }
            if let Some(instruction) = thread.code.get(at) {
                bodies += &column.instruction(instruction)?;
            }
        }
        for (place, (_, register)) in observed.iter().enumerate().filter(|(_, (of, _))| *of == number) {
            let _ = writeln!(bodies, "st.global.u32 [%results+{}], {};", 4 * place, column.register(*register));
        }
        bodies += "ret;\n";
    }
    text = text + "ret;\n" + &bodies + "}\n";
    let barriers = |thread: &wattle_litmus::Thread| {
        thread.code.iter().filter(|it| matches!(it, Instruction::Barrier { quorum: None, .. })).count()
    };
    for block in &blocks {
        let of = program.threads.iter().filter(|it| (it.placement.device, it.placement.block) == *block);
        let counts: Vec<usize> = of.map(barriers).collect();
        if counts.iter().any(|count| *count != counts[0]) {
            return Err("a barrier that not all threads of a block have");
        }
    }
    let mut arguments = vec![format!("results=i32[{}]:0", observed.len().max(1))];
    for (name, &value) in names.iter().zip(&program.locations) {
        arguments.push(format!("{name}=i32[1]:{}", word(value)?));
    }
    let arguments = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    let block = sizes.iter().copied().max().unwrap_or(1);
    let launch = Launch { grid: [blocks.len() as u32, 1, 1], block: [block, 1, 1], arguments, dynamic_shared: 0 };
    let asserted = program.claim.as_ref().map(|claim| asserted(program, claim, &observed)).transpose()?;
    Ok(Emitted { source: Source { file: "litmus.ptx".into(), text }, launch, asserted })
}

/// Whether an instruction is a barrier of some threads.
fn has_quorum(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Barrier { quorum: Some(_), .. })
}

/// A number as a signed word.
fn word(bits: u64) -> Result<i32, Beyond> {
    i32::try_from(bits as i64).map_err(|_| "numbers of more than 32 bits")
}

/// A thread's column.
struct Column<'p> {
    program: &'p Program,
    thread: usize,
}

impl Column<'_> {
    fn register(&self, register: usize) -> String {
        format!("%t{}r{register}", self.thread)
    }

    fn label(&self, label: usize) -> String {
        format!("t{}l{label}", self.thread)
    }

    fn operand(&self, operand: Operand) -> Result<String, Beyond> {
        Ok(match operand {
            Operand::Register(register) => self.register(register),
            Operand::Constant(constant) => word(constant)?.to_string(),
        })
    }

    fn memory(&self, reference: usize) -> String {
        format!("[%m{}]", self.program.references[reference].location)
    }

    fn instruction(&self, instruction: &Instruction) -> Result<String, Beyond> {
        Ok(match instruction {
            Instruction::Load { to, from, label } => {
                format!("ld{}.global.u32 {}, {};\n", strength(label)?, self.register(*to), self.memory(*from))
            }
            Instruction::Store { to, value, label } => format!(
                "mov.u32 %x, {};\nst{}.global.u32 {}, %x;\n",
                self.operand(*value)?,
                strength(label)?,
                self.memory(*to)
            ),
            Instruction::Update { result, at, update, read, write } => {
                let order = order(read.acquire, write.release);
                let scope = scope(read.level)?;
                let to = result.map_or("%y".to_owned(), |result| self.register(result));
                let mut before = String::new();
                let (name, operands) = match *update {
                    Update::Apply(AtomicOp::Sub, operand) => {
                        before = format!("mov.u32 %x, {};\nneg.s32 %x, %x;\n", self.operand(operand)?);
                        ("add.u32", "%x".to_owned())
                    }
                    Update::Apply(op, operand) => (operation(op)?, self.operand(operand)?),
                    Update::CompareExchange { expected, desired } => {
                        ("cas.b32", format!("{}, {}", self.operand(expected)?, self.operand(desired)?))
                    }
                };
                let (op, to) = if read.reduces { ("red", String::new()) } else { ("atom", format!("{to}, ")) };
                format!("{before}{op}.{order}.{scope}.global.{name} {to}{}, {operands};\n", self.memory(*at))
            }
            Instruction::Fence(label) if label.sc => format!("fence.sc.{};\n", scope(label.level)?),
            Instruction::Fence(label) => {
                format!("fence.{}.{};\n", order(label.acquire, label.release), scope(label.level)?)
            }
            Instruction::Barrier { instance, resource, quorum: None, waits: true, .. } => {
                let number = match resource {
                    None => (instance % 16).to_string(),
                    Some(number) => self.operand(*number)?,
                };
                format!("barrier.sync {number};\n")
            }
            Instruction::Barrier { resource, instance, quorum: Some(quorum), waits, .. } => {
                let number = match resource {
                    None => (instance % 16).to_string(),
                    Some(number) => self.operand(*number)?,
                };
                let name = if *waits { "sync" } else { "arrive" };
                let of = self.operand(*quorum)?;
                format!("mov.u32 %x, {of};\nshl.b32 %x, %x, 5;\nbarrier.{name} {number}, %x;\n")
            }
            Instruction::Barrier { .. } => return Err("an arrival without a number of threads"),
            Instruction::Move { to, value } => format!("mov.u32 {}, {};\n", self.register(*to), self.operand(*value)?),
            Instruction::Compute { operator, to, left, right } => format!(
                "mov.u32 %x, {};\nmov.u32 %y, {};\n{} {}, %x, %y;\n",
                self.operand(*left)?,
                self.operand(*right)?,
                arithmetic(*operator),
                self.register(*to)
            ),
            Instruction::Branch { comparison, left, right, to } => format!(
                "mov.u32 %x, {};\nmov.u32 %y, {};\nsetp.{}.s32 %p, %x, %y;\n@%p bra {};\n",
                self.operand(*left)?,
                self.operand(*right)?,
                sign(*comparison),
                self.label(*to)
            ),
            Instruction::Goto(to) => format!("bra {};\n", self.label(*to)),
        })
    }
}

fn scope(level: Level) -> Result<&'static str, Beyond> {
    match level {
        Level::Block => Ok("cta"),
        Level::Device => Ok("gpu"),
        Level::System => Ok("sys"),
        Level::Thread | Level::Subgroup | Level::QueueFamily => Err("a scope that PTX has not"),
    }
}

fn order(acquires: bool, releases: bool) -> &'static str {
    match (acquires, releases) {
        (false, false) => "relaxed",
        (true, false) => "acquire",
        (false, true) => "release",
        (true, true) => "acq_rel",
    }
}

fn strength(label: &Label) -> Result<String, Beyond> {
    if !label.atomic {
        return Ok(".weak".into());
    }
    Ok(format!(".{}.{}", order(label.acquire, label.release), scope(label.level)?))
}

fn operation(op: AtomicOp) -> Result<&'static str, Beyond> {
    match op {
        AtomicOp::Add => Ok("add.u32"),
        AtomicOp::Exchange => Ok("exch.b32"),
        AtomicOp::And => Ok("and.b32"),
        AtomicOp::Or => Ok("or.b32"),
        AtomicOp::Xor => Ok("xor.b32"),
        _ => Err("an operation that PTX has not for words"),
    }
}

fn arithmetic(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "add.s32",
        Operator::Sub => "sub.s32",
        Operator::Mul => "mul.lo.s32",
        Operator::Div => "div.s32",
        Operator::Rem => "rem.s32",
        Operator::And => "and.b32",
        Operator::Or => "or.b32",
        Operator::Xor => "xor.b32",
        Operator::Shl => "shl.b32",
        Operator::Shr => "shr.u32",
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "eq",
        Comparison::NotEqual => "ne",
        Comparison::Less => "lt",
        Comparison::LessOrEqual => "le",
        Comparison::Greater => "gt",
        Comparison::GreaterOrEqual => "ge",
    }
}

/// What is asserted of every end: what the claim says, or that nothing is as an `exists` says. An end that the filter leaves
/// out has nothing to be.
fn asserted(program: &Program, claim: &Claim, observed: &[(usize, usize)]) -> Result<String, Beyond> {
    let meant = match claim.quantifier {
        Quantifier::Forall => any_of_all(&claim.condition, true),
        Quantifier::Exists | Quantifier::NotExists => any_of_all(&claim.condition, false),
    };
    let left_out = program.filter.iter().flat_map(|filter| any_of_all(filter, false));
    let term = |term: &Term| match *term {
        Term::Constant(value) => word(value).map(|word| word.to_string()),
        Term::Final(Observed::Memory(location)) => Ok(format!("m{location}[0]")),
        Term::Final(Observed::Register { thread, register }) => {
            let place = observed.iter().position(|known| *known == (thread, register)).unwrap_or(0);
            Ok(format!("results[{place}]"))
        }
    };
    let mut any = Vec::new();
    for all in meant.into_iter().chain(left_out) {
        let mut parts = Vec::new();
        for (left, comparison, right) in all {
            let sign = super::comparison_sign(comparison);
            if let (Term::Constant(left), Term::Constant(right)) = (left, right) {
                // One that does not hold makes the list no way to hold.
                if !comparison.holds(*left, *right) {
                    parts.push("results[0] != results[0]".to_owned());
                }
                continue;
            }
            parts.push(format!("{} {sign} {}", term(left)?, term(right)?));
        }
        if parts.is_empty() {
            parts.push("results[0] == results[0]".to_owned());
        }
        any.push(parts.join(" && "));
    }
    if any.is_empty() || any.len() > 64 {
        return Err("a claim that is no list of comparisons");
    }
    Ok(any.join(" || "))
}

type Compared<'c> = (&'c Term, Comparison, &'c Term);

/// A condition, or its opposite, as one of several lists of comparisons that all hold.
fn any_of_all(condition: &Condition, holds: bool) -> Vec<Vec<Compared<'_>>> {
    match condition {
        Condition::Compare(left, comparison, right) => {
            vec![vec![(left, if holds { *comparison } else { super::opposite(*comparison) }, right)]]
        }
        Condition::Not(inner) => any_of_all(inner, !holds),
        Condition::All(parts) | Condition::Any(parts) => {
            let together = matches!(condition, Condition::All(_)) == holds;
            let parts = parts.iter().map(|part| any_of_all(part, holds));
            if !together {
                return parts.flatten().collect();
            }
            let mut all: Vec<Vec<Compared<'_>>> = vec![Vec::new()];
            for part in parts {
                let pairs = all.iter().flat_map(|list| part.iter().map(move |more| [&list[..], more].concat()));
                all = pairs.take(256).collect();
            }
            all
        }
    }
}
