//! The text form of a module, as `spirv-as` reads it: an instruction on each line, `%result = OpName operands`, and
//! comments from `;` to the end of the line. A string may go over several lines, as the source in an `OpSource` does.
//!
//! How a word is written says how it is encoded: `%x` is a result, `"x"` a string, a number a number. A bare name is
//! one of the enumerations in the instruction's grammar, which rspirv has as tables.

use std::collections::HashMap;

use rspirv::grammar::{self, ExtInstOp, Instruction as Grammar, InstructionTable, OperandKind};
use rspirv::spirv::{self, Op};

use super::floats;
use super::instruction::{Id, Instruction, Listing, grammar, has};
use super::module::OPENCL_DEBUG;
use crate::refused::Refused;

/// Assembles the text form of a module, as `spirv-as` reads it.
pub fn assemble(text: &str) -> Result<Listing, Refused> {
    let mut assembler = Assembler::default();
    let (mut line, mut rest) = (1u32, text);
    while !rest.is_empty() {
        let (here, behind) = rest.split_at(end_of_line(rest));
        let words = words(here).map_err(|why| Refused::new(line, why))?;
        if !words.is_empty() {
            let instruction = assembler.instruction(&words, line).map_err(|why| Refused::new(line, why))?;
            assembler.listing.instructions.push(instruction);
        }
        line = line.saturating_add(here.matches('\n').count() as u32);
        rest = behind;
    }
    Ok(assembler.listing)
}

/// The offset behind the first line feed that is not a part of a string.
fn end_of_line(text: &str) -> usize {
    let (mut in_string, mut in_comment, mut escaped) = (false, false, false);
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            b'\n' if !in_string => return at + 1,
            b'"' if !in_comment && !escaped => in_string = !in_string,
            b';' if !in_string => in_comment = true,
            _ => {}
        }
        escaped = in_string && letter == b'\\' && !escaped;
    }
    text.len()
}

