//! How threads report errors and are stopped: functions over the control block.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Scope as SpirvScope, SelectionControl, Word};
use wattle_ir::fault::Fault;
use wattle_ir::{Site, Type};

use crate::control;
use crate::emit::Emitter;
use crate::interface::store;
use crate::layout::ArgumentWord;

/// How many back edges of loops without a bound a thread passes between two looks at the stop word, less one; a power
/// of two less one.
const POLL_MASK: u32 = 63;

/// What a function needs to report with; each is made when it is first used.
#[derive(Default)]
pub struct Reports {
    /// The number of the site of the thread's first fault, plus 1; zero where there is none yet.
    fault: Option<Word>,
    /// The index of that fault, one variable for each dimension that any index has.
    index: Vec<Word>,
    report_stop: Option<Word>,
    polls: Option<Word>,
    stop: Option<Word>,
}

impl Emitter<'_> {
    /// Notes a fault, if it is the thread's first. It is reported when the thread ends: what is reported is long, and
    /// drivers put it wherever it is called from.
    pub(crate) fn fault(&mut self, site: Site, fault: Fault, index: &[Word]) {
        let (word, bool, zero) = (self.asm.u32(), self.asm.ty(Type::Bool), self.asm.word(0));
        let number = self.sites.number(site, fault) + 1;
        let number = self.asm.word(number);
        let noted = match self.reports.fault {
            Some(noted) => noted,
            None => *self.reports.fault.insert(self.asm.local(word, Some("fault".into()))),
        };
        while self.reports.index.len() < index.len() {
            let name = format!("fault_index_{}", self.reports.index.len());
            let variable = self.asm.local(word, Some(name));
            self.reports.index.push(variable);
        }
        let before = self.asm.of(Op::Load, word, &[noted]);
        let first = self.asm.of(Op::IEqual, bool, &[before, zero]);
        let variables = std::iter::once(noted).chain(self.reports.index.clone());
        for (variable, value) in variables.zip(std::iter::once(number).chain(index.iter().copied())) {
            let before = self.asm.of(Op::Load, word, &[variable]);
            let after = self.asm.of(Op::Select, word, &[first, value, before]);
            self.asm.act(Op::Store, vec![Operand::IdRef(variable), Operand::IdRef(after)]);
        }
    }

    /// Reports the thread's first fault, if there was one; the first such report of the launch is kept.
    pub(crate) fn report(&mut self) {
        let Some(noted) = self.reports.fault.filter(|_| self.asm.is_open()) else { return };
        let (word, bool) = (self.asm.u32(), self.asm.ty(Type::Bool));
        let [zero, one] = [0, 1].map(|value| self.asm.word(value));
        let number = self.asm.of(Op::Load, word, &[noted]);
        let any = self.asm.of(Op::INotEqual, bool, &[number, zero]);
        self.when(any, |emitter| {
            let at = emitter.asm.word(control::CLAIMED);
            let at = emitter.interface.control(&mut emitter.asm, at);
            let claimed = emitter.relaxed(Op::AtomicCompareExchange, at, &[one, zero]);
            let first = emitter.asm.of(Op::IEqual, bool, &[claimed, zero]);
            emitter.when(first, |emitter| emitter.tell(number));
        });
    }

    /// Writes the thread's first fault into the control block, and shuts the queue's gate.
    fn tell(&mut self, number: Word) {
        let (word, zero, one) = (self.asm.u32(), self.asm.word(0), self.asm.word(1));
        let site = self.asm.of(Op::ISub, word, &[number, one]);
        let mut told = vec![(control::SITE, site)];
        if self.features.watched {
            told.extend([(control::BLOCK, self.entry.block), (control::THREAD, self.entry.thread)]);
        }
        for d in 0..control::index_words(self.kernel) {
            let part = self.reports.index.get(d).map(|&part| self.asm.of(Op::Load, word, &[part]));
            told.push((control::INDEX + d as u32, part.unwrap_or(zero)));
        }
        for (at, value) in told {
            let at = self.asm.word(at);
            self.put(at, value);
        }
        // Other blocks of the launch read the gate meanwhile; any value that they see is right.
        let gate = self.interface.gate(&mut self.asm);
        let launch = self.entry.word(ArgumentWord::Number);
        self.relaxed(Op::AtomicExchange, gate, &[launch]);
    }

    /// Reports where the thread was when it was stopped.
    pub(crate) fn report_stop(&mut self, site: Site) {
        let function = match self.reports.report_stop {
            Some(function) => function,
            None => *self.reports.report_stop.insert(self.asm.id()),
        };
        let (number, void) = (self.sites.number(site, Fault::Loop), self.asm.void());
        let number = self.asm.word(number);
        self.asm.of(Op::FunctionCall, void, &[function, number, self.entry.block]);
    }

    /// Looks now and then whether the launch is to stop; returns that as a truth value.
    pub(crate) fn shall_stop(&mut self) -> Word {
        let (word, bool, zero, one) = (self.asm.u32(), self.asm.ty(Type::Bool), self.asm.word(0), self.asm.word(1));
        let polls = match self.reports.polls {
            Some(polls) => polls,
            None => *self.reports.polls.insert(self.asm.local(word, Some("polls".into()))),
        };
        let stop = match self.reports.stop {
            Some(stop) => stop,
            None => *self.reports.stop.insert(self.asm.local(bool, Some("stop".into()))),
        };
        let count = self.asm.of(Op::Load, word, &[polls]);
        let next = self.asm.of(Op::IAdd, word, &[count, one]);
        self.asm.act(Op::Store, vec![Operand::IdRef(polls), Operand::IdRef(next)]);
        let mask = self.asm.word(POLL_MASK);
        let rest = self.asm.of(Op::BitwiseAnd, word, &[count, mask]);
        let looks = self.asm.of(Op::IEqual, bool, &[rest, zero]);
        self.when(looks, |emitter| {
            let at = emitter.asm.word(control::STOP);
            let at = emitter.interface.control(&mut emitter.asm, at);
            let said = emitter.relaxed(Op::AtomicLoad, at, &[]);
            let said = emitter.asm.of(Op::INotEqual, bool, &[said, zero]);
            emitter.asm.act(Op::Store, vec![Operand::IdRef(stop), Operand::IdRef(said)]);
        });
        self.asm.of(Op::Load, bool, &[stop])
    }

    /// A relaxed atomic operation of device scope on a word.
    pub(crate) fn relaxed(&mut self, op: Op, at: Word, more: &[Word]) -> Word {
        let (word, scope, none) = (self.asm.u32(), self.asm.word(SpirvScope::Device as u32), self.asm.word(0));
        let mut operands = vec![Operand::IdRef(at), Operand::IdScope(scope), Operand::IdMemorySemantics(none)];
        if op == Op::AtomicCompareExchange {
            operands.push(Operand::IdMemorySemantics(none));
        }
        operands.extend(more.iter().map(|&id| Operand::IdRef(id)));
        self.asm.op(op, word, operands)
    }

    /// Emits what `then` emits, to run where a condition holds.
    pub(crate) fn when(&mut self, condition: Word, then: impl FnOnce(&mut Self)) {
        let (yes, end) = (self.asm.id(), self.asm.id());
        self.asm.act(Op::SelectionMerge, vec![Operand::IdRef(end), Operand::SelectionControl(SelectionControl::NONE)]);
        self.asm.terminate(Op::BranchConditional, [condition, yes, end].map(Operand::IdRef).to_vec());
        self.asm.label(yes);
        self.on_some_ways(then);
        self.asm.terminate(Op::Branch, vec![Operand::IdRef(end)]);
        self.asm.label(end);
    }

    fn put(&mut self, at: Word, value: Word) {
        let pointer = self.interface.control(&mut self.asm, at);
        store(&mut self.asm, pointer, value);
    }

    /// Whether no other thread of the block has reported where it was.
    fn first_of_block(&mut self, block: Word) -> Word {
        let (word, bool, zero) = (self.asm.u32(), self.asm.ty(Type::Bool), self.asm.word(0));
        let [bits, mask, width, one] = [control::BLOCK_BITS, 31, 5, 1].map(|value| self.asm.word(value));
        let number = self.asm.of(Op::UMod, word, &[block, bits]);
        let within = self.asm.of(Op::BitwiseAnd, word, &[number, mask]);
        let bit = self.asm.of(Op::ShiftLeftLogical, word, &[one, within]);
        let at = self.asm.of(Op::ShiftRightLogical, word, &[number, width]);
        let start = self.asm.word(control::REPORTED);
        let at = self.asm.of(Op::IAdd, word, &[at, start]);
        let at = self.interface.control(&mut self.asm, at);
        let before = self.relaxed(Op::AtomicOr, at, &[bit]);
        let told = self.asm.of(Op::BitwiseAnd, word, &[before, bit]);
        self.asm.of(Op::IEqual, bool, &[told, zero])
    }

    /// Defines the functions that were called.
    pub(crate) fn define_reports(&mut self) {
        let word = self.asm.u32();
        let (bool, zero, one) = (self.asm.ty(Type::Bool), self.asm.word(0), self.asm.word(1));
        if let Some(function) = self.reports.report_stop {
            let given = self.asm.begin_as(function, &[word, word], "report_stop");
            let [number, block] = [0, 1].map(|at| given[at]);
            let first = self.first_of_block(block);
            // A block that has reported adds nothing to the count.
            let adds = self.asm.of(Op::Select, word, &[first, one, zero]);
            let at = self.asm.word(control::STOPPED);
            let at = self.interface.control(&mut self.asm, at);
            let before = self.relaxed(Op::AtomicIAdd, at, &[adds]);
            let most = self.asm.word(control::MAX_STOPPED);
            let fits = self.asm.of(Op::ULessThan, bool, &[before, most]);
            let tells = self.asm.of(Op::LogicalAnd, bool, &[first, fits]);
            self.when(tells, |emitter| {
                let (two, start) = (emitter.asm.word(2), emitter.asm.word(control::STOPPED_AT));
                let at = emitter.asm.of(Op::IMul, word, &[before, two]);
                let at = emitter.asm.of(Op::IAdd, word, &[at, start]);
                emitter.put(at, block);
                let at = emitter.asm.of(Op::IAdd, word, &[at, one]);
                emitter.put(at, number);
            });
            self.asm.terminate(Op::Return, vec![]);
            self.asm.end();
        }
    }
}
