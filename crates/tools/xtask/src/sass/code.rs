//! Machine code as nvdisasm prints it: its basic blocks, its loops, and the cheapest way through one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// A run of instructions that is entered at its beginning alone.
struct Block {
    /// The operations, with their suffixes: `LDG.E.128.CONSTANT`.
    ops: Vec<String>,
    next: Vec<usize>,
}

/// The code of one kernel.
pub struct Code {
    blocks: Vec<Block>,
}

/// A loop: the block at which it begins, and all that are in it.
struct Loop {
    head: usize,
    blocks: BTreeSet<usize>,
}

/// What is counted in a loop.
#[derive(Clone, Copy)]
pub struct Work {
    /// The operations that a turn must contain, each at least once.
    pub contains: &'static [&'static str],
    /// The operation whose occurrences are counted.
    pub counted: &'static str,
    /// The bytes of an element that a counted access to memory reads or writes; `None` where each operation counts as
    /// one.
    pub element: Option<u32>,
    /// How many elements a turn has, where the launch says so; else the turns of the cheapest loop count.
    pub turn: Option<u32>,
}

/// The most elements of a turn that are searched for.
const MOST: u32 = 1024;

/// The elements of a block without jumps that stands for an unrolled loop.
const UNROLLED: u32 = 8;

impl Code {
    /// The code of the kernel whose name contains `entry` in what nvdisasm prints.
    pub fn of(text: &str, entry: &str) -> Option<Code> {
        let is_head = |line: &&str| line.starts_with(".text.") && line.contains(entry) && line.ends_with(':');
        let lines = text.lines().skip_while(|line| !is_head(line)).skip(1);
        let lines = lines.take_while(|line| !line.starts_with("//---"));
        let (mut blocks, mut labels) = (vec![Vec::new()], HashMap::new());
        for line in lines {
            let last = blocks.len() - 1;
            if let Some(label) = line.strip_suffix(':') {
                if !blocks[last].is_empty() {
                    blocks.push(Vec::new());
                }
                labels.insert(label.trim().to_owned(), blocks.len() - 1);
            } else if let Some(instruction) = instruction(line) {
                let ends = jump(instruction).is_some();
                blocks[last].push(instruction);
                if ends {
                    blocks.push(Vec::new());
                }
            }
        }
        let count = blocks.len();
        let made = blocks.iter().enumerate().map(|(number, instructions)| {
            let jump = instructions.last().and_then(|&last| jump(last));
            let goes_on = jump.as_ref().is_none_or(|jump| jump.is_conditional) && number + 1 < count;
            let to = jump.and_then(|jump| labels.get(jump.to?).copied());
            let ops = instructions.iter().map(|text| operation(text).to_owned()).collect();
            Block { ops, next: to.into_iter().chain(goes_on.then_some(number + 1)).collect() }
        });
        (count > 1).then(|| Code { blocks: made.collect() })
    }

    /// The instructions for each element of the work, along the cheapest way through a turn of the loop that needs the
    /// fewest; or in a block of instructions that stands for a whole loop.
    pub fn per_element(&self, work: &Work) -> Option<f64> {
        let turns = self.loops();
        let ratios = turns.iter().filter_map(|found| self.turn(found, work));
        let unrolled = (0..self.blocks.len()).filter_map(|at| self.unrolled(at, work));
        ratios.chain(unrolled).min_by(f64::total_cmp)
    }

    /// The instructions for each element of a block that has all operations of the work, and many elements.
    fn unrolled(&self, at: usize, work: &Work) -> Option<f64> {
        let (instructions, has, elements) = self.facts(at, work);
        let all = (1u32 << work.contains.len()) - 1;
        let is_whole = has == all && elements >= UNROLLED && work.turn.is_none();
        is_whole.then(|| f64::from(instructions) / f64::from(elements))
    }

