//! From a program to text.

use std::fmt::Write;

use wattle_memory::{Kind, Label, Level};

use crate::condition::{Claim, Comparison, Condition, Observed, Quantifier, Term};
use crate::parse::{ATOMICS, BRANCHES};
use crate::program::{Dialect, Instruction, Operand, Operator, Program, Thread, Update};

/// Writes a program as a litmus file of its dialect. Reading that gives the same program again.
///
/// A label of an instruction that its dialect has no words for is written as the narrowest one that includes it.
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    let dialect = match program.dialect {
        Dialect::Ptx => "PTX",
        Dialect::Vulkan => "VULKAN",
    };
    push(&mut text, format_args!("{dialect} {}\n", program.name));
    for about in &program.description {
        push(&mut text, format_args!("\"{about}\"\n"));
    }
    initial_values(program, &mut text);
    table(program, &mut text);
    if let Some(filter) = &program.filter {
        push(&mut text, format_args!("filter\n({})\n", condition(program, filter)));
    }
    if let Some(claim) = &program.claim {
        push(&mut text, format_args!("{}\n({})\n", quantifier(claim), condition(program, &claim.condition)));
    }
    text
}

fn quantifier(claim: &Claim) -> &'static str {
    match claim.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    }
}

impl Program {
    /// What is claimed, in one line, as its file says it.
    pub fn claim_text(&self) -> Option<String> {
        let claim = self.claim.as_ref()?;
        Some(format!("{} ({})", quantifier(claim), condition(self, &claim.condition)))
    }

    /// What conditions call something that has a value at the end: `P0:r1` or `x`.
    pub fn observed_text(&self, observed: Observed) -> String {
        term(self, &Term::Final(observed))
    }

    /// The instruction of that number ([`Program::instruction`]), with its thread: `P0: st.weak x, 1`.
    pub fn instruction_text(&self, source: u32) -> Option<String> {
        let (thread, at) = self.instruction(source)?;
        let thread = &self.threads[thread];
        let instruction = Printer { program: self, thread }.instruction(&thread.code[at]);
        Some(format!("P{}: {instruction}", thread.placement.thread))
    }
}

/// Writing to a string does not fail.
fn push(text: &mut String, piece: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(piece);
}

fn initial_values(program: &Program, text: &mut String) {
    text.push_str("{\n");
    let mut named = vec![false; program.locations.len()];
    for reference in &program.references {
        let owner = program.location_name(reference.location);
        if std::mem::replace(&mut named[reference.location], true) {
            push(text, format_args!("{} aliases {owner};\n", reference.name));
        } else {
            let value = program.locations[reference.location] as i64;
            push(text, format_args!("{}={value};\n", reference.name));
        }
    }
    for thread in &program.threads {
        let number = thread.placement.thread;
        let values = thread.registers.iter().map(|it| format!("P{number}:{}={};", it.name, it.initial as i64));
        let line = values.collect::<Vec<_>>().join(" ");
        if !line.is_empty() {
            push(text, format_args!("{line}\n"));
        }
    }
    text.push_str("}\n");
    if !program.system.is_empty() {
        text.push_str("{\n");
        for &(first, second) in &program.system {
            let number = |thread: usize| program.threads[thread].placement.thread;
            push(text, format_args!("ssw {} {};\n", number(first), number(second)));
        }
        text.push_str("}\n");
    }
}

/// The threads, side by side.
fn table(program: &Program, text: &mut String) {
    let columns: Vec<Vec<String>> = program.threads.iter().map(|thread| column(program, thread)).collect();
    let widths: Vec<usize> =
        columns.iter().map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = columns
            .iter()
            .zip(&widths)
            .map(|(column, &width)| format!("{:width$}", column.get(row).map_or("", String::as_str)));
        push(text, format_args!(" {} ;\n", cells.collect::<Vec<_>>().join(" | ")));
    }
}

fn column(program: &Program, thread: &Thread) -> Vec<String> {
    let at = thread.placement;
    let mut lines = vec![match program.dialect {
        Dialect::Ptx => format!("P{}@cta {},gpu {}", at.thread, at.block, at.device),
        Dialect::Vulkan => format!("P{}@sg {},wg {},qf {}", at.thread, at.subgroup, at.block, at.queue_family),
    }];
    let mut labels = thread.labels.iter().peekable();
    for number in 0..=thread.code.len() {
        while let Some(label) = labels.next_if(|label| label.at <= number) {
            lines.push(format!("{}:", label.name));
        }
        if let Some(instruction) = thread.code.get(number) {
            lines.push(Printer { program, thread }.instruction(instruction));
        }
    }
    lines
}

