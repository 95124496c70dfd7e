//! Instructions as words, and the binary form of a module (SPIR-V specification, 2.3 "Physical Layout of a SPIR-V
//! Module and Instruction").

use std::collections::HashMap;
use std::sync::OnceLock;

use rspirv::grammar::{INSTRUCTION_TABLE, Instruction as Grammar, OperandKind, OperandQuantifier};
use rspirv::spirv::{MAGIC_NUMBER, Op};

use crate::refused::Refused;

/// The number of a result.
pub type Id = u32;

/// An instruction: its opcode, its results, and the words of its operands behind them.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The opcode.
    pub op: Op,
    /// The type of the result.
    pub result_type: Option<Id>,
    /// The number of the result, where the instruction has one.
    pub result: Option<Id>,
    /// The words of the operands behind the result.
    pub operands: Vec<u32>,
    /// The line of the text, or of a binary module the number of the instruction, from 1.
    pub line: u32,
}

impl Instruction {
    /// The operand of that number.
    pub fn operand(&self, number: usize) -> Result<u32, Refused> {
        let missing = || Refused::new(self.line, format!("`{}` lacks an operand", self.name()));
        self.operands.get(number).copied().ok_or_else(missing)
    }

    /// The operands from that number on.
    pub fn rest(&self, from: usize) -> &[u32] {
        self.operands.get(from..).unwrap_or_default()
    }

    /// The number of the result; refused of an instruction that has none.
    pub fn id(&self) -> Result<Id, Refused> {
        self.result.ok_or_else(|| Refused::new(self.line, format!("`{}` names no result", self.name())))
    }

    /// The type of the result.
    pub fn ty(&self) -> Result<Id, Refused> {
        self.result_type.ok_or_else(|| Refused::new(self.line, format!("`{}` names no type", self.name())))
    }

    /// The name of the instruction: `OpIAdd`.
    pub fn name(&self) -> String {
        format!("Op{:?}", self.op)
    }

    /// The string that begins at an operand, and the number of the operand behind it.
    pub fn string(&self, from: usize) -> (String, usize) {
        let bytes: Vec<u8> = self.rest(from).iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        (String::from_utf8_lossy(&bytes[..end]).into_owned(), from + end / 4 + 1)
    }

    /// A refusal of this instruction.
    pub fn refused(&self, why: impl Into<String>) -> Refused {
        Refused::new(self.line, why)
    }
}

/// A module as a list of instructions, with names for its results.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The instructions in their order.
    pub instructions: Vec<Instruction>,
    /// The names that the text gives the results: `17` and `gl_LocalInvocationID`; of a binary module, those of
    /// `OpName`, or their numbers.
    pub names: HashMap<Id, String>,
}

impl Listing {
    /// The refusal, at its last instruction, of a module that has to have something.
    pub(super) fn ends_without(&self, what: &str) -> Refused {
        let why = format!("the module ends without {what}");
        match self.instructions.last() {
            Some(last) => last.refused(why),
            None => Refused::new(1, why),
        }
    }

    /// An instruction as a line of text: its result, and the results that it begins with as operands.
    pub(super) fn line(&self, instruction: &Instruction) -> String {
        let name = |id: &Id| self.names.get(id).map_or_else(|| format!("%{id}"), |name| format!("%{name}"));
        let result = instruction.result.as_ref().map(|id| format!("{} = ", name(id))).unwrap_or_default();
        let is_id = |kind: &OperandKind| {
            matches!(kind, OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics)
        };
        let ids = operand_kinds(instruction)
            .take_while(is_id)
            .zip(&instruction.operands)
            .map(|(_, id)| format!(" {}", name(id)));
        format!("{result}{}{}", instruction.name(), ids.collect::<String>())
    }
}

/// The kinds of the operands of an instruction, without its result; the last one is that of all further operands, where
/// there may be several.
pub(super) fn operand_kinds(instruction: &Instruction) -> impl Iterator<Item = OperandKind> {
    let known = grammar().get(instruction.name().trim_start_matches("Op"));
    let is_operand = |kind| !matches!(kind, OperandKind::IdResultType | OperandKind::IdResult);
    let operands = known.map_or(&[][..], |known| known.operands).iter().filter(move |operand| is_operand(operand.kind));
    operands.flat_map(|operand| {
        let count = if operand.quantifier == OperandQuantifier::ZeroOrMore { usize::MAX } else { 1 };
        std::iter::repeat_n(operand.kind, count)
    })
}

