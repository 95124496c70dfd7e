//! The loops of a kernel: where they begin, what they repeat, whether their ways out depend on memory, and whether they
//! end whatever it holds.

use wattle_memory::Set;
use wattle_modules::code::{Exchange, Kernel, Meeting, NO_REG, Op, Reg, Special, Step};
use wattle_modules::types::Space;

use crate::endings::Turn;
use crate::structure::{Construct, reached, reached_without};

/// A loop, by the instruction at which it begins.
#[derive(Debug)]
struct Loop {
    /// The registers whose values nobody reads from there on.
    dead: Vec<Reg>,
    /// Whether an exit depends on what an iteration read from memory.
    exits_on_memory: bool,
    /// Whether the loop ends whatever memory holds.
    ends: bool,
    /// The jumps back to its beginning, and all that they repeat.
    jumps: Vec<usize>,
    body: Set,
}

/// The loops of a kernel.
#[derive(Debug)]
pub(crate) struct Loops {
    /// For each instruction the loop that begins there.
    at: Vec<Option<Loop>>,
    /// The instructions in loops that end by what they read from memory.
    in_waits: Set,
    /// The jumps back that begin another iteration of a loop.
    goes_round: Set,
}

impl Loops {
    /// The loops of a kernel whose instructions have these successors, and before which these registers are read.
    pub fn of(kernel: &Kernel, next: &[Vec<usize>], live: &[Set]) -> Loops {
        let steps = &kernel.steps;
        let mut loops: Vec<Option<Loop>> = steps.iter().map(|_| None).collect();
        let (mut before, mut in_waits) = (vec![Vec::new(); next.len()], Set::new(next.len()));
        let mut goes_round = Set::new(next.len());
        for (at, targets) in next.iter().enumerate() {
            targets.iter().for_each(|&target| before[target].push(at));
        }
        let forward = without_jumps_back(next);
        // A block that stands elsewhere may come back without going round, but for the loops around it; and the first
        // turn of a loop may begin in its middle.
        let is_loop = |at: usize, head: usize| !forward[at].contains(&head) || reached(&forward, head)[at];
        let back = |at: usize| next[at].iter().filter(move |&&target| target <= at).map(move |&head| (at, head));
        let jumps: Vec<(usize, usize)> =
            (0..next.len()).flat_map(back).filter(|&(at, head)| is_loop(at, head)).collect();
        let mut heads: Vec<usize> = jumps.iter().map(|&(_, head)| head).collect();
        heads.sort_unstable();
        heads.dedup();
        for (at, head) in jumps {
            goes_round.insert(at);
            let behind = reached(next, head);
            let mut body = body(&before, head, at);
            (0..next.len()).filter(|&at| at != head && !behind[at]).for_each(|at| body.remove(at));
            let dead = (0..kernel.registers.len()).filter(|&reg| !live[head].contains(reg)).map(|reg| reg as Reg);
            let known = loops[head].get_or_insert_with(|| Loop {
                dead: dead.collect(),
                exits_on_memory: false,
                ends: false,
                jumps: Vec::new(),
                body: Set::new(next.len()),
            });
            known.jumps.push(at);
            known.body = &known.body | &body;
            if exits_on_memory(steps, next, &heads, &body) {
                known.exits_on_memory = true;
                body.iter().for_each(|at| in_waits.insert(at));
            }
        }
        for (head, known) in loops.iter_mut().enumerate() {
            let Some(known) = known else { continue };
            let turn = Turn { kernel, next, head, jumps: &known.jumps, body: &known.body };
            known.ends = !known.exits_on_memory || turn.is_limited();
        }
        Loops { at: loops, in_waits, goes_round }
    }

    /// The registers that are dead at the head of the loop that begins at an instruction, if one does.
    pub fn dead_at(&self, at: usize) -> Option<&[Reg]> {
        self.at.get(at)?.as_ref().map(|known| known.dead.as_slice())
    }

    /// Whether the loop that begins there ends by what it reads from memory.
    pub fn exits_on_memory(&self, at: usize) -> bool {
        self.at.get(at).and_then(Option::as_ref).is_some_and(|known| known.exits_on_memory)
    }

    /// Whether the loop that begins there ends whatever memory holds, as far as its thread's own values end it.
    pub fn ends(&self, at: usize) -> bool {
        self.at.get(at).and_then(Option::as_ref).is_some_and(|known| known.ends)
    }

    /// Whether a jump back begins another iteration of a loop, and does not only come back from a block that stands
    /// elsewhere.
    pub fn goes_round(&self, jump: usize) -> bool {
        self.goes_round.contains(jump)
    }

    /// The loops, each with all that its jumps back repeat.
    pub fn repeated(&self) -> Vec<Construct> {
        let construct = |(head, known): (usize, &Option<Loop>)| {
            Some(Construct { head: head as u32, inside: known.as_ref()?.body.clone() })
        };
        self.at.iter().enumerate().filter_map(construct).collect()
    }

