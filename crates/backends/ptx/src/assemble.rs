//! The text of an entry while it is made: registers, labels, and three sections that follow each other.

use std::fmt::{self, Write as _};

use wattle_ir::{Site, Type, TypeKind};

/// A class of registers.
///
/// Integers of 8 and 16 bits live in registers of 32, extended as their type says: the machine has no smaller ones (PTX
/// ISA 8.8, 9.4.1 "Operand size exceeding instruction-type size"). Floats of 16 bits live in registers of 16, since
/// their instructions take no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Predicate,
    Half,
    Word,
    Long,
    Float,
    Double,
}

impl Class {
    const ALL: [Class; 6] = [Class::Predicate, Class::Half, Class::Word, Class::Long, Class::Float, Class::Double];

    pub fn of(ty: Type) -> Class {
        row(ty).0
    }

    fn prefix(self) -> &'static str {
        match self {
            Class::Predicate => "%p",
            Class::Half => "%h",
            Class::Word => "%r",
            Class::Long => "%rd",
            Class::Float => "%f",
            Class::Double => "%fd",
        }
    }

    /// The type that registers are declared and moved with.
    pub fn name(self) -> &'static str {
        match self {
            Class::Predicate => "pred",
            Class::Half => "b16",
            Class::Word => "b32",
            Class::Long => "b64",
            Class::Float => "f32",
            Class::Double => "f64",
        }
    }
}

/// The class of the registers that values of a type live in, and the type's suffix in loads and stores.
fn row(ty: Type) -> (Class, &'static str) {
    match ty {
        Type::Bool => (Class::Predicate, "u8"),
        Type::U8 => (Class::Word, "u8"),
        Type::I8 => (Class::Word, "s8"),
        Type::U16 => (Class::Word, "u16"),
        Type::I16 => (Class::Word, "s16"),
        Type::U32 => (Class::Word, "u32"),
        Type::I32 => (Class::Word, "s32"),
        Type::U64 => (Class::Long, "u64"),
        Type::I64 => (Class::Long, "s64"),
        Type::F16 | Type::BF16 => (Class::Half, "b16"),
        Type::F32 => (Class::Float, "f32"),
        Type::F64 => (Class::Double, "f64"),
    }
}

/// The type suffix of loads and stores of a type.
pub fn memory_type(ty: Type) -> &'static str {
    row(ty).1
}

/// An operand: a register, or a constant that is no truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Register(Class, u32),
    Constant(Type, u64),
}

impl Value {
    pub fn word(value: u32) -> Value {
        Value::Constant(Type::U32, u64::from(value))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Register(class, number) => {
                f.write_str(class.prefix())?;
                fmt::Display::fmt(&number, f)
            }
            Value::Constant(Type::F32, raw) => write!(f, "0f{raw:08X}"),
            Value::Constant(Type::F64, raw) => write!(f, "0d{raw:016X}"),
            // The magnitude of the least value is none that a signed constant can have.
            Value::Constant(Type::I64, raw) if raw == 1 << 63 => write!(f, "0x{raw:x}"),
            Value::Constant(ty, raw) if ty.kind() == TypeKind::Signed => {
                let above = u64::BITS - ty.bits();
                write!(f, "{}", (raw << above) as i64 >> above)
            }
            Value::Constant(_, raw) if raw > i64::MAX as u64 => write!(f, "0x{raw:x}"),
            Value::Constant(_, raw) => write!(f, "{raw}"),
        }
    }
}

/// A label of the entry, to which branches go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchTarget(u32);

impl fmt::Display for BranchTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$L")?;
        fmt::Display::fmt(&self.0, f)
    }
}

/// A section of the entry, to which instructions are appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Code that runs once, before all else: it loads parameters and computes the thread's place.
    Prologue,
    /// The kernel's statements.
    Body,
    /// Code that hardly ever runs, behind the kernel's end.
    Cold,
}

/// The text of an entry.
pub struct Assembler {
    sections: [String; 3],
    section: Section,
    registers: [u32; Class::ALL.len()],
    labels: u32,
    /// Whether the end of the body can be reached.
    open: bool,
    last_site: Option<Site>,
}

impl Assembler {
    pub fn new() -> Assembler {
        Assembler {
            sections: Default::default(),
            section: Section::Body,
            registers: [0; Class::ALL.len()],
            labels: 0,
            open: true,
            last_site: None,
        }
    }

    pub fn register(&mut self, class: Class) -> Value {
        let count = &mut self.registers[class as usize];
        *count += 1;
        Value::Register(class, *count - 1)
    }

    pub fn fresh(&mut self, ty: Type) -> Value {
        self.register(Class::of(ty))
    }

    pub fn target(&mut self) -> BranchTarget {
        self.labels += 1;
        BranchTarget(self.labels - 1)
    }

    fn text(&mut self) -> &mut String {
        &mut self.sections[self.section as usize]
    }

    /// Switches to another section, and returns the one before.
    pub fn go_to(&mut self, section: Section) -> Section {
        std::mem::replace(&mut self.section, section)
    }

    pub fn line(&mut self, text: fmt::Arguments<'_>) {
        let to = self.text();
        to.push_str("    ");
        // Writing to a string does not fail.
        let _ = to.write_fmt(text);
        to.push_str(";\n");
    }

    pub fn comment(&mut self, text: fmt::Arguments<'_>) {
        let to = self.text();
        let _ = writeln!(to, "    // {text}");
    }

    /// Writes a comment where another source line begins.
    pub fn site(&mut self, site: Site) {
        if self.last_site.is_none_or(|last| (last.file, last.line) != (site.file, site.line)) {
            self.last_site = Some(site);
            self.comment(format_args!("{}:{}", site.file, site.line));
        }
    }

    pub fn place(&mut self, target: BranchTarget) {
        let to = self.text();
        let _ = writeln!(to, "{target}:");
        if self.section == Section::Body {
            self.open = true;
        }
    }

    /// Emits an unconditional branch to `target`.
    pub fn branch(&mut self, target: BranchTarget) {
        self.line(format_args!("bra {target}"));
        if self.section == Section::Body {
            self.open = false;
        }
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The declarations of the registers, and the sections one after another.
    pub fn finish(self) -> String {
        let mut text = String::new();
        for class in Class::ALL {
            let count = self.registers[class as usize];
            if count > 0 {
                let _ = writeln!(text, "    .reg .{} {}<{count}>;", class.name(), class.prefix());
            }
        }
        text + &self.sections.concat()
    }
}

/// Appends one instruction to an emitter's text.
macro_rules! ins {
    ($emitter:expr, $($text:tt)*) => { $emitter.asm.line(format_args!($($text)*)) };
}
pub(crate) use ins;