/// The grammar of the instructions, by their names.
pub(super) fn grammar() -> &'static HashMap<&'static str, &'static Grammar<'static>> {
    static BY_NAME: OnceLock<HashMap<&str, &Grammar<'_>>> = OnceLock::new();
    BY_NAME.get_or_init(|| INSTRUCTION_TABLE.iter().map(|instruction| (instruction.opname, instruction)).collect())
}

/// Whether an instruction has an operand of a kind.
pub(super) fn has(grammar: &Grammar<'_>, kind: OperandKind) -> bool {
    grammar.operands.iter().any(|operand| operand.kind == kind)
}

/// Reads the binary form, of either byte order.
pub fn binary(bytes: &[u8]) -> Result<Listing, Refused> {
    let wrong = |number: usize, why: &str| Refused::new(number as u32, why);
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let words = match words.first() {
        Some(&MAGIC_NUMBER) => words,
        Some(&first) if first.swap_bytes() == MAGIC_NUMBER => words.into_iter().map(u32::swap_bytes).collect(),
        _ => return Err(wrong(1, "these bytes are no SPIR-V module: it begins with the magic number 0x07230203")),
    };
    if !bytes.len().is_multiple_of(4) || words.len() < 5 {
        return Err(wrong(1, "the module is cut off"));
    }
    let mut listing = Listing::default();
    let by_opcode: HashMap<u32, &Grammar<'_>> = grammar().values().map(|known| (known.opcode as u32, *known)).collect();
    let mut rest = &words[5..];
    while let Some(&first) = rest.first() {
        let number = listing.instructions.len() + 1;
        let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
        let operands =
            rest.get(1..length).ok_or_else(|| wrong(number, "the module is cut off within an instruction"))?;
        let known = by_opcode.get(&opcode).ok_or_else(|| wrong(number, &format!("opcode {opcode} is unknown")))?;
        let mut operands = operands.iter().copied();
        let mut id = |has: bool| has.then(|| operands.next()).flatten();
        let (result_type, result) = (id(has(known, OperandKind::IdResultType)), id(has(known, OperandKind::IdResult)));
        if let Some(result) = result {
            listing.names.insert(result, result.to_string());
        }
        let operands = operands.collect();
        listing.instructions.push(Instruction { op: known.opcode, result_type, result, operands, line: number as u32 });
        rest = &rest[length..];
    }
    let names = source_names(&listing);
    listing.names.extend(names);
    Ok(listing)
}

