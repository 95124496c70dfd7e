//! Prints a program as a litmus file.

use std::fmt::Write;

use wattle_ir::AtomicOp;
use wattle_memory::{Classes, Kind, Label, Level};

use crate::condition::{Condition, Observed, Term};
use crate::program::{Dialect, Instruction, Operand, Program, Thread, Update};
use crate::words::{
    AtomicKind, CLASSES, COMPARISONS, DIALECTS, Head, Order, PLAIN, PTX_BARRIERS, PTX_HEADS, PTX_ORDERS, PTX_SCOPES,
    Plain, QUANTIFIERS, VULKAN_HEADS, VULKAN_ORDERS, VULKAN_SCOPES,
};

/// Writes a program as a litmus file of its dialect. Reading the file gives an equal program.
///
/// A label that the dialect cannot express is written as the narrowest one that includes it.
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    let dialect = DIALECTS.word(program.dialect);
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
        push(
            &mut text,
            format_args!("{}\n({})\n", QUANTIFIERS.word(claim.quantifier), condition(program, &claim.condition)),
        );
    }
    text
}

impl Program {
    /// The claim in one line, as its file writes it.
    pub fn claim_text(&self) -> Option<String> {
        let claim = self.claim.as_ref()?;
        Some(format!("{} ({})", QUANTIFIERS.word(claim.quantifier), condition(self, &claim.condition)))
    }

    /// The name of an observed register or location in conditions: `P0:r1` or `x`.
    pub fn observed_text(&self, observed: Observed) -> String {
        term(self, &Term::Final(observed))
    }

    /// The instruction with that number ([`Program::instruction`]), with its thread: `P0: st.weak x, 1`.
    pub fn instruction_text(&self, source: u32) -> Option<String> {
        let (thread, at) = self.instruction(source)?;
        let thread = &self.threads[thread];
        let instruction = Printer { program: self, thread }.instruction(&thread.code[at]);
        Some(format!("P{}: {instruction}", thread.placement.thread))
    }
}

/// Appends formatted text; writing to a string cannot fail.
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