struct Printer<'p> {
    program: &'p Program,
    thread: &'p Thread,
}

impl Printer<'_> {
    fn instruction(&self, instruction: &Instruction) -> String {
        match instruction {
            Instruction::Load { to, from, label } => {
                format!("ld{} {}, {}", self.access(label), self.register(*to), self.memory(*from))
            }
            Instruction::Store { to, value, label } => {
                format!("st{} {}, {}", self.access(label), self.memory(*to), self.operand(*value))
            }
            Instruction::Update { result, at, update, read, write } => {
                let (name, operands) = match *update {
                    Update::Apply(op, operand) => (name_of(&ATOMICS, op), self.operand(operand)),
                    Update::CompareExchange { expected, desired } => {
                        ("cas", format!("{}, {}", self.operand(expected), self.operand(desired)))
                    }
                };
                let head = match (self.program.dialect, result) {
                    (Dialect::Vulkan, _) => "rmw",
                    // PTX has no `red` that exchanges.
                    (Dialect::Ptx, None) if !matches!(name, "cas" | "exch") => "red",
                    (Dialect::Ptx, _) => "atom",
                };
                let modifiers = match self.program.dialect {
                    Dialect::Ptx => ptx_order(true, read.acquire, write.release, read.level),
                    Dialect::Vulkan => vulkan_update(read, write),
                };
                // Vulkan's exchange has no name of its own.
                let name = match (self.program.dialect, name) {
                    (Dialect::Vulkan, "exch") => String::new(),
                    _ => format!(".{name}"),
                };
                let result = result.map_or(String::new(), |result| format!("{}, ", self.register(result)));
                format!("{head}{modifiers}{name} {result}{}, {operands}", self.memory(*at))
            }
            Instruction::Fence(label) => match (self.program.dialect, label.kind) {
                (_, Kind::MakeAvailable) => "avdevice".to_owned(),
                (_, Kind::MakeVisible) => "visdevice".to_owned(),
                (Dialect::Ptx, _) if label.sc => format!("fence.sc.{}", ptx_scope(label.level)),
                (Dialect::Ptx, _) => {
                    format!("fence{}", ptx_order(true, label.acquire, label.release, label.level))
                }
                (Dialect::Vulkan, _) => format!("membar{}", vulkan_fence(label)),
            },
            Instruction::Barrier { instance, resource, quorum, waits, label } => {
                let head = match (self.program.dialect, waits) {
                    (Dialect::Ptx, true) => "bar.cta.sync".to_owned(),
                    (Dialect::Ptx, false) => "bar.cta.arrive".to_owned(),
                    (Dialect::Vulkan, _) => format!("cbar{}", vulkan_fence(label)),
                };
                // A quorum is the third operand, so there has to be a second one.
                let resource = resource.or(quorum.map(|_| Operand::Constant(*instance)));
                let more = resource.iter().chain(quorum).map(|operand| format!(", {}", self.operand(*operand)));
                format!("{head} {}{}", *instance as i64, more.collect::<String>())
            }
            Instruction::Move { to, value } => match self.program.dialect {
                Dialect::Ptx => format!("ld {}, {}", self.register(*to), self.operand(*value)),
                Dialect::Vulkan => format!("ld.sc0 {}, {}", self.register(*to), self.operand(*value)),
            },
            Instruction::Compute { operator, to, left, right } => {
                let name = name_of(&Operator::ALL, *operator);
                format!("{name} {}, {}, {}", self.register(*to), self.operand(*left), self.operand(*right))
            }
            Instruction::Branch { comparison, left, right, to } => {
                let name = name_of(&BRANCHES, *comparison);
                format!("{name} {}, {}, {}", self.operand(*left), self.operand(*right), self.thread.labels[*to].name)
            }
            Instruction::Goto(to) => format!("goto {}", self.thread.labels[*to].name),
        }
    }

    fn register(&self, register: usize) -> &str {
        &self.thread.registers[register].name
    }

    fn memory(&self, reference: usize) -> &str {
        &self.program.references[reference].name
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Register(register) => self.register(register).to_owned(),
            Operand::Constant(constant) => (constant as i64).to_string(),
        }
    }

    fn access(&self, label: &Label) -> String {
        match self.program.dialect {
            Dialect::Ptx => ptx_order(label.atomic, label.acquire, label.release, label.level),
            Dialect::Vulkan => vulkan_access(label),
        }
    }
}

