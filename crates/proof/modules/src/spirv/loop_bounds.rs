//! The counters with which naga ends every loop after 2⁶⁴ turns, for drivers that take a loop without an end to do
//! anything (naga's `force_loop_bounding`, on by default).
//!
//! No run comes to that end, and a counter that changes in each turn of a waiting loop would make all turns different
//! ones. So the counters are taken out: where the shader waits, it waits.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{Op, StorageClass};

use super::instruction::{Id, Instruction};

/// What naga writes at the beginning of a loop, apart from lines.
const PATTERN: [Op; 15] = [
    Op::LoopMerge,
    Op::Branch,
    Op::Label,
    Op::Load,
    Op::IEqual,
    Op::All,
    Op::SelectionMerge,
    Op::BranchConditional,
    Op::Label,
    Op::CompositeExtract,
    Op::IEqual,
    Op::Select,
    Op::CompositeConstruct,
    Op::ISub,
    Op::Store,
];

/// The number of the branch in [`PATTERN`], and those of what counts.
const BRANCH: usize = 7;
const COUNTS: [usize; 10] = [3, 4, 5, 6, 9, 10, 11, 12, 13, 14];

/// The instructions of a module without such counters.
pub(super) fn without(instructions: Vec<Instruction>) -> Vec<Instruction> {
    let is_code = |number: &usize| !matches!(instructions[*number].op, Op::Line | Op::NoLine);
    let code: Vec<usize> = (0..instructions.len()).filter(is_code).collect();
    let names = Names::of(&instructions);
    let (mut gone, mut never) = (HashSet::new(), HashMap::new());
    for numbers in code.windows(PATTERN.len()) {
        let found: Vec<&Instruction> = numbers.iter().map(|&number| &instructions[number]).collect();
        if found.iter().zip(PATTERN).all(|(found, op)| found.op == op) && names.is_counted(&found) {
            gone.extend(COUNTS.map(|at| numbers[at]));
            never.insert(numbers[BRANCH], found[BRANCH].operands[2]);
        }
    }
    if never.is_empty() {
        return instructions;
    }
    let kept = instructions.into_iter().enumerate().filter(|(number, _)| !gone.contains(number));
    kept.map(|(number, instruction)| match never.get(&number) {
        Some(&stays) => Instruction { op: Op::Branch, operands: vec![stays], ..instruction },
        None => instruction,
    })
    .collect()
}

/// The constants and variables of a module, and how often functions name each result.
struct Names<'m> {
    defined: HashMap<Id, &'m Instruction>,
    uses: HashMap<Id, usize>,
}

impl Names<'_> {
    fn of(instructions: &[Instruction]) -> Names<'_> {
        let (mut defined, mut uses, mut in_function) = (HashMap::new(), HashMap::new(), false);
        for instruction in instructions {
            in_function |= instruction.op == Op::Function;
            if matches!(instruction.op, Op::Constant | Op::ConstantComposite | Op::ConstantNull | Op::Variable) {
                defined.extend(instruction.result.map(|result| (result, instruction)));
            }
            // A literal that is the number of a result makes it one with more uses, which is none of a counter.
            if in_function && !matches!(instruction.op, Op::Line | Op::NoLine) {
                instruction.operands.iter().for_each(|&operand| *uses.entry(operand).or_default() += 1);
            }
        }
        Names { defined, uses }
    }

    /// Whether these instructions, which are those of [`PATTERN`], count the turns of the loop and do nothing else.
    fn is_counted(&self, found: &[&Instruction]) -> bool {
        let [merge, branch, first, load, is_zero, all, _, leaves, goes_on, high, is_low, borrow, step, less, store] =
            found
        else {
            return false;
        };
        let results = [first, load, is_zero, all, goes_on, high, is_low, borrow, step, less].map(|one| one.result);
        let [
            Some(first),
            Some(count),
            Some(ended),
            Some(all_ended),
            Some(goes_on),
            Some(high_word),
            Some(is_empty),
            Some(one),
            Some(by),
            Some(rest),
        ] = results
        else {
            return false;
        };
        let Some(&variable) = load.operands.first() else { return false };
        let is = |instruction: &Instruction, operands: &[Id]| instruction.operands == operands;
        let compares = |instruction: &Instruction, value: Id| match instruction.operands[..] {
            [a, b] => a == value && self.is_word(b, 0) || b == value && self.is_word(a, 0),
            _ => false,
        };
        let selects = match borrow.operands[..] {
            [condition, yes, no] => condition == is_empty && self.is_word(yes, 1) && self.is_word(no, 0),
            _ => false,
        };
        let steps = matches!(step.operands[..], [high, low] if high == one && self.is_word(low, 1));
        let leaves_loop = matches!(leaves.operands[..], [condition, out, stays, ..]
            if condition == all_ended && merge.operands.first() == Some(&out) && stays == goes_on);
        let once = [ended, all_ended, high_word, is_empty, one, by, rest];
        let used = |id: Id| self.uses.get(&id).copied().unwrap_or_default();
        self.begins_full(variable)
            && is(branch, &[first])
            && load.operands.len() == 1
            && compares(is_zero, count)
            && is(all, &[ended])
            && leaves_loop
            && is(high, &[count, 1])
            && compares(is_low, high_word)
            && selects
            && steps
            && is(less, &[count, by])
            && is(store, &[variable, rest])
            && used(variable) == 2
            && used(count) == 3
            && once.iter().all(|&id| used(id) == 1)
    }

    /// Whether a result is a constant all of whose words are this one.
    fn is_word(&self, id: Id, word: u32) -> bool {
        self.defined.get(&id).is_some_and(|constant| match constant.op {
            Op::Constant => constant.operands == [word],
            Op::ConstantNull => word == 0,
            Op::ConstantComposite => constant.operands.iter().all(|&part| part != id && self.is_scalar(part, word)),
            _ => false,
        })
    }

    fn is_scalar(&self, id: Id, word: u32) -> bool {
        self.defined.get(&id).is_some_and(|constant| constant.op == Op::Constant && constant.operands == [word])
    }

    /// Whether a result is a variable of a function that begins as two words with all bits set.
    fn begins_full(&self, variable: Id) -> bool {
        let initial = self.defined.get(&variable).and_then(|variable| match (variable.op, &variable.operands[..]) {
            (Op::Variable, [class, initial]) if *class == StorageClass::Function as u32 => self.defined.get(initial),
            _ => None,
        });
        initial.is_some_and(|initial| {
            initial.op == Op::ConstantComposite
                && initial.operands.len() == 2
                && initial.operands.iter().all(|&part| self.is_scalar(part, u32::MAX))
        })
    }
}