/// The names that `OpName` has for results; a variable without one has that of the structure that it is, as a buffer
/// block of GLSL. A name that several have ends with the number of all but the first, or of all but a variable, which
/// has a type's in HLSL.
pub(super) fn source_names(listing: &Listing) -> HashMap<Id, String> {
    let mut given: HashMap<Id, String> = HashMap::new();
    let (mut pointees, mut variables) = (HashMap::new(), Vec::new());
    for instruction in &listing.instructions {
        match (instruction.op, instruction.operands.as_slice()) {
            (Op::Name, &[id, ..]) => drop(given.insert(id, instruction.string(1).0)),
            (Op::TypePointer, &[_, to]) => drop(instruction.result.map(|result| pointees.insert(result, to))),
            (Op::Variable, _) => variables.extend(instruction.result.zip(instruction.result_type)),
            _ => {}
        }
    }
    let is_name = |name: &&String| name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    for (variable, ty) in variables {
        if given.get(&variable).is_none_or(String::is_empty)
            && let Some(block) = pointees.get(&ty).and_then(|block| given.remove(block))
        {
            given.insert(variable, block);
        }
    }
    let (mut names, mut taken) = (HashMap::new(), std::collections::HashSet::new());
    let (first, others): (Vec<_>, Vec<_>) = listing.instructions.iter().partition(|known| known.op == Op::Variable);
    for instruction in first.into_iter().chain(others) {
        let Some((result, name)) = instruction.result.and_then(|result| Some((result, given.get(&result)?))) else {
            continue;
        };
        if !is_name(&name) {
            continue;
        }
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' })
            .collect();
        let name = if taken.insert(plain.clone()) { plain } else { format!("{plain}_{result}") };
        names.insert(result, name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::text::assemble;

    /// The words of a list of instructions.
    fn words(listing: &Listing) -> Vec<u32> {
        let mut words = vec![MAGIC_NUMBER, 0x0001_0600, 0, 1 << 10, 0];
        for instruction in &listing.instructions {
            let results = instruction.result_type.into_iter().chain(instruction.result);
            let operands: Vec<u32> = results.chain(instruction.operands.iter().copied()).collect();
            words.push((operands.len() as u32 + 1) << 16 | instruction.op as u32);
            words.extend(operands);
        }
        words
    }

    #[test]
    fn a_binary_module_has_the_names_of_its_source() {
        let text = "OpName %shared \"sum.part\"\nOpName %block \"Data\"\nOpName %buffer \"\"\nOpName %one \"x\"\nOpName %two \"x\"\nOpName %local \"sum.part\"\n\
                    OpName %odd \"7\"\n%int = OpTypeInt 32 1\n%block = OpTypeStruct %int\n%to = OpTypePointer StorageBuffer %block\n\
                    %local = OpTypePointer Workgroup %int\n%buffer = OpVariable %to StorageBuffer\n\
                    %shared = OpVariable %local Workgroup\n%one = OpConstant %int 1\n%two = OpConstant %int 2\n\
                    %odd = OpConstant %int 3\n%read = OpLoad %int %shared Aligned 4\nOpStore %shared %read Aligned 4";
        let written = assemble(text).expect("it is right");
        let bytes: Vec<u8> = words(&written).iter().flat_map(|word| word.to_le_bytes()).collect();
        let read = binary(&bytes).expect("it is right");
        let name = |of: &str| {
            let (id, _) = written.names.iter().find(|(_, name)| *name == of).expect("a result of that name");
            (*id, read.names[id].as_str())
        };
        assert_eq!([name("shared").1, name("buffer").1, name("one").1], ["sum.part", "Data", "x"]);
        assert_eq!(name("local").1, format!("sum.part_{}", name("local").0));
        assert_eq!([name("two").1, name("odd").1], [format!("x_{}", name("two").0), name("odd").0.to_string()]);
        let lines: Vec<String> = read.instructions.iter().rev().take(2).map(|last| read.line(last)).collect();
        let loaded = name("read").0;
        assert_eq!(lines, [format!("OpStore %sum.part %{loaded}"), format!("%{loaded} = OpLoad %sum.part")]);
    }

    #[test]
    fn both_forms_give_the_same_instructions() {
        let text = "OpCapability Shader ; a comment\nOpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"ma;in\"\n\
                    OpDecorate %id BuiltIn LocalInvocationId\n%long = OpTypeInt 64 0\n%big = OpConstant %long 8589934593\n\
                    %small = OpConstant %long -2\n%float = OpTypeFloat 32\n%half = OpConstant %float 0.5\n\
                    OpStore %p %v Aligned|MakePointerAvailable|NonPrivatePointer 4 %scope\n\
                    OpSwitch %big %a 4294967296 %b";
        let listing = assemble(text).expect("it is right");
        let operands: Vec<&[u32]> = listing.instructions.iter().map(|known| known.operands.as_slice()).collect();
        assert_eq!(operands[2][2..], [u32::from_le_bytes(*b"ma;i"), u32::from_le_bytes(*b"n\0\0\0")]);
        assert_eq!((operands[3][1], operands[3][2]), (11, 27), "BuiltIn LocalInvocationId");
        assert_eq!((operands[5], operands[6]), (&[1, 2][..], &[u32::MAX - 1, u32::MAX][..]));
        assert_eq!((operands[8], operands[9][2..4].to_vec()), (&[0.5f32.to_bits()][..], vec![0x2a, 4]));
        assert_eq!(operands[10][2..4], [0, 1]);
        let words = words(&listing);
        for swapped in [false, true] {
            let bytes = words.iter().flat_map(|&word| (if swapped { word.swap_bytes() } else { word }).to_le_bytes());
            let read = binary(&bytes.collect::<Vec<u8>>()).expect("it is right");
            let same = read.instructions.iter().zip(&listing.instructions);
            assert!(read.instructions.len() == listing.instructions.len());
            for (read, written) in same {
                assert_eq!((read.op, read.result, &read.operands), (written.op, written.result, &written.operands));
                assert_eq!(read.result_type, written.result_type);
            }
        }
        for cut in 6..words.len() {
            let bytes: Vec<u8> = words[..cut].iter().flat_map(|word| word.to_le_bytes()).collect();
            let whole = binary(&bytes).map(|listing| listing.instructions.len());
            assert!(whole.is_ok_and(|count| count < listing.instructions.len()) || binary(&bytes).is_err());
        }
    }
}