fn name_of<T: Copy + PartialEq>(names: &[(T, &'static str)], wanted: T) -> &'static str {
    names.iter().find(|(it, _)| *it == wanted).map_or("", |(_, name)| name)
}

fn ptx_scope(level: Level) -> &'static str {
    match level {
        Level::Thread | Level::Subgroup | Level::Block => "cta",
        Level::QueueFamily | Level::Device => "gpu",
        Level::System => "sys",
    }
}

fn ptx_order(strong: bool, acquire: bool, release: bool, level: Level) -> String {
    let order = match (acquire, release) {
        _ if !strong => return ".weak".to_owned(),
        (true, true) => "acq_rel",
        (true, false) => "acquire",
        (false, true) => "release",
        (false, false) => "relaxed",
    };
    format!(".{order}.{}", ptx_scope(level))
}

fn vulkan_scope(level: Level) -> &'static str {
    match level {
        Level::Thread | Level::Subgroup => ".sg",
        Level::Block => ".wg",
        Level::QueueFamily => ".qf",
        Level::Device | Level::System => ".dv",
    }
}

fn vulkan_order(acquire: bool, release: bool) -> &'static str {
    match (acquire, release) {
        (true, true) => ".acq_rel",
        (true, false) => ".acq",
        (false, true) => ".rel",
        (false, false) => "",
    }
}

/// The numbers of the classes that are set, each after a word.
fn classes(word: &str, label: wattle_memory::Classes) -> String {
    (0..8).filter(|class| label.0 & 1 << class != 0).map(|class| format!(".{word}{class}")).collect()
}

fn vulkan_semantics(label: &Label) -> String {
    let available = if label.makes_available { ".semav" } else { "" };
    let visible = if label.makes_visible { ".semvis" } else { "" };
    format!("{}{available}{visible}", classes("semsc", label.semantics))
}

fn vulkan_access(label: &Label) -> String {
    let mut text = String::new();
    if label.atomic {
        text.push_str(".atom");
    }
    text.push_str(vulkan_order(label.acquire, label.release));
    if label.coherent && !label.atomic {
        text.push_str(if label.kind == Kind::Read { ".vis" } else { ".av" });
    }
    if label.atomic || label.coherent {
        text.push_str(vulkan_scope(label.level));
    } else if !label.private {
        text.push_str(".nonpriv");
    }
    text + &classes("sc", label.storage) + &vulkan_semantics(label)
}

fn vulkan_update(read: &Label, write: &Label) -> String {
    let both = Label {
        semantics: wattle_memory::Classes(read.semantics.0 | write.semantics.0),
        makes_available: write.makes_available,
        makes_visible: read.makes_visible,
        ..*read
    };
    let order = vulkan_order(read.acquire, write.release);
    let scope = vulkan_scope(read.level);
    format!(".atom{order}{scope}{}{}", classes("sc", read.storage), vulkan_semantics(&both))
}

fn vulkan_fence(label: &Label) -> String {
    format!("{}{}{}", vulkan_order(label.acquire, label.release), vulkan_scope(label.level), vulkan_semantics(label))
}

fn condition(program: &Program, it: &Condition) -> String {
    let nested = |inner: &Condition, same_kind_is_fine: bool| match inner {
        Condition::And(..) | Condition::Or(..)
            if !(same_kind_is_fine && std::mem::discriminant(inner) == std::mem::discriminant(it)) =>
        {
            format!("({})", condition(program, inner))
        }
        _ => condition(program, inner),
    };
    match it {
        Condition::Compare(left, comparison, right) => {
            let comparison = match comparison {
                Comparison::Equal => "==",
                Comparison::NotEqual => "!=",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            format!("{} {comparison} {}", term(program, left), term(program, right))
        }
        Condition::Not(inner) => format!("~({})", condition(program, inner)),
        Condition::And(left, right) => format!("{} /\\ {}", nested(left, true), nested(right, false)),
        Condition::Or(left, right) => format!("{} \\/ {}", nested(left, true), nested(right, false)),
    }
}

fn term(program: &Program, term: &Term) -> String {
    match *term {
        Term::Constant(constant) => (constant as i64).to_string(),
        Term::Final(Observed::Memory(location)) => program.location_name(location).to_owned(),
        Term::Final(Observed::Register { thread, register }) => {
            let thread = &program.threads[thread];
            format!("P{}:{}", thread.placement.thread, thread.registers[register].name)
        }
    }
}
