//! Barrier objects in memory as atomic operations on a word (PTX ISA 8.8, 9.7.13.15 "mbarrier"): `cuda::barrier` of a
//! block.
//!
//! The ISA leaves open what an object's 64 bits are. Here the upper 20 are the number of arrivals that complete a
//! phase, and the others all arrivals so far: an arrival adds to them, and the quotient of the two is the number of the
//! phase that is under way. That is also the state which an arrival returns. A phase that is complete begins the next
//! one in the same step, as the ISA has it (9.7.13.15.3), since one more arrival makes the quotient one greater.
//!
//! Some of what the ISA gives no meaning to ends the thread: operations on what was never initialized, counts out of
//! range, more arrivals than a phase has left, waits for a phase that is over for longer. That an object is initialized
//! anew without having been made invalid, and plain accesses to one, are not looked at. A wait acquires also where it
//! finds that the phase is not over, which the ISA has for one that finds that it is: whoever goes on without waiting
//! is found where it looks before the others have come.

use std::borrow::Cow;

use super::Parsed;
use super::expansion::Expansion;
use super::statement::{Operand, Statement};
use crate::types::{Sort, Type};

/// The bits of the number of arrivals: it is "in the range 1 … 2^20 - 1" (9.7.13.15.2).
const COUNT_BITS: i64 = 20;
/// The bits of all arrivals so far.
const ARRIVAL_BITS: i64 = 64 - COUNT_BITS;

const OUT_OF_RANGE: &str = "barrier count";
const NOT_INITIALIZED: &str = "no barrier";
const OVERRUN: &str = "barrier overrun";
const COMPLETED: &str = "barrier completed";
const TOO_LATE: &str = "barrier too late";

/// What ends a thread that uses an object as the ISA does not allow: the names, which no text has, of instructions, and
/// what happened.
pub const WRONG: [(&str, &str); 5] = [
    (OUT_OF_RANGE, "a count of a barrier object (mbarrier) that is not in the range 1 to 2^20 - 1, which is undefined"),
    (NOT_INITIALIZED, "an operation on a barrier object (mbarrier) that is not initialized, which is undefined"),
    (
        OVERRUN,
        "more arrivals at a barrier object (mbarrier) than its phase has left, which is undefined: it counts more threads than \
         it was initialized for",
    ),
    (
        COMPLETED,
        "an arrival of the form '.noComplete' that completes the phase of a barrier object (mbarrier), which is undefined",
    ),
    (
        TOO_LATE,
        "a wait for a phase of a barrier object (mbarrier) that is neither the one under way nor the one before it, which is \
         undefined",
    ),
];

/// The number of arrivals that complete a phase of an object with these bits, and all of them so far.
fn parts(object: u64) -> (u64, u64) {
    (object >> ARRIVAL_BITS, object & ((1 << ARRIVAL_BITS) - 1))
}

/// The number of the phase that is under way, from the bits of an object.
pub fn phase_of(object: u64) -> u64 {
    let (count, arrivals) = parts(object);
    arrivals.checked_div(count).unwrap_or(0)
}

/// The state of an object in words, from its bits.
pub fn in_words(object: u64) -> String {
    let (count, arrivals) = parts(object);
    match arrivals.checked_rem(count) {
        Some(arrived) => format!("phase {} with {arrived} of {count} arrivals", phase_of(object)),
        None => "no barrier object".into(),
    }
}

/// Whether an instruction is one on a barrier object.
pub fn is_of_object(instruction: &str) -> bool {
    instruction.split_whitespace().any(|word| word.starts_with("mbarrier."))
}

/// The name, which no text has, of the instruction before an arrival of a thread with copies
/// ([`AtObject::Arrives`](crate::code::AtObject)).
pub const ARRIVES: &str = "arrives";

const BITS: Type = Type { sort: Sort::Bits, bits: 64 };

fn is_of_objects(statement: &Statement) -> bool {
    matches!(statement, Statement::Instruction(instruction) if instruction.opcode.split('.').next() == Some("mbarrier"))
}

fn tracks_copies(statement: &Statement) -> bool {
    matches!(statement, Statement::Instruction(instruction) if instruction.opcode.starts_with("cp.async.mbarrier"))
}

