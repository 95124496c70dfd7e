//! Fundamental types and state spaces (PTX ISA 5.1, 5.2).

/// The kinds of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// The kind of `.pred`.
    Pred,
    /// The kind of `.bN`, bits without interpretation.
    Bits,
    /// The kind of `.uN`.
    Unsigned,
    /// The kind of `.sN`.
    Signed,
    /// The kind of `.fN`.
    Float,
    /// The kind of `.bf16`.
    Brain,
}

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The kind of the type.
    pub sort: Sort,
    /// The size in bits; 1 for a predicate.
    pub bits: u32,
}

impl Type {
    /// `.pred`
    pub const PRED: Type = Type { sort: Sort::Pred, bits: 1 };
    /// `.b32`
    pub const B32: Type = Type { sort: Sort::Bits, bits: 32 };
    /// `.u32`
    pub const U32: Type = Type { sort: Sort::Unsigned, bits: 32 };
    /// `.u64`
    pub const U64: Type = Type { sort: Sort::Unsigned, bits: 64 };

    /// The type that a word such as `u32` names.
    pub fn named(word: &str) -> Option<Type> {
        if word == "pred" {
            return Some(Type::PRED);
        }
        if word == "bf16" {
            return Some(Type { sort: Sort::Brain, bits: 16 });
        }
        let sort = match word.as_bytes().first()? {
            b'b' => Sort::Bits,
            b'u' => Sort::Unsigned,
            b's' => Sort::Signed,
            b'f' => Sort::Float,
            _ => return None,
        };
        let bits = match &word[1..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        (sort != Sort::Float || bits >= 16).then_some(Type { sort, bits })
    }

    /// The size in memory, in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }

    /// The mask of the type's bits.
    pub fn mask(self) -> u64 {
        if self.bits == 64 { u64::MAX } else { (1 << self.bits) - 1 }
    }

    /// Whether the type is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self.sort, Sort::Float | Sort::Brain)
    }

    /// Whether the type is an integer type with or without sign; bit types are not.
    pub fn is_integer(self) -> bool {
        matches!(self.sort, Sort::Unsigned | Sort::Signed)
    }

    /// Whether a register of this type may be an operand of an instruction of that type with the same size: bits agree
    /// with everything, the signs of integers do not matter (PTX ISA 9.5 "Type Information for Instructions and
    /// Operands").
    pub fn agrees(self, instruction: Type) -> bool {
        self.bits == instruction.bits && self.agrees_in_sort(instruction)
    }

    /// Whether they agree apart from their sizes, for the instructions with relaxed sizes (9.5.1 "Operand Size
    /// Exceeding Instruction-Type Size").
    pub fn agrees_in_sort(self, instruction: Type) -> bool {
        match (self.sort, instruction.sort) {
            (Sort::Pred, other) | (other, Sort::Pred) => other == Sort::Pred,
            (Sort::Bits, _) | (_, Sort::Bits) => true,
            (Sort::Brain, other) | (other, Sort::Brain) => other == Sort::Brain,
            (a, b) => (a == Sort::Float) == (b == Sort::Float),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = match self.sort {
            Sort::Pred => return f.write_str(".pred"),
            Sort::Bits => 'b',
            Sort::Unsigned => 'u',
            Sort::Signed => 's',
            Sort::Float => 'f',
            Sort::Brain => return write!(f, ".bf{}", self.bits),
        };
        write!(f, ".{letter}{}", self.bits)
    }
}

/// State spaces with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// No space is named: the address decides.
    Generic,
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.const`
    Const,
}

impl Space {
    /// The space that a word such as `global` names.
    pub fn named(word: &str) -> Option<Space> {
        Some(match word {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "local" => Space::Local,
            "param" => Space::Param,
            "const" => Space::Const,
            _ => return None,
        })
    }
}