/// A word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word<'t> {
    Result(&'t str),
    String(&'t str),
    Bare(&'t str),
}

/// The words of a line.
fn words(line: &str) -> Result<Vec<Word<'_>>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            ';' => break,
            '"' => {
                let mut escaped = false;
                let end = rest.char_indices().skip(1).find(|&(_, letter)| {
                    let ends = letter == '"' && !escaped;
                    escaped = letter == '\\' && !escaped;
                    ends
                });
                let (end, _) = end.ok_or("a string does not end")?;
                words.push(Word::String(&rest[1..end]));
                end + 1
            }
            _ => {
                let end = rest.find(|letter: char| letter.is_whitespace() || letter == ';').unwrap_or(rest.len());
                let word = &rest[..end];
                words.push(word.strip_prefix('%').map_or(Word::Bare(word), Word::Result));
                end
            }
        };
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

/// What is known of the lines before.
#[derive(Debug, Default)]
struct Assembler {
    listing: Listing,
    ids: HashMap<String, Id>,
    /// The widths of number types in bits, and whether they are floats.
    numbers: HashMap<Id, (u32, bool)>,
    /// The types of results.
    types: HashMap<Id, Id>,
    /// The sets of extended instructions, by their names.
    sets: HashMap<Id, String>,
}

impl Assembler {
    fn id(&mut self, name: &str) -> Id {
        if let Some(&known) = self.ids.get(name) {
            return known;
        }
        let id = self.ids.len() as Id + 1;
        self.ids.insert(name.to_owned(), id);
        self.listing.names.insert(id, name.to_owned());
        id
    }

    fn instruction(&mut self, words: &[Word<'_>], line: u32) -> Result<Instruction, String> {
        let (result, words) = match words {
            [Word::Result(result), Word::Bare("="), words @ ..] => (Some(*result), words),
            _ => (None, words),
        };
        let [Word::Bare(name), words @ ..] = words else {
            return Err("a line is `OpName operands` or `%result = OpName operands`".into());
        };
        let known = name.strip_prefix("Op").and_then(|name| grammar().get(name));
        let known = known.ok_or_else(|| format!("there is no instruction `{name}`"))?;
        if result.is_some() != has(known, OperandKind::IdResult) {
            return Err(format!("`{name}` has {} result", if result.is_some() { "no" } else { "a" }));
        }
        let result = result.map(|result| self.id(result));
        let (result_type, words) = match (has(known, OperandKind::IdResultType), words) {
            (false, words) => (None, words),
            (true, [Word::Result(ty), words @ ..]) => (Some(self.id(ty)), words),
            (true, _) => return Err(format!("`{name}` names the type of its result first")),
        };
        let mut operands = Vec::new();
        let mut kinds = known.operands.iter().map(|operand| operand.kind);
        for &word in words {
            match word {
                Word::Result(name) => operands.push(self.id(name)),
                Word::String(text) => operands.extend(string(text)),
                Word::Bare(word) => match self.width(known.opcode, result_type, &operands) {
                    Some((bits, is_float)) => operands.extend(number(word, bits, is_float)?),
                    None if is_number(word) => {
                        operands.extend(number(word, 32, false)?);
                    }
                    None => operands.push(self.name(known, &mut kinds, &operands, word)?),
                },
            }
        }
        let instruction = Instruction { op: known.opcode, result_type, result, operands, line };
        self.note(&instruction);
        Ok(instruction)
    }

    /// Keeps what later lines need.
    fn note(&mut self, instruction: &Instruction) {
        let Some(result) = instruction.result else { return };
        match (instruction.op, instruction.operands.as_slice()) {
            (Op::TypeInt, &[bits, _]) => drop(self.numbers.insert(result, (bits, false))),
            (Op::TypeFloat, &[bits, ..]) => drop(self.numbers.insert(result, (bits, true))),
            (Op::ExtInstImport, _) => drop(self.sets.insert(result, instruction.string(0).0)),
            _ => {}
        }
        if let Some(ty) = instruction.result_type {
            self.types.insert(result, ty);
        }
    }

    /// The width of a number at this place whose type the instruction decides: a constant's value, a switch's case.
    fn width(&self, op: Op, result_type: Option<Id>, before: &[u32]) -> Option<(u32, bool)> {
        match op {
            Op::Constant | Op::SpecConstant => self.numbers.get(&result_type?).copied(),
            Op::Switch => self.numbers.get(self.types.get(before.first()?)?).copied(),
            _ => None,
        }
    }

    /// The word for a name of an enumeration.
    fn name(
        &self,
        known: &Grammar<'_>,
        kinds: &mut dyn Iterator<Item = OperandKind>,
        before: &[u32],
        word: &str,
    ) -> Result<u32, String> {
        let unknown = || format!("`{word}` is unknown here");
        if known.opcode == Op::ExtInst {
            let set = before.first().and_then(|set| self.sets.get(set)).ok_or("its set is not imported")?;
            // Flags and encodings, which only debuggers look at.
            if set == OPENCL_DEBUG && before.len() > 1 {
                return Ok(0);
            }
            // The operand of a store of floats of 16 bits.
            if before.len() > 1
                && let Some(mode) = enumerant(OperandKind::FPRoundingMode, word)
            {
                return Ok(mode);
            }
            return extended(set, word).ok_or_else(|| format!("`{word}` is no instruction of {set}"));
        }
        if known.opcode == Op::SpecConstantOp && before.is_empty() {
            return grammar().get(word).map(|operation| operation.opcode as u32).ok_or_else(unknown);
        }
        for kind in kinds {
            if let Some(value) = enumerant(kind, word) {
                return Ok(value);
            }
        }
        // The operands of enumerants: decorations name built-ins, linkage and modes.
        PARAMETERS.iter().find_map(|&kind| enumerant(kind, word)).ok_or_else(unknown)
    }
}

/// The enumerations that operands of other enumerants have.
const PARAMETERS: [OperandKind; 5] = [
    OperandKind::BuiltIn,
    OperandKind::LinkageType,
    OperandKind::FunctionParameterAttribute,
    OperandKind::FPRoundingMode,
    OperandKind::FPFastMathMode,
];

/// The words of a string.
fn string(text: &str) -> Vec<u32> {
    let mut bytes = Vec::with_capacity(text.len() + 4);
    let mut escaped = false;
    for letter in text.bytes() {
        if letter == b'\\' && !escaped {
            escaped = true;
        } else {
            bytes.push(letter);
            escaped = false;
        }
    }
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Whether a word is a number, and not the name of an image's dimensions: `2D`.
fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') && !matches!(word, "1D" | "2D" | "3D")
}

/// The words of a number, the low one first.
fn number(text: &str, bits: u32, is_float: bool) -> Result<Vec<u32>, String> {
    let wrong = || format!("`{text}` is no number of {bits} bits");
    let value = if is_float {
        floats::bits(text, bits).ok_or_else(wrong)?
    } else {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let value = value.ok().filter(|&value| value >> bits.min(64) == 0).ok_or_else(wrong)?;
        (sign * value) as u64
    };
    Ok(if bits > 32 { vec![value as u32, (value >> 32) as u32] } else { vec![value as u32] })
}

/// The number of an extended instruction.
fn extended(set: &str, name: &str) -> Option<u32> {
    let of = |table: &InstructionTable<ExtInstOp>| {
        table.iter().find(|known| known.opname == name).map(|known| known.opcode.into())
    };
    match set {
        "GLSL.std.450" => of(&grammar::GLSL_STD_450_INSTRUCTION_TABLE),
        "OpenCL.std" => of(&grammar::OPENCL_STD_100_INSTRUCTION_TABLE),
        OPENCL_DEBUG => of(&grammar::OPENCL_DEBUGINFO_100_INSTRUCTION_TABLE),
        _ if set.starts_with("NonSemantic.ClspvReflection") => {
            of(&grammar::NONSEMANTIC_CLSPVREFLECTION_INSTRUCTION_TABLE)
        }
        // They have no meaning for what a module does (SPV_KHR_non_semantic_info).
        _ if set.starts_with("NonSemantic.") => Some(u32::MAX),
        _ => None,
    }
}

/// `NonPrivatePointer` as the tables of bits write it: `NON_PRIVATE_POINTER`.
fn shouted(name: &str) -> String {
    let mut shouted = String::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            shouted.push('_');
        }
        shouted.push(letter.to_ascii_uppercase());
        before = letter;
    }
    shouted
}

