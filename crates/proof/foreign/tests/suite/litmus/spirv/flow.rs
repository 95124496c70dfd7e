//! The jumps of a litmus column as SPIR-V has them: in selections and loops, each with a merge block.
//!
//! A column jumps anywhere, even into the middle of a loop, so a block to which several ways lead is written for each of
//! them: both ways of a branch go on for themselves, and a cycle is a loop from wherever it is entered.

use std::collections::BTreeSet;
use std::ops::Range;

use wattle_litmus::Instruction;

use super::words::Words;
use super::{Beyond, Column};

/// The end of a segment, as a block.
const END: usize = usize::MAX;

/// How a block ends.
#[derive(Clone, Copy)]
enum Way {
    To(usize),
    /// By a branch, the instruction of that number: to its target, or on.
    Either(usize, usize, usize),
}

/// A loop that is being written.
#[derive(Clone)]
struct Loop {
    /// Its first block.
    head: usize,
    /// Where its ways out lead; what comes there stands behind the loop.
    exits: Vec<usize>,
    /// The variable that holds the number of the way that was taken, where there are several.
    taken: Option<String>,
    /// The labels of its merge block and of its continue target.
    merge: u32,
    next: u32,
}

/// A piece of a column's code without barriers, cut into blocks.
pub struct Segment<'c> {
    column: &'c Column<'c>,
    blocks: Vec<(Range<usize>, Way)>,
}