/// An instruction that lets an object track copies changes the object: here it looks at it before, atomically.
fn looked_at(mut expansion: Expansion<'_>) {
    let (opcode, operands) = (expansion.of.opcode.clone(), expansion.of.operands.clone());
    let skip = expansion.guarded();
    if let [object] = operands.as_slice() {
        let space = if opcode.contains(".shared") { ".shared" } else { "" };
        let word = expansion.typed(BITS);
        expansion.act(&format!("ld.relaxed.cta{space}.b64"), vec![word.clone(), object.clone()]);
        let count = expansion.typed(BITS);
        expansion.act("shr.u64", vec![count.clone(), word, Expansion::number(ARRIVAL_BITS)]);
        let none = expansion.declared(Type::PRED);
        expansion.act("setp.eq.u64", vec![Operand::Name(none.clone()), count, Expansion::number(0)]);
        expansion.act_if(none, NOT_INITIALIZED, Vec::new());
    }
    expansion.act(&opcode, operands);
    expansion.label(skip);
}

/// A body without barrier objects.
pub fn expanded(body: Cow<'_, [Statement]>) -> Parsed<Cow<'_, [Statement]>> {
    if !body.iter().any(|statement| is_of_objects(statement) || tracks_copies(statement)) {
        return Ok(body);
    }
    let copies = body.iter().any(tracks_copies);
    let mut out = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        match statement {
            Statement::Instruction(of) if is_of_objects(statement) => {
                Object::of(Expansion { of, number, registers: 0, out: &mut out }, copies)?.expand()?;
            }
            Statement::Instruction(of) if tracks_copies(statement) => {
                looked_at(Expansion { of, number, registers: 0, out: &mut out });
            }
            other => out.push(other.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

/// An instruction on a barrier object.
struct Object<'s> {
    expansion: Expansion<'s>,
    /// The operation: `arrive`, `test_wait`.
    operation: String,
    /// Whether a wait names a phase by its parity.
    by_parity: bool,
    /// `.relaxed`, if the instruction has it: otherwise an arrival releases, and a wait acquires.
    relaxed: bool,
    /// Whether an arrival does not complete a phase.
    never_completes: bool,
    /// The space as accesses name it.
    space: &'static str,
    /// Whether some objects of the kernel track copies.
    copies: bool,
}

impl<'s> Object<'s> {
    fn of(expansion: Expansion<'s>, copies: bool) -> Parsed<Object<'s>> {
        let mut words = expansion.of.opcode.split('.').skip(1);
        let operation = words.next().unwrap_or_default().to_owned();
        let by_bytes = "a barrier object counts arrivals here, and not the bytes of bulk copies (barrier_arrive_tx, expect_tx): copy with \
                        loads and stores, or with cuda::memcpy_async into a barrier that threads arrive at";
        if matches!(operation.as_str(), "expect_tx" | "complete_tx") {
            return expansion.refuse(by_bytes);
        }
        let (mut by_parity, mut relaxed, mut never_completes, mut space) = (false, false, false, "");
        for word in words {
            match word {
                "parity" => by_parity = true,
                "relaxed" => relaxed = true,
                "noComplete" => never_completes = true,
                "shared" | "shared::cta" | "shared::cluster" => space = ".shared",
                "expect_tx" => return expansion.refuse(by_bytes),
                "acquire" | "release" | "cta" | "cluster" | "b64" => {}
                _ => return expansion.refuse("this form of 'mbarrier' is not known"),
            }
        }
        Ok(Object { expansion, operation, by_parity, relaxed, never_completes, space, copies })
    }

    fn expand(mut self) -> Parsed<()> {
        let operands = self.expansion.of.operands.clone();
        let skip = self.expansion.guarded();
        match (self.operation.as_str(), operands.as_slice()) {
            ("init", [object, count]) => self.init(object, count),
            ("inval", [object]) => self.act("st", ".b64", vec![object.clone(), Expansion::number(0)]),
            ("arrive", [state, object]) => self.arrive(state, object, &Expansion::number(1)),
            ("arrive", [state, object, count]) => self.arrive(state, object, count),
            // How long a thread may be suspended changes nothing.
            ("test_wait" | "try_wait", [complete, object, phase]) | ("try_wait", [complete, object, phase, _]) => {
                self.wait(complete, object, phase);
            }
            ("init" | "inval" | "arrive" | "test_wait" | "try_wait", _) => {
                return self.expansion.refuse("Incorrect number of operands");
            }
            ("arrive_drop", _) => {
                return self.expansion.refuse(
                    "a barrier object whose count changes (arrive_and_drop) is not known here: let the thread arrive in each phase, or initialize \
                     an object for fewer threads",
                );
            }
            ("pending_count", _) => {
                return self
                    .expansion
                    .refuse("a state tells which phase it is of, and not how many arrivals are pending");
            }
            _ => {
                return self
                    .expansion
                    .refuse("of barrier objects 'init', 'inval', 'arrive', 'test_wait' and 'try_wait' are known");
            }
        }
        self.expansion.label(skip);
        Ok(())
    }

    fn act(&mut self, access: &str, rest: &str, operands: Vec<Operand>) {
        self.expansion.act(&format!("{access}{}{rest}", self.space), operands);
    }

    fn word(&mut self) -> Operand {
        self.expansion.typed(BITS)
    }

    /// A word with a number of 32 bits.
    fn widened(&mut self, number: &Operand) -> Operand {
        let (narrow, wide) = (self.expansion.register(), self.word());
        self.expansion.act("mov.b32", vec![narrow.clone(), number.clone()]);
        self.expansion.act("cvt.u64.u32", vec![wide.clone(), narrow]);
        wide
    }

    /// Ends the thread where a comparison holds.
    fn wrong_if(&mut self, test: &str, operands: [Operand; 2], what: &str) {
        let holds = self.expansion.declared(Type::PRED);
        let [left, right] = operands;
        self.expansion.act(test, vec![Operand::Name(holds.clone()), left, right]);
        self.expansion.act_if(holds, what, Vec::new());
    }

    /// Ends the thread where a count is out of range.
    fn is_in_range(&mut self, count: &Operand) {
        let (less, number) = (self.word(), Expansion::number);
        self.expansion.act("sub.u64", vec![less.clone(), count.clone(), number(1)]);
        self.wrong_if("setp.ge.u64", [less, number((1 << COUNT_BITS) - 1)], OUT_OF_RANGE);
    }

    fn init(&mut self, object: &Operand, count: &Operand) {
        let count = self.widened(count);
        self.is_in_range(&count);
        self.expansion.act("shl.b64", vec![count.clone(), count.clone(), Expansion::number(ARRIVAL_BITS)]);
        self.act("st", ".b64", vec![object.clone(), count]);
    }

    /// The number of arrivals that complete a phase, and all of them so far, which take the word's place.
    fn parts(&mut self, word: &Operand) -> Operand {
        let (count, number) = (self.word(), Expansion::number);
        self.expansion.act("shr.u64", vec![count.clone(), word.clone(), number(ARRIVAL_BITS)]);
        self.wrong_if("setp.eq.u64", [count.clone(), number(0)], NOT_INITIALIZED);
        self.expansion.act("and.b64", vec![word.clone(), word.clone(), number((1 << ARRIVAL_BITS) - 1)]);
        count
    }

    fn arrive(&mut self, state: &Operand, object: &Operand, by: &Operand) {
        let order = if self.relaxed { ".relaxed" } else { ".release" };
        let (word, phase, number) = (self.word(), self.word(), Expansion::number);
        let by = self.widened(by);
        self.is_in_range(&by);
        if self.copies {
            self.act(ARRIVES, ".b64", vec![object.clone()]);
        }
        self.act(&format!("atom{order}.cta"), ".add.u64", vec![word.clone(), object.clone(), by.clone()]);
        let count = self.parts(&word);
        self.expansion.act("div.u64", vec![phase.clone(), word.clone(), count.clone()]);
        // What it has found of its phase, and itself.
        self.expansion.act("rem.u64", vec![word.clone(), word.clone(), count.clone()]);
        self.expansion.act("add.u64", vec![word.clone(), word.clone(), by]);
        self.wrong_if("setp.gt.u64", [word.clone(), count.clone()], OVERRUN);
        if self.never_completes {
            self.wrong_if("setp.ge.u64", [word.clone(), count], COMPLETED);
        }
        // In which order the threads of a phase came is not left behind.
        self.expansion.act("mov.b64", vec![word, number(0)]);
        if *state != Operand::Name("_".into()) {
            self.expansion.act("mov.b64", vec![state.clone(), phase]);
        }
    }

    fn wait(&mut self, complete: &Operand, object: &Operand, phase: &Operand) {
        let order = if self.relaxed { ".relaxed" } else { ".acquire" };
        let (word, now, number) = (self.word(), self.word(), Expansion::number);
        self.act(&format!("ld{order}.cta"), ".b64", vec![word.clone(), object.clone()]);
        let count = self.parts(&word);
        self.expansion.act("div.u64", vec![now.clone(), word, count]);
        if self.by_parity {
            let parity = self.widened(phase);
            self.expansion.act("and.b64", vec![parity.clone(), parity.clone(), number(1)]);
            self.expansion.act("and.b64", vec![now.clone(), now.clone(), number(1)]);
            self.expansion.act("setp.ne.u64", vec![complete.clone(), now, parity]);
        } else {
            // What it has read may be older than the state, which another thread may have handed on.
            let next = self.word();
            self.expansion.act("add.u64", vec![next.clone(), phase.clone(), number(1)]);
            self.wrong_if("setp.gt.u64", [now.clone(), next], TOO_LATE);
            self.expansion.act("setp.gt.u64", vec![complete.clone(), now, phase.clone()]);
        }
    }
}