macro_rules! enumerations {
    ([$($value:ident),+], [$($bits:ident),+]) => {
        /// The word for a name, or for several with `|` between them, of an enumeration.
        fn enumerant(kind: OperandKind, word: &str) -> Option<u32> {
            match kind {
                // Its names are no identifiers of Rust's: `2D`.
                OperandKind::Dim => format!("Dim{word}").parse::<spirv::Dim>().ok().map(|value| value as u32),
                $(OperandKind::$value => word.parse::<spirv::$value>().ok().map(|value| value as u32),)+
                $(OperandKind::$bits => word.split('|').try_fold(0, |all, name| {
                    let short = ["KHR", "EXT", "INTEL"].iter().find_map(|vendor| name.strip_suffix(vendor));
                    let bits = [Some(name), short].into_iter().flatten().find_map(|name| {
                        spirv::$bits::from_name(&shouted(name))
                    });
                    match (name, bits) {
                        ("None", _) => Some(all),
                        (_, bits) => Some(all | bits?.bits()),
                    }
                }),)+
                _ => None,
            }
        }
    };
}

enumerations!(
    [
        SourceLanguage,
        ExecutionModel,
        AddressingModel,
        MemoryModel,
        ExecutionMode,
        StorageClass,
        SamplerAddressingMode,
        SamplerFilterMode,
        ImageFormat,
        ImageChannelOrder,
        ImageChannelDataType,
        FPRoundingMode,
        FPDenormMode,
        LinkageType,
        AccessQualifier,
        FunctionParameterAttribute,
        Decoration,
        BuiltIn,
        Scope,
        GroupOperation,
        Capability,
        PackedVectorFormat,
        FPEncoding
    ],
    [
        ImageOperands,
        FPFastMathMode,
        SelectionControl,
        LoopControl,
        FunctionControl,
        MemorySemantics,
        MemoryAccess,
        KernelProfilingInfo
    ]
);
