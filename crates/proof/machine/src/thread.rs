//! The state of one thread, and its execution.

use std::ops::Range;
use std::sync::Arc;

use wattle_ir::{LocalId, Site, eval};

use crate::code::{Calc, CalcOp, Message, Op, Operand};
use crate::request::{Fault, Request};
use crate::{Environment, Position, Program, Value};

/// The number of temporaries that live on the stack, enough for nearly every statement.
const FEW: usize = 16;

/// A thread: its position in the code, and the values of its slots and private arrays.
///
/// Two threads are equal when they will do the same, given the same answers. A thread must be run with the program
/// that it was made for, and with one environment.
///
/// `V` is the domain of its values ([`Value`]). Where values can be deferred, the words that no path reads any more are
/// set to 0 at [`Request::LoopHead`] and [`Request::BackEdge`], so that a thread there equals itself some iterations
/// ago unless something differs that it may still read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread<V: Value = u64> {
    position: Position,
    /// The index of the next instruction.
    pc: u32,
    /// The instruction of the last request; for a back edge that of the loop's head.
    at: u32,
    pub(crate) answer: Answer,
    /// The words of the slots, then those of the private arrays.
    pub(crate) words: Vec<V>,
}

/// The destination of the answer to the last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    None,
    Slot(u32),
    Lanes { first: usize, len: u32 },
}

impl Thread {
    /// A thread in the domain of words, before its first statement.
    pub fn new(program: &Program, position: Position) -> Thread {
        Thread::start(program, position)
    }
}

impl<V: Value> Thread<V> {
    /// A thread in any domain that stands before its first statement, its slots and arrays all zero.
    pub fn start(program: &Program, position: Position) -> Thread<V> {
        Thread { position, pc: 0, at: 0, answer: Answer::None, words: vec![V::default(); program.words] }
    }

