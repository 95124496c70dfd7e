//! What a thread runs: the intermediate representation of one of Wattle's own kernels, or the code of a module.

use std::sync::Arc;

use wattle_ir::Site;
use wattle_machine::{Environment, Position, Program, Thread};

use super::module::{ModuleRun, SimulatedThread};

/// What the threads of a launch run, and on which arguments.
#[derive(Clone)]
pub(super) enum Code {
    Own(Arc<Program>, Arc<Environment>),
    Module(Arc<ModuleRun>),
}

/// A thread of either kind.
pub(super) enum Machine {
    Own(Thread),
    Module(Box<dyn SimulatedThread>),
}

impl Code {
    /// A thread before its first instruction: the one of that number in the block of that number.
    pub fn thread(&self, position: Position, block: u64, number: u32) -> Machine {
        match self {
            Code::Own(program, _) => Machine::Own(Thread::new(program, position)),
            Code::Module(run) => Machine::Module(run.module.clone().thread(block as u32, number)),
        }
    }

    /// Whether buffers and the memory of blocks are ordered each by itself.
    pub fn separates_classes(&self) -> bool {
        match self {
            Code::Own(..) => false,
            Code::Module(run) => run.separates_classes,
        }
    }

    /// The number of words of a thread's variables.
    pub fn words(&self) -> usize {
        match self {
            Code::Own(program, _) => program.words(),
            Code::Module(run) => run.module.words(),
        }
    }
}

impl Machine {
    /// The last source line that the thread has passed.
    pub fn site(&self, code: &Code) -> Site {
        match (self, code) {
            (Machine::Own(thread), Code::Own(program, _)) => thread.site(program),
            (Machine::Module(thread), _) => thread.site(),
            (Machine::Own(_), Code::Module(_)) => unreachable!("a launch's threads run its code"),
        }
    }

    /// The number of the statement that the thread has come to.
    pub fn at(&self) -> u32 {
        match self {
            Machine::Own(thread) => thread.at(),
            Machine::Module(thread) => thread.at(),
        }
    }

    /// Whether the thread will do what it did from an earlier time on, given the same answers.
    pub fn repeats(&self, earlier: &Machine, code: &Code) -> bool {
        match (self, earlier, code) {
            (Machine::Own(thread), Machine::Own(earlier), Code::Own(program, _)) => thread.repeats(earlier, program),
            (Machine::Module(thread), Machine::Module(earlier), _) => thread.repeats(&**earlier),
            (Machine::Own(_) | Machine::Module(_), _, _) => false,
        }
    }

    /// Answers the last request.
    #[inline]
    pub fn answer(&mut self, value: u64) {
        match self {
            Machine::Own(thread) => thread.answer(value),
            Machine::Module(thread) => thread.answer(value),
        }
    }

    /// Answers the last request, which was for several lanes.
    pub fn answer_lanes(&mut self, values: &[u64]) {
        match self {
            Machine::Own(thread) => thread.answer_lanes(values),
            Machine::Module(_) => unreachable!("a module's thread asks for one value at a time"),
        }
    }
}

impl Clone for Machine {
    fn clone(&self) -> Machine {
        match self {
            Machine::Own(thread) => Machine::Own(thread.clone()),
            Machine::Module(thread) => Machine::Module(thread.copy()),
        }
    }

    fn clone_from(&mut self, source: &Machine) {
        match (self, source) {
            (Machine::Own(thread), Machine::Own(source)) => thread.clone_from(source),
            (own, _) => *own = source.clone(),
        }
    }
}