/// Writes the threads side by side.
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
                format!(
                    "{}{} {}, {}",
                    self.head(Head::Load),
                    self.access(label),
                    self.register(*to),
                    self.memory(*from)
                )
            }
            Instruction::Store { to, value, label } => {
                format!(
                    "{}{} {}, {}",
                    self.head(Head::Store),
                    self.access(label),
                    self.memory(*to),
                    self.operand(*value)
                )
            }
            Instruction::Update { result, at, update, read, write } => {
                let (kind, operands) = match *update {
                    Update::Apply(op, operand) => (AtomicKind::Apply(op), self.operand(operand)),
                    Update::CompareExchange { expected, desired } => {
                        (AtomicKind::CompareExchange, format!("{}, {}", self.operand(expected), self.operand(desired)))
                    }
                };
                let exchanges = kind == AtomicKind::Apply(AtomicOp::Exchange);
                let (head, modifiers) = match self.program.dialect {
                    Dialect::Ptx if read.reduces => {
                        (Head::Reduce, ptx_order(true, read.acquire, write.release, read.level))
                    }
                    Dialect::Ptx => (Head::Update, ptx_order(true, read.acquire, write.release, read.level)),
                    Dialect::Vulkan => (Head::Update, vulkan_update(read, write)),
                };
                // Vulkan's exchange has no name of its own.
                let name = match self.program.dialect {
                    Dialect::Vulkan if exchanges => String::new(),
                    _ => format!(".{}", kind.word()),
                };
                let result = result.map_or(String::new(), |result| format!("{}, ", self.register(result)));
                format!("{}{modifiers}{name} {result}{}, {operands}", self.head(head), self.memory(*at))
            }
            Instruction::Fence(label) => {
                let (head, modifiers) = match (label.kind, self.program.dialect) {
                    (Kind::MakeAvailable, _) => (Head::MakeAvailable, String::new()),
                    (Kind::MakeVisible, _) => (Head::MakeVisible, String::new()),
                    (_, Dialect::Ptx) if label.sc => (Head::Fence, ptx_modifiers(Order::Sc, label.level)),
                    (_, Dialect::Ptx) => (Head::Fence, ptx_order(true, label.acquire, label.release, label.level)),
                    (_, Dialect::Vulkan) => (Head::Fence, vulkan_fence(label)),
                };
                format!("{}{modifiers}", self.head(head))
            }
            Instruction::Barrier { instance, resource, quorum, waits, label } => {
                let modifiers = match self.program.dialect {
                    Dialect::Ptx => format!(".{}.{}", PTX_SCOPES.word(Level::Block), PTX_BARRIERS.word(*waits)),
                    Dialect::Vulkan => vulkan_fence(label),
                };
                // A quorum is the third operand, so a second one is needed.
                let resource = resource.or(quorum.map(|_| Operand::Constant(*instance)));
                let more = resource.iter().chain(quorum).map(|operand| format!(", {}", self.operand(*operand)));
                let head = self.head(Head::Barrier);
                format!("{head}{modifiers} {}{}", *instance as i64, more.collect::<String>())
            }
            Instruction::Move { to, value } => match self.program.dialect {
                Dialect::Ptx => format!("ld {}, {}", self.register(*to), self.operand(*value)),
                Dialect::Vulkan => format!("ld.sc0 {}, {}", self.register(*to), self.operand(*value)),
            },
            Instruction::Compute { operator, to, left, right } => {
                let name = PLAIN.word(Plain::Compute(*operator));
                format!("{name} {}, {}, {}", self.register(*to), self.operand(*left), self.operand(*right))
            }
            Instruction::Branch { comparison, left, right, to } => {
                let name = PLAIN.word(Plain::Branch(*comparison));
                format!("{name} {}, {}, {}", self.operand(*left), self.operand(*right), self.thread.labels[*to].name)
            }
            Instruction::Goto(to) => format!("{} {}", PLAIN.word(Plain::Goto), self.thread.labels[*to].name),
        }
    }

    fn head(&self, head: Head) -> &'static str {
        match self.program.dialect {
            // PTX cannot express Vulkan's availability and visibility operations.
            Dialect::Ptx if !matches!(head, Head::MakeAvailable | Head::MakeVisible) => PTX_HEADS.word(head),
            _ => VULKAN_HEADS.word(head),
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

fn ptx_modifiers(order: Order, level: Level) -> String {
    format!(".{}.{}", PTX_ORDERS.word(order), PTX_SCOPES.including(level))
}

fn ptx_order(strong: bool, acquires: bool, releases: bool, level: Level) -> String {
    if strong {
        ptx_modifiers(Order::Strong { acquires, releases }, level)
    } else {
        format!(".{}", PTX_ORDERS.word(Order::Weak))
    }
}

fn vulkan_scope(level: Level) -> String {
    format!(".{}", VULKAN_SCOPES.including(level))
}

fn vulkan_order(acquire: bool, release: bool) -> String {
    match VULKAN_ORDERS.word((acquire, release)) {
        "" => String::new(),
        word => format!(".{word}"),
    }
}

/// The set classes, each with a prefix.
fn classes(prefix: &str, set: Classes) -> String {
    let single = |class: u32| CLASSES.word(Classes(set.0 & 1 << class));
    (0..8).map(single).filter(|word| !word.is_empty()).map(|word| format!(".{prefix}{word}")).collect()
}

fn vulkan_semantics(label: &Label) -> String {
    let available = if label.makes_available { ".semav" } else { "" };
    let visible = if label.makes_visible { ".semvis" } else { "" };
    format!("{}{available}{visible}", classes("sem", label.semantics))
}

fn vulkan_access(label: &Label) -> String {
    let mut text = String::new();
    if label.atomic {
        text.push_str(".atom");
    }
    text.push_str(&vulkan_order(label.acquire, label.release));
    if label.coherent && !label.atomic {
        text.push_str(if label.kind == Kind::Read { ".vis" } else { ".av" });
    }
    if label.atomic || label.coherent {
        text.push_str(&vulkan_scope(label.level));
    } else if !label.private {
        text.push_str(".nonpriv");
    }
    text + &classes("", label.storage) + &vulkan_semantics(label)
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
    format!(".atom{order}{scope}{}{}", classes("", read.storage), vulkan_semantics(&both))
}

fn vulkan_fence(label: &Label) -> String {
    format!("{}{}{}", vulkan_order(label.acquire, label.release), vulkan_scope(label.level), vulkan_semantics(label))
}

fn condition(program: &Program, it: &Condition) -> String {
    let nested = |inner: &Condition| match inner {
        Condition::All(_) | Condition::Any(_) => format!("({})", condition(program, inner)),
        Condition::Not(_) | Condition::Compare(..) => condition(program, inner),
    };
    let chain = |parts: &[Condition], sign: &str| parts.iter().map(nested).collect::<Vec<_>>().join(sign);
    match it {
        Condition::Compare(left, comparison, right) => {
            let comparison = COMPARISONS.word(*comparison);
            format!("{} {comparison} {}", term(program, left), term(program, right))
        }
        Condition::Not(inner) => format!("~({})", condition(program, inner)),
        Condition::All(all) => chain(all, " /\\ "),
        Condition::Any(any) => chain(any, " \\/ "),
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
