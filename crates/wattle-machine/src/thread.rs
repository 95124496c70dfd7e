//! The state of one thread, and how it runs.

use wattle_ir::{LocalId, MAX_RANK, Place, Site, eval};

use crate::program::{Access, AccessKind, Calc, CalcOp, Op, Operand};
use crate::request::{Fault, Location, Request};
use crate::{Environment, Position, Program};

/// As many temporaries as nearly every statement needs; they live on the stack.
const FEW: usize = 16;

/// One thread: where it is in the code, and the values of its slots and private arrays.
///
/// Two threads are equal when they will do the same, given the same answers. A thread must be run with the program
/// that it was made for, and with one environment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    position: Position,
    /// The next instruction.
    pc: u32,
    /// The instruction of the last request.
    at: u32,
    answer: Answer,
    /// The slots, then the private arrays.
    words: Vec<u64>,
}

/// Where the answer to the last request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    None,
    Slot(u32),
    Lanes { first: usize, len: u32 },
}

impl Thread {
    /// A thread that stands before its first statement, its slots and arrays all zero.
    pub fn new(program: &Program, position: Position) -> Thread {
        Thread { position, pc: 0, at: 0, answer: Answer::None, words: vec![0; program.words] }
    }

    /// Where the thread is in its launch.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The values of the slots, as raw words.
    pub fn slots<'a>(&'a self, program: &Program) -> &'a [u64] {
        self.words.get(..program.kernel.slots.len()).unwrap_or(&[])
    }

    /// The elements of an array of the thread's own, as raw words.
    pub fn local<'a>(&'a self, program: &Program, id: LocalId) -> &'a [u64] {
        let Some(local) = program.locals.get(id.index()) else { return &[] };
        self.words.get(local.first..local.first + local.len as usize).unwrap_or(&[])
    }

    /// The last source line that the thread has passed: that of its last request, or the nearest one before it.
    pub fn site(&self, program: &Program) -> Site {
        program.sites.get(self.at as usize).copied().unwrap_or(program.kernel.site)
    }

    /// The number of the instruction of the last request: tells two statements of one source line apart.
    pub fn at(&self) -> u32 {
        self.at
    }

    /// Answers the last request with one value. Without an answer a load leaves its slot as it was.
    pub fn answer(&mut self, raw: u64) {
        self.answer_lanes(&[raw]);
    }

    /// Answers the last request with several values, for [`Request::LoadLanes`]; lanes beyond them keep their value.
    pub fn answer_lanes(&mut self, raw: &[u64]) {
        let (first, len) = match self.answer {
            Answer::None => return,
            Answer::Slot(slot) => (slot as usize, 1),
            Answer::Lanes { first, len } => (first, len as usize),
        };
        if let Some(words) = self.words.get_mut(first..first + len) {
            words.iter_mut().zip(raw).for_each(|(word, &raw)| *word = raw);
        }
        self.answer = Answer::None;
    }

    /// Runs until the thread needs something, has something to say, or has done `fuel` steps, each about one
    /// statement; `fuel` is left with what remains. A thread that has ended says [`Request::Done`] again.
    pub fn run(&mut self, program: &Program, environment: &Environment, fuel: &mut u64) -> Request {
        self.answer = Answer::None;
        let mut few = [0; FEW];
        let mut many = Vec::new();
        let temps = if program.temps <= FEW {
            &mut few[..]
        } else {
            many.resize(program.temps, 0);
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
            match instr.op {
                Op::Assign { slot, value } => {
                    let value = self.operand(value, environment, temps);
                    self.set(slot as usize, value);
                }
                Op::Jump(target) => self.pc = target,
                Op::JumpUnless { condition, target } => {
                    if self.operand(condition, environment, temps) & 1 == 0 {
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
                    let quotient = eval::divide(op, ty, left, right);
                    self.set(dst as usize, quotient.unwrap_or(0));
                    if quotient.is_none() {
                        return Request::Fault(Fault::DivisionByZero { site: self.site(program) });
                    }
                }
                Op::Fence { order, scope } => return Request::Fence { order, scope, site: self.site(program) },
                Op::Barrier => return Request::Barrier { site: self.site(program) },
                Op::BackEdge { label, target } => {
                    self.pc = target;
                    return Request::BackEdge { label, site: self.site(program) };
                }
                Op::Assert { condition, message } => {
                    if self.operand(condition, environment, temps) & 1 == 0 {
                        let message = program.messages.get(message as usize).cloned().unwrap_or_else(|| "".into());
                        return Request::Fault(Fault::Assertion { message, site: self.site(program) });
                    }
                }
                Op::Return => {
                    self.pc = self.at;
                    return Request::Done;
                }
            }
        }
    }

    #[inline(always)]
    fn set(&mut self, word: usize, raw: u64) {
        if let Some(word) = self.words.get_mut(word) {
            *word = raw;
        }
    }

    #[inline(always)]
    fn operand(&self, operand: Operand, environment: &Environment, temps: &[u64]) -> u64 {
        match operand {
            Operand::Const(raw) => raw,
            Operand::Slot(slot) => self.words.get(slot as usize).copied().unwrap_or(0),
            Operand::Temp(temp) => temps.get(temp as usize).copied().unwrap_or(0),
            Operand::Param(param) => environment.scalar(param),
            Operand::Extent(param, dimension) => {
                environment.extent(param).get(dimension as usize).copied().unwrap_or(0) as u64
            }
            Operand::SharedLen => environment.shared_len as u64,
            Operand::Builtin(builtin, dimension) => environment.builtin(&self.position, builtin, dimension),
        }
    }

    #[inline(always)]
    fn calc(&self, calc: &Calc, environment: &Environment, temps: &[u64]) -> u64 {
        let get = |operand| self.operand(operand, environment, temps);
        match calc.op {
            CalcOp::Unary(op, ty, x) => eval::unary(op, ty, get(x)),
            CalcOp::Binary(op, ty, x, y) => eval::binary(op, ty, get(x), get(y)),
            CalcOp::Fma(ty, x, y, z) => eval::fma(ty, get(x), get(y), get(z)),
            CalcOp::Select(condition, x, y) => get(if get(condition) & 1 != 0 { x } else { y }),
            CalcOp::Cast(from, to, x) => eval::cast(from, to, get(x)),
        }
    }

    /// Checks the index and asks for the access; one to a private array is done here.
    fn access(
        &mut self,
        program: &Program,
        access: &Access,
        environment: &Environment,
        temps: &[u64],
    ) -> Option<Request> {
        let extent = match access.place {
            Place::Param(id) => environment.extent(id.0),
            Place::Shared(id) => [program.shared_len(id.index(), environment.shared_len), 1, 1, 1],
            Place::Local(id) => [program.locals.get(id.index()).map_or(0, |local| local.len), 1, 1, 1],
        };
        let mut index = [0u32; MAX_RANK];
        let mut inside = true;
        for dimension in 0..access.rank.min(MAX_RANK) {
            index[dimension] = self.operand(access.index[dimension], environment, temps) as u32;
            inside &= index[dimension] < extent[dimension];
        }
        if let AccessKind::LoadLanes { lanes, .. } = access.kind {
            inside = index[0] as u64 + lanes as u64 <= extent[0] as u64;
        }
        if !inside {
            return Some(self.out_of_bounds(program, access, index, extent));
        }
        if let Place::Local(id) = access.place {
            let first = program.locals.get(id.index()).map_or(0, |local| local.first) + index[0] as usize;
            self.own_access(program, access, first, environment, temps);
            return None;
        }
        let (place, element, rank) = (access.place, access.element, access.rank);
        let location = Location { place, element, rank, index, site: self.site(program) };
        let get = |operand| self.operand(operand, environment, temps);
        let (answer, request) = match access.kind {
            AccessKind::Load { dst } => (Answer::Slot(dst), Request::Load(location)),
            AccessKind::LoadLanes { dst, lanes } => {
                let first = program.locals.get(dst.index()).map_or(0, |local| local.first);
                (Answer::Lanes { first, len: lanes }, Request::LoadLanes { location, lanes })
            }
            AccessKind::Store { value } => (Answer::None, Request::Store { location, value: get(value) }),
            AccessKind::AtomicLoad { dst, order, scope } => {
                (Answer::Slot(dst), Request::AtomicLoad { location, order, scope })
            }
            AccessKind::AtomicStore { value, order, scope } => {
                (Answer::None, Request::AtomicStore { location, value: get(value), order, scope })
            }
            AccessKind::AtomicUpdate { dst, op, operand, order, scope } => {
                let operand = get(operand);
                (Answer::Slot(dst), Request::AtomicUpdate { location, op, operand, order, scope })
            }
            AccessKind::CompareExchange { dst, expected, desired, order, scope } => {
                let (expected, desired) = (get(expected), get(desired));
                (Answer::Slot(dst), Request::CompareExchange { location, expected, desired, order, scope })
            }
        };
        self.answer = answer;
        Some(request)
    }

    /// An access to a private array; the verifier lets only plain ones through.
    fn own_access(
        &mut self,
        program: &Program,
        access: &Access,
        first: usize,
        environment: &Environment,
        temps: &[u64],
    ) {
        match access.kind {
            AccessKind::Load { dst } => {
                let value = self.words.get(first).copied().unwrap_or(0);
                self.set(dst as usize, value);
            }
            AccessKind::LoadLanes { dst, lanes } => {
                let to = program.locals.get(dst.index()).map_or(0, |local| local.first);
                self.words.copy_within(first..first + lanes as usize, to);
            }
            AccessKind::Store { value } => {
                let value = self.operand(value, environment, temps);
                self.set(first, value);
            }
            _ => {}
        }
    }

    /// Skips the access; what it would have loaded is 0.
    fn out_of_bounds(
        &mut self,
        program: &Program,
        access: &Access,
        index: [u32; MAX_RANK],
        extent: [u32; MAX_RANK],
    ) -> Request {
        let mut lanes = 1;
        match access.kind {
            AccessKind::Load { dst }
            | AccessKind::AtomicLoad { dst, .. }
            | AccessKind::AtomicUpdate { dst, .. }
            | AccessKind::CompareExchange { dst, .. } => self.set(dst as usize, 0),
            AccessKind::LoadLanes { dst, lanes: count } => {
                lanes = count;
                if let Some(local) = program.locals.get(dst.index()) {
                    let words = self.words.get_mut(local.first..local.first + local.len as usize);
                    words.unwrap_or(&mut []).fill(0);
                }
            }
            AccessKind::Store { .. } | AccessKind::AtomicStore { .. } => {}
        }
        let rank = access.rank.min(MAX_RANK);
        let (index, extent) = (index[..rank].to_vec(), extent[..rank].to_vec());
        Request::Fault(Fault::OutOfBounds { place: access.place, index, lanes, extent, site: self.site(program) })
    }
}
