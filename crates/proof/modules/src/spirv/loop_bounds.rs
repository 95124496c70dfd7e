//! The counters with which naga ends every loop after 2⁶⁴ turns, for drivers that take a loop without an end to do anything (naga's
//! `force_loop_bounding`, on by default).
//!
//! No run comes to that end, and a counter that changes in each turn of a waiting loop would make all turns different ones. So the
//! counters are taken out: where the shader waits, it waits.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{Op, StorageClass};

use super::instruction::{Id, Instruction};

/// The instructions of a module without such counters.
pub(super) fn without(instructions: Vec<Instruction>) -> Vec<Instruction> {
    let is_annotation = |op: Op| {
        matches!(
            op,
            Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate | Op::EntryPoint | Op::Line | Op::ExtInst
        )
    };
    let mut uses: HashMap<Id, Vec<usize>> = HashMap::new();
    for (number, instruction) in
        instructions.iter().enumerate().filter(|(_, instruction)| !is_annotation(instruction.op))
    {
        instruction.operands.iter().for_each(|&operand| uses.entry(operand).or_default().push(number));
    }
    let defined: HashMap<Id, &Instruction> =
        instructions.iter().filter_map(|instruction| Some((instruction.result?, instruction))).collect();
    let (mut gone, mut never) = (HashSet::new(), HashMap::new());
    for variable in instructions.iter().filter(|instruction| is_counter(instruction, &defined)) {
        if let Some(counter) = variable.result.and_then(|variable| Counter::of(variable, &instructions, &uses)) {
            gone.extend(counter.computed);
            // The merge of the selection stands in front of the branch.
            gone.insert(counter.branch - 1);
            never.insert(counter.branch, counter.stays);
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

/// Whether it is a variable of two words that begins with all bits.
fn is_counter(variable: &Instruction, defined: &HashMap<Id, &Instruction>) -> bool {
    let constant = |id: &Id| defined.get(id).filter(|known| known.op == Op::Constant).map(|known| &known.operands[..]);
    let begins = match (variable.op, &variable.operands[..]) {
        (Op::Variable, [class, initial]) if *class == StorageClass::Function as u32 => defined.get(initial),
        _ => None,
    };
    begins.is_some_and(|begins| {
        begins.op == Op::ConstantComposite
            && begins.operands.len() == 2
            && begins.operands.iter().all(|part| constant(part) == Some(&[u32::MAX]))
    })
}

/// A counter of a loop's turns.
struct Counter {
    /// The instructions that read it, count and write it.
    computed: HashSet<usize>,
    /// The branch out of the loop, and the label where the loop goes on.
    branch: usize,
    stays: Id,
}

impl Counter {
    /// The counter that is this variable, if nothing else is done with it: it is loaded once, is compared with zero, and less by one
    /// it is stored.
    fn of(variable: Id, instructions: &[Instruction], uses: &HashMap<Id, Vec<usize>>) -> Option<Counter> {
        let (mut computed, mut branch, mut count) = (HashSet::new(), None, HashMap::<Op, u32>::new());
        let mut open = vec![variable];
        while let Some(id) = open.pop() {
            for &number in uses.get(&id)? {
                let instruction = &instructions[number];
                match instruction.op {
                    Op::BranchConditional if branch.is_none() => branch = Some(number),
                    Op::Load
                    | Op::IEqual
                    | Op::All
                    | Op::CompositeExtract
                    | Op::Select
                    | Op::CompositeConstruct
                    | Op::ISub => {
                        if computed.insert(number) {
                            *count.entry(instruction.op).or_default() += 1;
                            open.extend(instruction.result);
                        }
                    }
                    // Its value is the difference, which leads here.
                    Op::Store if instruction.operands.first() == Some(&variable) => {
                        computed.insert(number);
                    }
                    _ => return None,
                }
            }
        }
        let once = [Op::Load, Op::All, Op::CompositeConstruct, Op::ISub];
        if once.iter().any(|op| count.get(op) != Some(&1)) {
            return None;
        }
        let branch = branch.filter(|&branch| branch > 0 && instructions[branch - 1].op == Op::SelectionMerge)?;
        let all =
            instructions.iter().position(|instruction| instruction.result == Some(instructions[branch].operands[0]))?;
        let stays = *instructions[branch].operands.get(2)?;
        (instructions[all].op == Op::All && computed.contains(&all)).then_some(Counter { computed, branch, stays })
    }
}
