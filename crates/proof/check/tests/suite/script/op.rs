//! The statements of a script.

use wattle_memory::{Classes, Label, Level};

/// A value: a constant plus the values of some registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    pub constant: u64,
    pub registers: Vec<usize>,
}

pub fn constant(constant: u64) -> Value {
    Value { constant, registers: Vec::new() }
}

pub fn register(register: usize) -> Value {
    Value { constant: 0, registers: vec![register] }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Load {
        to: usize,
        cell: u64,
        label: Label,
    },
    Store {
        cell: u64,
        value: Value,
        label: Label,
    },
    /// Loads the cell that stands a register's value behind another one.
    LoadAt {
        to: usize,
        base: u64,
        register: usize,
        label: Label,
    },
    /// Stores to the cell that stands a register's value behind another one.
    StoreAt {
        base: u64,
        register: usize,
        value: Value,
        label: Label,
    },
    Add {
        to: usize,
        cell: u64,
        value: Value,
        read: Label,
        write: Label,
    },
    Exchange {
        to: usize,
        cell: u64,
        value: Value,
        read: Label,
        write: Label,
    },
    CompareExchange {
        to: usize,
        cell: u64,
        expected: u64,
        desired: u64,
        read: Label,
        write: Label,
        /// The label of the read where it succeeds, if that is another one than where it fails.
        succeeded: Option<Label>,
    },
    Fence {
        label: Label,
    },
    Barrier {
        members: u32,
        /// The storage classes that it is about.
        about: Classes,
        level: Level,
    },
    /// Loads until the value is the given one.
    Await {
        cell: u64,
        value: Value,
        label: Label,
    },
    /// Loads until the value is in a range.
    AwaitWithin {
        cell: u64,
        least: u64,
        most: u64,
        label: Label,
    },
    /// Shifts a register to the right.
    Shift {
        register: usize,
        by: u32,
    },
    /// Adds a register's value to another one's.
    Accumulate {
        to: usize,
        from: usize,
    },
    /// Loads until the bits of the value from one on are others than a register's; the register may have been shifted already.
    AwaitPhase {
        cell: u64,
        register: usize,
        bits: u32,
        shifted: bool,
        label: Label,
    },
    /// Exchanges 1 until the old value is 0.
    Lock {
        cell: u64,
        read: Label,
        write: Label,
    },
    /// Takes what the lane `from` of the first `members` threads has in a register.
    Shuffle {
        to: usize,
        register: usize,
        from: u64,
        members: u32,
    },
    /// Skips the next `count` statements unless the register has the value, or, without `equal`, unless it has another.
    SkipUnless {
        register: usize,
        value: u64,
        equal: bool,
        count: usize,
    },
    /// Skips the next `count` statements unless the register's value is less than another one.
    SkipUnlessBelow {
        register: usize,
        below: u64,
        count: usize,
    },
    /// Begins a loop.
    Head,
    /// Goes back by `count` statements, to the first of the loop, if the register's value is less than another one.
    RepeatBelow {
        register: usize,
        below: u64,
        count: usize,
    },
    /// Ends the thread unless the register has the value.
    Require {
        register: usize,
        value: u64,
    },
}