    /// Whether some loop ends by what it reads from memory.
    pub fn waits(&self) -> bool {
        self.at.iter().flatten().any(|known| known.exits_on_memory)
    }

    /// Whether an instruction is in a loop that ends by what it reads from memory.
    pub fn is_in_wait(&self, at: usize) -> bool {
        self.in_waits.contains(at)
    }
}

/// The successors of each instruction without the jumps back to where all ways to them lead through.
fn without_jumps_back(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let stays = |at: usize, head: usize| head > at || reached_without(next, 0, &[head]).contains(at);
    let forward =
        |(at, targets): (usize, &Vec<usize>)| targets.iter().copied().filter(|&head| stays(at, head)).collect();
    next.iter().enumerate().map(forward).collect()
}

/// The natural loop of a jump back from `last` to `head`: what reaches the jump without passing the head.
fn body(before: &[Vec<usize>], head: usize, last: usize) -> Set {
    let mut body = Set::new(before.len());
    body.insert(head);
    let mut open = vec![last];
    while let Some(at) = open.pop() {
        if !body.contains(at) {
            body.insert(at);
            open.extend(&before[at]);
        }
    }
    body
}

/// The instructions of an iteration that are passed on one of the two ways of a jump and not on the other one.
fn parted(next: &[Vec<usize>], head: usize, body: &Set, jump: usize) -> Set {
    let ways = next[jump].iter().map(|&first| {
        let (mut seen, mut open) = (Set::new(next.len()), vec![first]);
        while let Some(at) = open.pop() {
            if at != head && body.contains(at) && !seen.contains(at) {
                seen.insert(at);
                open.extend(&next[at]);
            }
        }
        seen
    });
    match &ways.collect::<Vec<_>>()[..] {
        [one, other] => {
            let mut parted = Set::new(next.len());
            body.iter().filter(|&at| one.contains(at) != other.contains(at)).for_each(|at| parted.insert(at));
            parted
        }
        _ => Set::new(next.len()),
    }
}

/// Whether a way out of the loop depends on memory that one of its iterations read. `heads` are those of all loops.
fn exits_on_memory(steps: &[Step], next: &[Vec<usize>], heads: &[usize], body: &Set) -> bool {
    let heads: Vec<usize> = heads.iter().copied().filter(|&head| body.contains(head)).collect();
    let mut depends = Set::new(0);
    // What is done on one way alone of a jump on such a value, and the jumps for which that is known.
    let (mut on_one_way, mut jumps) = (Set::new(next.len()), Set::new(next.len()));
    // Whether something in the thread's own memory does, as what a function returns goes through it.
    let mut own_depends = false;
    let is_guarded = |step: &Step, depends: &Set| step.guard.reg != NO_REG && depends.contains(step.guard.reg as usize);
    loop {
        let before = (depends.len(), own_depends, jumps.len());
        for at in body.iter() {
            let step = &steps[at];
            let guarded = is_guarded(step, &depends);
            let is_jump = step.guard.reg != NO_REG && step.target().is_some();
            if is_jump && (guarded || on_one_way.contains(at)) && !jumps.contains(at) {
                jumps.insert(at);
                // In the iteration of a loop within, too: what both ways come to by going round there is done as often
                // as it says.
                for &head in &heads {
                    on_one_way = on_one_way | &parted(next, head, body, at);
                }
            }
            let is_chosen = guarded || on_one_way.contains(at);
            let (mut reads, mut writes) = (false, Vec::new());
            let outline = step.op.outline(|reg| reads |= depends.contains(reg as usize), |reg| writes.push(reg));
            let is_common = |space| matches!(space, Space::Global | Space::Shared | Space::Generic);
            let is_read = outline.reads_memory && outline.access.is_some_and(|access| is_common(access.space));
            let is_own = outline.access.is_some_and(|access| matches!(access.space, Space::Local | Space::Generic));
            own_depends |= is_own && outline.writes_memory && (reads || is_chosen);
            let reads_own = is_own && outline.reads_memory && own_depends;
            // What lanes exchange depends on the others' values.
            let meets = match outline.meeting {
                // Whom lanes elect depends on nothing.
                Some(Meeting::Lanes { how, .. }) => !matches!(how, Exchange::Barrier | Exchange::Elect),
                Some(Meeting::Gathering) => true,
                Some(Meeting::Barrier) => false,
                None => matches!(step.op, Op::Special { which: Special::Active, .. }),
            };
            if is_read || reads_own || meets || reads || is_chosen {
                writes.iter().for_each(|&reg| depends.insert(reg as usize));
            }
        }
        if (depends.len(), own_depends, jumps.len()) == before {
            break;
        }
    }
    let depends_on = |at: usize| is_guarded(&steps[at], &depends) || on_one_way.contains(at);
    body.iter().any(|at| depends_on(at) && next[at].iter().any(|&target| !body.contains(target)))
}
