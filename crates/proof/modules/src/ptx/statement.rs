//! What a text says, before anyone asks what it means.

use crate::types::{Space, Type};

/// A module.
#[derive(Debug)]
pub struct Text {
    /// `.version`
    pub version: (u32, u32),
    /// `.target sm_NN`
    pub sm: u32,
    /// Variables of the module.
    pub variables: Vec<Variable>,
    /// Its kernels.
    pub entries: Vec<Entry>,
}

/// A variable with an address.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub align: u64,
    pub bytes: u64,
    /// `.extern .shared x[]`: as large as the launch says.
    pub dynamic: bool,
    /// Its first bytes; what follows is zero.
    pub initial: Vec<u8>,
    pub line: u32,
}

/// A kernel.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub params: Vec<Variable>,
    /// `.maxntid`
    pub most_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub exact_threads: Option<[u32; 3]>,
    pub body: Vec<Statement>,
    pub line: u32,
}

/// A statement of a kernel's body.
#[derive(Debug)]
pub enum Statement {
    /// `.reg .type name<count>;`
    Register { ty: Type, name: String, count: Option<u32>, line: u32 },
    /// A variable of the kernel.
    Variable(Variable),
    /// `name:`
    Label(String, u32),
    /// An instruction.
    Instruction(Instruction),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// `@p` or `@!p`: the name, and whether it is negated.
    pub guard: Option<(String, bool)>,
    /// With all its modifiers.
    pub opcode: String,
    pub operands: Vec<Operand>,
    pub line: u32,
    /// As the text has it, with single spaces.
    pub text: String,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a label, a variable, or `_`.
    Name(String),
    /// `!name`
    Not(String),
    /// `p|q`
    Pair(String, String),
    /// An integer; whether it had a minus sign.
    Int(u64, bool),
    Single(u32),
    Double(u64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `[base+offset]`; without a base the offset is the address.
    Address(Option<String>, i64),
}
