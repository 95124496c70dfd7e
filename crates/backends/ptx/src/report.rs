//! How threads report errors and are stopped: code over the control block.

use wattle_ir::fault::Fault;
use wattle_ir::{MAX_RANK, Site};

use crate::assemble::{BranchTarget, Class, Section, Value, ins};
use crate::control;
use crate::emit::Emitter;
use crate::layout::Argument;

/// How many back edges of loops without a bound a thread passes from one look at the stop word to the next, and before
/// the first, less one; a power of two less one. (A look waits for the second-level cache: a loop of a few turns shall
/// have none.)
const POLL_MASK: u32 = 255;

/// The registers and labels that reports need; each is made when it is first used.
#[derive(Default)]
pub struct Reports {
    /// The number of the site of the thread's first fault, plus 1; zero where there is none yet.
    fault: Option<Value>,
    /// The index of that fault, one register for each dimension that any index has.
    index: Vec<Value>,
    /// How many back edges the thread has passed.
    polls: Option<Value>,
    /// The number of the site of the loop in which the thread was stopped, and the label of the code that reports it.
    stopped: Option<(Value, BranchTarget)>,
}

impl Emitter<'_> {
    /// A register that is zero when the kernel starts.
    fn zeroed(&mut self) -> Value {
        let register = self.asm.register(Class::Word);
        self.in_prologue(|emitter| emitter.copy(register, Value::word(0)));
        register
    }

    /// Notes a fault, if it is the thread's first. It is reported when the thread ends.
    pub(crate) fn fault(&mut self, site: Site, fault: Fault, index: &[Value]) {
        let number = Value::word(self.sites.number(site, fault) + 1);
        let noted = match self.reports.fault {
            Some(noted) => noted,
            None => {
                let register = self.zeroed();
                *self.reports.fault.insert(register)
            }
        };
        while self.reports.index.len() < index.len() {
            let register = self.zeroed();
            self.reports.index.push(register);
        }
        let first = self.op("setp.eq.u32", Class::Predicate, &[noted, Value::word(0)]);
        let registers: Vec<_> = std::iter::once(noted).chain(self.reports.index.iter().copied()).collect();
        for (register, value) in registers.into_iter().zip(std::iter::once(number).chain(index.iter().copied())) {
            ins!(self, "@{first} mov.u32 {register}, {value}");
        }
    }

    /// The operand for a word of the queue's control block.
    fn control(&mut self, word: u32) -> String {
        format!("[{}+{}]", self.argument(Argument::Control), word * 4)
    }

    /// The operand for a word of the queue in host memory.
    fn host(&mut self, word: u32) -> String {
        format!("[{}+{}]", self.argument(Argument::Host), word * 4)
    }

    /// Ends the thread if an earlier launch has failed. Otherwise the launch's first thread records that the launch has
    /// begun.
    ///
    /// The gate is read weakly, so that one thread of each multiprocessor fetches it and not all of a large launch from
    /// one place: only launches shut it, the writes of earlier launches are ordered by their end, and a write of this
    /// one makes no difference.
    pub(crate) fn begin(&mut self) {
        let (gate, number) = (self.control(control::GATE), self.argument(Argument::Number));
        let open = self.asm.register(Class::Word);
        ins!(self, "ld.global.u32 {open}, {gate}");
        let shut = self.op("setp.lt.u32", Class::Predicate, &[open, number]);
        ins!(self, "@{shut} ret");
        let (block, thread) = (self.block_number(), self.thread_number());
        let place = self.op("or.b32", Class::Word, &[block, thread]);
        let first = self.op("setp.eq.u32", Class::Predicate, &[place, Value::word(0)]);
        let started = self.host(control::host::STARTED);
        ins!(self, "@{first} st.relaxed.sys.global.u32 {started}, {number}");
    }

    fn block_number(&mut self) -> Value {
        let block = self.asm.register(Class::Word);
        ins!(self, "mov.u32 {block}, %ctaid.x");
        block
    }

    fn thread_number(&mut self) -> Value {
        let thread = self.asm.register(Class::Word);
        ins!(self, "mov.u32 {thread}, %tid.x");
        thread
    }

    /// Notifies the host that there is a report in the control block.
    fn raise_alarm(&mut self) {
        let alarm = self.host(control::host::ALARM);
        ins!(self, "st.relaxed.sys.global.u32 {alarm}, 1");
    }

    /// Shuts the gate, so that launches behind this one do nothing.
    fn shut_gate(&mut self) {
        let (gate, number) = (self.control(control::GATE), self.argument(Argument::Number));
        ins!(self, "st.relaxed.gpu.global.u32 {gate}, {number}");
    }

    /// Reports the thread's first fault, if there was one; the first such report of the launch is kept.
    pub(crate) fn report(&mut self) {
        let Some(noted) = self.reports.fault else { return };
        let none = self.op("setp.eq.u32", Class::Predicate, &[noted, Value::word(0)]);
        ins!(self, "@{none} ret");
        let claimed = self.asm.register(Class::Word);
        let at = self.control(control::CLAIMED);
        ins!(self, "atom.relaxed.gpu.global.cas.b32 {claimed}, {at}, 0, 1");
        let late = self.op("setp.ne.u32", Class::Predicate, &[claimed, Value::word(0)]);
        ins!(self, "@{late} ret");
        let site = self.op("sub.u32", Class::Word, &[noted, Value::word(1)]);
        let mut head = vec![(control::SITE, site)];
        if self.watched {
            head.extend([(control::BLOCK, self.block_number()), (control::THREAD, self.thread_number())]);
        }
        let words = self.reports.index.len().max(MAX_RANK);
        let index = (0..words).map(|d| self.reports.index.get(d).copied().unwrap_or(Value::word(0)));
        let index: Vec<_> = index.enumerate().map(|(d, value)| (control::INDEX + d as u32, value)).collect();
        for (word, value) in head.into_iter().chain(index) {
            let at = self.control(word);
            ins!(self, "st.global.u32 {at}, {value}");
        }
        self.shut_gate();
        self.raise_alarm();
    }

    /// Looks now and then whether the launch is to stop, and ends the thread then.
    pub(crate) fn leave_if_stopped(&mut self, site: Site) {
        let polls = match self.reports.polls {
            Some(polls) => polls,
            None => {
                let register = self.zeroed();
                *self.reports.polls.insert(register)
            }
        };
        let (stopped, tell) = match self.reports.stopped {
            Some(stopped) => stopped,
            None => {
                let made = (self.zeroed(), self.asm.target());
                *self.reports.stopped.insert(made)
            }
        };
        let number = self.sites.number(site, Fault::Loop);
        let launch = self.argument(Argument::Number);
        let (stop, of_host) = (self.control(control::STOP), self.host(control::host::STOP));
        let looked = self.control(control::LOOKED);
        let (look, end) = (self.asm.target(), self.asm.target());
        ins!(self, "add.u32 {polls}, {polls}, 1");
        let rest = self.op("and.b32", Class::Word, &[polls, Value::word(POLL_MASK)]);
        let looks = self.op("setp.eq.u32", Class::Predicate, &[rest, Value::word(0)]);
        ins!(self, "@{looks} bra {look}");
        self.asm.place(end);
        self.apart(look, end, |emitter| {
            let [said, now, last, found] = [(); 4].map(|()| emitter.asm.register(Class::Word));
            let leaves = |emitter: &mut Emitter<'_>| {
                let stops = emitter.op("setp.ge.u32", Class::Predicate, &[said, launch]);
                ins!(emitter, "@{stops} bra {tell}");
            };
            ins!(emitter, "mov.u32 {stopped}, {number}");
            ins!(emitter, "ld.relaxed.gpu.global.u32 {said}, {stop}");
            leaves(emitter);
            // Who finds that it is time, and that no other thread has found so, asks the host.
            ins!(emitter, "mov.u32 {now}, %globaltimer_lo");
            ins!(emitter, "ld.relaxed.gpu.global.u32 {last}, {looked}");
            let since = emitter.op("sub.u32", Class::Word, &[now, last]);
            let after = Value::word(control::LOOK_AFTER);
            let early = emitter.op("setp.lt.u32", Class::Predicate, &[since, after]);
            ins!(emitter, "@{early} bra {end}");
            ins!(emitter, "atom.relaxed.gpu.global.cas.b32 {found}, {looked}, {last}, {now}");
            let late = emitter.op("setp.ne.u32", Class::Predicate, &[found, last]);
            ins!(emitter, "@{late} bra {end}");
            ins!(emitter, "ld.relaxed.sys.global.u32 {said}, {of_host}");
            ins!(emitter, "st.relaxed.gpu.global.u32 {stop}, {said}");
            leaves(emitter);
        });
    }

    /// Emits, behind the kernel's end, the code with which stopped threads report where they were.
    pub(crate) fn define_reports(&mut self) {
        let Some((stopped, tell)) = self.reports.stopped else { return };
        let control = self.argument(Argument::Control);
        let end = self.asm.target();
        self.asm.go_to(Section::Cold);
        self.asm.place(tell);
        self.shut_gate();
        let block = self.block_number();
        // One thread of each block reports.
        let number = self.op("and.b32", Class::Word, &[block, Value::word(control::BLOCK_BITS - 1)]);
        let within = self.op("and.b32", Class::Word, &[number, Value::word(31)]);
        let bit = self.op("shl.b32", Class::Word, &[Value::word(1), within]);
        let word = self.op("shr.u32", Class::Word, &[number, Value::word(5)]);
        let at = self.op("mad.wide.u32", Class::Long, &[word, Value::word(4), control]);
        let told = self.asm.register(Class::Word);
        ins!(self, "atom.relaxed.gpu.global.or.b32 {told}, [{at}+{}], {bit}", control::REPORTED * 4);
        let told = self.op("and.b32", Class::Word, &[told, bit]);
        let told = self.op("setp.ne.u32", Class::Predicate, &[told, Value::word(0)]);
        ins!(self, "@{told} bra {end}");
        let before = self.asm.register(Class::Word);
        ins!(self, "atom.relaxed.gpu.global.add.u32 {before}, [{control}+{}], 1", control::STOPPED * 4);
        let many = self.op("setp.ge.u32", Class::Predicate, &[before, Value::word(control::MAX_STOPPED)]);
        ins!(self, "@{many} bra {end}");
        let at = self.op("mad.wide.u32", Class::Long, &[before, Value::word(8), control]);
        let start = control::STOPPED_AT * 4;
        ins!(self, "st.global.u32 [{at}+{start}], {block}");
        ins!(self, "st.global.u32 [{at}+{}], {stopped}", start + 4);
        self.raise_alarm();
        self.asm.place(end);
        // A fault that the thread noted before is reported too.
        self.report();
        ins!(self, "ret");
    }
}
