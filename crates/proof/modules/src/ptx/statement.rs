//! The statements of a text, before names are resolved.

use std::collections::HashMap;

use crate::types::{Space, Type};

/// The statements of a module.
#[derive(Debug)]
pub struct Text {
    /// The PTX version from `.version`.
    pub version: (u32, u32),
    /// The compute capability from `.target sm_NN`.
    pub sm: u32,
    /// The variables of the module.
    pub variables: Vec<Variable>,
    /// The kernels of the module.
    pub entries: Vec<Entry>,
    /// The functions of the module, those of other modules that it declares among them.
    pub functions: Vec<Function>,
    /// The names of `.file`, by their numbers; they may stand behind the kernels.
    pub files: HashMap<u32, String>,
}

/// A variable with an address.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub ty: Type,
    pub align: u64,
    pub bytes: u64,
    /// Whether the launch sets the size: `.extern .shared x[]`.
    pub dynamic: bool,
    /// The initial bytes; the rest is zero.
    pub initial: Vec<u8>,
    /// The variables whose addresses are among the initial bytes: the offset there, the name, and what is added to it.
    pub addresses: Vec<(usize, String, u64)>,
    pub line: u32,
}

/// The declaration of a kernel.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub params: Vec<Variable>,
    /// The maximum threads per block in each dimension, from `.maxntid`.
    pub most_threads: Option<[u32; 3]>,
    /// The required threads per block in each dimension, from `.reqntid`.
    pub exact_threads: Option<[u32; 3]>,
    /// The directive that makes clusters of several blocks, if there is one.
    pub clusters: Option<&'static str>,
    pub body: Vec<Statement>,
    pub line: u32,
}

/// The declaration of a function.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub results: Vec<Variable>,
    pub params: Vec<Variable>,
    /// `None` for another module's.
    pub body: Option<Vec<Statement>>,
}

/// A statement of a kernel's body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A declaration of registers: `.reg .type name<count>;`.
    Register { ty: Type, name: String, count: Option<u32>, line: u32 },
    /// A variable of the kernel.
    Variable(Variable),
    /// A list of labels, to one of which an indexed branch goes: `name: .branchtargets a, b;`.
    Targets { name: String, labels: Vec<String>, line: u32 },
    /// A label `name:` with its line.
    Label(String, u32),
    /// The place in the source of the instructions that follow.
    Loc(Loc),
    /// A scope `{ … }` with declarations of its own.
    Scope(Vec<Statement>),
    /// An instruction.
    Instruction(Instruction),
}

/// The directive `.loc`.
#[derive(Clone, Copy, Debug)]
pub struct Loc {
    pub place: Position,
    /// The call that was replaced by the function's body: `inlined_at`.
    pub inlined_at: Option<Position>,
    pub line: u32,
}

/// A place in the source: the number of its file, its line and its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// `@p` or `@!p`: the name, and whether it is negated.
    pub guard: Option<(String, bool)>,
    /// The opcode with all its modifiers.
    pub opcode: String,
    pub operands: Vec<Operand>,
    pub line: u32,
    /// The text of the instruction, with single spaces.
    pub text: String,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a label, a variable, or `_`.
    Name(String),
    /// A negated predicate `!name`.
    Not(String),
    /// Two destinations `p|q`.
    Pair(String, String),
    /// An integer, and whether it had a minus sign.
    Int(u64, bool),
    Single(u32),
    Double(u64),
    /// A vector `{a, b}`.
    Vector(Vec<Operand>),
    /// What a call is given, or gives back: `(a, b)`.
    List(Vec<Operand>),
    /// An address `[base+offset]`; without a base the offset is the address.
    Address(Option<String>, i64),
}