    /// The loops, each once: those of one head are one.
    fn loops(&self) -> Vec<Loop> {
        let mut before = vec![Vec::new(); self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            block.next.iter().for_each(|&next| before[next].push(number));
        }
        let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, block) in self.blocks.iter().enumerate() {
            // The assembler puts a loop's head before its end.
            for &head in block.next.iter().filter(|&&next| next <= number) {
                let blocks = found.entry(head).or_insert_with(|| BTreeSet::from([head]));
                let mut open = vec![number];
                while let Some(block) = open.pop() {
                    if blocks.insert(block) {
                        open.extend(&before[block]);
                    }
                }
            }
        }
        found.into_iter().map(|(head, blocks)| Loop { head, blocks }).collect()
    }

    /// The instructions for each element along the cheapest way from the loop's head to itself that has all of the
    /// work's operations (Dijkstra; a state is a block, the operations that were seen, and the number of elements).
    fn turn(&self, of: &Loop, work: &Work) -> Option<f64> {
        let facts: HashMap<usize, (u32, u32, u32)> = of.blocks.iter().map(|&at| (at, self.facts(at, work))).collect();
        let all = (1u32 << work.contains.len()) - 1;
        let in_loop: u32 = facts.values().map(|fact| fact.2).sum();
        let most = work.turn.unwrap_or(in_loop).min(MOST);
        let (mut open, mut done, mut best) = (BinaryHeap::new(), BTreeSet::new(), None::<f64>);
        open.push(Reverse((0u32, of.head, 0u32, 0u32)));
        while let Some(Reverse((cost, at, seen, elements))) = open.pop() {
            if at == of.head && cost > 0 {
                if seen == all && elements > 0 && work.turn.is_none_or(|turn| turn == elements) {
                    let ratio = f64::from(cost) / f64::from(elements);
                    best = Some(best.map_or(ratio, |best| best.min(ratio)));
                }
                continue;
            }
            if !done.insert((at, seen, elements)) {
                continue;
            }
            let (instructions, has, more) = facts[&at];
            let (cost, seen, elements) = (cost + instructions, seen | has, elements + more);
            if elements > most {
                continue;
            }
            let next = self.blocks[at].next.iter().filter(|next| of.blocks.contains(next));
            open.extend(next.map(|&next| Reverse((cost, next, seen, elements))));
        }
        best
    }

    /// The instructions of a block, which of the work's operations it has, as bits, and how many elements.
    fn facts(&self, at: usize, work: &Work) -> (u32, u32, u32) {
        let ops = &self.blocks[at].ops;
        let is = |op: &str, name: &str| op.split('.').next() == Some(name);
        let has = work.contains.iter().enumerate().filter(|(_, name)| ops.iter().any(|op| is(op, name)));
        let bytes = |op: &&String| work.element.map_or(1, |element| width(op) / element);
        let elements = ops.iter().filter(|op| is(op, work.counted)).map(|op| bytes(&op)).sum();
        (ops.iter().filter(|op| *op != "NOP").count() as u32, has.map(|(bit, _)| 1 << bit).sum(), elements)
    }
}

/// The instruction in a line of the disassembly, with its predicate.
fn instruction(line: &str) -> Option<&str> {
    let (address, rest) = line.trim().strip_prefix("/*")?.split_once("*/")?;
    u32::from_str_radix(address, 16).ok()?;
    Some(rest.trim().trim_end_matches(';').trim())
}

/// The operation, without predicate and operands.
fn operation(instruction: &str) -> &str {
    let bare = instruction.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(instruction, |(_, op)| op);
    bare.trim().split(' ').next().unwrap_or_default()
}

/// A jump, or the end of the thread, where it has no target.
struct Jump<'t> {
    to: Option<&'t str>,
    is_conditional: bool,
}

/// The jump that an instruction is, if it is one; a branch where threads of a warp disagree is conditional by itself.
fn jump(instruction: &str) -> Option<Jump<'_>> {
    let op = operation(instruction);
    let name = op.split('.').next().unwrap_or_default();
    let to = instruction.split_once("`(").and_then(|(_, rest)| rest.split(')').next());
    let predicated = instruction.starts_with('@') || op.contains(".DIV");
    // A branch on a uniform predicate names it among its operands: `BRA.U UP0, …`.
    let by_operand = instruction.contains("UP") && !instruction.contains("UPT");
    match name {
        "BRA" => Some(Jump { to, is_conditional: predicated || by_operand }),
        "EXIT" | "RET" | "BRX" | "KILL" => Some(Jump { to: None, is_conditional: predicated }),
        _ => None,
    }
}

/// The bytes that an access to memory reads or writes.
fn width(op: &str) -> u32 {
    let has = |suffix: &str| op.split('.').any(|part| part == suffix);
    [("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)]
        .into_iter()
        .find(|(suffix, _)| has(suffix))
        .map_or(4, |(_, bytes)| bytes)
}