    /// The position of the thread in its launch.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The values of the slots.
    pub fn slots<'a>(&'a self, program: &Program) -> &'a [V] {
        self.words.get(..program.kernel.slots.len()).unwrap_or(&[])
    }

    /// The elements of an array of the thread's own.
    pub fn local<'a>(&'a self, program: &Program, id: LocalId) -> &'a [V] {
        self.words.get(program.words_of(id)).unwrap_or(&[])
    }

    /// The last source line that the thread has passed: that of its last request, or the nearest one before it.
    pub fn site(&self, program: &Program) -> Site {
        program.sites.get(self.at as usize).copied().unwrap_or(program.kernel.site)
    }

    /// Whether any word is unknown. Right after [`Request::LoopHead`] and [`Request::BackEdge`] the words that no path
    /// reads any more do not count. Threads with a pending word can be equal and yet continue differently, once the
    /// loads that they wait for are given different values.
    pub fn any_pending(&self) -> bool {
        V::DEFERS && self.words.iter().any(|word| word.known().is_none())
    }

    /// Whether any word is unknown and has no mark, where [`Thread::any_pending`] says when it counts.
    pub fn any_unmarked(&self) -> bool {
        V::UNKNOWN.is_some_and(|unknown| self.words.contains(&unknown))
    }

    /// The number of the instruction of the last request, which distinguishes two statements of one source line. A
    /// loop's back edge has that of its head.
    pub fn at(&self) -> u32 {
        self.at
    }

    /// Whether two threads that wait for an answer of memory will do the same, given the same answers: they stand at
    /// one place, from which on neither reads its position, and differ at most in words that none of them reads any
    /// more.
    pub fn is_alike(&self, other: &Thread<V>, program: &Program) -> bool {
        if program.reads_position.get(self.pc as usize) != Some(&false) {
            return false;
        }
        let Some(dead) = program.dead_behind.get(&self.pc) else { return false };
        let answered = self.answered();
        let is_dead = |word: usize| answered.contains(&word) || dead.iter().any(|range| range.contains(&word));
        self.pc == other.pc
            && self.answer == other.answer
            && self.words.len() == other.words.len()
            && (0..self.words.len()).all(|word| self.words[word] == other.words[word] || is_dead(word))
    }

    /// Sets the words to 0 that no path reads before it sets them, where the thread stands behind a request: those that
    /// the answer sets among them.
    pub fn forget_dead(&mut self, program: &Program) {
        let Some(dead) = program.dead_behind.get(&self.pc) else { return };
        for words in dead.iter().cloned().chain([self.answered()]) {
            self.words.get_mut(words).unwrap_or(&mut []).fill(V::default());
        }
    }

    /// The words that the answer to the last request sets.
    fn answered(&self) -> Range<usize> {
        match self.answer {
            Answer::None => 0..0,
            Answer::Slot(slot) => slot as usize..slot as usize + 1,
            Answer::Lanes { first, len } => first..first + len as usize,
        }
    }

    /// Whether two threads of one place in a launch will do the same, given the same answers, in whatever iterations of
    /// the loops around them they are.
    pub fn repeats(&self, other: &Thread<V>, program: &Program) -> bool {
        let counters = program.first_counter as usize;
        self.pc == other.pc
            && self.position == other.position
            && self.answer == other.answer
            && self.words.get(..counters) == other.words.get(..counters)
    }

    /// Takes a word for unknown in which another thread at the same place of a launch differs; `false` where they are
    /// at different places. The counters of loops are left as they are.
    pub fn widen(&mut self, other: &Thread<V>, program: &Program) -> bool {
        let is_same = self.pc == other.pc && self.position == other.position && self.answer == other.answer;
        let counters = program.first_counter as usize;
        for (word, others) in self.words.iter_mut().zip(&other.words).take(counters) {
            if word != others {
                let Some(unknown) = V::UNKNOWN else { return false };
                *word = unknown;
            }
        }
        is_same && self.words.len() == other.words.len()
    }

    /// A copy of the thread before another instruction.
    pub(crate) fn standing_at(&self, pc: u32) -> Thread<V> {
        Thread { pc, ..self.clone() }
    }

    /// The number of the next instruction.
    pub(crate) fn pc(&self) -> u32 {
        self.pc
    }

    /// Answers the last request with one value. Without an answer a load leaves its slot as it was; where values can be
    /// deferred each load is to be answered, since the slot may have been cleared.
    pub fn answer(&mut self, value: V) {
        self.answer_lanes(&[value]);
    }

    /// Answers the last request with several values, for [`Request::LoadLanes`]; lanes beyond them keep their value.
    pub fn answer_lanes(&mut self, values: &[V]) {
        let answered = self.answered();
        if let Some(words) = self.words.get_mut(answered) {
            words.iter_mut().zip(values).for_each(|(word, &value)| *word = value);
        }
        self.answer = Answer::None;
    }

    /// Runs until the thread has a request or a report, or has done `fuel` steps, each about one statement; `fuel` is
    /// reduced to the remainder. A thread that has ended returns [`Request::Done`] again.
    pub fn run(&mut self, program: &Program, environment: &Environment, fuel: &mut u64) -> Request<V> {
        self.answer = Answer::None;
        let mut few = [V::default(); FEW];
        let mut many = Vec::new();
        let temps = if program.temps <= FEW {
            &mut few[..]
        } else {
            many.resize(program.temps, V::default());
            &mut many[..]
        };
        loop {
            self.at = self.pc;
            let Some(instr) = program.code.get(self.pc as usize) else { return Request::Done };
            if *fuel == 0 {
                return Request::OutOfFuel;
            }
            *fuel -= 1;
            let calcs = program.calcs.get(instr.first_calc as usize..instr.last_calc as usize).unwrap_or(&[]);
            for calc in calcs {
                let value = self.calc(calc, environment, temps);
                if let Some(temp) = temps.get_mut(calc.dst as usize) {
                    *temp = value;
                }
            }
            self.pc += 1;
            // The operations are not a function of their own: with one, statements took a sixth more time, even inlined.
            match instr.op {
                Op::Assign { slot, value } => {
                    let value = self.operand(value, environment, temps);
                    self.set(slot as usize, value);
                }
                Op::Jump(target) => self.pc = target,
                Op::JumpUnless { condition, target } => {
                    let Some(condition) = self.operand(condition, environment, temps).known() else {
                        return self.needs_value();
                    };
                    if condition & 1 == 0 {
                        self.pc = target;
                    }
                }
                Op::Access(number) => {
                    let Some(access) = program.accesses.get(number as usize) else { continue };
                    if let Some(request) = self.access(program, access, environment, temps) {
                        return request;
                    }
                }
                Op::Divide { dst, op, ty, left, right } => {
                    let (left, right) =
                        (self.operand(left, environment, temps), self.operand(right, environment, temps));
                    let Some(right) = right.known() else { return self.needs_value() };
                    let quotient = match left.known() {
                        Some(left) => eval::divide(op, ty, left, right).map(V::from_raw),
                        // Whether a division is a fault depends on the divisor alone.
                        None => eval::divide(op, ty, 0, right).map(|_| left.unary(|left| left)),
                    };
                    self.set(dst as usize, quotient.unwrap_or_default());
                    if quotient.is_none() {
                        return Request::Fault(Fault::DivisionByZero { site: self.site(program) });
                    }
                }
                Op::Fence { order, scope } => return Request::Fence { order, scope, site: self.site(program) },
                Op::Barrier(number) => {
                    return Request::Barrier { iterations: self.iterations(program, number), site: self.site(program) };
                }
                Op::Warp { dst, op, ty, value, operand, barrier } => {
                    let [value, operand] = [value, operand].map(|operand| self.operand(operand, environment, temps));
                    self.answer = Answer::Slot(dst);
                    let (iterations, site) = (self.iterations(program, barrier), self.site(program));
                    return Request::Warp { op, ty, value, operand, iterations, site };
                }
                Op::WarpBarrier(number) => {
                    let (iterations, site) = (self.iterations(program, number), self.site(program));
                    return Request::WarpBarrier { iterations, site };
                }
                // Counting is no statement, so it uses no fuel.
                Op::Enter { counter } => {
                    *fuel += 1;
                    self.set(counter as usize, V::default());
                }
                Op::Count { counter } => {
                    *fuel += 1;
                    let count = self.words.get(counter as usize).copied().unwrap_or_default();
                    self.set(counter as usize, count.unary(|count| count + 1));
                }
                Op::LoopHead { label, number } => {
                    // No statement is done here, so no fuel is used.
                    *fuel += 1;
                    if V::DEFERS {
                        self.forget(program, number);
                        return Request::LoopHead { label, site: self.site(program) };
                    }
                }
                Op::BackEdge { label, target, number } => {
                    self.pc = target;
                    // The head's own instruction lies before the body, so that entering and repeating a loop give the
                    // same state.
                    self.at = target - 1;
                    if V::DEFERS {
                        self.forget(program, number);
                    }
                    return Request::BackEdge { label, site: self.site(program) };
                }
                Op::Assert { condition, message } => {
                    let Some(condition) = self.operand(condition, environment, temps).known() else {
                        return self.needs_value();
                    };
                    if condition & 1 == 0 {
                        let message = self.message(program, message, environment, temps);
                        return Request::Fault(Fault::Assertion { message, site: self.site(program) });
                    }
                }
                Op::Clock { dst } => {
                    self.answer = Answer::Slot(dst);
                    return Request::Clock { site: self.site(program) };
                }
                Op::Return => {
                    self.pc = self.at;
                    return Request::Done;
                }
            }
        }
    }

    /// The iterations of the loops around a barrier.
    fn iterations(&self, program: &Program, number: u32) -> Vec<u64> {
        let counters = program.barriers.get(number as usize).map_or(&[][..], Vec::as_slice);
        let count = |&counter: &u32| self.words.get(counter as usize).and_then(|word| word.known());
        counters.iter().map(|counter| count(counter).unwrap_or(0)).collect()
    }

    /// The message of an assertion that fails. It waits for no value: one that is not known stands as `?`.
    #[cold]
    fn message(&self, program: &Program, number: u32, environment: &Environment, temps: &[V]) -> Arc<str> {
        let Some(Message { text, values }) = program.messages.get(number as usize) else { return "".into() };
        let value = |number: usize| {
            let &(ty, operand) = values.get(number)?;
            Some((ty, self.operand(operand, environment, temps).known()?))
        };
        text.with(value).into()
    }

    /// Stays at the instruction, which needs a value that is not known.
    pub(crate) fn needs_value(&mut self) -> Request<V> {
        self.pc = self.at;
        Request::NeedsValue
    }

    /// Sets the words that are dead at the head of this loop to 0.
    fn forget(&mut self, program: &Program, number: u32) {
        for words in program.dead.get(number as usize).into_iter().flatten() {
            self.words.get_mut(words.clone()).unwrap_or(&mut []).fill(V::default());
        }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, word: usize, value: V) {
        if let Some(word) = self.words.get_mut(word) {
            *word = value;
        }
    }

    #[inline(always)]
    pub(crate) fn operand(&self, operand: Operand, environment: &Environment, temps: &[V]) -> V {
        let raw = match operand {
            Operand::Slot(slot) => return self.words.get(slot as usize).copied().unwrap_or_default(),
            Operand::Temp(temp) => return temps.get(temp as usize).copied().unwrap_or_default(),
            Operand::Const(raw) => raw,
            Operand::Param(param) => environment.scalar(param),
            Operand::Extent(param, dimension) => {
                environment.extent(param).get(dimension as usize).copied().unwrap_or(0)
            }
            Operand::SharedLen => environment.shared_len as u64,
            Operand::Builtin(builtin, dimension) => environment.builtin(&self.position, builtin, dimension),
        };
        V::from_raw(raw)
    }

    #[inline(always)]
    fn calc(&self, calc: &Calc, environment: &Environment, temps: &[V]) -> V {
        let get = |operand| self.operand(operand, environment, temps);
        match calc.op {
            CalcOp::Unary(op, ty, x) => get(x).unary(|x| eval::unary(op, ty, x)),
            CalcOp::Binary(op, ty, x, y) => get(x).binary(get(y), |x, y| eval::binary(op, ty, x, y)),
            CalcOp::Ternary(op, ty, x, y, z) => {
                get(x).ternary(get(y), get(z), |x, y, z| eval::ternary(op, ty, x, y, z))
            }
            CalcOp::Select(condition, x, y) => get(condition).select(|| get(x), || get(y)),
            CalcOp::Cast(from, to, x) => get(x).unary(|x| eval::cast(from, to, x)),
        }
    }
}