impl<'c> Segment<'c> {
    /// Cuts the instructions of a range.
    pub fn of(column: &'c Column<'c>, range: Range<usize>) -> Result<Segment<'c>, Beyond> {
        let thread = column.thread();
        let mut starts: BTreeSet<usize> = [range.start].into();
        for at in range.clone() {
            if let Some(label) = thread.code[at].jump() {
                let target = thread.target(label);
                if !(range.start..=range.end).contains(&target) {
                    return Err("a jump over a barrier");
                }
                starts.extend([target, at + 1]);
            }
        }
        starts.remove(&range.end);
        let starts: Vec<usize> = starts.into_iter().collect();
        let block_of = |at: usize| starts.binary_search(&at).unwrap_or(END);
        let ends = starts.iter().skip(1).copied().chain([range.end]);
        let block = |(&from, to): (&usize, usize)| match thread.code[from..to].last() {
            Some(&Instruction::Goto(label)) => (from..to - 1, Way::To(block_of(thread.target(label)))),
            Some(&Instruction::Branch { to: label, .. }) => {
                (from..to - 1, Way::Either(to - 1, block_of(thread.target(label)), block_of(to)))
            }
            Some(
                Instruction::Load { .. }
                | Instruction::Store { .. }
                | Instruction::Update { .. }
                | Instruction::Fence(_)
                | Instruction::Barrier { .. }
                | Instruction::Move { .. }
                | Instruction::Compute { .. },
            )
            | None => (from..to, Way::To(block_of(to))),
        };
        Ok(Segment { column, blocks: starts.iter().zip(ends).map(block).collect() })
    }

    /// Writes the segment, from the open block on; control goes on at a label, the merge block of the switch around it.
    pub fn write(&self, words: &mut Words, behind: u32) -> Result<(), Beyond> {
        self.go(words, if self.blocks.is_empty() { END } else { 0 }, &[], behind)
    }

    fn next(&self, block: usize) -> Vec<usize> {
        match self.blocks[block].1 {
            Way::To(to) => vec![to],
            Way::Either(_, to, on) => vec![to, on],
        }
    }

    /// The blocks that a block leads to without passing the heads of the loops around it.
    fn reached(&self, from: usize, around: &[Loop]) -> BTreeSet<usize> {
        let (mut reached, mut open) = (BTreeSet::new(), self.next(from));
        while let Some(block) = open.pop() {
            let is_head = around.iter().any(|of| of.head == block);
            if block != END && !is_head && reached.insert(block) {
                open.extend(self.next(block));
            }
        }
        reached
    }

    /// Writes what comes from a block on.
    fn go(&self, words: &mut Words, block: usize, around: &[Loop], behind: u32) -> Result<(), Beyond> {
        if let Some(innermost) = around.last() {
            if block == innermost.head {
                words.line(format!("OpBranch %l{}", innermost.next));
                return Ok(());
            }
            if let Some(number) = innermost.exits.iter().position(|&exit| exit == block) {
                if let Some(taken) = &innermost.taken {
                    let number = words.int(number as i32);
                    words.line(format!("OpStore {taken} {number}"));
                }
                words.line(format!("OpBranch %l{}", innermost.merge));
                return Ok(());
            }
        }
        if block == END {
            words.line(format!("OpBranch %l{behind}"));
            return Ok(());
        }
        let reached = self.reached(block, around);
        if reached.contains(&block) {
            return self.cycle(words, block, &reached, around, behind);
        }
        self.block(words, block, around, behind)
    }

    /// Writes the loop that begins with a block, and what comes behind it.
    fn cycle(
        &self,
        words: &mut Words,
        block: usize,
        reached: &BTreeSet<usize>,
        around: &[Loop],
        behind: u32,
    ) -> Result<(), Beyond> {
        let leads_here = |&&other: &&usize| other == block || self.reached(other, around).contains(&block);
        let inside: BTreeSet<usize> = reached.iter().filter(leads_here).copied().collect();
        let exits: BTreeSet<usize> =
            inside.iter().flat_map(|&of| self.next(of)).filter(|to| !inside.contains(to)).collect();
        let exits: Vec<usize> = exits.into_iter().collect();
        let taken = (exits.len() > 1).then(|| words.variable());
        let [head, body, next, merge] = [(); 4].map(|()| words.label());
        words.line(format!("OpBranch %l{head}"));
        words.begin(head);
        words.line(format!("OpLoopMerge %l{merge} %l{next} None"));
        words.line(format!("OpBranch %l{body}"));
        words.begin(body);
        let within =
            [around, &[Loop { head: block, exits: exits.clone(), taken: taken.clone(), merge, next }]].concat();
        self.block(words, block, &within, behind)?;
        words.begin(next);
        words.line(format!("OpBranch %l{head}"));
        words.begin(merge);
        match (&taken, exits.as_slice()) {
            (Some(taken), [first @ .., last]) => {
                // No switch: only the innermost one can be left from within.
                let mut merges = Vec::new();
                for (number, &exit) in first.iter().enumerate() {
                    let (value, number) = (words.result(format!("OpLoad %int {taken}")), words.int(number as i32));
                    let condition = words.result(format!("OpIEqual %bool {value} {number}"));
                    let other = self.choose(words, &condition, exit, around, behind)?;
                    merges.push(other);
                }
                self.go(words, *last, around, behind)?;
                for merge in merges.into_iter().rev() {
                    words.begin(merge);
                    words.line("OpUnreachable".to_owned());
                }
            }
            (Some(_), []) => return Err("a loop that is left in several ways, of which there are none"),
            (None, &[exit]) => self.go(words, exit, around, behind)?,
            (None, _) => words.line("OpUnreachable".to_owned()),
        }
        Ok(())
    }

    /// Writes a block, and what comes behind it.
    fn block(&self, words: &mut Words, block: usize, around: &[Loop], behind: u32) -> Result<(), Beyond> {
        let (instructions, way) = &self.blocks[block];
        for at in instructions.clone() {
            self.column.instruction(words, at)?;
        }
        match *way {
            Way::To(to) => self.go(words, to, around, behind),
            Way::Either(at, to, other) => {
                let condition = self.column.condition(words, at)?;
                let merge = self.choose(words, &condition, to, around, behind)?;
                self.go(words, other, around, behind)?;
                words.begin(merge);
                words.line("OpUnreachable".to_owned());
                Ok(())
            }
        }
    }
    /// Writes a selection and its first way; the other one begins, whose merge block, to which nobody comes, is returned.
    fn choose(
        &self,
        words: &mut Words,
        condition: &str,
        to: usize,
        around: &[Loop],
        behind: u32,
    ) -> Result<u32, Beyond> {
        let [yes, no, merge] = [(); 3].map(|()| words.label());
        words.line(format!("OpSelectionMerge %l{merge} None"));
        words.line(format!("OpBranchConditional {condition} %l{yes} %l{no}"));
        words.begin(yes);
        self.go(words, to, around, behind)?;
        words.begin(no);
        Ok(merge)
    }
}
